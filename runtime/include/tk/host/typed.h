// SPDX-License-Identifier: MIT
// From the tensors of C++ callers, typed by element and rank, to those of the C interface.
#pragma once

#include "tk/host/abi.h"
#include "tk/types/dtype.h"
#include "tk/types/global_tensor.h"

namespace tk::host {

/// Of an element type of the language; there is none for others.
template <class T>
inline constexpr tk_dtype dtype_of = [] { static_assert(sizeof(T) == 0, "no tensor has elements of this type"); return TK_BOOL; }();
template <>
inline constexpr tk_dtype dtype_of<bool> = TK_BOOL;
template <>
inline constexpr tk_dtype dtype_of<bf16> = TK_BF16;
template <>
inline constexpr tk_dtype dtype_of<f16> = TK_F16;
template <>
inline constexpr tk_dtype dtype_of<float> = TK_F32;
template <>
inline constexpr tk_dtype dtype_of<int8_t> = TK_I8;
template <>
inline constexpr tk_dtype dtype_of<uint8_t> = TK_U8;
template <>
inline constexpr tk_dtype dtype_of<int32_t> = TK_I32;
template <>
inline constexpr tk_dtype dtype_of<uint32_t> = TK_U32;
template <>
inline constexpr tk_dtype dtype_of<int64_t> = TK_I64;
template <>
inline constexpr tk_dtype dtype_of<uint64_t> = TK_U64;
template <>
inline constexpr tk_dtype dtype_of<e4m3> = TK_E4M3;
template <>
inline constexpr tk_dtype dtype_of<e5m2> = TK_E5M2;

template <class T, int Rank>
tk_tensor describe(const tensor<T, Rank>& t) {
    tk_tensor result{t.data, dtype_of<T>, Rank, {}, {}};
    for (int d = 0; d < Rank; ++d) result.extent[d] = t.extent[d], result.stride[d] = t.stride[d];
    return result;
}

}  // namespace tk::host

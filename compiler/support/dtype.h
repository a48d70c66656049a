// SPDX-License-Identifier: MIT
// The element types of the language: names, sizes, classes. One table, used by every phase.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tkc {

enum class DType : uint8_t { kBool, kI8, kU8, kI32, kU32, kI64, kU64, kF16, kBF16, kF32, kE4M3, kE5M2, kF64 };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as written in .tk
  int bytes;
  bool is_float;
  bool is_signed;
  bool implemented;  // false: specified, not yet implemented
};

inline constexpr DTypeInfo kDTypes[] = {
    {DType::kBool, "bool", 1, false, false, true}, {DType::kI8, "i8", 1, false, true, true},
    {DType::kU8, "u8", 1, false, false, true},     {DType::kI32, "i32", 4, false, true, true},
    {DType::kU32, "u32", 4, false, false, true},   {DType::kI64, "i64", 8, false, true, true},
    {DType::kU64, "u64", 8, false, false, true},   {DType::kF16, "f16", 2, true, true, true},
    {DType::kBF16, "bf16", 2, true, true, true},   {DType::kF32, "f32", 4, true, true, true},
    {DType::kE4M3, "e4m3", 1, true, true, true},   {DType::kE5M2, "e5m2", 1, true, true, true},
    {DType::kF64, "f64", 8, true, true, false},
};

inline constexpr const DTypeInfo& Info(DType dtype) { return kDTypes[static_cast<int>(dtype)]; }
inline constexpr std::string_view Name(DType dtype) { return Info(dtype).name; }
inline constexpr int Bytes(DType dtype) { return Info(dtype).bytes; }
inline constexpr bool IsFloat(DType dtype) { return Info(dtype).is_float; }
inline constexpr bool IsInteger(DType dtype) { return !IsFloat(dtype) && dtype != DType::kBool; }
inline constexpr bool IsSignedInteger(DType dtype) { return IsInteger(dtype) && Info(dtype).is_signed; }

/// Floats that carry values; arithmetic on them happens in f32.
inline constexpr bool IsNarrowFloat(DType dtype) { return IsFloat(dtype) && Bytes(dtype) < 4; }

/// Integers of a byte; arithmetic on them happens in i32.
inline constexpr bool IsNarrowInteger(DType dtype) { return IsInteger(dtype) && Bytes(dtype) < 4; }

/// The type that arithmetic on `dtype` happens in, and that its result has.
inline constexpr DType WidenedType(DType dtype) {
  return IsNarrowFloat(dtype) ? DType::kF32 : IsNarrowInteger(dtype) ? DType::kI32 : dtype;
}

/// The type written `name` in .tk, or nothing.
inline constexpr std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

/// An axis of `extent` elements counts the parts of small structures: 2 or 4, of 16 bytes together at most.
inline constexpr bool AreStructureParts(int64_t extent, DType dtype) {
  return (extent == 2 || extent == 4) && extent * Bytes(dtype) <= 16;
}
/// How many parts the small structures of a tensor have whose last axis counts `last`; 1: it has none.
inline constexpr int64_t StructureParts(size_t rank, int64_t last, DType dtype) {
  return rank > 1 && AreStructureParts(last, dtype) ? last : 1;
}

}  // namespace tkc

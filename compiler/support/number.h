// SPDX-License-Identifier: MIT
// Numbers as the language has them. A value of a float type is held in a double that the type can represent exactly;
// a value of an integer type (or bool) in an int64_t, u64 as its bit pattern. Every conversion rounds here, once:
// nearest even into a float type, truncation with saturation from float to integer (NaN gives 0), wrapping from
// integer to integer. f32 sums, differences, products, quotients and roots computed in double and then rounded are
// the correctly rounded f32 results, as 53 >= 2 * 24 + 2 bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "compiler/support/dtype.h"

namespace tkc {

/// `x` rounded to nearest even in `dtype` (a float type); 16-bit types overflow to infinity, fp8 types saturate.
double RoundReal(DType dtype, double x);

/// Rounds `count` values in place.
void RoundReals(DType dtype, double* values, int64_t count);

/// `x` modulo 2^bits of `dtype` (an integer type), sign- or zero-extended; bool is x != 0.
int64_t WrapInteger(DType dtype, __int128 x);

/// The mathematical value that the stored integer stands for (u64 is stored as its bit pattern).
inline __int128 IntegerValue(DType dtype, int64_t x) {
  return dtype == DType::kU64 ? static_cast<__int128>(static_cast<uint64_t>(x)) : static_cast<__int128>(x);
}

/// Truncates toward zero and saturates at the range of `dtype`; NaN gives 0; bool is x != 0.
int64_t IntegerFromReal(DType dtype, double x);

/// The integer `x` rounded once to nearest even in `dtype`.
double RealFromInteger(DType dtype, __int128 x);

/// The bits in memory of a number that `dtype` (a float type of up to 16 bits) represents exactly, and back.
uint16_t EncodeSmallFloat(DType dtype, double x);
double DecodeSmallFloat(DType dtype, uint16_t bits);

/// One element in memory, little endian as on every host that tkc runs on.
inline double LoadReal(DType dtype, const uint8_t* from) {
  if (dtype == DType::kF32) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  if (dtype == DType::kF64) {
    double value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(Bytes(dtype)));
  return DecodeSmallFloat(dtype, bits);
}

inline int64_t LoadInteger(DType dtype, const uint8_t* from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(Bytes(dtype)));
  return WrapInteger(dtype, static_cast<__int128>(bits));
}

/// Stores a number that `dtype` represents exactly.
void StoreReal(DType dtype, double value, uint8_t* to);
void StoreInteger(DType dtype, int64_t value, uint8_t* to);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Random contents for tensors, the same on every machine and in every build: no library distribution is used, and the
// numbers of a tensor depend on the seed and its name only.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/interp/tensor.h"

namespace tkc::interp {

enum class FillKind : uint8_t {
  kNormal,    // floats: about normally distributed, mean 0, deviation 1
  kIntegers,  // floats: integers -8 .. 8, so that sums of products are exact
  kSmall,     // floats: integers -2 .. 2, so that products of sums are, too
};

/// Integer types get -8 .. 8 (unsigned: 0 .. 8), bool both truth values, whatever the kind.
void FillRandom(Tensor& tensor, std::string_view name, uint64_t seed, FillKind kind);

/// Numbers that do not decrease, from 0 to 2 on: where runs of 0 to 96 elements begin and end.
void FillRuns(Tensor& tensor, std::string_view name, uint64_t seed);

/// FNV-1a, 64 bits.
inline constexpr uint64_t kHashStart = 0xcbf29ce484222325;
inline uint64_t HashByte(uint64_t hash, uint8_t byte) { return (hash ^ byte) * 0x100000001b3; }

}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
#include "compiler/layout/bit_matrix.h"

#include <array>
#include <bit>
#include <utility>

namespace tkc::layout {

BitMatrix BitMatrix::Identity(int bits) {
  std::vector<uint64_t> columns;
  for (int i = 0; i < bits; ++i) columns.push_back(uint64_t{1} << i);
  return {bits, std::move(columns)};
}

uint64_t BitMatrix::Apply(uint64_t input) const {
  uint64_t output = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (input >> i & 1) output ^= columns_[i];
  }
  return output;
}

BitMatrix BitMatrix::After(const BitMatrix& inner) const {
  std::vector<uint64_t> columns;
  for (const uint64_t column : inner.columns_) columns.push_back(Apply(column));
  return {outputs_, std::move(columns)};
}

int BitMatrix::Rank() const { return layout::Rank(columns_); }

/// Gauss-Jordan elimination on pairs (column of the map, unit vector that makes it).
std::optional<BitMatrix> BitMatrix::Inverse() const {
  const int bits = Inputs();
  if (bits != outputs_ || Rank() != bits) return std::nullopt;
  std::vector<uint64_t> values = columns_, sources = Identity(bits).columns_;
  for (int bit = 0; bit < bits; ++bit) {
    int pivot = bit;
    while ((values[pivot] >> bit & 1) == 0) ++pivot;
    std::swap(values[pivot], values[bit]);
    std::swap(sources[pivot], sources[bit]);
    for (int other = 0; other < bits; ++other) {
      if (other == bit || (values[other] >> bit & 1) == 0) continue;
      values[other] ^= values[bit];
      sources[other] ^= sources[bit];
    }
  }
  return BitMatrix(bits, std::move(sources));
}

int Rank(std::span<const uint64_t> vectors, uint64_t mask) {
  std::array<uint64_t, 64> basis{};  // by leading bit
  int rank = 0;
  for (uint64_t vector : vectors) {
    vector &= mask;
    while (vector != 0) {
      uint64_t& member = basis[std::bit_width(vector) - 1];
      if (member == 0) {
        member = vector;
        ++rank;
        break;
      }
      vector ^= member;
    }
  }
  return rank;
}

}  // namespace tkc::layout

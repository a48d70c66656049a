// SPDX-License-Identifier: MIT
#include "compiler/layout/bit_matrix.h"

#include <array>
#include <bit>

namespace tkc::layout {

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

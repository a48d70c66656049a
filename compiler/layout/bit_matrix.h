// SPDX-License-Identifier: MIT
// Linear maps over bits: matrices over GF(2), a column per input bit. Layouts of power-of-two tiles are such maps: which bits of a
// thread's number and of its register's number make up the row, the column, the address. Swizzles are too: they XOR address bits.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace tkc::layout {

/// Which bit a power of two is.
inline int Log2(int64_t power) { return std::countr_zero(static_cast<uint64_t>(power)); }

class BitMatrix {
 public:
  /// Columns in order of the input bits, lowest first; `outputs` bits of each count.
  BitMatrix(int outputs, std::vector<uint64_t> columns) : outputs_(outputs), columns_(std::move(columns)) {}

  int Inputs() const { return static_cast<int>(columns_.size()); }
  int Outputs() const { return outputs_; }
  uint64_t Column(int input) const { return columns_[input]; }
  std::span<const uint64_t> Columns() const { return columns_; }

  uint64_t Apply(uint64_t input) const;
  /// x -> (*this)(inner(x))
  BitMatrix After(const BitMatrix& inner) const;
  int Rank() const;

  bool operator==(const BitMatrix&) const = default;

 private:
  int outputs_;
  std::vector<uint64_t> columns_;
};

/// Dimension of the space that the vectors span, looking only at the bits of `mask`: they reach 2^Rank different values.
int Rank(std::span<const uint64_t> vectors, uint64_t mask = ~uint64_t{0});

}  // namespace tkc::layout

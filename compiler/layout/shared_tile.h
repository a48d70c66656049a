// SPDX-License-Identifier: MIT
// Where the elements of a tile lie in shared memory, as tk::shared_tile has it: panels as wide as the swizzle, rows of a panel one
// after another, panels one after another, and the swizzle's XOR over the bits of the address. The tile starts at a multiple of
// 1024.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/layout/bit_matrix.h"
#include "compiler/layout/register_layout.h"
#include "compiler/layout/swizzle.h"
#include "compiler/support/dtype.h"

namespace tkc::layout {

struct SharedTile {
  DType dtype = DType::kF32;
  int64_t rows = 1, cols = 1;
  Swizzle swizzle = Swizzle::kNone;

  int64_t PanelCols() const { return swizzle == Swizzle::kNone ? cols : PanelBytes(swizzle) / Bytes(dtype); }
  int64_t Pitch() const { return PanelCols() * Bytes(dtype); }
  /// Byte offset of an element.
  int64_t Offset(int64_t row, int64_t col) const;
};

/// The XOR of a swizzle as a map of address bits: k128: bits 4-6 ^= 7-9; k64: 4-5 ^= 7-8; k32: 4 ^= 7; kT128: 5 ^= 8, 6 ^= 10.
BitMatrix SwizzleMap(Swizzle swizzle, int bits);

/// From register bits to the place in a block of a register tile. Inputs, lowest first: element of the vector, half, lane (5), warp
/// (2). Outputs: column bits, then row bits.
BitMatrix RegisterMap(const RegisterLayout& layout);

/// From the place in a block of 2^col_bits columns and 2^row_bits rows (column bits lowest) to the address. Bits 0 to 39 are those
/// of the address as long as no carry leaves the 1024 bytes in which the swizzle repeats; the panel's number stands from bit 40, as
/// panels are not a power of two apart: the map is injective where the tile is, and exact in the bits that choose the bank. Nothing
/// where that is not linear: an unswizzled pitch that is no power of two, panels that do not start at a multiple of the pattern.
std::optional<BitMatrix> AddressMap(const SharedTile& tile, int col_bits, int row_bits);

}  // namespace tkc::layout

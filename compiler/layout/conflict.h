// SPDX-License-Identifier: MIT
// Bank conflicts of moving a register tile to or from a tile in shared memory.
#pragma once

#include "compiler/layout/bank_model.h"
#include "compiler/layout/register_layout.h"
#include "compiler/layout/shared_tile.h"

namespace tkc::layout {

enum class AccessKind : uint8_t {
  kLoad,         // ld.shared: a vector per lane
  kStore,        // st.shared; copies of an element are stored once
  kLoadMatrix,   // ldmatrix: 16-bit elements in the matrix unit's fragment
  kStoreMatrix,  // stmatrix
};

struct Access {
  AccessKind kind = AccessKind::kLoad;
  bool transposed = false;  // the register tile is the transposed of the shared one
};

/// Whether a tile of 16-bit elements that lies transposed is loaded as the 8x8 blocks of ldmatrix, turned: four lanes of a row have
/// eight neighbours each, a pair from each of four matrices.
bool TakesTurnedMatrices(const RegisterLayout& layout, DType dtype);

/// Bytes that one lane moves with one instruction.
int AccessWidth(const RegisterLayout& layout, const SharedTile& tile, Access access);

/// Cost of the costliest instruction of the move, by ranks of bit matrices: 2^(rank of the words - rank of their banks) words a
/// bank. The register tile must be one that the layout holds. Where the layout of the tile is not linear, by enumeration.
BankCost Conflicts(const RegisterLayout& layout, const SharedTile& tile, Access access);

/// The same from the lanes' addresses, instruction by instruction: the oracle of the tests.
BankCost EnumerateConflicts(const RegisterLayout& layout, const SharedTile& tile, Access access);

}  // namespace tkc::layout

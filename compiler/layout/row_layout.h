// SPDX-License-Identifier: MIT
// How the threads of a warpgroup share its register tiles where no matrix instruction dictates it, and the swizzle of a shared
// tile.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/layout/register_layout.h"
#include "compiler/layout/swizzle.h"
#include "compiler/support/dtype.h"

namespace tkc::layout {

struct TileShape {
  int64_t rows = 1, cols = 1;
  DType dtype = DType::kF32;
  bool in_memory = false;  // read from or stored to global memory: its vectors should be 16 bytes
  bool is_turned = false;  // read from shared memory the other way round
  bool is_window = false;  // one of several parts of a tile that lie a few rows apart and overlap
  int64_t parts = 1;       // elements of memory for each column: of a structure of which this tile is one part
  bool is_held = true;     // takes registers of its own: no vector that is stored as the one that it was turned from
};

inline constexpr int64_t kAnyVector = 16;  // elements: as many as memory moves at once

/// One layout that holds all these tiles, whatever their shapes, in warps of so many lanes. Vectors of 16 bytes for what goes to
/// memory, then all lanes busy, then rows over warps, then columns over the warps left; where threads would hold copies, narrower
/// vectors occupy more of them. A row of what is turned around has few lanes. Of windows a thread has rows that are neighbours, so
/// that most of those of one window are also its rows of the next. Where there are but long rows and long columns, lanes are shared
/// out so that both take few registers. Shapes without powers of two leave lanes and warps holding copies.
/// No vector has more than `most_vec` elements. `shift`: a multiple of the rows of a block, but for 0.
RegisterLayout ChooseRowLayout(std::span<const TileShape> tiles, int lanes = 32, int64_t most_vec = kAnyVector, int64_t shift = 0);

/// Whether each thread has elements of its own, and the lanes of a row move a sector of memory or more at once.
bool IsDealtWell(const RegisterLayout& layout, std::span<const TileShape> tiles, int lanes = 32);

/// What a layout takes for these tiles: the elements that a thread has of them, and as much as four for each access to memory;
/// twice that where the lanes of a row move less than a sector at once.
int64_t CostOf(const RegisterLayout& layout, std::span<const TileShape> tiles);

/// The widest swizzle whose panels are full but for an eighth at most, or the narrowest: the matrix unit reads swizzled tiles only,
/// and the last panel may be partly unused. None for what a swizzle can't part: a single row or column, or rows that are no
/// multiple of 16 bytes.
Swizzle ChooseSwizzle(DType dtype, int64_t rows, int64_t cols);

}  // namespace tkc::layout

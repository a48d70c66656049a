// SPDX-License-Identifier: MIT
// The instructions with which the runtime moves tiles through shared memory, lane by lane, and their cost in bank cycles. Each
// function mirrors one of runtime/include/tk/ops, whose choices (matrices or vectors, how wide) it repeats.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"
#include "compiler/layout/register_layout.h"

namespace tkc::passes {

/// Of the 8 x 8 matrices of 16-bit elements that ldmatrix and stmatrix move.
inline constexpr int kRowsOfMatrix = 8;

/// A window of rows x cols elements at (row0, col0) of a tile in shared memory; transposed: rows and columns are those seen through
/// it.
struct Window {
  const ir::Buffer* buffer = nullptr;
  int64_t row0 = 0, col0 = 0, rows = 1, cols = 1;
  bool transposed = false;

  /// Byte offset from the start of the tile, swizzled: shared_view::address.
  int64_t Address(int64_t row, int64_t col) const;
};

/// Warp instructions, the bank cycles (wavefronts) that they take, and those that they would take without conflicts.
struct MoveCost {
  int64_t instructions = 0, wavefronts = 0, ideal = 0;
  int width = 0;  // bytes a lane
  bool as_matrices = false;
};

/// warpgroup::load_shared, warpgroup::store_shared.
MoveCost RegisterMove(const layout::RegisterLayout& registers, const Window& window, bool is_store);
/// The side in shared memory of copy_global_to_shared (stores) and copy_shared_to_global by `threads` threads, in pieces of `width`
/// bytes.
MoveCost GuardedMove(const Window& window, int threads, int width, bool is_store);
/// Whether pieces of `width` bytes fit the window: detail::with_widest_piece.
bool TakesPieces(const Window& window, int width);
/// The exchange between the warps of a reduction to `results` columns or rows (detail::combine_warps), or of a scan of as many,
/// which exchange a result for each stretch (detail::scan).
MoveCost ScratchMove(const layout::RegisterLayout& registers, DType dtype, int64_t results, int64_t stretches, bool of_rows,
                     bool is_store);
/// tk::split::send (one share) and collect (`shares` of them) of a fragment of rows x cols.
MoveCost FragmentMove(int64_t rows, int64_t cols, int64_t shares, bool is_store);
/// One fetch of eight rows of 16 bytes, the costliest of the window.
MoveCost MatrixFetch(const Window& window);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/layout/register_layout.h"

namespace tkc::layout {

RegisterLayout RegisterLayout::ForRows(int64_t rows) const {
  RegisterLayout layout = *this;
  if (rows == 1 || warp_cols > 1) return layout;
  while (layout.warp_rows > 1 && rows % layout.RowsPerBlock() != 0) layout.warp_rows /= 2;
  return layout;
}

int64_t RegisterLayout::PerThread(int64_t rows, int64_t cols) const {
  if (!HoldsCols(cols)) return rows * cols / (int64_t{lanes} * lane_rows * warp_rows * warp_cols);  // reshaped: no thread has more
  const int64_t down = rows == 1 ? 1 : rows / ForRows(rows).RowsPerBlock() * halves;
  const int64_t across = cols == 1 ? 1 : cols / ColsPerBlock() * vec;
  return down * across;
}

}  // namespace tkc::layout

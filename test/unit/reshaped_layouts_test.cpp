// SPDX-License-Identifier: MIT
// Layouts of cut and joined rows: each thread's registers hold the same elements before and behind, in the same order.
#include <gtest/gtest.h>

#include <vector>

#include "compiler/passes/reshaped_layouts.h"

namespace tkc::passes {
namespace {

using ir::RegisterLayout;

/// The numbers, row by row, of the elements in a thread's registers: the formulas of the runtime's tk::layout and
/// tk::register_tile.
std::vector<int64_t> Elements(const RegisterLayout& l, int64_t rows, int64_t cols, int warp, int lane) {
  const int64_t down = l.RowsPerBlock(), across = cols == 1 ? 1 : l.ColsPerBlock(), vec = cols == 1 ? 1 : l.vec;
  EXPECT_EQ(rows % down, 0);
  EXPECT_EQ(cols % across, 0);
  const int lane_col = lane / l.apart % l.lanes, lane_row = lane / (l.apart * l.lanes) % l.lane_rows;
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < rows / down; ++i)
    for (int64_t j = 0; j < cols / across; ++j)
      for (int64_t h = 0; h < l.halves; ++h)
        for (int64_t e = 0; e < vec; ++e) {
          const int64_t row = i * down + h * l.lane_rows + warp % l.warp_rows * (l.halves * l.lane_rows) + lane_row;
          const int64_t col = cols == 1 ? 0 : j * across + e + lane_col * l.vec;
          elements.push_back(row * cols + col);
        }
  return elements;
}

void ExpectSame(const RegisterLayout& a, int64_t a_rows, int64_t a_cols, const RegisterLayout& b, int64_t b_rows, int64_t b_cols,
                int lanes) {
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < lanes; ++lane)
      ASSERT_EQ(Elements(a, a_rows, a_cols, warp, lane), Elements(b, b_rows, b_cols, warp, lane))
          << "warp " << warp << ", lane " << lane;
}

struct Case {
  RegisterLayout layout;
  int64_t rows, cols, cut_cols;
  int lanes = 32;
};

TEST(ReshapedLayouts, ElementsStayInTheirRegisters) {
  const Case cases[] = {
      {{32, 16, 1, 1, 4, 1}, 4, 1024, 128}, {{32, 16, 1, 1, 4, 1}, 8, 512, 16},       {{32, 8, 1, 1, 4, 1}, 4, 768, 256},
      {{16, 4, 1, 2, 4, 1}, 16, 64, 16},    {{16, 4, 2, 2, 4, 1}, 32, 64, 32},        {{8, 8, 1, 4, 2, 1}, 8, 64, 8},
      {{32, 1, 1, 1, 4, 1}, 4, 96, 8},      {{64, 16, 1, 1, 4, 1}, 4, 1024, 128, 64},
  };
  for (const Case& c : cases) {
    const auto cut = CutLayout(c.layout, c.cols, c.cut_cols);
    ASSERT_TRUE(cut);
    const int64_t count = c.cols / c.cut_cols;
    ExpectSame(c.layout, c.rows, c.cols, *cut, c.rows * count, c.cut_cols, c.lanes);
    const auto numbers = JoinedColumnLayout(*cut, count);
    ASSERT_TRUE(numbers);
    ExpectSame(*cut, c.rows * count, 1, *numbers, c.rows, count, c.lanes);
  }
}

TEST(ReshapedLayouts, NoneWhereElementsWouldMove) {
  EXPECT_FALSE(CutLayout({32, 8, 1, 1, 1, 4}, 2048, 128));  // a row over all warps
  EXPECT_FALSE(CutLayout({32, 16, 1, 1, 4, 1}, 1024, 8));   // less than a lane's run
  EXPECT_FALSE(CutLayout({32, 8, 1, 1, 4, 1}, 1024, 512));  // more than all lanes have at a time
  EXPECT_FALSE(CutLayout({16, 4, 1, 2, 4, 1}, 128, 16));    // rows of a warp, of several blocks each
  EXPECT_FALSE(CutLayout({}, 128, 32));                     // the fragment of the matrix unit
  EXPECT_FALSE(JoinedColumnLayout({8, 16, 2, 4, 4, 1}, 2 * 8));
  EXPECT_FALSE(JoinedColumnLayout({8, 16, 1, 4, 4, 1}, 3));
}

}  // namespace
}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/live_tiles.h"

#include <gtest/gtest.h>

#include "compiler/ir/ir.h"
#include "compiler/layout/register_layout.h"

namespace tkc::passes {
namespace {

// As dealt, a column counts by the lanes that a warp has: 32, or 64 where the layout deals to so many.
TEST(LiveTiles, ColumnsAreDealtToAllLanes) {
  const ir::Type column{DType::kF32, 1024, 1, ir::Space::kRegister, false};
  EXPECT_EQ(RegistersOf(column, layout::kMatrixFragment, Columns::kHeld), 32);
  EXPECT_EQ(RegistersOf(column, layout::kMatrixFragment, Columns::kDealt), 32);
  const ir::RegisterLayout wave{.lanes = 16, .vec = 1, .halves = 4, .lane_rows = 4, .warp_rows = 4};
  EXPECT_EQ(RegistersOf(column, wave, Columns::kHeld), 64);
  EXPECT_EQ(RegistersOf(column, wave, Columns::kDealt), 16);
}

}  // namespace
}  // namespace tkc::passes

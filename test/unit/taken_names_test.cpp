// SPDX-License-Identifier: MIT
// Names that are free beside those that are taken: numbered from 1, past numbers that the source has given itself.
#include "compiler/ir/taken_names.h"

#include <gtest/gtest.h>

namespace tkc::ir {
namespace {

TEST(TakenNames, NumbersAreCountedOn) {
  TakenNames names = {"tile"};
  EXPECT_EQ(names.TakeFree("row"), "row");
  EXPECT_EQ(names.TakeFree("row"), "row_1");
  EXPECT_EQ(names.TakeFree("row"), "row_2");
  EXPECT_EQ(names.TakeFree("tile"), "tile_1");
}

TEST(TakenNames, NumbersOfTheSourceAreTaken) {
  TakenNames names = {"row", "row_1", "row_3"};
  EXPECT_EQ(names.Free("row"), "row_2");
  EXPECT_EQ(names.TakeFree("row"), "row_2");
  EXPECT_EQ(names.TakeFree("row"), "row_4");
  EXPECT_EQ(names.TakeFree("row_1"), "row_1_1");
}

TEST(TakenNames, FreeNamesAreNotTaken) {
  TakenNames names = {"row"};
  EXPECT_EQ(names.Free("row"), "row_1");
  EXPECT_EQ(names.Free("row"), "row_1");
  EXPECT_FALSE(names.Contains("row_1"));
  EXPECT_FALSE(names.Take("row"));
}

}  // namespace
}  // namespace tkc::ir

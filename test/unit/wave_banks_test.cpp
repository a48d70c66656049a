// SPDX-License-Identifier: MIT
// Operands' loads on waves of 64 lanes: ranks against enumeration, and a swizzle without conflicts for every way to read a tile.
#include <gtest/gtest.h>

#include <vector>

#include "compiler/layout/wave_banks.h"
#include "compiler/target/target.h"

namespace tkc::layout {
namespace {

constexpr FragmentRead kReads[] = {{true, true, true},   {true, false, true},  {false, true, true},
                                   {false, false, true}, {false, true, false}, {false, false, false}};

TEST(WaveBanks, GroupsCoverAllLanes) {
  for (const char* name : {"gfx942", "gfx950"}) {
    for (const BankRule& rule : FindTarget(name)->bank_rules) {
      std::vector<uint64_t> lanes;
      for (const uint8_t lane : rule.together) {
        if (lane != 0) lanes.push_back(lane);
      }
      EXPECT_EQ(Rank(lanes), static_cast<int>(lanes.size())) << name << ", " << rule.width;
      // What a clock can move at most: all banks.
      EXPECT_LE((1 << lanes.size()) * rule.width, rule.banks * 4) << name << ", " << rule.width;
    }
  }
}

/// The groups as they were seen, written out.
TEST(WaveBanks, GroupsOfSixteenBytes) {
  const auto together = [](const char* name, int lane) {
    for (const BankRule& rule : FindTarget(name)->bank_rules) {
      if (rule.access != WaveAccess::kLoad || rule.width != 16) continue;
      std::vector<uint64_t> span;
      for (const uint8_t basis : rule.together) {
        if (basis != 0) span.push_back(basis);
      }
      const int rank = Rank(span);
      span.push_back(static_cast<uint64_t>(lane));
      return Rank(span) == rank;
    }
    return false;
  };
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    EXPECT_EQ(together("gfx942", lane), lane <= 3 || (lane >= 20 && lane <= 23)) << lane;
    EXPECT_EQ(together("gfx950", lane), lane <= 3 || (lane >= 12 && lane <= 15) || (lane >= 20 && lane <= 27)) << lane;
  }
}

TEST(WaveBanks, RanksAgreeWithEnumeration) {
  for (const char* name : {"gfx942", "gfx950"}) {
    const Target& target = *FindTarget(name);
    for (const int64_t rows : {16, 32, 64, 128}) {
      for (const int64_t cols : {16, 32, 64, 128, 192, 256}) {
        for (const Swizzle swizzle : {Swizzle::kNone, Swizzle::k32, Swizzle::k64, Swizzle::k128, Swizzle::kT128}) {
          const SharedTile tile{DType::kBF16, rows, cols, swizzle};
          if (swizzle != Swizzle::kNone && cols % tile.PanelCols() != 0) continue;
          for (const FragmentRead& read : kReads) {
            const BankCost ranks = FragmentConflicts(target.bank_rules, tile, read);
            const BankCost lanes = EnumerateFragmentConflicts(target.bank_rules, tile, read);
            EXPECT_EQ(ranks.cycles, lanes.cycles) << name << " " << rows << " x " << cols << ", " << Name(swizzle);
            EXPECT_EQ(ranks.degree, lanes.degree) << name << " " << rows << " x " << cols << ", " << Name(swizzle);
          }
        }
      }
    }
  }
}

/// What gfx942 and gfx950 do with a tile: every such read has a swizzle without conflicts, and it is chosen.
TEST(WaveBanks, ChosenSwizzleHasNoConflicts) {
  const auto degree = [](const char* name, SharedTile tile, FragmentRead read) {
    const std::span<const BankRule> rules = FindTarget(name)->bank_rules;
    tile.swizzle = ChooseFragmentSwizzle(rules, tile, std::span(&read, 1));
    return EnumerateFragmentConflicts(rules, tile, read).degree;
  };
  for (const int64_t extent : {32, 64, 128}) {
    const SharedTile along{DType::kBF16, 128, extent}, across{DType::kF16, extent, 128};
    EXPECT_EQ(degree("gfx950", along, {true, true, true}), 1) << extent;
    EXPECT_EQ(degree("gfx942", along, {true, true, false}), 1) << extent;
    EXPECT_EQ(degree("gfx950", across, {false, true, true}), 1) << extent;
    EXPECT_EQ(degree("gfx950", across, {false, false, true}), 1) << extent;
    EXPECT_EQ(degree("gfx942", across, {false, true, false}), 1) << extent;
    EXPECT_EQ(degree("gfx942", across, {false, false, false}), 1) << extent;
  }
  const SharedTile b{DType::kBF16, 64, 256};
  const FragmentRead read{false, true, true};
  EXPECT_EQ(ChooseFragmentSwizzle(FindTarget("gfx950")->bank_rules, b, std::span(&read, 1)), Swizzle::kT128);
}

}  // namespace
}  // namespace tkc::layout

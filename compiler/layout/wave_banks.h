// SPDX-License-Identifier: MIT
// Shared memory of GPUs with waves of 64 lanes: which lanes an instruction serves in one clock, and over how many banks of 4 bytes,
// as data; the conflicts of loading a matrix operand, and the swizzle that has none.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "compiler/layout/bank_model.h"
#include "compiler/layout/shared_tile.h"
#include "compiler/support/dtype.h"

namespace tkc::layout {

inline constexpr int kWaveLanes = 64;

enum class WaveAccess : uint8_t { kLoad, kTransposingLoad, kStore };

/// The lanes that go together are a subspace of the lane numbers under XOR, spanned by `together` (0: unused), and its cosets.
struct BankRule {
  WaveAccess access = WaveAccess::kLoad;
  int width = 4;  // bytes a lane; narrower accesses go as 4
  int banks = 32;
  std::array<uint8_t, 6> together{};
};

/// An operand of 16 rows (of a left one; columns of a right one) by 16 or 32 of K, as tk::warpgroup::load_left and load_right take
/// it from a tile.
struct FragmentRead {
  bool k_along_columns = true;  // of the tile as it lies
  bool wide = true;             // eight neighbours of K in a lane, not four and four: the other operand is loaded, too
  bool transposes = true;       // there is a load that transposes; else single elements are gathered
};

/// Clocks of one such load, by ranks of bit matrices; by enumeration where the tile is not linear.
BankCost FragmentConflicts(std::span<const BankRule> rules, const SharedTile& tile, FragmentRead read);
/// The same from all lanes' addresses: the oracle of the tests.
BankCost EnumerateFragmentConflicts(std::span<const BankRule> rules, const SharedTile& tile, FragmentRead read);

/// The swizzle (SharedTile::swizzle) among those whose panels divide the tile's columns with which its reads take the fewest
/// clocks; of equal ones the widest.
Swizzle ChooseFragmentSwizzle(std::span<const BankRule> rules, const SharedTile& tile, std::span<const FragmentRead> reads);

}  // namespace tkc::layout

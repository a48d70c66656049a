// SPDX-License-Identifier: MIT
// Shared-memory banks of Hopper as measured: 32 banks of 4 bytes. Stores of 8 bytes go by half-warps, of 16 by quarter-warps. Loads
// too, except that neighbouring groups merge when every even lane and its odd neighbour agree on the address, or one of them is
// idle.
#pragma once

#include <array>
#include <cstdint>

namespace tkc::layout {

inline constexpr int kLanes = 32;
inline constexpr int kLaneBits = 5;
inline constexpr int kWord = 4;  // bytes
inline constexpr int64_t kIdle = -1;

/// Byte address of each lane, or kIdle.
using LaneAddresses = std::array<int64_t, kLanes>;

struct BankCost {
  int cycles = 0;
  int degree = 0;  // most different words of one bank that one group needs: 1 is free of conflicts, 0 is no access
  int ideal = 0;   // cycles if no group had a conflict
};

/// One instruction that moves `width` (1 to 16) bytes per lane.
BankCost StoreCost(const LaneAddresses& addresses, int width);
BankCost LoadCost(const LaneAddresses& addresses, int width);
/// One 8x8 matrix of ldmatrix or stmatrix: the addresses of its eight rows of 16 bytes.
BankCost MatrixCost(const std::array<int64_t, 8>& rows);

}  // namespace tkc::layout

// SPDX-License-Identifier: MIT
// How many registers of a thread its tiles must leave free, for loop counters, addresses and descriptors. These numbers describe
// the compiler of the output more than the GPU: what it makes of the runtime's loops. Those given here were measured with nvcc on
// an H200 (`tools/bench --rowwise`: kernels of examples/rowwise that leave 12 registers do not spill, those that leave 7 do). A
// target for which others hold says so in its row.
#pragma once

#include <cstdint>

namespace tkc {

struct RegistersBesideTiles {
  int64_t for_addresses = 24;         // in a block that has the multiprocessor to itself, or multiplies
  int64_t for_addresses_of_many = 8;  // in one of several blocks, which are to have the loads of all under way
  int64_t for_addresses_ahead = 12;   // in a block whose next loads are under way while it computes (advance_reads)
  int64_t for_further_copies = 16;    // in addition, for each tile beyond two that a loop receives and its threads copy
  int64_t for_whole_loads = 16;       // in addition, where all loads of a tile are under way at once
  // Beside the sums of matrix instructions that a warpgroup has in flight, as ptxas reports (C7602). Of 208 sums in 232 registers
  // it spills all (C7512).
  int64_t for_operands = 26;

  // What plan_registers adds to tiles when it estimates the registers of a kernel without products; the largest sum counts.
  int64_t for_addresses_of_all = 30;     // to tiles that are kept: addresses of all loads
  int64_t kept_per_address = 24;         // with three tensors or more, one more for each so many registers that are kept
  int64_t kept_per_fourth = 48;          // with four tensors or more, yet one more for each so many
  int64_t kept_beside_columns = 32;      // if so many are kept, addresses of the columns that a loop accesses come on top
  int64_t for_addresses_of_staging = 8;  // if tiles, or the numbers of tiles, go through shared memory
  int64_t for_positions = 16;            // to all tiles that are in use at once
  int64_t for_addresses_of_stores = 24;  // to a tile that is stored, with the tiles that are needed after the store
  int64_t for_ends = 2;                  // to that, if stored blocks have ends of their own
  int64_t for_what_no_tile_shows = 32;   // to the largest sum, if a body has scans, masks and the like
};

}  // namespace tkc

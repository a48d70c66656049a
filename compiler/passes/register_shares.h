// SPDX-License-Identifier: MIT
// How the registers of a multiprocessor are dealt out to the threads of a block: what a schedule promises its workers.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// 32-bit registers of a thread.
struct RegisterShares {
  int64_t at_entry = 0;   // of every thread when the kernel starts
  int64_t computing = 0;  // of a thread that computes, in the end: roles that copy may have given it some of theirs
  int64_t for_tiles = 0;  // of `computing`, those that tiles may fill; the others hold loop counters, addresses and descriptors
  int64_t copying = 0;    // of a thread that copies, if it gives registers up; else 0
};

/// How many registers a statement that is cut into parts or recomputed may take: those for tiles; in a kernel without products of
/// which several blocks share a multiprocessor, all.
inline int64_t ForStatement(const RegisterShares& shares, const ir::Kernel& kernel, const ir::Worker& worker) {
  return kernel.resident > 1 && !worker.layout.IsFragment() ? shares.computing : shares.for_tiles;
}

/// Of those for tiles, how many the products of a region may take, where threads that multiply keep the places of what they copy
/// beside. For targets whose threads copy.
int64_t ForProducts(const RegisterShares& shares, const ir::Region& region);

/// Needs to know the kernel's roles and their threads: for use after assign_roles.
RegisterShares ShareRegisters(const ir::Kernel& kernel, const Target& target);

// How many registers of a thread its tiles must leave free, for loop counters, addresses and descriptors. These numbers describe no
// GPU: they describe what the compiler of the output makes of the runtime's loops. They were measured on an H200
// (`tools/bench --rowwise`): kernels of examples/rowwise that leave 12 registers do not spill, those that leave 7 do.

inline constexpr int64_t kForAddresses = 24;       // in a block that has the multiprocessor to itself, or multiplies
inline constexpr int64_t kForAddressesOfMany = 8;  // in one of several blocks, which are to have the loads of all under way
inline constexpr int64_t kForAddressesAhead = 12;  // in a block whose next loads are under way while it computes (advance_reads)
inline constexpr int64_t kForFurtherCopies = 16;  // in addition, for each tile beyond two that a loop receives and its threads copy
inline constexpr int64_t kForWholeLoads = 16;     // in addition, on targets that have all loads of a tile under way at once

// What plan_registers adds to tiles when it estimates the registers of a kernel without products; the largest sum counts.
inline constexpr int64_t kForAddressesOfAll = 30;  // to tiles that are kept: addresses of all loads
inline constexpr int64_t kKeptPerAddress = 24;     // with three tensors or more, one more for each so many registers that are kept
inline constexpr int64_t kKeptPerFourth = 48;      // with four tensors or more, yet one more for each so many
inline constexpr int64_t kKeptBesideColumns = 32;  // if so many are kept, addresses of the columns that a loop accesses come on top
inline constexpr int64_t kForAddressesOfStaging = 8;  // if tiles, or the numbers of tiles, go through shared memory
inline constexpr int64_t kForPositions = 16;          // to all tiles that are in use at once
inline constexpr int64_t kForAddressesOfStores = 24;  // to a tile that is stored, with the tiles that are needed after the store
inline constexpr int64_t kForEnds = 2;                // to that, if stored blocks have ends of their own
inline constexpr int64_t kForWhatNoTileShows = 32;    // to the largest sum, if a body has scans, masks and the like

/// How many registers a thread has if as many blocks share a multiprocessor as the kernel says.
int64_t RegistersOfResident(const ir::Kernel& kernel, const Target& target);

}  // namespace tkc::passes

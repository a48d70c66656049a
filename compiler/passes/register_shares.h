// SPDX-License-Identifier: MIT
// How the registers of a multiprocessor are dealt out to the threads of a block: what a schedule promises its workers.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::passes {

inline constexpr int64_t kRegisterUnit = 8;  // setmaxnreg and the launch count in eights

/// 32-bit registers of a thread.
struct RegisterShares {
  int64_t at_entry = 0;   // what a launch gives every thread
  int64_t computing = 0;  // what a role that computes has in the end
  int64_t for_tiles = 0;  // of these, what it may keep tiles in; the rest is for loop counters, addresses, descriptors
  int64_t copying = 0;    // what others leave themselves where they give registers to those that compute; else 0
};

/// What a statement that is cut or computed anew may take: without products, where several blocks share a multiprocessor, all.
inline int64_t ForStatement(const RegisterShares& shares, const ir::Kernel& kernel, const ir::Worker& worker) {
  return kernel.resident > 1 && !worker.layout.IsFragment() ? shares.computing : shares.for_tiles;
}

/// Of a kernel whose roles and threads are known.
RegisterShares ShareRegisters(const ir::Kernel& kernel, const Target& target);

/// Registers of a thread beside those of its tiles: loop counters, addresses, descriptors. They are no property of a GPU but of
/// what the compiler of the output makes of the runtime's loops, and were found by trying on an H200 (`tools/bench --rowwise`): of
/// examples/rowwise what leaves 12 does not spill, and what leaves 7 does.
inline constexpr int64_t kForAddresses = 24;          // a block that has a multiprocessor to itself
inline constexpr int64_t kForAddressesOfMany = 8;     // each of several blocks, which are to have the loads of all under way
inline constexpr int64_t kForAddressesAhead = 12;     // a block whose next loads are under way while it computes (advance_reads)
inline constexpr int64_t kForAddressesOfAll = 30;     // a kernel without products, beside the tiles that it keeps: of all its loads
inline constexpr int64_t kKeptPerAddress = 24;        // one more for so many that it keeps, where it has more than two tensors
inline constexpr int64_t kKeptPerFourth = 48;         // another for so many, where it has more than three
inline constexpr int64_t kKeptBesideColumns = 32;     // columns of a loop have addresses of their own beside tiles of so many
inline constexpr int64_t kForAddressesOfStores = 24;  // the same, beside what is stored and the tiles in use behind it
inline constexpr int64_t kForEnds = 2;                // more, where blocks end before their tensors
inline constexpr int64_t kForPositions = 16;          // the same, beside all tiles that are in use at once
inline constexpr int64_t kForAddressesOfStaging = 8;  // the same, where tiles or the numbers of tiles go through shared memory
inline constexpr int64_t kForWhatNoTileShows = 32;    // more, where a body has scans, masks and the like (plan_registers)
inline constexpr int64_t kForWholeLoads = 16;         // more, where that compiler has all loads of a tile under way at once

/// Of a thread, where as many blocks as the kernel says share a multiprocessor.
int64_t RegistersOfResident(const ir::Kernel& kernel, const Target& target);

}  // namespace tkc::passes

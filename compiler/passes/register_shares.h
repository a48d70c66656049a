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
int64_t ForProducts(const RegisterShares& shares, const Target& target, const ir::Region& region);

/// Needs to know the kernel's roles and their threads: for use after assign_roles.
RegisterShares ShareRegisters(const ir::Kernel& kernel, const Target& target);

/// How many registers a thread has if as many blocks share a multiprocessor as the kernel says.
int64_t RegistersOfResident(const ir::Kernel& kernel, const Target& target);

}  // namespace tkc::passes

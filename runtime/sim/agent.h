// SPDX-License-Identifier: MIT
// Asynchronous agents for the authors of instructions: the tensor copy engine and the tensor core. An instruction makes
// one operation, says which bytes it will read and write (checked at once against what is ordered before the issue, and
// from then on against everyone who touches them without having waited), and hands over what happens when it is done.
//
//     operation* copy = begin_copy("tensor load", barrier_address);    // completes on the barrier by bytes
//     read_global(copy, row, 128);  write_shared(copy, to, 128);
//     finish(copy, {.cycles = 700, .bytes = 16384}, [=] { std::memcpy(...); });
//
// An action runs on the scheduler, not in a lane: it must not call wrappers, only touch `place`s. Addresses:
// tk/sim/engine.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tk/sim/engine.h"

namespace tk::sim {

struct operation;

/// A load by the calling lane that completes on the mbarrier at `barrier` (an address with or without a block's
/// number). For a multicast make one operation for each destination block, with addresses from map_to_block.
operation* begin_copy(const char* what, uint32_t barrier);
/// A store or reduction by the calling lane, in its open bulk group.
operation* begin_store(const char* what);
/// A copy into shared memory by the calling lane, in its open group of such copies (lane_copies_commit). Ordinary for who waits.
operation* begin_lane_copy(const char* what);
/// A product of the calling lane's warpgroup in its open group; called in the action of a meet_warpgroup.
operation* begin_product(const char* what);

// What the operation touches, in pieces of any size; 16-byte pieces aligned to 16 are the cheapest.
void read_shared(operation*, uint32_t address, int bytes);
void write_shared(operation*, uint32_t address, int bytes);
void read_global(operation*, const void* from, int64_t bytes);
void write_global(operation*, void* to, int64_t bytes);

struct cost {
    int cycles = 0;  // from start to end, nominal; for a product the time in which the tensor core does nothing else
    int bytes = 0;   // moved: what a barrier counts, and what the copy engine's bandwidth is shared by
};
/// For copies and products: `action` moves or computes the data, then the barrier (the group) learns of it.
void finish(operation*, cost, std::function<void()> action);
/// For stores: `read` takes the data out of shared memory, `write` puts it into global memory, later.
void finish_store(operation*, cost, std::function<void()> read, std::function<void()> write);

/// The bytes at a shared address (of the calling lane's block where it has no block number), or at a global one, for
/// actions. Null where they do not exist: then the finding is already reported. Stays valid until the launch ends.
unsigned char* place_shared(uint32_t address, int bytes);
unsigned char* place_global(const void* address, int64_t bytes);
/// The address with the calling lane's block number in it, for use in actions.
uint32_t absolute(uint32_t address);

/// Reports a finding of the calling lane at its call chain: kind is one of finding.h's names ("misaligned", ...).
void report(const char* kind, const std::string& text);
/// The lane (thread in its block) that meets as number `index` in a meet_warpgroup or meet_warp action.
int thread_in_meeting(int index);
/// A random number below `bound`, 0 for seed 0: for orders that the hardware leaves open.
uint32_t choose(uint32_t bound);

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Who executes: thread, warp (`arch::lanes` lanes), warpgroup (4 warps, which share a worker's tiles), block.
#pragma once

#include "tk/arch.h"
#include "tk/types/layout.h"

namespace tk {

/// Meets `threads` threads of the block (whole warps) at barrier `id`, 1 to 15; 0 is block::sync. On AMD the block has one barrier.
TK_DEVICE void named_barrier_sync(int id, int threads) { arch::named_barrier_sync(id, threads); }
#ifndef TK_GFX
/// Counts towards the same meeting without waiting for it.
TK_DEVICE void named_barrier_arrive(int id, int threads) { arch::named_barrier_arrive(id, threads); }
#endif

namespace thread {
/// In the block.
TK_DEVICE int index() { return arch::thread_index(); }
}  // namespace thread

namespace warp {
/// In the block. Broadcast from lane 0, so that ptxas keeps what depends on it in uniform registers.
TK_DEVICE int index() { return int(arch::shuffle_from(uint32_t(arch::thread_index()) / arch::lanes, 0)); }
TK_DEVICE int lane() { return arch::thread_index() % arch::lanes; }
TK_DEVICE void sync() { arch::warp_sync(); }
}  // namespace warp

namespace warpgroup {
/// Of four warps.
inline constexpr int threads = 4 * arch::lanes;
/// In the block, the same value in all lanes.
TK_DEVICE int index() { return int(arch::shuffle_from(uint32_t(arch::thread_index()) / threads, 0)); }
/// 0 .. threads - 1
TK_DEVICE int thread() { return arch::thread_index() % threads; }
TK_DEVICE lane_position position() { return {thread() / arch::lanes, thread() % arch::lanes}; }
/// Meets the warpgroup at a named barrier. Warpgroup g has barrier 1 + g to itself by convention.
TK_DEVICE void sync(int id) { arch::named_barrier_sync(id, threads); }
TK_DEVICE void sync() { sync(1 + arch::thread_index() / threads); }
}  // namespace warpgroup

namespace block {
TK_DEVICE int index() { return arch::block_index(); }
/// Blocks in the grid.
TK_DEVICE int count() { return arch::block_count(); }
TK_DEVICE void sync() { arch::block_sync(); }
/// Tells the compiler that the block is one warpgroup: its number is 0 and its barrier a constant (a barrier of unknown number makes a
/// block take all 16, of which a multiprocessor has enough for four blocks).
TK_DEVICE void is_one_warpgroup() {
#ifdef TK_ON_DEVICE
    const unsigned thread = unsigned(arch::thread_index());
    __builtin_assume(thread < unsigned(warpgroup::threads));
#endif
}
/// The block's dynamic shared memory as a structure of tiles and barriers, sized sizeof(T) at launch.
template <class T>
TK_DEVICE T& shared() { return *static_cast<T*>(arch::dynamic_shared_memory()); }
}  // namespace block

}  // namespace tk

// SPDX-License-Identifier: MIT
// Who executes: thread, warp (32 lanes), warpgroup (4 warps), block, cluster.
#pragma once

#include "tk/cuda/sm90/fence.h"
#include "tk/cuda/sm90/grid_dependency.h"
#include "tk/cuda/sm90/registers.h"
#include "tk/cuda/sm90/shared_memory.h"
#include "tk/cuda/sm90/special_registers.h"
#include "tk/cuda/sm90/warp.h"
#include "tk/types/layout.h"

namespace tk {

/// Meets `threads` threads of the block (a multiple of 32) at barrier `id`, 1 to 15; 0 is block::sync.
TK_DEVICE void named_barrier_sync(int id, int threads) { sm90::named_barrier_sync(id, threads); }
/// Counts towards the same meeting without waiting for it.
TK_DEVICE void named_barrier_arrive(int id, int threads) { sm90::named_barrier_arrive(id, threads); }

namespace thread {
/// In the block.
TK_DEVICE int index() { return sm90::thread_index(); }
}  // namespace thread

namespace warp {
/// In the block. Broadcast from lane 0, so that ptxas keeps what depends on it in uniform registers.
TK_DEVICE int index() { return int(sm90::shuffle_from(uint32_t(sm90::thread_index()) / 32, 0)); }
TK_DEVICE int lane() { return sm90::thread_index() % 32; }
/// True in one lane.
TK_DEVICE bool elect() { return sm90::elect(); }
TK_DEVICE void sync() { sm90::warp_sync(); }
}  // namespace warp

namespace warpgroup {
/// In the block, the same value in all lanes.
TK_DEVICE int index() { return int(sm90::shuffle_from(uint32_t(sm90::thread_index()) / 128, 0)); }
/// 0..127
TK_DEVICE int thread() { return sm90::thread_index() % 128; }
TK_DEVICE lane_position position() { return {thread() / 32, thread() % 32}; }
/// Meets the warpgroup at a named barrier. Warpgroup g has barrier 1 + g to itself by convention.
TK_DEVICE void sync(int id) { sm90::named_barrier_sync(id, 128); }
TK_DEVICE void sync() { sync(1 + index()); }
/// Takes registers until each thread may use N (a multiple of 8); waits until the block has them free.
template <int N>
TK_DEVICE void increase_registers() { sm90::set_max_registers_increase<N>(); }
/// Gives registers back: each thread keeps N.
template <int N>
TK_DEVICE void decrease_registers() { sm90::set_max_registers_decrease<N>(); }
}  // namespace warpgroup

namespace block {
TK_DEVICE int index() { return sm90::block_index(); }
/// Blocks in the grid.
TK_DEVICE int count() { return sm90::block_count(); }
TK_DEVICE void sync() { sm90::block_sync(); }
/// The block's dynamic shared memory as a structure of tiles and barriers, sized sizeof(T) at launch.
template <class T>
TK_DEVICE T& shared() { return *static_cast<T*>(sm90::dynamic_shared_memory()); }
}  // namespace block

/// Every launch overlaps the end of the launch before it. A kernel waits here before its first access to global memory, also when
/// it needs nothing of the previous grid: only then is everything before that grid complete too, and memory it overwrites no longer read.
namespace grid {
TK_DEVICE void wait_previous() { sm90::grid_dependency_wait(); }
TK_DEVICE void allow_next() { sm90::grid_dependency_launch(); }
}  // namespace grid

namespace cluster {
/// This block's rank in its cluster.
TK_DEVICE int rank() { return int(sm90::cluster_block_rank()); }
TK_DEVICE int index() { return int(sm90::cluster_index()); }
/// Clusters in the grid.
TK_DEVICE int count() { return int(sm90::cluster_count()); }
/// All threads of all blocks of the cluster.
TK_DEVICE void sync() {
    sm90::cluster_arrive();
    sm90::cluster_wait();
}
}  // namespace cluster

}  // namespace tk

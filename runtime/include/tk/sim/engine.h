// SPDX-License-Identifier: MIT
// What the simulator's wrappers call: the engine of runtime/sim, which runs every lane of a launch on a fiber of its own and
// checks what the lanes do. Plain functions, light to include: generated files see this header in every compile.
//
// How to write a wrapper (tk/sim/ARCH/X.h): the same name and signature as in tk/cuda/ARCH/X.h, and one call of the engine.
// An instruction that a whole warp (warpgroup) executes calls `meet_warp` (`meet_warpgroup`) with a place of its own for
// operands and results; the action sees the places of all lanes and runs once, when all are there. A lane that exits or
// meets for something else instead is the finding `divergence`. Asynchronous instructions: runtime/sim/agent.h.
//
// Addresses of shared memory are 32 bits: an offset in the calling block's shared memory, or, from `map_to_block`, an offset
// with the number of the block in the cluster plus one in the top byte. Pointers to global memory are those of the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tk/types/tensor_map.h"

namespace tk::sim {

/// Where the calling lane is. `thread` counts in the block, `block` in the grid, `rank` in the cluster.
struct lane_view {
    int thread, block, rank;
    int threads, blocks, cluster;  // threads a block, blocks in the grid, blocks in a cluster
};
const lane_view& self();

// Meetings. `what` names the instruction: lanes that meet with different names diverge. `action` gets the places `mine` of all
// lanes in lane order and runs in one of them; all go on behind it. A meeting orders no memory: sync_warp does.
void meet_warp(const char* what, void (*action)(void* const* all), void* mine);
void meet_warpgroup(const char* what, void (*action)(void* const* all), void* mine);

/// An operand that the machine has in a scalar register: the lanes of a warp meet, and a finding `divergence` where they differ in it.
void same_in_warp(const char* what, uint64_t value);
/// elect.sync: whether the calling lane is the chosen one, the same in each of its warp's elections. Documents leave open which one it is.
bool elected();

// Ordinary accesses (the generic proxy), 1 to 16 bytes, aligned to their size. They are checked and counted; unwritten memory
// reads as 0xff. `matrix` counts bank conflicts as ldmatrix and stmatrix have them: each lane accesses its row of 16 bytes. `transposed`: ds_read_b64_tr.
enum class access : uint8_t { plain, matrix, transposed };
void load_shared(uint32_t address, void* to, int bytes, access how = access::plain);
void store_shared(uint32_t address, const void* from, int bytes, access how = access::plain);
void load_global(const void* from, void* to, int bytes);
void store_global(void* to, const void* from, int bytes);
/// red and atom on global memory: apply(place, context) with the place's bytes; atomic accesses do not race with each other.
void atomic_global(void* place, int bytes, void (*apply)(void* place, void* context), void* context);

/// A finding `misaligned` of the calling lane: the runtime's own assumptions do not hold.
void report_misuse(const char* text);

// Shared memory of the calling block.
void* dynamic_shared_memory();
/// A place in shared memory that belongs to a function (`key`) and not to the launch.
void* static_shared_memory(const void* key, size_t bytes);
uint32_t shared_address(const void* pointer);
uint32_t map_to_block(uint32_t address, uint32_t rank);

// mbarrier (the PTX manual, and what was measured: runtime/sim/README.md).
/// `needs_fence`: others may use it behind barrier_init_fence only.
void barrier_init(uint32_t barrier, uint32_t arrivals, bool needs_fence);
void barrier_init_fence();
void barrier_arrive(uint32_t barrier);
void barrier_arrive_expect(uint32_t barrier, uint32_t bytes);
void barrier_complete(uint32_t barrier, uint32_t bytes, bool must_be_own);
bool barrier_try_wait(uint32_t barrier, uint32_t parity);
/// Whoever asks in a loop is taken to wait, here too.
bool barrier_test_wait(uint32_t barrier, uint32_t parity);

// Counters in shared memory that go round (ds_inc), which are CDNA's mbarriers: `last` is twice the arrivals of a phase less one.
void counter_start(uint32_t counter, uint32_t last);
void counter_step(uint32_t counter, uint32_t last);
uint32_t counter_last(uint32_t counter);
/// Makes visible what came before the steps of the phases that are over.
uint32_t counter_read(uint32_t counter);
/// s_sleep in a loop that reads a counter: until another phase of the one that the lane has read last is over.
void sleep();

// Barriers of warp, block and cluster; fences.
void sync_warp();
void sync_named(int id, int threads);
void arrive_named(int id, int threads);
void sync_block();
/// `releases`: what the lane has written before; else only the barriers that it has initialised, with their fence behind them.
void cluster_arrive(bool releases = true);
void cluster_wait();
void fence_proxy_async();
/// s_barrier of CDNA: waits for no memory. What a lane's shared-memory accesses did is published as far as wait_shared says.
void barrier_of_waves();
/// s_waitcnt lgkmcnt: at most the newest `newest` accesses of the lane to shared memory are unfinished.
void wait_shared(int newest);

// Asynchronous copies into shared memory by the calling lane (cp.async; buffer loads to shared memory, each a group of its own).
void lane_copies_commit();
void lane_copies_wait(int newest);

// Asynchronous groups of the calling lane (bulk stores) and of its warpgroup (products of the tensor core).
void bulk_commit();
void bulk_wait(int newest, bool read_only);
void products_fence();
void products_commit();
void products_wait(int newest);

/// 4 or 16 bytes into shared memory of a block of the cluster; a barrier of that block counts them (st.async).
void store_async(uint32_t to, const void* from, int bytes, uint32_t barrier);

// Registers, programmatic launch.
void set_registers(int count, bool increase);
void grid_wait_previous();
void grid_allow_next();

// The host side: what launchers call (tk/host/driver.h). `body` runs the kernel once for every lane.
enum class chip : uint8_t { sm90, gfx942, gfx950 };
struct host_device {
    int processors, shared_bytes, capability;
};
host_device device(chip on = chip::sm90);
/// 16 bytes of zeros in device memory.
void* zero_element();
struct host_launch {
    int blocks, threads, shared_bytes, cluster;
    bool overlaps = true;  // starts before the launch in front of it has ended: lanes call grid_wait_previous
    chip on = chip::sm90;
};
/// Null, or what was wrong with the launch.
const char* launch(const host_launch& shape, void (*body)(const void* arguments), const void* arguments);

/// What a launcher asks of the driver: the arguments of tk::host::map_description, `swizzle` in bytes. Null, or why the
/// driver would refuse.
const char* encode_tensor_map(tensor_map& map, void* data, int dtype, int rank, const uint64_t* extent,
                              const uint64_t* stride, const uint32_t* box, int swizzle);

}  // namespace tk::sim

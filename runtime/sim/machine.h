// SPDX-License-Identifier: MIT
// The simulated machine while a launch runs: lanes in warps, warpgroups, blocks of one cluster; their clocks, barriers,
// queues and memory. One machine, one thread: `the()` is it. Files by concern: schedule.cpp, meeting.cpp, mbarrier.cpp,
// barriers.cpp, registers.cpp, memory.cpp, agent.cpp, deadlock.cpp, launch.cpp.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "runtime/sim/clock.h"
#include "runtime/sim/counters.h"
#include "runtime/sim/fiber.h"
#include "runtime/sim/finding.h"
#include "runtime/sim/shadow.h"
#include "runtime/sim/site.h"
#include "runtime/sim/trace.h"
#include "tk/sim/engine.h"

namespace tk::sim {

struct block;
struct lane;
struct mbarrier;
struct warp;
struct warpgroup;

/// Lanes that gather for an instruction of a warp or warpgroup.
struct meeting {
    const char* what = nullptr;
    std::vector<lane*> lanes;  // those that are here, in order of arrival
    std::array<void*, 256> places{};  // a warpgroup of CDNA has 4 waves of 64
    int exited = 0;  // of the group: they will not come
};

enum class waits_for {
    nothing,
    meeting,
    mbarrier,
    named_barrier,
    block_barrier,
    cluster_barrier,
    registers,
    stores,
    products,
    copies
};

/// Asynchronous operations in groups: bulk stores of a lane, products of a warpgroup. Groups count from 1; `open` is
/// filled.
struct group_queue {
    struct group {
        int running = 0;  // operations whose source is not read yet (stores) or that are not complete (products)
        int writing = 0;  // stores whose result is not written yet
        std::vector<access_id> reads, writes;
    };
    std::deque<group> groups{1};  // the last one is open
    uint32_t retired = 0;         // groups that were dropped from the front
    uint32_t read_component = 0, write_component = 0;
    uint32_t known = 0;  // what `knows` says of the reads: groups up to this one
    clock_ref knows;     // one clock for all lanes that waited alike
    site last_commit = 0;
    uint32_t open() const { return retired + uint32_t(groups.size()); }
    group& of(uint32_t number) { return groups[number - retired - 1]; }
};

struct lane {
    lane_view view{};
    block* home = nullptr;
    warp* in = nullptr;
    fiber run;
    int64_t time = 0;
    lane_clock clock;
    bool exited = false;

    // While it is blocked.
    waits_for waiting = waits_for::nothing;
    const char* what = "";
    site at = 0;
    int64_t since = 0;
    const void* object = nullptr;  // the barrier or queue
    uint32_t number = 0;           // phase of an mbarrier, id of a named barrier, registers asked for, newest groups

    group_queue stores, copies;
    uint64_t shared_accesses = 0;                        // CDNA: issued
    std::deque<std::pair<uint64_t, uint32_t>> in_shared;  // accesses issued when an epoch ended, and that epoch
    uint32_t waited_groups = 0, waited_reads = 0;
    uint32_t products_waited = 0, products_committed = 0;
    std::vector<mbarrier*> unfenced;    // initialised since the last fence_mbarrier_init
    clock_ref at_fence;                 // what it knew then
    mbarrier* polled = nullptr;         // the counter that it has read last
    uint32_t polled_phase = 0;          // and what it was told
    std::array<access_id, 8> recent{};  // accesses that may repeat
    uint32_t cluster_arrivals = 0;
    int in_warp = 0;  // number
    int lane_number() const { return in_warp; }
};

struct warp {
    block* home = nullptr;
    warpgroup* group = nullptr;
    int number = 0;  // in the block
    std::vector<lane*> lanes;
    meeting meets;
    access_counter counter;
};

struct warpgroup {
    block* home = nullptr;
    int number = 0;
    std::vector<warp*> warps;
    meeting meets;
    group_queue products;
    int registers = 0;         // a thread
    int64_t last_product = 0;  // when the newest product ends
};

struct mbarrier {
    block* home = nullptr;
    uint32_t offset = 0;
    bool live = false, fenced = false;
    int expected = 0, pending = 0;
    int64_t bytes = 0;   // tx-count
    uint32_t phase = 0;  // phases completed
    clock_sum arrived;        // what waits acquire
    clock_ref arrived_done;   // at the end of the last phase
    uint32_t component = 0;   // of copies that complete here
    lane_clock init_clock;
    uint32_t init_epoch = 0;
    site init_site = 0;
    uint32_t copies = 0;  // completed: the epoch of the last one
    int copies_running = 0;
    uint32_t last_copy_phase = 0, last_seen_phase = 0;  // counted from 1
    site last_copy = 0;
    std::vector<lane*> waiters;
    struct arrival {
        int block, warp;
        site at;
        const char* what;
        uint32_t last_phase;
    };
    std::vector<arrival> arrivers;  // for deadlocks: who has arrived here, and where
};

struct named_barrier {
    int expected = 0, arrived = 0;
    uint32_t generation = 0;  // uses completed
    clock_sum sum;
    std::vector<lane*> waiters;
    std::vector<int> warps;  // that have arrived
    site first = 0;
    // The use before: who took part, and the epochs in which they arrived.
    struct participant {
        int warp;
        uint32_t component, epoch;
        site at;
    };
    std::vector<participant> now, before;
};

struct block {
    lane_view where{};  // thread is meaningless
    int64_t start = 0;
    std::vector<lane*> lanes;
    std::vector<std::unique_ptr<warp>> warps;
    std::vector<std::unique_ptr<warpgroup>> groups;
    unsigned char* memory = nullptr;
    uint32_t dynamic_bytes = 0, bytes = 0;
    shadow cells;
    std::map<const void*, uint32_t> statics;
    std::map<uint32_t, std::unique_ptr<mbarrier>> barriers;
    std::array<named_barrier, 16> named;
    std::vector<lane*> at_barrier;  // block barrier
    int exited = 0;
    int free_registers = 0;
    std::vector<lane*> wants_registers;
    int64_t tensor_core_free = 0, copy_engine_free = 0;
    // Accesses by other blocks of the cluster, which must be over before this block leaves.
    std::map<uint32_t, access_id> remote;
    clock_sum left;
};

/// The hardware barrier of the whole cluster.
struct cluster_barrier {
    int arrived = 0;
    uint32_t generation = 0;
    clock_sum sum;
    clock_ref done;
    std::vector<lane*> waiters;
};

class machine {
public:
    // The run.
    uint64_t seed = 1;
    int sms = 1;
    int shared_bytes = 0;  // that a block may have, of a GPU that has less than the largest of its kind; 0: what that has
    site_table sites;
    access_log log;
    findings found{20};
    counter_table counters;
    trace_log trace;
    stack_pool stacks;
    int64_t most_cycles = int64_t(1) << 32;  // a launch that runs on is stopped
    int64_t launches_done = 0, blocks_done = 0, lanes_done = 0, cycles = 0;
    bool stopped = false;  // a deadlock or divergence: nothing runs any more

    // The launch and its present cluster.
    uint32_t launch_number = 0, cluster_number = 0;
    host_launch shape{};
    /// Lanes of a warp.
    int lanes_a_warp() const { return shape.on == chip::sm90 ? 32 : 64; }
    std::deque<lane> lanes;
    std::vector<std::unique_ptr<block>> blocks;
    cluster_barrier cluster;
    uint32_t components = 1;
    clock_ref nothing = std::make_shared<vector_clock>(), launch_before;
    lane* current = nullptr;
    const meeting* in_action = nullptr;

    // schedule.cpp
    void run_all();
    void at(int64_t time, std::function<void()> action);
    void ready(lane& l, int64_t time);
    void pause();  // the current lane, until ready() is called for it
    /// Lets everyone with an earlier time go first. Before what others can observe.
    void settle(int cycles = 1);
    void block_on(waits_for why, const char* what, site here, const void* object, uint32_t number);
    [[noreturn]] void stop();
    uint32_t random(uint32_t bound);  // 0 for seed 0
    int64_t stretch(int64_t cycles);
    int64_t now = 0;
    uint64_t random_state = 0;

    uint32_t new_component() { return components++; }
    /// The call chain of the current lane from the frame of the engine's function that it called.
    site here(void* frame);
    access_id record(site at, const char* what, bool atomic = false);

private:
    struct entry {
        int64_t time;
        uint64_t tie, number;
        lane* who;
        std::function<void()>* action;
        bool operator>(const entry& o) const {
            return time != o.time ? time > o.time : tie != o.tie ? tie > o.tie : number > o.number;
        }
    };
    std::priority_queue<entry, std::vector<entry>, std::greater<>> queue_;
    uint64_t number_ = 0;
};

machine& the();
/// A machine that has run nothing yet, in place of the one before. Tensors of the one before are gone.
machine& new_machine(uint64_t seed, int sms);

#define TK_SIM_HERE() the().here(__builtin_frame_address(0))

// deadlock.cpp, meeting.cpp: what went wrong in the control flow of the lanes.
void report_deadlock();
void note_exit(lane& l);
/// "block 2, warps 4-7": the lanes of a set of the cluster's lanes.
std::string describe(const std::vector<lane*>& lanes);

// mbarrier.cpp
mbarrier* find_barrier(uint32_t address, const char* what, site here, bool must_be_own);
void arrive(mbarrier& b, const char* what, site here);
/// Blocks the current lane until another phase is over than the first `wanted`.
void wait_for_phase(mbarrier& b, uint32_t wanted, const char* what, site here);
void complete_bytes(mbarrier& b, int64_t bytes);
void check_end_of_block(block& b);
// agent.cpp
void check_end_of_lane(lane& l);

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Counters in shared memory by which waves of CDNA wait for each other: an mbarrier whose state is a number. With n arrivals a phase it
// runs from 0 to 2n - 1 and round; from n on the phase under way is an odd one. What is done with them is held to that.
#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

constexpr int kReadCycles = 8, kSleepCycles = 64;

uint32_t last_of(const mbarrier& b) { return 2 * uint32_t(b.expected) - 1; }

}  // namespace

void counter_start(uint32_t address, uint32_t last) {
    if (last % 2 == 0) return report_at("barrier-misuse", "a counter whose round is not twice the arrivals of a phase", TK_SIM_HERE());
    ++the().current->shared_accesses;
    barrier_init(address, (last + 1) / 2, false);
}

void counter_step(uint32_t address, uint32_t last) {
    the().settle(8);
    ++the().current->shared_accesses;
    const site here = TK_SIM_HERE();
    mbarrier* b = find_barrier(address, "ds_inc_u32", here, true);
    if (!b) return;
    if (last != last_of(*b)) return report_at("barrier-misuse", "a counter goes round at another number than it was made for", here);
    arrive(*b, "ds_inc_u32", here);
}

uint32_t counter_last(uint32_t address) {
    the().current->time += kReadCycles;
    ++the().current->shared_accesses;
    const mbarrier* b = find_barrier(address, "ds_read_b32", TK_SIM_HERE(), true);
    return b ? last_of(*b) : 1;
}

uint32_t counter_read(uint32_t address) {
    the().settle(kReadCycles);
    lane& l = *the().current;
    ++l.shared_accesses;
    mbarrier* b = find_barrier(address, "ds_read_b32", TK_SIM_HERE(), true);
    if (!b) return 0;
    l.polled = b;
    l.polled_phase = b->phase;
    l.clock.acquire(b->arrived_done);
    return b->phase % 2 * uint32_t(b->expected) + uint32_t(b->expected - b->pending);
}

void sleep() {
    lane& l = *the().current;
    l.time += kSleepCycles;
    if (l.polled && l.polled->phase == l.polled_phase) wait_for_phase(*l.polled, l.polled_phase, "s_sleep", TK_SIM_HERE());
    l.polled = nullptr;
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Barriers of warp, block and cluster, the proxy fence and programmatic launch. Each barrier orders the memory of its
// participants: they release into a sum of clocks and acquire it.
#include <algorithm>

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

constexpr int kBarrierCycles = 20;
constexpr const char* kMisuse = "barrier-misuse";

/// All waiters go on, knowing what `sum` collected. Those that have not paused yet will find that they need not.
void release(std::vector<lane*>& waiters, const clock_ref& sum, int64_t time) {
    std::vector<lane*> go;
    go.swap(waiters);
    for (lane* l : go) {
        l->clock.acquire(sum);
        const bool paused = l->waiting == waits_for::named_barrier || l->waiting == waits_for::block_barrier ||
                            l->waiting == waits_for::cluster_barrier;
        if (paused)
            the().ready(*l, time + kBarrierCycles);
        else
            l->time = std::max(l->time, time + kBarrierCycles);
    }
}

struct named_use {
    int id, threads;
    bool waits;
    site here;
    uint32_t generation;  // in which the warp arrived
};

[[noreturn]] void misused(const std::string& text, site here) {
    report_at(kMisuse, text, here);
    the().stop();
}

/// A warp that was not in the use before must be ordered behind those that were: else two groups share the barrier, and
/// which warps meet is chance.
void check_one_group(named_barrier& b, const std::string& name, site here) {
    const lane& leader = *the().current->in->lanes.front();
    const auto is_me = [&](const auto& p) { return p.warp == leader.in->number; };
    if (std::any_of(b.before.begin(), b.before.end(), is_me)) return;
    for (const auto& p : b.before) {
        if (leader.clock.at(p.component).done >= p.epoch) continue;
        finding f = finding_at(
            kMisuse, name + " is used by two groups of warps at the same time: which of them meet is chance", here);
        f.sites.push_back({"warp " + std::to_string(p.warp) + " here, in the use before", p.at});
        the().found.add(std::move(f), leader.view.thread);
        return;
    }
}

/// One warp arrives, all its lanes together. The last of the barrier's warps lets everybody go on.
void arrive_warp(const named_use& use) {
    machine& sim = the();
    lane& l = *sim.current;
    const std::string name = "named barrier " + std::to_string(use.id);
    if (use.id < 0 || use.id > 15) misused(name + ": a block has barriers 0 to 15", use.here);
    if (use.threads % 32 != 0 || use.threads <= 0 || use.threads > l.view.threads)
        misused(name + " for " + std::to_string(use.threads) +
                    " threads: it takes a multiple of 32, at most the block's " + std::to_string(l.view.threads),
                use.here);
    named_barrier& b = l.home->named[size_t(use.id)];
    if (b.arrived > 0 && b.expected != use.threads) {
        finding f = finding_at(kMisuse, name + " is used for " + std::to_string(b.expected) + " and for " +
                               std::to_string(use.threads) + " threads at the same time",
                           use.here);
        f.sites.push_back({"for " + std::to_string(b.expected) + " here", b.first});
        sim.found.add(std::move(f), l.view.thread);
        sim.stop();
    }
    if (b.arrived == 0) b.expected = use.threads, b.first = use.here;
    check_one_group(b, name, use.here);
    if (std::find(b.warps.begin(), b.warps.end(), l.in->number) != b.warps.end())
        report_at(kMisuse, "warp " + std::to_string(l.in->number) + " arrives twice in one use of " + name, use.here);
    b.warps.push_back(l.in->number);
    b.arrived += 32;
    const lane& leader = *l.in->lanes.front();
    b.now.push_back({l.in->number, leader.clock.self, leader.clock.epoch, use.here});
    for (lane* other : l.in->lanes) {
        b.sum.add(other->clock);
        if (use.waits) b.waiters.push_back(other);
    }
    if (b.arrived < b.expected) return;
    const clock_ref sum = b.sum.value();
    std::vector<lane*> waiters;
    waiters.swap(b.waiters);
    const uint32_t next = b.generation + 1;
    std::vector<named_barrier::participant> before = std::move(b.now);
    b = named_barrier{};
    b.before = std::move(before);
    b.generation = next;
    release(waiters, sum, sim.now);
}

void use_named(int id, int threads, bool waits, const char* what, site here) {
    machine& sim = the();
    sim.settle();
    named_use mine{id, threads, waits, here, 0};
    meet_warp(
        what,
        [](void* const* all) {
            const named_use first = *static_cast<named_use*>(all[0]);
            for (int i = 0; i < the().lanes_a_warp(); ++i) {
                named_use& other = *static_cast<named_use*>(all[i]);
                if (other.id != first.id || other.threads != first.threads)
                    misused("lanes of one warp name different barriers or counts: " + std::to_string(first.id) +
                                " and " + std::to_string(other.id),
                            first.here);
                if (first.id >= 0 && first.id < 16)
                    other.generation = the().current->home->named[size_t(first.id)].generation;
            }
            arrive_warp(first);
        },
        &mine);
    named_barrier& b = sim.current->home->named[size_t(id)];
    if (waits && b.generation == mine.generation) sim.block_on(waits_for::named_barrier, what, here, &b, uint32_t(id));
}

}  // namespace

void sync_named(int id, int threads) { use_named(id, threads, true, "bar.sync", TK_SIM_HERE()); }
void arrive_named(int id, int threads) { use_named(id, threads, false, "bar.arrive", TK_SIM_HERE()); }

void sync_warp() {
    the().settle();
    meet_warp(
        "bar.warp.sync",
        [](void* const*) {
            clock_sum sum;
            const auto& lanes = the().current->in->lanes;
            for (lane* l : lanes) sum.add(l->clock);
            const clock_ref value = sum.value();
            for (lane* l : lanes) l->clock.base = value;
        },
        nullptr);
}

void sync_block() {
    machine& sim = the();
    sim.settle();
    lane& l = *sim.current;
    block& home = *l.home;
    const site here = TK_SIM_HERE();
    home.at_barrier.push_back(&l);
    if (int(home.at_barrier.size()) < l.view.threads)
        return sim.block_on(waits_for::block_barrier, "barrier.sync", here, &home, 0);
    clock_sum sum;
    for (lane* other : home.at_barrier) sum.add(other->clock);
    for (auto& w : home.warps) w->counter.flush(sim.counters);
    home.at_barrier.erase(std::find(home.at_barrier.begin(), home.at_barrier.end(), &l));
    release(home.at_barrier, sum.value(), l.time);
    l.clock.acquire(sum.value());
    l.time += kBarrierCycles;
}

void barrier_of_waves() {
    meet_warp("s_barrier", nullptr, nullptr);  // a wave arrives as one, whichever of its lanes take part
    sync_block();
}

void wait_shared(int newest) {
    lane& l = *the().current;
    l.time += 2;
    l.clock.advance();
    const uint32_t last = l.clock.epoch - 1, known = l.in_shared.empty() ? l.clock.drained : l.in_shared.back().second;
    if (last > known) l.in_shared.emplace_back(l.shared_accesses, last);
    while (!l.in_shared.empty() && l.in_shared.front().first + uint64_t(newest) <= l.shared_accesses) {
        l.clock.drained = l.in_shared.front().second;
        l.in_shared.pop_front();
    }
}

void cluster_arrive(bool releases) {
    machine& sim = the();
    sim.settle();
    lane& l = *sim.current;
    cluster_barrier& b = sim.cluster;
    if (l.cluster_arrivals > b.generation) {
        report_at(kMisuse, "barrier.cluster.arrive twice without barrier.cluster.wait between", TK_SIM_HERE());
        return;
    }
    l.at = TK_SIM_HERE();
    ++l.cluster_arrivals;
    releases ? b.sum.add(l.clock) : b.sum.add(l.at_fence);
    if (++b.arrived < int(sim.lanes.size())) return;
    b.done = b.sum.value();
    b.sum.clear();
    b.arrived = 0;
    ++b.generation;
    release(b.waiters, b.done, l.time);
}

void cluster_wait() {
    machine& sim = the();
    sim.settle();
    lane& l = *sim.current;
    cluster_barrier& b = sim.cluster;
    const site here = TK_SIM_HERE();
    if (l.cluster_arrivals == 0 || l.cluster_arrivals < b.generation) {
        report_at(kMisuse, "barrier.cluster.wait without barrier.cluster.arrive", here);
        return;
    }
    if (l.cluster_arrivals == b.generation) {
        l.clock.acquire(b.done);
        return;
    }
    b.waiters.push_back(&l);
    sim.block_on(waits_for::cluster_barrier, "barrier.cluster.wait", here, &b, 0);
}

void fence_proxy_async() {
    machine& sim = the();
    lane& l = *sim.current;
    l.time += 4;
    l.clock.advance();
    l.clock.fenced = l.clock.epoch - 1;
}

void grid_wait_previous() {
    machine& sim = the();
    sim.current->clock.acquire(sim.launch_before);
}

void grid_allow_next() {}

}  // namespace tk::sim

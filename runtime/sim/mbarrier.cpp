// SPDX-License-Identifier: MIT
// mbarrier: state, order and misuse. Rules: README.md, and the PTX manual (parallel synchronization, mbarrier).
#include <algorithm>

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

constexpr int kMostArrivals = (1 << 20) - 1;

finding misuse(const std::string& text, const mbarrier* b, std::vector<finding_site> sites) {
    finding f;
    f.kind = "barrier-misuse";
    f.text = text;
    f.sites = std::move(sites);
    f.block = the().current ? the().current->view.block : b->home->where.block;
    if (b)
        f.address =
            "shared memory + " + std::to_string(b->offset) + " of block " + std::to_string(b->home->where.block);
    return f;
}

int thread() { return the().current ? the().current->view.thread : -1; }

/// The phase ends if nothing is missing. Waiters go on, each after a delay of its own.
void check_complete(mbarrier& b) {
    machine& sim = the();
    if (b.pending != 0 || b.bytes != 0) return;
    ++b.phase;
    b.pending = b.expected;
    b.arrived_done = b.arrived.value();
    std::vector<lane*> go;
    go.swap(b.waiters);
    for (lane* l : go) sim.ready(*l, sim.now + 16 + (sim.random(16) == 0 ? sim.random(2000) : sim.random(20)));
}

}  // namespace

void arrive(mbarrier& b, const char* what, site here) {
    machine& sim = the();
    lane& l = *sim.current;
    if (b.pending == 0) {
        sim.found.add(
            misuse("an arrival over the count of " + std::to_string(b.expected) +
                       ": the phase has all its arrivals and still waits for " + std::to_string(b.bytes) + " bytes",
                   &b, {{"this arrives", here}, {"the barrier was made here", b.init_site}}),
            thread());
        return;
    }
    b.arrived.add(l.clock, b.home != l.home);
    auto it = std::find_if(b.arrivers.begin(), b.arrivers.end(), [&](const auto& a) {
        return a.at == here && a.warp == l.in->number && a.block == l.view.block;
    });
    if (it == b.arrivers.end())
        b.arrivers.push_back({l.view.block, l.in->number, here, what, b.phase});
    else
        it->last_phase = b.phase;
    --b.pending;
    check_complete(b);
}

void barrier_init(uint32_t address, uint32_t arrivals, bool needs_fence) {
    machine& sim = the();
    lane& l = *sim.current;
    sim.settle(4);
    const site here = TK_SIM_HERE();
    const place where = resolve_shared(address, 8, "mbarrier.init", here);
    if (!where.home) return;
    if (address % 8 != 0) return report_at("misaligned", "an mbarrier at an address that is no multiple of 8", here);
    if (arrivals < 1 || arrivals > kMostArrivals)
        return void(sim.found.add(misuse("mbarrier.init with " + std::to_string(int(arrivals)) + " arrivals: 1 to " +
                                             std::to_string(kMostArrivals) + " are possible",
                                         nullptr, {{"here", here}}),
                                  thread()));
    std::unique_ptr<mbarrier>& b = where.home->barriers[where.offset];
    if (b && b->live)
        sim.found.add(misuse("a barrier is made again while it is in use", b.get(),
                             {{"made again", here}, {"made", b->init_site}}),
                      thread());
    write_as_lane(where, 8, "mbarrier.init", here);
    if (!b) {
        b = std::make_unique<mbarrier>();
        b->component = sim.new_component();
    } else {  // operations may still point to it
        const uint32_t component = b->component, copies = b->copies;
        *b = mbarrier{};
        b->component = component;
        b->copies = copies;
    }
    b->home = where.home;
    b->offset = where.offset;
    b->live = true;
    b->expected = b->pending = int(arrivals);
    b->init_epoch = l.clock.epoch;
    b->init_clock.self = l.clock.self;
    b->init_site = here;
    b->arrived_done = sim.nothing;
    b->fenced = !needs_fence;
    if (needs_fence) l.unfenced.push_back(b.get());
}

void barrier_init_fence() {
    lane& l = *the().current;
    for (mbarrier* b : l.unfenced) b->fenced = true;
    l.unfenced.clear();
    clock_sum known_here;
    known_here.add(l.clock);
    l.at_fence = known_here.value();
}

mbarrier* find_barrier(uint32_t address, const char* what, site here, bool must_be_own) {
    machine& sim = the();
    lane& l = *sim.current;
    const place where = resolve_shared(address, 8, what, here);
    if (!where.home) return nullptr;
    const auto it = where.home->barriers.find(where.offset);
    if (it == where.home->barriers.end() || !it->second->live) {
        finding f = misuse("`" + std::string(what) + "` of memory that holds no barrier: mbarrier.init comes first",
                           nullptr, {{"here", here}});
        f.address =
            "shared memory + " + std::to_string(where.offset) + " of block " + std::to_string(where.home->where.block);
        sim.found.add(std::move(f), thread());
        sim.stop();
    }
    mbarrier& b = *it->second;
    if (must_be_own && where.home != l.home) {
        sim.found.add(misuse("`" + std::string(what) + "` on the barrier of another block", &b, {{"here", here}}), thread());
        sim.stop();
    }
    if (l.clock.self != b.init_clock.self) {
        if (l.clock.at(b.init_clock.self).seen < b.init_epoch) {
            sim.found.add(misuse("`" + std::string(what) +
                                     "` is not ordered behind the barrier's initialisation: a barrier of the block "
                                     "(cluster) must lie between",
                                 &b, {{"used", here}, {"made", b.init_site}}),
                          thread());
            b.init_epoch = 0;
        } else if (!b.fenced) {
            sim.found.add(misuse("a barrier is used by others without fence.mbarrier_init behind its initialisation",
                                 &b, {{"used", here}, {"made", b.init_site}}),
                          thread());
            b.fenced = true;
        }
    }
    if (where.home != l.home) note_remote(*where.home, what, here);
    return &b;
}

void barrier_arrive(uint32_t address) {
    the().settle(8);
    const site here = TK_SIM_HERE();
    if (mbarrier* b = find_barrier(address, "mbarrier.arrive", here, false)) arrive(*b, "mbarrier.arrive", here);
}

void barrier_arrive_expect(uint32_t address, uint32_t bytes) {
    machine& sim = the();
    sim.settle(8);
    const site here = TK_SIM_HERE();
    mbarrier* b = find_barrier(address, "mbarrier.arrive.expect_tx", here, false);
    if (!b) return;
    if (bytes > uint32_t(kMostArrivals) || b->bytes + bytes > kMostArrivals)
        sim.found.add(misuse("more than " + std::to_string(kMostArrivals) + " bytes are expected in one phase", b,
                             {{"here", here}}),
                      thread());
    b->bytes += bytes;
    arrive(*b, "mbarrier.arrive.expect_tx", here);
}

void complete_bytes(mbarrier& b, int64_t bytes) {
    b.bytes -= bytes;
    if (b.bytes < -kMostArrivals)
        the().found.add(
            misuse("the bytes that have come exceed those expected by more than " + std::to_string(kMostArrivals), &b,
                   {{"the last copy", b.last_copy}}),
            -1);
    check_complete(b);
}

void barrier_complete(uint32_t address, uint32_t bytes, bool must_be_own) {
    the().settle(8);
    const site here = TK_SIM_HERE();
    mbarrier* b = find_barrier(address, "mbarrier.complete_tx", here, must_be_own);
    if (!b) return;
    b->last_copy = here;
    complete_bytes(*b, bytes);
}

void wait_for_phase(mbarrier& b, uint32_t wanted, const char* what, site here) {
    machine& sim = the();
    b.waiters.push_back(sim.current);
    sim.block_on(waits_for::mbarrier, what, here, &b, wanted);
    if (b.phase < wanted + 2) return;
    finding f = misuse("this wait is for phase " + std::to_string(wanted) + " of the barrier, but while it waited phase " +
                           std::to_string(b.phase - 1) +
                           " ended, too: the parity says the same of both, and the hardware may wait on",
                       &b, {{"waits", here}});
    f.kind = "stale-phase";
    sim.found.add(std::move(f), thread());
}

namespace {

bool wait_in_loop(uint32_t address, uint32_t parity, const char* what, site here) {
    machine& sim = the();
    sim.settle(8);
    lane& l = *sim.current;
    mbarrier* b = find_barrier(address, what, here, true);
    if (!b) return true;
    if (b->phase % 2 == parity % 2) {  // the phase of this parity is the present one
        const uint32_t wanted = b->phase;
        wait_for_phase(*b, wanted, what, here);
        if (sim.seed != 0 && b->phase == wanted + 1 && sim.random(8) == 0) return false;  // as try_wait may
    }
    if (b->phase > 0) b->last_seen_phase = std::max(b->last_seen_phase, b->phase);
    l.clock.acquire(b->arrived_done);
    return true;
}

}  // namespace

bool barrier_try_wait(uint32_t address, uint32_t parity) {
    return wait_in_loop(address, parity, "mbarrier.try_wait", TK_SIM_HERE());
}
bool barrier_test_wait(uint32_t address, uint32_t parity) {
    return wait_in_loop(address, parity, "mbarrier.test_wait", TK_SIM_HERE());
}

void check_end_of_block(block& home) {
    machine& sim = the();
    for (auto& [offset, b] : home.barriers) {
        if (b->copies_running > 0) {
            sim.found.add(
                [&] {
                    finding f = misuse("a block ends while a copy into its shared memory runs", b.get(),
                                       {{"the copy was issued", b->last_copy}});
                    f.kind = "exited-with-pending";
                    return f;
                }(),
                -1);
        } else if (b->last_copy_phase > b->last_seen_phase) {
            sim.found.add(
                [&] {
                    finding f = misuse("a block ends without having waited for a copy into its shared memory", b.get(),
                                       {{"the copy was issued", b->last_copy}});
                    f.kind = "exited-with-pending";
                    return f;
                }(),
                -1);
        }
    }
    const clock_ref left = home.left.value();
    for (const auto& [component, id] : home.remote) {
        const access_record& r = sim.log[id];
        if (left->at(component).done >= r.epoch) continue;
        finding f;
        f.kind = "exited-with-pending";
        f.text = "block " + std::to_string(home.where.block) + " may have ended when block " + std::to_string(r.block) +
                 " reaches into its shared memory (`" + r.what + "`): nothing orders its end behind this";
        f.sites = {{"reaches into the other block", r.at}};
        f.block = r.block;
        sim.found.add(std::move(f), r.thread);
    }
}

}  // namespace tk::sim

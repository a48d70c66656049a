// SPDX-License-Identifier: MIT
// Instructions that a whole warp or warpgroup executes together, and what happens when a lane is elsewhere.
#include <cstring>

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

constexpr int kMeetingCycles = 4;

/// A lane that does not come: it is at another instruction, or has left.
[[noreturn]] void diverged(const meeting& m, const lane& other, const char* what, site here) {
    const lane& first = *m.lanes.front();
    finding f;
    f.kind = "divergence";
    const std::string lanes = describe(m.lanes);
    f.text = what ? "`" + std::string(m.what) +
                        "` needs all lanes of the warp at the same instruction, but one is at `" + what + "`"
                  : "`" + std::string(m.what) + "` needs all lanes of the warp, but one has left the kernel";
    f.sites = {{lanes + " wait at `" + m.what + "`", first.at}};
    f.sites.push_back({"thread " + std::to_string(other.view.thread) +
                           (what ? std::string(" is at `") + what + "`" : std::string(" has left")),
                       here});
    f.block = other.view.block;
    the().found.add(std::move(f), other.view.thread);
    the().stop();
}

void gather(meeting& m, int size, const char* what, void (*action)(void* const*), void* mine, int number, site here) {
    machine& sim = the();
    lane& l = *sim.current;
    l.at = here;
    if (!m.lanes.empty() && std::strcmp(m.what, what) != 0) diverged(m, l, what, here);
    m.what = what;
    m.lanes.push_back(&l);
    m.places[size_t(number)] = mine;
    if (m.exited > 0) {
        lane gone;
        gone.view = l.view;
        for (lane* other : l.home->lanes)
            if (other->exited && (size == the().lanes_a_warp() ? other->in == l.in : other->in->group == l.in->group))
                gone.view = other->view;
        diverged(m, gone, nullptr, 0);
    }
    if (int(m.lanes.size()) < size) return sim.block_on(waits_for::meeting, what, here, &m, 0);
    int64_t time = 0;
    for (const lane* other : m.lanes) time = std::max(time, other->time);
    l.time = sim.now = time;
    if (size == sim.lanes_a_warp())
        l.in->counter.flush(sim.counters);
    else
        for (warp* w : l.in->group->warps) w->counter.flush(sim.counters);
    if (action) {
        sim.in_action = &m;
        action(m.places.data());
        sim.in_action = nullptr;
    }
    std::vector<lane*> here_now;
    here_now.swap(m.lanes);
    for (lane* other : here_now)
        if (other != &l) sim.ready(*other, time + kMeetingCycles);
    here_now.clear();
    m.lanes.swap(here_now);  // keeps the capacity
    l.time = time + kMeetingCycles;
}

}  // namespace

void meet_warp(const char* what, void (*action)(void* const* all), void* mine) {
    lane& l = *the().current;
    gather(l.in->meets, the().lanes_a_warp(), what, action, mine, l.lane_number(), TK_SIM_HERE());
}

void meet_warpgroup(const char* what, void (*action)(void* const* all), void* mine) {
    lane& l = *the().current;
    gather(l.in->group->meets, 128, what, action, mine, l.view.thread % 128, TK_SIM_HERE());
}

void same_in_warp(const char* what, uint64_t value) {
    meet_warp(
        what,
        [](void* const* all) {
            for (int i = 1; i < the().lanes_a_warp(); ++i) {
                if (std::memcmp(all[i], all[0], sizeof(uint64_t)) == 0) continue;
                const meeting& m = *the().in_action;
                return report_at("divergence",
                                 "`" + std::string(m.what) + "`: lanes of a wave differ in what it has in scalar registers: all take that of the first one",
                                 m.lanes.front()->at);
            }
        },
        &value);
}

bool elected() {
    meet_warp("elect.sync", nullptr, nullptr);
    const lane& l = *the().current;
    const uint64_t of_warp = (the().seed * 64 + uint64_t(l.in->number)) * 0x9e3779b97f4a7c15u;
    return l.lane_number() == (the().seed == 0 ? 0 : int(of_warp >> 59));
}

void note_exit(lane& l) {
    for (meeting* m : {&l.in->meets, &l.in->group->meets}) {
        ++m->exited;
        if (!m->lanes.empty()) diverged(*m, l, nullptr, 0);
    }
}

}  // namespace tk::sim

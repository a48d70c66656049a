// SPDX-License-Identifier: MIT
// Virtual time: the lane or completion with the least time goes next; equal times go by seed.
#include <algorithm>

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {
std::unique_ptr<machine>& present() {
    static auto machine_now = std::make_unique<machine>();
    return machine_now;
}
}  // namespace

machine& the() { return *present(); }

machine& new_machine(uint64_t seed, int sms) {
    remove_regions();
    const uint32_t launches = the().launch_number;  // numbers of launches stay distinct
    present() = std::make_unique<machine>();
    the().launch_number = launches;
    the().seed = seed;
    the().sms = sms;
    return the();
}

uint32_t machine::random(uint32_t bound) {
    if (seed == 0 || bound <= 1) return 0;
    // splitmix64
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return uint32_t((z ^ (z >> 31)) % bound);
}

/// Some seeds' completions come at once, most within a few times the nominal latency, a few very late.
int64_t machine::stretch(int64_t cycles) {
    if (seed == 0) return cycles;
    switch (random(8)) {
        case 0: return 0;
        case 1: return cycles * 4 + random(200);
        case 2: return random(4) == 0 ? cycles * 40 + random(20000) : cycles * 8;
        default: return cycles * int64_t(random(300)) / 100;
    }
}

void machine::at(int64_t time, std::function<void()> action) {
    queue_.push({time, random(1u << 16), ++number_, nullptr, new std::function<void()>(std::move(action))});
}

void machine::ready(lane& l, int64_t time) {
    l.time = std::max(l.time, time);
    if (l.waiting != waits_for::nothing && l.lane_number() == 0)
        trace.add({track::warp, l.view.block, l.in->number, l.what, l.since, l.time, l.at, launch_number, 0});
    l.waiting = waits_for::nothing;
    queue_.push({l.time, random(1u << 16), ++number_, &l, nullptr});
}

void machine::pause() {
    lane* self = current;
    self->run.pause();
    current = self;
    now = self->time;
}

void machine::settle(int cycles) {
    lane& l = *current;
    l.time += cycles;
    now = l.time;
    if (now > most_cycles) {
        report_at("deadlock",
                  "still running after " + std::to_string(most_cycles) + " cycles: a loop that does not end",
                  here(__builtin_frame_address(0)));
        stop();
    }
    if (queue_.empty() || queue_.top().time >= l.time) return;
    ready(l, l.time);
    pause();
}

void machine::block_on(waits_for why, const char* what, site here, const void* object, uint32_t number) {
    lane& l = *current;
    l.waiting = why;
    l.what = what;
    l.at = here;
    l.since = l.time;
    l.object = object;
    l.number = number;
    pause();
}

void machine::stop() {
    stopped = true;
    for (;;) current->run.pause();
}

site machine::here(void* frame) {
    if (!current) return 0;
    const fiber_stack& stack = current->run.stack();
    return sites.of_chain(static_cast<void* const*>(frame), stack.low, stack.high());
}

access_id machine::record(site at, const char* what, bool atomic) {
    lane& l = *current;
    l.clock.dirty = true;
    for (access_id id : l.recent) {
        const access_record& r = log[id];
        if (id && r.at == at && r.epoch == l.clock.epoch && r.what == what) return id;
    }
    const access_id id = log.add({l.clock.self, l.clock.epoch, at, launch_number, cluster_number, l.view.block,
                                  l.view.thread, what, false, atomic});
    l.recent[id % l.recent.size()] = id;
    return id;
}

void machine::run_all() {
    while (!queue_.empty() && !stopped) {
        const entry next = queue_.top();
        queue_.pop();
        now = next.time;
        if (next.action) {
            (*next.action)();
            delete next.action;
            continue;
        }
        current = next.who;
        next.who->run.resume();
        current = nullptr;
    }
    const bool hangs = !stopped && std::any_of(lanes.begin(), lanes.end(), [](const lane& l) { return !l.exited; });
    if (hangs) {
        stopped = true;
        report_deadlock();
    }
    while (!queue_.empty()) {  // a launch that was stopped
        delete queue_.top().action;
        queue_.pop();
    }
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
#include "runtime/sim/clock.h"

#include <algorithm>
#include <array>

namespace tk::sim {

namespace {

void raise(known& to, known by) {
    to.seen = std::max(to.seen, by.seen);
    to.fenced = std::max(to.fenced, by.fenced);
    to.done = std::max(to.done, by.done);
}

void raise(std::vector<known>& to, const std::vector<known>& by) {
    if (to.size() < by.size()) to.resize(by.size());
    uint32_t* target = &to.data()->seen;
    const uint32_t* source = &by.data()->seen;
    for (size_t i = 0; i < by.size() * 3; ++i) target[i] = std::max(target[i], source[i]);
}

struct remembered {
    clock_ref a, b, result;
};

/// A slot of a direct-mapped table of results. The references keep the operands alive, so equal addresses are equal
/// clocks.
template <int Table>
remembered& slot(const clock_ref& a, const clock_ref& b) {
    static std::array<remembered, 64> table;
    const auto bits = (reinterpret_cast<uintptr_t>(a.get()) >> 5) * 31 + (reinterpret_cast<uintptr_t>(b.get()) >> 5);
    return table[bits % table.size()];
}

}  // namespace

clock_ref joined(const clock_ref& a, const clock_ref& b) {
    if (a == b || !b || b->entry.empty()) return a;
    if (!a || a->entry.empty()) return b;
    remembered& memory = slot<0>(a, b);
    if (memory.a == a && memory.b == b) return memory.result;
    auto result = std::make_shared<vector_clock>(*a);
    raise(result->entry, b->entry);
    memory = {a, b, std::move(result)};
    return memory.result;
}

clock_ref common(const clock_ref& a, const clock_ref& b) {
    if (a == b) return a;
    remembered& memory = slot<1>(a, b);
    if (memory.a == a && memory.b == b) return memory.result;
    auto result = std::make_shared<vector_clock>();
    result->entry.resize(std::min(a->entry.size(), b->entry.size()));
    for (size_t i = 0; i < result->entry.size(); ++i) {
        const known x = a->entry[i], y = b->entry[i];
        result->entry[i] = {std::min(x.seen, y.seen), std::min(x.fenced, y.fenced), std::min(x.done, y.done)};
    }
    memory = {a, b, std::move(result)};
    return memory.result;
}

void clock_sum::add(const clock_ref& clock, bool only_done) {
    const vector_clock*& last = only_done ? last_done_ : last_;
    if (!clock || clock.get() == last || clock->entry.empty()) return;
    if (only_done) {
        if (entry_.size() < clock->entry.size()) entry_.resize(clock->entry.size());
        for (size_t i = 0; i < clock->entry.size(); ++i)
            raise(entry_[i], {0, clock->entry[i].fenced, clock->entry[i].done});
    } else {
        raise(entry_, clock->entry);
    }
    last = clock.get();
    held_.assign({clock});
    (only_done ? last_ : last_done_) = nullptr;
    value_ = nullptr;
}

void clock_sum::add(lane_clock& lane, bool only_done) {
    add(lane.base, only_done);
    lane.advance();
    const uint32_t last = lane.drains ? lane.drained : lane.epoch - 1;
    add(lane.self, only_done ? known{0, lane.fenced, last} : known{last, lane.fenced, last});
    if (const uint32_t n = lane.copies_waited; n > 0) add(lane.copies, only_done ? known{0, 0, n} : known{n, n, n});
}

void clock_sum::add(uint32_t component, known value) {
    if (entry_.size() <= component) entry_.resize(component + 1);
    known& to = entry_[component];
    if (to.seen >= value.seen && to.fenced >= value.fenced && to.done >= value.done) return;
    raise(to, value);
    value_ = nullptr;
}

clock_ref clock_sum::value() {
    if (!value_) {
        auto copy = std::make_shared<vector_clock>();
        copy->entry = entry_;
        value_ = std::move(copy);
    }
    return value_;
}

}  // namespace tk::sim

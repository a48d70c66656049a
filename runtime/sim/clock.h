// SPDX-License-Identifier: MIT
// Happens-before by vector clocks. A component is a lane of the cluster or a queue of asynchronous operations;
// component 0 is everything before this launch. For each component a clock says up to which epoch its accesses are
//   seen    ordered before, with their writes visible to ordinary accesses;
//   fenced  a proxy fence lies behind them: what is seen the copy engine and the tensor core see, too, and what is done they may
//           overwrite;
//   done    finished, though their writes may not be visible yet: enough for overwriting what was read.
// Lanes that met share one clock (immutable, by reference) and keep only their own entry apart, so a barrier of a whole
// block costs one vector, not one for each lane.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tk::sim {

struct known {
    uint32_t seen = 0, fenced = 0, done = 0;
};

struct vector_clock {
    std::vector<known> entry;  // missing entries are zero
    known at(uint32_t component) const { return component < entry.size() ? entry[component] : known{}; }
};
using clock_ref = std::shared_ptr<const vector_clock>;

/// The least clock that has all of both. The last results are remembered: lanes of a warp ask the same question.
clock_ref joined(const clock_ref& a, const clock_ref& b);
/// What both have.
clock_ref common(const clock_ref& a, const clock_ref& b);

/// The knowledge of one lane, or of an operation at its issue: a shared clock and an own entry.
struct lane_clock {
    clock_ref base;
    uint32_t self = 0;    // component; 0: no own entry
    uint32_t epoch = 1;   // of the accesses to come
    uint32_t fenced = 0;  // own epoch of the last proxy fence
    bool dirty = false;   // accesses were recorded in this epoch
    // Own asynchronous copies: a component, and up to which of its epochs they were waited for. 0: no copies.
    uint32_t copies = 0, copies_waited = 0;
    // CDNA: a barrier publishes own accesses as far as they were waited for, which `drained` says.
    bool drains = false;
    uint32_t drained = 0;

    known at(uint32_t component) const {
        if (component == self && self != 0) return {epoch, fenced, epoch};
        if (component == copies && copies != 0) return {copies_waited, copies_waited, copies_waited};
        return base->at(component);
    }
    /// Takes over what `other` knows.
    void acquire(const clock_ref& other) { base = joined(base, other); }
    /// Begins a new epoch if the present one has accesses: what follows is not ordered before what was published.
    void advance() {
        if (dirty) ++epoch, dirty = false;
    }
};

/// Collects what several lanes and operations release, to be acquired as one clock.
class clock_sum {
public:
    /// All that `lane` knows, its own accesses included. `only_done`: that they are finished, not that they are
    /// visible.
    void add(lane_clock& lane, bool only_done = false);
    void add(const clock_ref& clock, bool only_done = false);
    void add(uint32_t component, known value);
    clock_ref value();
    void clear() { *this = {}; }

private:
    std::vector<known> entry_;
    const vector_clock *last_ = nullptr, *last_done_ = nullptr;  // clocks that are contained already
    std::vector<clock_ref> held_;                                // keeps their addresses from being reused
    clock_ref value_;
};

}  // namespace tk::sim

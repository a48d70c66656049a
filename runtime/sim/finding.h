// SPDX-License-Identifier: MIT
// What the simulator has found wrong. Each distinct pair of kind and places is kept once, with a count.
//
// Kinds: race, read-of-poison, out-of-bounds, misaligned, deadlock, barrier-misuse, stale-phase, register-pool,
// divergence, accumulator-touched, exited-with-pending, bad-launch.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/sim/site.h"

namespace tk::sim {

struct finding_site {
    std::string role;  // what this place did
    site at = 0;
};

struct finding {
    std::string kind, text;
    std::vector<finding_site> sites;
    int64_t times = 1;
    int block = 0;
    std::set<int> threads;  // of the block of the first one
    std::string address;
};

class findings {
public:
    explicit findings(size_t most) : most_(most) {}
    /// Counts it, and returns whether it is new.
    bool add(finding f, int thread);
    const std::vector<finding>& all() const { return all_; }
    int64_t dropped() const { return dropped_; }
    void limit(size_t most) { most_ = most; }
    void clear() { *this = findings(most_); }

private:
    size_t most_;
    int64_t dropped_ = 0;  // distinct ones beyond the limit
    std::vector<finding> all_;
    std::map<std::pair<std::string, std::vector<site>>, int> numbers_;
};

/// "3, 8-15"
std::string ranges(const std::set<int>& numbers);

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// What is known of every byte of simulated memory: the last write and the reads since, as accesses of components of the
// vector clocks. Sixteen aligned bytes share a cell until something touches only a part of them; then they have one
// each, until a whole write joins them again. Most traffic (copies, operands of the tensor core) moves whole cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/sim/clock.h"
#include "runtime/sim/site.h"

namespace tk::sim {

constexpr uint32_t kPending = ~uint32_t(0);  // epoch of an operation that is not complete: ordered before nothing

/// One access, or many alike: by the same component in the same epoch from the same place.
struct access_record {
    uint32_t component = 0, epoch = 0;
    site at = 0;
    uint32_t launch = 0, cluster = 0;  // which launch of the run; cluster in the grid
    int32_t block = 0, thread = 0;
    const char* what = "";  // "load", "tensor load", ...
    bool is_async = false, is_atomic = false;
};
using access_id = uint32_t;  // 0: none

/// All accesses of a run, and sets of them.
class access_log {
public:
    access_id add(const access_record& record) {
        records_.push_back(record);
        return access_id(records_.size() - 1);
    }
    access_record& operator[](access_id id) { return records_[id]; }

    /// Sets of reads are lists that share their tails.
    struct node {
        uint32_t next = 0;
        access_id read = 0;
    };
    const node& operator()(uint32_t set) const { return nodes_[set]; }
    uint32_t push(uint32_t set, access_id read);
    uint32_t sets() const { return uint32_t(nodes_.size()); }

    /// A set, a read and the set of both that was found for them lately.
    struct step {
        uint32_t set, result;
        access_id read;
    };
    step& recent(uint32_t set, access_id read) { return recent_[(set * 31 + read) % recent_.size()]; }

private:
    std::array<step, 64> recent_{};
    std::vector<access_record> records_{{}};
    std::vector<node> nodes_{{}};
    std::unordered_map<uint64_t, uint32_t> known_;  // (set, read) -> the set of both
};

struct shadow_cell {
    access_id write = 0;  // 0: never written
    uint32_t reads = 0;   // a set of access_log
};

/// Cells of one piece of memory.
class shadow {
public:
    static constexpr int kGrain = 16;

    explicit shadow(size_t bytes = 0) : cells_((bytes + kGrain - 1) / kGrain), parts_(1) {}

    /// f(cell, first byte, bytes) for the cells of a range. A write of all sixteen bytes leaves one cell for them.
    template <class F>
    void for_range(uint64_t first, uint64_t bytes, bool is_write, F f) {
        const uint64_t end = first + bytes;
        while (first < end) {
            const uint64_t grain = first / kGrain, in = first % kGrain;
            const uint64_t count = std::min<uint64_t>(kGrain - in, end - first);
            shadow_cell& whole = cells_[grain];
            if (whole.write == kSplit || count < kGrain) {
                part* parts = split(whole);
                for (uint64_t i = 0; i < count; ++i) f((*parts)[in + i], first + i, 1);
                if (is_write && count == kGrain) join(whole);
            } else {
                f(whole, first, kGrain);
            }
            first += count;
        }
    }

private:
    static constexpr access_id kSplit = ~access_id(0);
    using part = shadow_cell[kGrain];
    struct split_cells {
        part cell;
    };

    part* split(shadow_cell& whole);
    void join(shadow_cell& whole);

    std::vector<shadow_cell> cells_;
    std::vector<split_cells> parts_;
    std::vector<uint32_t> free_;
};

}  // namespace tk::sim

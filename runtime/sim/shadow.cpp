// SPDX-License-Identifier: MIT
#include "runtime/sim/shadow.h"

#include <algorithm>

namespace tk::sim {

uint32_t access_log::push(uint32_t set, access_id read) {
    uint32_t& known = known_[uint64_t(set) << 32 | read];
    if (known == 0) {
        nodes_.push_back({set, read});
        known = uint32_t(nodes_.size() - 1);
    }
    return known;
}

shadow::part* shadow::split(shadow_cell& whole) {
    if (whole.write != kSplit) {
        uint32_t number;
        if (free_.empty()) {
            number = uint32_t(parts_.size());
            parts_.emplace_back();
        } else {
            number = free_.back();
            free_.pop_back();
        }
        std::fill_n(parts_[number].cell, kGrain, whole);
        whole = {kSplit, number};
    }
    return &parts_[whole.reads].cell;
}

void shadow::join(shadow_cell& whole) {
    const uint32_t number = whole.reads;
    whole = parts_[number].cell[0];
    free_.push_back(number);
}

}  // namespace tk::sim

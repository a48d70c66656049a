// SPDX-License-Identifier: MIT
// The simulated timeline: spans of virtual time. Written as JSON by job.cpp; `tkc trace` turns them into pictures.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sim/site.h"

namespace tk::sim {

enum class track : uint8_t { warp, loads, stores, tensor_core };

struct span {
    track kind;
    int block, number;  // of the warp, or of the warpgroup for the tensor core
    const char* what;
    int64_t begin, end;  // nominal cycles
    site at;
    uint32_t launch;
    int64_t bytes;
};

struct trace_log {
    bool on = false;
    std::vector<span> spans;
    void add(const span& s) {
        if (on && s.end > s.begin) spans.push_back(s);
    }
};

}  // namespace tk::sim

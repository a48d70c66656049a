// SPDX-License-Identifier: MIT
// Places in the simulated program: call chains of return addresses, numbered. They are turned into files and lines
// once, when the result is written (symbolise.h).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tk::sim {

/// Number of a call chain; 0 is none.
using site = uint32_t;

class site_table {
public:
    /// The call chain above `frame` (a frame address), up to the end of the lane's stack. Innermost first.
    site of_chain(void* const* frame, const char* stack_low, const char* stack_high);
    const std::vector<void*>& frames(site number) const { return chains_[number]; }

private:
    std::vector<std::vector<void*>> chains_{{}};
    std::unordered_multimap<uint64_t, site> numbers_;
};

}  // namespace tk::sim

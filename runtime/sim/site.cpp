// SPDX-License-Identifier: MIT
#include "runtime/sim/site.h"

#include <algorithm>

namespace tk::sim {

// Other functions' frames are read, which AddressSanitizer would not have.
__attribute__((no_sanitize("address"))) site site_table::of_chain(void* const* frame, const char* stack_low,
                                                                  const char* stack_high) {
    constexpr int most = 48;
    void* chain[most];
    int count = 0;
    uint64_t hash = 14695981039346656037u;
    // A frame holds the address of the caller's frame, then the return address.
    while (count < most) {
        const char* at = reinterpret_cast<const char*>(frame);
        if (at < stack_low || at + 2 * sizeof(void*) > stack_high) break;
        void* const* up = static_cast<void* const*>(frame[0]);
        chain[count++] = frame[1];
        hash = (hash ^ reinterpret_cast<uint64_t>(frame[1])) * 1099511628211u;
        if (up <= frame) break;
        frame = up;
    }
    const auto [begin, end] = numbers_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
        if (std::equal(chain, chain + count, chains_[it->second].begin(), chains_[it->second].end())) return it->second;
    chains_.emplace_back(chain, chain + count);
    numbers_.emplace(hash, site(chains_.size() - 1));
    return site(chains_.size() - 1);
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// cp.async: a lane's copy from global into shared memory, 4, 8 or 16 bytes. Complete some time after its issue, in any order;
// whoever touches the bytes, or writes the source, without being ordered behind the lane's wait is found.
#include <cstring>
#include <string>

#include "runtime/sim/agent.h"
#include "tk/sim/sm80/async_copy.h"

namespace tk::sim {

namespace {
constexpr int kAsyncCopyCycles = 600;
}

void copy_to_shared(uint32_t to, const void* from, int bytes, uint32_t existing) {
    const std::string name = "cp.async of " + std::to_string(bytes) + " bytes";
    if (existing > uint32_t(bytes)) {
        report("out-of-bounds", name + ", " + std::to_string(existing) + " of which are said to exist");
        existing = uint32_t(bytes);
    }
    if (to % uint32_t(bytes) != 0) report("misaligned", name + " to an address that is no multiple of it");
    if (reinterpret_cast<uint64_t>(from) % uint64_t(bytes) != 0)
        report("misaligned", name + " from an address that is no multiple of it");
    operation* copy = begin_lane_copy("cp.async");
    if (existing > 0) read_global(copy, from, int64_t(existing));
    write_shared(copy, to, bytes);
    const uint32_t place = absolute(to);
    finish(copy, {.cycles = kAsyncCopyCycles, .bytes = bytes}, [=] {
        unsigned char* const target = place_shared(place, bytes);
        const unsigned char* const source = existing > 0 ? place_global(from, int64_t(existing)) : nullptr;
        if (!target) return;
        if (source) std::memcpy(target, source, existing);
        std::memset(target + existing, 0, size_t(bytes) - existing);
    });
}

void store_async(uint32_t to, const void* from, int bytes, uint32_t barrier) {
    constexpr int kCycles = 200, kMost = 16;  // nominal, from block to block
    if (to % uint32_t(bytes) != 0)
        report("misaligned", "an asynchronous store of " + std::to_string(bytes) + " bytes at an address that is no multiple of it");
    operation* store = begin_copy("st.async", barrier);
    const uint32_t address = absolute(to);
    write_shared(store, address, bytes);
    std::array<unsigned char, kMost> values{};
    std::memcpy(values.data(), from, size_t(bytes));
    finish(store, {.cycles = kCycles, .bytes = bytes}, [address, values, bytes] {
        if (unsigned char* place = place_shared(address, bytes)) std::memcpy(place, values.data(), size_t(bytes));
    });
}

}  // namespace tk::sim

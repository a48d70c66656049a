// SPDX-License-Identifier: MIT
// Copies from a buffer into shared memory (buffer_load .. lds): lane l's piece goes to the wave's address + l * bytes; dwords beyond
// the buffer's size arrive as 0. Each is a group of its own in its lane's queue: vmcnt counts instructions.
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/sim/agent.h"
#include "runtime/sim/machine.h"
#include "tk/sim/gfx9/buffer.h"

namespace tk::sim {

namespace {
constexpr int kLdsCopyCycles = 600;
}

void copy_buffer_to_shared(const char* what, uint32_t to, const void* base, uint32_t size, uint32_t of_lane, uint32_t more, int bytes) {
    same_in_warp(what, uint64_t(to) << 32 | more);
    const uint64_t offset = uint64_t(of_lane) + more;
    const uint32_t here = to + uint32_t(the().current->lane_number() * bytes);
    operation* copy = begin_lane_copy(what);
    if (offset % 4 != 0) report("misaligned", std::string("`") + what + "` from an offset that is no multiple of 4");
    // How many whole dwords of the piece lie inside the buffer.
    const uint32_t inside = offset >= size ? 0 : std::min<uint32_t>(uint32_t(bytes), uint32_t(size - offset) / 4 * 4);
    const char* const from = inside > 0 ? static_cast<const char*>(base) + offset : nullptr;
    if (inside > 0) read_global(copy, from, inside);
    write_shared(copy, here, bytes);
    const uint32_t place = absolute(here);
    finish(copy, {.cycles = kLdsCopyCycles, .bytes = bytes}, [=] {
        unsigned char* const target = place_shared(place, bytes);
        const unsigned char* const source = inside > 0 ? place_global(from, inside) : nullptr;
        if (!target) return;
        std::memset(target, 0, size_t(bytes));
        if (source) std::memcpy(target, source, inside);
    });
    lane_copies_commit();
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Buffer instructions on the simulator: dwords beyond the size read as 0 and are not written. A copy into shared memory is an
// asynchronous operation of its lane; the wave's counter is a queue of them. Ordinary loads and stores are not in the queue:
// they only make a wait longer.
#pragma once

#include "tk/hip/gfx9/word.h"
#include "tk/sim/engine.h"

namespace tk::sim {

/// runtime/sim/lds_copy.cpp. `offset` is each lane's own, `to` and `more` are those of the wave.
void copy_buffer_to_shared(const char* what, uint32_t to, const void* base, uint32_t size, uint32_t offset, uint32_t more, int bytes);

}  // namespace tk::sim

namespace tk::gfx9 {

struct buffer {
    const void* base;
    uint32_t bytes;
};

TK_DEVICE buffer make_buffer(const void* base, uint32_t bytes) {
    sim::same_in_warp("the base of a buffer", reinterpret_cast<uint64_t>(base));
    sim::same_in_warp("the size of a buffer", bytes);
    return {base, bytes};
}

namespace detail {
template <class T>
T load_buffer(const buffer& from, uint32_t offset) {
    unsigned char bytes[sizeof(T)] = {};
    const char* const at = static_cast<const char*>(from.base) + offset;
    if (uint64_t(offset) + sizeof(T) <= from.bytes) {
        sim::load_global(at, bytes, int(sizeof(T)));
    } else {
        for (uint32_t d = 0; d < sizeof(T); d += 4)
            if (uint64_t(offset) + d + 4 <= from.bytes) sim::load_global(at + d, bytes + d, 4);
    }
    T value;
    __builtin_memcpy(&value, bytes, sizeof(T));
    return value;
}
}  // namespace detail

TK_DEVICE uint32_t load_buffer_b32(const buffer& from, uint32_t offset) { return detail::load_buffer<uint32_t>(from, offset); }
TK_DEVICE words2 load_buffer_b64(const buffer& from, uint32_t offset) { return detail::load_buffer<words2>(from, offset); }
TK_DEVICE words4 load_buffer_b128(const buffer& from, uint32_t offset) { return detail::load_buffer<words4>(from, offset); }

TK_DEVICE void copy_buffer_to_shared_b32(uint32_t to, const buffer& from, uint32_t offset, uint32_t more) {
    sim::copy_buffer_to_shared("buffer_load_dword lds", to, from.base, from.bytes, offset, more, 4);
}

}  // namespace tk::gfx9

// SPDX-License-Identifier: MIT
// The 64-bit descriptor of a wgmma operand in shared memory, and the address of each 16-byte chunk (eight 16-bit
// elements) that it names (PTX ISA: matrix descriptor). Offsets are added to the start, then the sum is swizzled.
#pragma once

#include <cstdint>

#include "runtime/sim/swizzle.h"

namespace tk::sim {

struct matrix_descriptor_fields {
    uint32_t start;            // bytes 0 .. 2^18 - 16
    uint32_t leading, stride;  // bytes
    int base_offset;           // 0 to 7; not 0 only for data that was not written by absolute address
    int swizzle;               // 0, 32, 64, 128 bytes
    uint64_t unused;           // bits that have no meaning: must be 0
};

constexpr matrix_descriptor_fields decode_descriptor(uint64_t bits) {
    constexpr int width[] = {0, 128, 64, 32};
    constexpr uint64_t known =
        0x3fff | uint64_t(0x3fff) << 16 | uint64_t(0x3fff) << 32 | uint64_t(7) << 49 | uint64_t(3) << 62;
    return {uint32_t(bits & 0x3fff) << 4,
            uint32_t(bits >> 16 & 0x3fff) << 4,
            uint32_t(bits >> 32 & 0x3fff) << 4,
            int(bits >> 49 & 7),
            width[bits >> 62],
            bits & ~known};
}

/// Address of the chunk that holds element (mn, k), before swizzling. `mn` counts along M or N. K-major: k is a
/// multiple of 8, the chunk holds k .. k + 7; else mn is one.
constexpr uint32_t linear_chunk_address(const matrix_descriptor_fields& f, bool mn_major, uint32_t mn, uint32_t k) {
    const uint32_t width = uint32_t(f.swizzle);
    if (!mn_major) {
        if (width == 0) return f.start + mn / 8 * f.stride + k / 8 * f.leading + mn % 8 * 16;
        return f.start + mn / 8 * f.stride + mn % 8 * width + k * 2;
    }
    if (width == 0) return f.start + mn / 8 * f.stride + k / 8 * f.leading + k % 8 * 16;
    return f.start + mn / (width / 2) * f.leading + k / 8 * f.stride + k % 8 * width + mn % (width / 2) * 2;
}

/// The same, as the memory is addressed.
constexpr uint32_t chunk_address(const matrix_descriptor_fields& f, bool mn_major, uint32_t mn, uint32_t k) {
    return swizzle_address(linear_chunk_address(f, mn_major, mn, k), f.swizzle);
}

}  // namespace tk::sim

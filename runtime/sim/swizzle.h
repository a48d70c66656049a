// SPDX-License-Identifier: MIT
// The permutation of 16-byte chunks that the copy engine and the tensor core apply to shared memory: an XOR on bits
// of the absolute address. 128 bytes: bits 4-6 ^= bits 7-9; 64: 4-5 ^= 7-8; 32: 4 ^= 7 (PTX ISA: swizzling
// modes of tensor copies).
#pragma once

#include <cstdint>

namespace tk::sim {

/// `width` is 0 (none), 32, 64 or 128 bytes.
constexpr uint32_t swizzle_address(uint32_t address, int width) {
    const uint32_t mask = width == 0 ? 0 : uint32_t(width) - 16;
    return address ^ ((address >> 3) & mask);
}

}  // namespace tk::sim

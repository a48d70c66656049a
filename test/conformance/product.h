// SPDX-License-Identifier: MIT
// What the cases of the tensor core share: how operands lie in shared memory, and where a thread's accumulators are.
#pragma once

#include "test/conformance/case.h"

namespace conformance {

inline constexpr int kDepth = 32;        // K: two instructions
inline constexpr uint32_t kBAt = 32768;  // B behind A in shared memory
inline constexpr int kSharedBytes = 65536 + 1024;

/// How an operand [extent along M or N, kDepth] lies in shared memory.
struct operand {
    int extent, width;  // width: bytes of the swizzle, 0 for none
    bool mn_major;

    TK_HOST_DEVICE constexpr uint32_t swizzled(uint32_t offset) const {
        return offset ^ (width ? (offset >> 3 & uint32_t(width - 16)) : 0u);
    }
    /// Byte offset of element (mn, k) before the swizzle.
    TK_HOST_DEVICE constexpr uint32_t offset(int mn, int k) const {
        if (width == 0 && !mn_major)
            return uint32_t(mn / 8 * (kDepth / 8 * 128) + k / 8 * 128 + mn % 8 * 16 + k % 8 * 2);
        if (width == 0) return uint32_t(mn / 8 * (kDepth / 8 * 128) + k / 8 * 128 + k % 8 * 16 + mn % 8 * 2);
        const int panel = width / 2;
        if (!mn_major) return uint32_t(k / panel * extent * width + mn * width + k % panel * 2);
        return uint32_t(mn / panel * kDepth * width + k * width + mn % panel * 2);
    }
    TK_HOST_DEVICE constexpr uint32_t leading() const {
        return width == 0 ? 128u : mn_major ? uint32_t(kDepth * width) : 16u;
    }
    TK_HOST_DEVICE constexpr uint32_t stride() const {
        return width == 0 ? uint32_t(kDepth / 8 * 128) : uint32_t(8 * width);
    }
    TK_HOST_DEVICE constexpr uint64_t descriptor(uint32_t base, int k) const {
        const uint64_t mode = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
        return uint64_t((base + offset(0, k)) >> 4 & 0x3fff) | uint64_t(leading() >> 4) << 16 |
               uint64_t(stride() >> 4) << 32 | mode << 62;
    }
};

TK_HOST_DEVICE int row_of(int t, int n) { return 16 * (t / 32) + t % 32 / 4 + 8 * (n / 2 % 2); }
TK_HOST_DEVICE int column_of(int t, int n) { return n / 4 * 8 + 2 * (t % 4) + n % 2; }

/// Keeps ordinary uses of the registers on their side of the fence or wait here.
template <int N>
TK_DEVICE void tie([[maybe_unused]] float (&d)[N]) {
    TK_UNROLL
    for (int n = 0; n < N; ++n) TK_TIE("+f"(d[n]));
}

}  // namespace conformance

// SPDX-License-Identifier: MIT
// The bookkeeping of a ring of slots: what a pipe needs beside its storage. No waits, no memory.
#pragma once

#include "tk/platform.h"

namespace tk {

/// Which of N slots comes next, and on which lap's parity.
template <int N>
struct ring {
    int slot = 0;
    uint32_t phase = 0;

    TK_HOST_DEVICE constexpr void advance() {
        if (++slot == N) slot = 0, phase ^= 1;
    }
    /// As n calls of advance, n >= 0.
    TK_HOST_DEVICE constexpr void skip(int n) {
        const int laps = (slot + n) / N;
        slot = slot + n - laps * N;
        phase ^= uint32_t(laps) & 1;
    }
    /// The slot before this one.
    TK_HOST_DEVICE constexpr int previous() const { return slot + (slot == 0 ? N - 1 : -1); }
    /// The slot n behind this one, 0 <= n <= N.
    TK_HOST_DEVICE constexpr int ahead(int n) const { return slot + n < N ? slot + n : slot + n - N; }
    /// The parity of the lap for which the slot n behind this one is filled next, and the slot before this one.
    TK_HOST_DEVICE constexpr uint32_t phase_ahead(int n) const { return slot + n < N ? phase : phase ^ 1; }
    TK_HOST_DEVICE constexpr uint32_t phase_of_previous() const { return phase_ahead(N - 1); }
};

}  // namespace tk

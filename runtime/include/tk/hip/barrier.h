// SPDX-License-Identifier: MIT
// Barriers in shared memory that count arrivals: tk/ops/barrier.h on a machine without mbarriers. With n arrivals a phase, a counter runs
// from 0 to 2n - 1 and round, so that from n on the phase under way is an odd one. Waves that wait read it and sleep.
#pragma once

#include "tk/hip/gfx9/shared_counter.h"
#include "tk/ops/scope.h"

namespace tk {

/// Written by `init` only.
struct alignas(8) barrier {
    uint32_t arrived, last;
};

namespace detail {
/// The parity of the phase under way.
TK_HOST_DEVICE constexpr uint32_t phase_parity(uint32_t arrived, uint32_t last) { return arrived > last / 2; }

/// A wave reads once, and so the same in all lanes, which the compiler is told; the simulator's lanes read one after the other.
TK_DEVICE uint32_t read_parity(uint32_t barrier, uint32_t last) {
    const uint32_t arrived = arch::counter_read(barrier);
#ifdef TK_SIM
    return phase_parity(arrived, last);
#else
    return phase_parity(arch::broadcast_first(arrived), last);
#endif
}
}  // namespace detail

/// By one thread; then a block barrier before any use.
TK_DEVICE void init(barrier& b, int arrivals) { arch::counter_start(arch::shared_address(&b), 2 * uint32_t(arrivals) - 1); }
TK_DEVICE void fence_barrier_init() {}

/// Returns once the phase of `parity` is over. By whole waves.
TK_DEVICE void wait(barrier& b, uint32_t parity) {
    const uint32_t address = arch::shared_address(&b), last = arch::counter_last(address);
    while (detail::read_parity(address, last) == parity) arch::sleep<1>();
    warp::sync();
}

namespace warp {
/// One arrival for the whole warp. What its lanes did to shared memory before is complete.
TK_DEVICE void arrive(barrier& b) {
    const uint32_t address = arch::shared_address(&b), last = arch::counter_last(address);
    sync();
    if (lane() == 0) arch::counter_step(address, last);
}

/// The warps that the barrier counts meet. No phase is over before the last one has come, so the one under way is this one's.
TK_DEVICE void meet(barrier& b) {
    const uint32_t address = arch::shared_address(&b);
    const uint32_t parity = detail::read_parity(address, arch::counter_last(address));
    arrive(b);
    wait(b, parity);
}
}  // namespace warp

}  // namespace tk

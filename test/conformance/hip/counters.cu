// SPDX-License-Identifier: MIT
// CDNA: counters in shared memory that go round, by which waves wait for each other.
#define CASES_FOR "tk/gfx942.h"
#include "test/conformance/case.h"

#include "tk/hip/gfx9/shared_counter.h"

namespace conformance {
namespace {

/// Three rounds of a counter that stands for two arrivals a phase.
TK_KERNEL(64) round_kernel(uint32_t* out) {
    if (gfx9::thread_index() != 0) return;
    const uint32_t counter = gfx9::shared_address(gfx9::dynamic_shared_memory());
    gfx9::counter_start(counter, 3);
    gfx9::wait_shared_memory<0>();
    for (int n = 0; n < 12; ++n) {
        put(out, n, gfx9::counter_read(counter));
        gfx9::counter_step(counter, gfx9::counter_last(counter));
        gfx9::wait_shared_memory<0>();
    }
    put(out, 12, gfx9::counter_last(counter));
}

TK_DEVICE void wait_for(uint32_t counter, bool upper) {
    while ((gfx9::counter_read(counter) > gfx9::counter_last(counter) / 2) != upper) gfx9::sleep<1>();
    gfx9::warp_sync();
}

/// A slot: one wave writes, the other reads; each counts by one lane when its accesses are over.
TK_KERNEL(128) slot_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index(), lane = t % 64;
    const uint32_t base = gfx9::shared_address(gfx9::dynamic_shared_memory()), full = base + 256, empty = base + 264;
    if (t == 0) {
        gfx9::counter_start(full, 1);
        gfx9::counter_start(empty, 1);
    }
    gfx9::block_sync();
    for (int n = 0; n < 5; ++n) {
        if (t < 64) {
            wait_for(empty, n % 2 != 0);
            gfx9::store_shared(base + uint32_t(lane) * 4, get(in, n * 64 + lane));
            gfx9::warp_sync();
            if (lane == 0) gfx9::counter_step(full, 1);
        } else {
            wait_for(full, n % 2 == 0);
            put(out, n * 64 + lane, gfx9::load_shared<uint32_t>(base + uint32_t(63 - lane) * 4));
            gfx9::warp_sync();
            if (lane == 0) gfx9::counter_step(empty, 1);
        }
    }
}

}  // namespace

// case: counter_round in 1 out 13 exact covers counter_start, counter_step, counter_read, counter_last
CASE(counter_round) { return start<round_kernel>(stream, 1, 64, 64, output(out)); }
EXPECTED(counter_round) {
    for (uint32_t n = 0; n < 12; ++n) out[n] = n % 4;
    out[12] = 3;
}

// case: counter_slot in 320 out 320 exact covers counter_start, counter_step, counter_read, counter_last, sleep
CASE(counter_slot) { return start<slot_kernel>(stream, 1, 128, 512, input(in), output(out)); }
EXPECTED(counter_slot) {
    for (int n = 0; n < 320; ++n) out[n] = in[n / 64 * 64 + 63 - n % 64];
}

}  // namespace conformance

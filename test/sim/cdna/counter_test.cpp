// SPDX-License-Identifier: MIT
// Barriers in shared memory on CDNA: a ring between two workers by hand, and what is found when an arrival, a wait, or the wait for
// shared memory in front of an arrival is missing.
#include HAND_FOR

#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

enum class fault { none, no_arrival, no_wait, early_arrival, no_meeting, another_count };

struct ring_shared {
    float slots[2][256];
    float partial[4];
    barrier full[2], empty[2], meets;
};

/// Warps 0 to 3 fill slots, 4 to 7 add them up; at the end these meet and add up what each has seen.
template <fault F>
TK_KERNEL(512)
ring_kernel(float* out, int n) {
    auto& shared = block::shared<ring_shared>();
    if (thread::index() == 0) {
        for (int slot = 0; slot < 2; ++slot) {
            init(shared.full[slot], 4);
            init(shared.empty[slot], F == fault::another_count ? 5 : 4);
        }
        init(shared.meets, 4);
    }
    block::sync();
    const int t = warpgroup::thread();
    ring<2> r;
    if (warpgroup::index() == 0) {
        for (int i = 0; i < n; ++i) {
            wait(shared.empty[r.slot], r.phase ^ 1);
            if (F == fault::early_arrival) warp::arrive(shared.full[r.slot]);
            arch::store_shared_variable(shared.slots[r.slot][t], float(i));
            if (F != fault::early_arrival) warp::arrive(shared.full[r.slot]);
            r.advance();
        }
    } else {
        float sum = 0;
        for (int i = 0; i < n; ++i) {
            if (F != fault::no_wait) wait(shared.full[r.slot], r.phase);
            sum += arch::load_shared_variable(shared.slots[r.slot][255 - t]);
            if (F != fault::no_arrival || i < n - 3) warp::arrive(shared.empty[r.slot]);
            r.advance();
        }
        if (warp::lane() == 0) arch::store_shared_variable(shared.partial[t / arch::lanes], sum);
        if (F != fault::no_meeting) warp::meet(shared.meets);
        arch::store_global(out + t, arch::load_shared_variable(shared.partial[3 - t / arch::lanes]));
    }
}

template <fault F>
outcome run_ring(uint64_t seed, int n, int* wrong = nullptr) {
    fresh_machine(seed);
    float* const out = tensor_memory<float>("out", 256, false);
    const outcome o = run<ring_kernel<F>>(1, 512, int(sizeof(ring_shared)), out, n);
    if (wrong) *wrong = int(std::count_if(out, out + 256, [&](float x) { return x != float(n * (n - 1) / 2); }));
    return o;
}

TEST(CdnaCounters, Ring) {
    for (uint64_t seed = 0; seed < 4; ++seed)
        for (const int n : {0, 1, 2, 3, 9}) {
            int wrong = 0;
            const outcome o = run_ring<fault::none>(seed, n, &wrong);
            EXPECT_TRUE(o.findings.empty()) << o.text();
            EXPECT_EQ(wrong, 0);
        }
}

/// Waves that sleep are seen to wait, and for whom.
TEST(CdnaCounters, MissingArrivalsHang) {
    const outcome o = run_ring<fault::no_arrival>(0, 9);
    EXPECT_TRUE(o.has("deadlock")) << o.text();
    EXPECT_NE(o.story("deadlock").find("0 of 4 arrivals"), std::string::npos) << o.text();
    EXPECT_TRUE(run_ring<fault::another_count>(0, 9).has("deadlock"));
}

TEST(CdnaCounters, UnorderedAccessesAreRaces) {
    EXPECT_TRUE(run_ring<fault::no_wait>(1, 9).has("race")) << run_ring<fault::no_wait>(1, 9).text();
    EXPECT_TRUE(run_ring<fault::early_arrival>(1, 9).has("race")) << run_ring<fault::early_arrival>(1, 9).text();
    EXPECT_TRUE(run_ring<fault::no_meeting>(1, 9).has("race")) << run_ring<fault::no_meeting>(1, 9).text();
}

/// The number of a counter against an mbarrier's phase.
TEST(CdnaCounters, ParityOfAPhase) {
    for (uint32_t arrivals = 1; arrivals < 40; ++arrivals) {
        uint32_t now = 0;
        for (uint32_t step = 0; step < 6 * arrivals; ++step) {
            EXPECT_EQ(detail::phase_parity(now, 2 * arrivals - 1), step / arrivals % 2);
            now = now == 2 * arrivals - 1 ? 0 : now + 1;
        }
    }
}

}  // namespace
}  // namespace tk::sim_test

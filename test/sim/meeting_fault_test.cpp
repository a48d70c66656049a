// SPDX-License-Identifier: MIT
// Faults of how threads meet and what they share: barriers, phases, registers, clusters, a launch.
#include "test/sim/faults.h"

namespace tk::sim_test {
namespace {

// Registers: 3 warpgroups start with 168 a thread; 24 + 240 + 240 is what that makes, 32 + 240 + 240 is too much.
template <int Load, int Compute>
TK_KERNEL(384)
shares_registers() {
    if (warpgroup::index() == 0)
        warpgroup::decrease_registers<Load>();
    else
        warpgroup::increase_registers<Compute>();
}
TEST(Fault, registers) {
    silent([] { return run<shares_registers<24, 240>>(1, 384, 0); });
    found("register-pool", "registers a thread are asked for",
          [] { return run<shares_registers<32, 240>>(1, 384, 0); });
    found("register-pool", "setmaxnreg.dec to 200", [] { return run<shares_registers<200, 232>>(1, 384, 0); });
}

// Lanes that are not together at an instruction of the warp.
template <int Form>
TK_KERNEL(64)
diverges(float* out) {
    const int t = thread::index();
    uint32_t x = uint32_t(t);
    if constexpr (Form == 0) x = sm80::shuffle_xor(x, 1);
    if (Form == 1 && t % 2 == 0) x = sm80::shuffle_xor(x, 2);
    if (Form == 2) x = t < 16 ? sm80::shuffle_xor(x, 1) : uint32_t(sm90::elect());
    if (Form == 3) {
        if (t == 40) return;
        warp::sync();
    }
    grid::wait_previous();
    sm80::store_global(out + t, float(x));
}
TEST(Fault, divergence) {
    silent([] { return run<diverges<0>>(1, 64, 0, tensor_memory<float>("out", 64, false)); });
    found("divergence", "one has left the kernel",
          [] { return run<diverges<1>>(1, 64, 0, tensor_memory<float>("out", 64, false)); });
    found("divergence", "`shfl.sync.bfly`",
          [] { return run<diverges<2>>(1, 64, 0, tensor_memory<float>("out", 64, false)); });
    found("divergence", "has left", [] { return run<diverges<3>>(1, 64, 0, tensor_memory<float>("out", 64, false)); });
}

// Named barriers: two warpgroups each with its own, or by mistake with one; a wrong count.
template <int Form>
TK_KERNEL(256)
two_groups(float* out) {
    auto& shared = block::shared<float[256]>();
    const int t = thread::index(), g = t / 128;
    grid::wait_previous();
    sm80::store_shared_variable(shared[t], float(t));
    if constexpr (Form == 0) warpgroup::sync();
    if constexpr (Form == 1) named_barrier_sync(1 + g, g == 0 ? 128 : 96);
    if constexpr (Form == 2) named_barrier_sync(1, g == 0 ? 128 : 256);
    if constexpr (Form == 3) named_barrier_sync(16, 128);
    if constexpr (Form == 4) named_barrier_sync(1, 128);  // both groups at one barrier: whichever four warps come first
    sm80::store_global(out + t, sm80::load_shared_variable(shared[t ^ 96]));
}
template <int Form>
outcome run_two_groups() {
    return run<two_groups<Form>>(1, 256, 1024, tensor_memory<float>("out", 256, false));
}
TEST(Fault, named_barriers) {
    silent(run_two_groups<0>);
    found("deadlock", "32 of 96 threads", run_two_groups<1>);
    bool met = false;  // else the first group is through before the second comes, which then waits alone
    for (uint64_t seed = 0; seed < 10; ++seed) {
        fresh_machine(seed);
        const outcome result = run_two_groups<2>();
        EXPECT_FALSE(result.findings.empty());
        met = met || result.story("barrier-misuse").find("at the same time") != std::string::npos;
    }
    EXPECT_TRUE(met);
    found("barrier-misuse", "barriers 0 to 15", run_two_groups<3>);
    found("barrier-misuse", "two groups of warps", run_two_groups<4>);
}

// A waiter that is two phases behind: the arriver does not wait until it is known that the phase was seen.
struct hurried_shared {
    barrier go, seen;
};
template <bool Hurries>
TK_KERNEL(64)
hurries() {
    auto& shared = block::shared<hurried_shared>();
    if (thread::index() == 0) {
        init(shared.go, 1);
        init(shared.seen, 32);
        fence_barrier_init();
    }
    block::sync();
    if (warp::index() == 1) {
        for (uint32_t phase = 0; phase < 4; ++phase) {
            wait(shared.go, phase & 1);
            arrive(shared.seen);
        }
    } else if (warp::elect()) {
        for (uint32_t phase = 0; phase < 4; ++phase) {
            arrive(shared.go);
            if (!Hurries) wait(shared.seen, phase & 1);
        }
    }
}
TEST(Fault, two_phases_behind) {
    silent([] { return run<hurries<false>>(1, 64, sizeof(hurried_shared)); });
    found("stale-phase", "phase 0 of the barrier", [] { return run<hurries<true>>(1, 64, sizeof(hurried_shared)); });
}

// A cycle between two barriers: each warp arrives at its own only after it has waited for the other's.
struct two_barriers {
    barrier first, second;
};
template <bool Crossed>
TK_KERNEL(64)
ping() {
    auto& shared = block::shared<two_barriers>();
    if (thread::index() == 0) {
        init(shared.first, 32);
        init(shared.second, 32);
        fence_barrier_init();
    }
    block::sync();
    if (warp::index() == 0) {
        if (!Crossed) arrive(shared.first);
        wait(shared.second, 0);
        arrive(shared.first);
        if (Crossed) wait(shared.second, 1);
    } else {
        wait(shared.first, 0);
        arrive(shared.second);
        if (!Crossed) wait(shared.first, 1);
    }
}
TEST(Fault, crossed_waits) {
    silent([] { return run<ping<false>>(1, 64, sizeof(two_barriers)); });
    found("deadlock", "nobody can go on", [] { return run<ping<true>>(1, 64, sizeof(two_barriers)); });
}

// A tile stored into every block of the cluster is read behind the wait for its bytes, and nobody leaves while others still tell him
// that they have read theirs.
struct hearing_shared {
    shared_tile<float, 2, 1> values;
    barrier full, empty;
};
template <bool Waits, bool Stays>
TK_CLUSTER_KERNEL(128, 2)
hears_all(float* out) {
    using layout = tk::layout<32, 1, 1, 1, 1, 4>;
    auto& shared = block::shared<hearing_shared>();
    const int t = thread::index();
    if (t == 0) {
        init(shared.full, 1);
        init(shared.empty, 8);
        fence_barrier_init();
    }
    cluster::sync();
    grid::wait_previous();
    warpgroup::store_cluster<2>(rows<1>(shared.values, cluster::rank()), fill<float, 1, 1, layout>(float(block::index() + 1)),
                                shared.full);
    if (t == 0) expect_bytes(shared.full, 8);
    if (Waits) wait(shared.full, 0);
    const auto all = warpgroup::load_shared<layout>(shared.values);
    warp::arrive_cluster(shared.empty, 2);
    if (t == 0) sm80::store_global(out + block::index(), all.data[0] * all.data[all.size - 1]);
    if (Stays) cluster::sync();
}
template <auto Kernel>
outcome run_hearing(bool agrees) {
    float* out = tensor_memory<float>("out", 4, false);
    const outcome result = run<Kernel, 2>(4, 128, sizeof(hearing_shared), out);
    if (agrees) {
        EXPECT_EQ(out[1], 2.0f);
        EXPECT_EQ(out[2], 12.0f);
    }
    return result;
}
TEST(Fault, exchange_in_a_cluster) {
    silent([] { return run_hearing<hears_all<true, true>>(true); });
    found("race", "", [] { return run_hearing<hears_all<false, true>>(false); });
    found("exited-with-pending", "reaches into", [] { return run_hearing<hears_all<true, false>>(true); });
}

// A loop that waits for what never comes, without a barrier.
TK_KERNEL(32)
spins(const float* flag) {
    grid::wait_previous();
    while (sm80::load_global(flag) == 0.0f) warp::sync();
}
TEST(Fault, endless_loop) {
    fresh_machine(0);
    sim::the().most_cycles = 100000;
    const outcome result = run<spins>(1, 32, 0, tensor_memory<float>("flag", 1));
    EXPECT_TRUE(result.has("deadlock")) << result.text();
}

// A simulated GPU may have less shared memory than the largest of its kind: the launcher says so, and a launch is refused.
TEST(Fault, less_shared_memory) {
    for (const int limit : {0, 101376}) {
        fresh_machine(0);
        sim::the().shared_bytes = limit;
        host::device_info seen{};  // what a launcher asks once in a process and keeps
        EXPECT_EQ(host::query_device(0, seen).code, TK_OK);
        EXPECT_EQ(size_t(seen.shared_bytes) < 101377, limit != 0);
        float* flag = tensor_memory<float>("flag", 1, true, 1.0f);
        EXPECT_EQ(host::launch_kernel<spins>({1, 32, 101377, nullptr}, flag).code, limit ? TK_CUDA : TK_OK);
        EXPECT_EQ(host::launch_kernel<spins>({1, 32, 101376, nullptr}, flag).code, TK_OK);
    }
}

}  // namespace
}  // namespace tk::sim_test

// SPDX-License-Identifier: MIT
// Small kernels, each right in one form and wrong in others: what the simulator says of the wrong ones, and that it is
// silent about the right one, whatever the seed.
#include "test/sim/run_kernel.h"

#include <set>

namespace tk::sim_test {
namespace {

constexpr int kSeeds = 20;

template <class F>
void silent(F run_once) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        fresh_machine(seed);
        const outcome result = run_once();
        EXPECT_TRUE(result.findings.empty()) << "seed " << seed << "\n" << result.text();
    }
}

template <class F>
void found(const std::string& kind, const std::string& part, F run_once) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        fresh_machine(seed);
        const outcome result = run_once();
        EXPECT_TRUE(result.has(kind)) << "seed " << seed << "\n" << result.text();
        EXPECT_NE(result.story(kind).find(part), std::string::npos) << "seed " << seed << "\n" << result.text();
    }
}

// Shared memory between warps.
struct exchange_shared {
    float values[128];
};

template <bool Syncs, bool SyncsAgain>
TK_KERNEL(128)
exchange(float* out) {
    auto& shared = block::shared<exchange_shared>();
    const int t = thread::index();
    grid::wait_previous();
    for (int round = 0; round < 3; ++round) {
        sm80::store_shared_variable(shared.values[t], float(t + round));
        if constexpr (Syncs) block::sync();
        const float other = sm80::load_shared_variable(shared.values[t ^ 64]);
        sm80::store_global(out + t, other);
        if constexpr (SyncsAgain) block::sync();
    }
}

TEST(Fault, exchange_through_shared_memory) {
    silent([] {
        return run<exchange<true, true>>(1, 128, sizeof(exchange_shared), tensor_memory<float>("out", 128, false));
    });
}
TEST(Fault, read_without_barrier) {
    found("race", "shared", [] {
        return run<exchange<false, true>>(1, 128, sizeof(exchange_shared), tensor_memory<float>("out", 128, false));
    });
}
TEST(Fault, overwritten_before_read) {
    found("race", "`shared store` is not ordered behind a `shared load`", [] {
        return run<exchange<true, false>>(1, 128, sizeof(exchange_shared), tensor_memory<float>("out", 128, false));
    });
}

// Within a warp, shuffles do not order memory; a warp's barrier does.
template <bool Syncs>
TK_KERNEL(32)
neighbours(float* out) {
    auto& shared = block::shared<exchange_shared>();
    const int t = thread::index();
    grid::wait_previous();
    sm80::store_shared_variable(shared.values[t], float(t));
    if constexpr (Syncs)
        warp::sync();
    else
        sm80::shuffle_xor(uint32_t(t), 1);
    sm80::store_global(out + t, sm80::load_shared_variable(shared.values[t ^ 1]));
}
TEST(Fault, neighbours_meet) {
    silent(
        [] { return run<neighbours<true>>(1, 32, sizeof(exchange_shared), tensor_memory<float>("out", 32, false)); });
}
TEST(Fault, shuffle_orders_no_memory) {
    found("race", "", [] {
        return run<neighbours<false>>(1, 32, sizeof(exchange_shared), tensor_memory<float>("out", 32, false));
    });
}

// Which lane is elected is open, but it is always the same.
TK_KERNEL(128)
elections(uint32_t* out) {
    grid::wait_previous();
    uint32_t* const own = out + 3 * warp::index();
    for (int n = 0; n < 3; ++n)
        if (warp::elect()) sm80::store_global(own + n, uint32_t(warp::lane()));
}
TEST(Fault, elected_lane_is_open) {
    std::set<uint32_t> chosen;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        fresh_machine(seed);
        uint32_t* const out = tensor_memory<uint32_t>("out", 12, false);
        const outcome o = run<elections>(1, 128, 0, out);
        EXPECT_TRUE(o.findings.empty()) << o.text();
        for (int n = 0; n < 12; ++n) EXPECT_EQ(out[n], out[n / 3 * 3]);
        EXPECT_TRUE(seed != 0 || out[0] == 0);
        chosen.insert(out, out + 12);
    }
    EXPECT_GT(chosen.size(), 8u);
}

// Global memory.
template <int Shift, bool Waits>
TK_KERNEL(128)
scale(const float* in, float* out, int n) {
    if constexpr (Waits) grid::wait_previous();
    const int i = block::index() * 128 + thread::index();
    if (i < n) sm80::store_global(out + i / (Shift + 1), 2 * sm80::load_global(in + i + Shift));
}
template <int Shift, bool Waits>
outcome run_scale() {
    const float* in = tensor_memory<float>("in", 300);
    float* out = tensor_memory<float>("out", 300, false);
    return run<scale<Shift, Waits>>(3, 128, 0, in, out, 300);
}
TEST(Fault, every_element_once) { silent(run_scale<0, true>); }
TEST(Fault, two_stores_to_one_element) {
    found("race", "`global store` is not ordered behind a `global store`", run_scale<1, true>);
}
TEST(Fault, read_past_the_end) { found("out-of-bounds", "`global load` of 4 bytes", run_scale<1, true>); }
/// Rows of 10 elements, 16 apart: what lies between them belongs to nobody.
TEST(Fault, between_rows) {
    found("out-of-bounds", "belongs to no element", [] {
        const float* in = tensor_memory<float>("in", 300);
        sim::region& out = sim::add_region("out", 300 * sizeof(float), 256, 4, false);
        out.exists.assign(300 * sizeof(float), false);
        for (size_t i = 0; i < 300; ++i)
            for (size_t b = 0; b < 4; ++b) out.exists[i * 4 + b] = i % 16 < 10;
        return run<scale<0, true>>(3, 128, 0, in, reinterpret_cast<float*>(out.data), 300);
    });
}
TEST(Fault, write_to_what_is_only_read) {
    found("out-of-bounds", "which the kernel only reads", [] {
        const float* in = tensor_memory<float>("in", 300);
        sim::region& out = sim::add_region("out", 300 * sizeof(float), 256, 4, true);
        out.read_only = true;
        return run<scale<0, true>>(3, 128, 0, in, reinterpret_cast<float*>(out.data), 300);
    });
}
TEST(Fault, launch_before_not_awaited) { found("race", "grid::wait_previous", run_scale<0, false>); }

TK_KERNEL(32)
reads_unwritten(const float* in, float* out) {
    grid::wait_previous();
    const auto& shared = block::shared<exchange_shared>();
    sm80::store_global(out + thread::index(), sm80::load_global(in + thread::index()) +
                                                  sm80::load_shared_variable(shared.values[thread::index()]));
}
TEST(Fault, unwritten_memory) {
    found("read-of-poison", "reads memory that nothing has written", [] {
        const float* in = tensor_memory<float>("in", 32, false);
        return run<reads_unwritten>(1, 32, sizeof(exchange_shared), in, tensor_memory<float>("out", 32, false));
    });
}

TK_KERNEL(32)
misaligned_vector(const float* in, float* out) {
    grid::wait_previous();
    detail::store_vector(out, detail::load_vector<float, 4>(in + 1));
}
TEST(Fault, misaligned_vector) {
    found("misaligned", "16 bytes", [] {
        const float* in = tensor_memory<float>("in", 32);
        return run<misaligned_vector>(1, 32, 0, in, tensor_memory<float>("out", 32, false));
    });
}

TK_KERNEL(32)
past_shared(float* out) {
    grid::wait_previous();
    const uint32_t start = sm80::shared_address(&block::shared<exchange_shared>());
    sm80::store_shared(start + uint32_t(sizeof(exchange_shared)) + 4 * uint32_t(thread::index()), 1.0f);
    sm80::store_global(out + thread::index(), 0.0f);
}
TEST(Fault, past_shared_memory) {
    found("out-of-bounds", "of shared memory, which has 512 bytes",
          [] { return run<past_shared>(1, 32, sizeof(exchange_shared), tensor_memory<float>("out", 32, false)); });
}

// Atomic additions by all blocks meet without order; an ordinary store among them does not.
template <bool Atomic>
TK_KERNEL(32)
count(float* out) {
    grid::wait_previous();
    if (Atomic || block::index() != 1)
        sm80::red_add_f32(out, 1.0f);
    else
        sm80::store_global(out, 1.0f);
}
TEST(Fault, atomics) {
    silent([] {
        float* out = tensor_memory<float>("out", 1);
        const outcome result = run<count<true>>(4, 32, 0, out);
        EXPECT_EQ(*out, 128.0f);
        return result;
    });
}
TEST(Fault, store_among_atomics) {
    found("race", "", [] { return run<count<false>>(4, 32, 0, tensor_memory<float>("out", 1)); });
}

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

// Clusters: what a block writes is read by the other one after a release and an acquire at cluster scope.
struct cluster_shared {
    alignas(16) float values[4 * 32];
    barrier ready;
};
template <bool Released, bool Acquired, bool Stays>
TK_CLUSTER_KERNEL(32, 2)
reads_neighbour(float* out) {
    auto& shared = block::shared<cluster_shared>();
    const int t = thread::index(), other = cluster::rank() ^ 1;
    if (t == 0) {
        init(shared.ready, 1);
        fence_barrier_init();
    }
    cluster::sync();
    grid::wait_previous();
    detail::store_shared_vector(sm80::shared_address(&shared.values[4 * t]),
                                detail::vector<float, 4>{{float(t), 1, 2, float(block::index())}});
    warp::sync();
    if (t == 0) {
        const uint32_t remote = sm90::map_to_block(sm80::shared_address(&shared.ready), uint32_t(other));
        if (Released)
            sm90::mbarrier_arrive_release_cluster(remote);
        else
            sm90::mbarrier_arrive_cluster(remote);
    }
    if (Acquired)
        wait_published(shared.ready, 0);
    else
        wait(shared.ready, 0);
    float values[4];
    sm90::load_cluster_f32x4(values, sm90::map_to_block(sm80::shared_address(&shared.values[4 * t]), uint32_t(other)));
    sm80::store_global(out + block::index() * 32 + t, values[3]);
    if (Stays) cluster::sync();
}
template <auto Kernel>
outcome run_neighbour() {
    float* out = tensor_memory<float>("out", 128, false);
    const outcome result = run<Kernel, 2>(4, 32, sizeof(cluster_shared), out);
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[127], 2.0f);
    return result;
}
TEST(Fault, cluster) {
    silent(run_neighbour<reads_neighbour<true, true, true>>);
    found("race", "`shared load` is not ordered behind a `shared store`",
          run_neighbour<reads_neighbour<false, true, true>>);
    found("race", "", run_neighbour<reads_neighbour<true, false, true>>);
    found("exited-with-pending", "reaches into", run_neighbour<reads_neighbour<true, true, false>>);
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

// What all blocks read: the reads are not kept for each block, and that one of them comes before a write of another block is seen.
template <bool Writes>
TK_KERNEL(128)
reads_one(float* value, float* out) {
    grid::wait_previous();
    if (Writes && block::index() + 1 == block::count()) {
        if (thread::index() == 0) sm80::store_global(value + 3, 1.0f);
        return;
    }
    float sum = 0;
    for (int i = 0; i < 16; ++i) sum += sm80::load_global(value + i);
    sm80::store_global(out + (block::index() * 128 + thread::index()), sum);
}
template <bool Writes>
outcome run_readers(int blocks) {
    float *value = tensor_memory<float>("value", 16), *out = tensor_memory<float>("out", size_t(blocks) * 128, false);
    return run<reads_one<Writes>>(blocks, 128, 0, value, out);
}
TEST(Fault, reads_by_many_blocks) {
    found("race", "by another block", [] { return run_readers<true>(3); });
    fresh_machine(0);
    EXPECT_TRUE(run_readers<false>(200).findings.empty());
    size_t longest = 0;
    for (uint32_t set = 0; set < sim::the().log.sets(); ++set) {
        size_t length = 0;
        for (uint32_t n = set; n; n = sim::the().log(n).next) ++length;
        longest = std::max(longest, length);
    }
    EXPECT_LE(longest, 129u);  // a block's threads and one other
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

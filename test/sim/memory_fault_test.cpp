// SPDX-License-Identifier: MIT
// Faults of what threads read and write: races, what nothing has written, what does not exist.
#include "test/sim/faults.h"

#include <set>

namespace tk::sim_test {
namespace {

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

}  // namespace
}  // namespace tk::sim_test

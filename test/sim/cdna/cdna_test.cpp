// SPDX-License-Identifier: MIT
// CDNA on the simulator: products by hand against plain sums, what is found when a wait or a barrier is missing, conflicts of the
// fragments' loads, reductions over waves of 64 lanes.
#include <random>

#include "test/hip/gemm_by_hand.cu"
#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

using namespace by_hand;

/// Whole numbers, so that sums are exact in every order.
void fill_small(bf16* data, size_t n, uint32_t seed) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < n; ++i) data[i] = bf16(float(int(random() % 9) - 4));
}

struct problem {
    int m, n, k, pitch;  // of A, in elements
    tensor<const bf16, 2> a, b;
    tensor<bf16, 2> c;

    problem(uint32_t seed, int m_, int n_, int k_, int pitch_ = 0) : m(m_), n(n_), k(k_), pitch(pitch_ ? pitch_ : k_) {
        bf16* const left = tensor_memory<bf16>("A", size_t(m) * size_t(pitch));
        bf16* const right = tensor_memory<bf16>("B", size_t(k) * size_t(n));
        fill_small(left, size_t(m) * size_t(pitch), seed);
        fill_small(right, size_t(k) * size_t(n), seed + 1);
        a = {left, {m, k}, {pitch, 1}};
        b = {right, {k, n}, {n, 1}};
        c = {tensor_memory<bf16>("C", size_t(m) * size_t(n), false), {m, n}, {n, 1}};
    }
    int wrong() const {
        int bad = 0;
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                float sum = 0;
                for (int x = 0; x < k; ++x) sum += float(a.data[i * pitch + x]) * float(b.data[x * n + j]);
                bad += float(c.data[i * n + j]) != float(bf16(sum));
            }
        return bad;
    }
};

#if TK_GFX == 950
using small_shape = shape<64, 64, 32, 3, 1>;  // pieces of a wave: one for A, one for B
#else
using small_shape = shape<64, 64, 32, 2, 1>;
#endif

template <class S>
outcome run_gemm(const problem& p) {
    return run<gemm_kernel<S>>(cdiv(p.m, S::BM) * cdiv(p.n, S::BN), S::threads, int(sizeof(typename S::shared_memory)), p.a, p.b, p.c);
}

int64_t conflicts(sim::counted kind) {
    int64_t sum = 0;
    for (const auto& [place, c] : sim::the().counters)
        if (place.second == kind) sum += c.wavefronts - c.ideal;
    return sum;
}

TEST(Cdna, GemmByHand) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
        fresh_machine(seed);
        const problem p(uint32_t(seed), 100, 72, 104);
        const outcome o = run_gemm<small_shape>(p);
        EXPECT_TRUE(o.findings.empty()) << o.text();
        EXPECT_EQ(p.wrong(), 0);
        EXPECT_EQ(conflicts(sim::counted::shared_load), 0);
        EXPECT_EQ(conflicts(sim::counted::transposed_load), 0);
    }
}

TEST(Cdna, GemmOfTwoWorkers) {
    fresh_machine(1);
    const problem p(7, 140, 130 / 8 * 8, 72);
    const outcome o = run_gemm<shape<128, 128, 64, 2, 2>>(p);
    EXPECT_TRUE(o.findings.empty()) << o.text();
    EXPECT_EQ(p.wrong(), 0);
}

/// What is in scalar registers is the wave's: lanes that differ in it get what the first one has. And a wave arrives at the barrier as one.
enum class apart { none, base, size, place, lane, barrier };

template <apart F>
TK_KERNEL(64)
of_lanes_kernel(const uint32_t* in, uint32_t* out) {
    auto& shared = block::shared<uint32_t[128]>();
    const int own = thread::index();
    const auto place = [&](apart what) { return F == what ? own / 32 * 4 : 0; };
    const auto from = gfx9::make_buffer(in + place(apart::base), uint32_t(256 + place(apart::size)));
    const uint32_t direct = gfx9::load_buffer_b32(from, uint32_t(4 * own));
#if !TK_HAS_GFX950
    gfx9::copy_buffer_to_shared_b32(arch::shared_address(&shared) + uint32_t(4 * place(apart::place)), from, uint32_t(4 * own), 0);
    wait_copies<0>();
#else
    arch::store_shared_variable(shared[own], direct);
    gfx9::wait_shared_memory<0>();
    if (F == apart::place) gfx950::copy_buffer_to_shared_b128(arch::shared_address(&shared) + uint32_t(16 * place(apart::place)), from, 1 << 30, 0);
    wait_copies<0>();
#endif
    if (F != apart::barrier || own < 32) gfx9::barrier();
    const uint32_t first = arch::shuffle_from(direct, place(apart::lane));
    arch::store_global(out + own, first + direct);
}

template <apart F>
outcome run_of_lanes() {
    fresh_machine(1);
    uint32_t* const in = tensor_memory<uint32_t>("in", 128);
    std::fill(in, in + 128, 1u);
    return run<of_lanes_kernel<F>>(1, 64, 8192, static_cast<const uint32_t*>(in), tensor_memory<uint32_t>("out", 64, false));
}

TEST(Cdna, LanesThatDifferInScalars) {
    EXPECT_TRUE(run_of_lanes<apart::none>().findings.empty()) << run_of_lanes<apart::none>().text();
    EXPECT_TRUE(run_of_lanes<apart::base>().has("divergence"));
    EXPECT_TRUE(run_of_lanes<apart::size>().has("divergence"));
    EXPECT_TRUE(run_of_lanes<apart::place>().has("divergence"));
    EXPECT_TRUE(run_of_lanes<apart::lane>().has("divergence"));
    EXPECT_TRUE(run_of_lanes<apart::barrier>().has("divergence"));
}

/// The kernel's skeleton with one thing left out.
enum class fault { none, short_wait, no_wait, no_barrier, bare_barrier, refill_too_early };

template <fault F>
TK_KERNEL(256)
two_slots_kernel(const tensor<const bf16, 2> A, const tensor<float, 2> C) {
    using tile = shared_tile<bf16, 64, 64, swizzle::b128>;
    constexpr int copies = detail::copy_instructions(tile::bytes, 256);
    struct memory {
        tile a[3];
    };
    auto& shared = block::shared<memory>();
    using layout = matrix_layout<4>;
    ring<3> slots;
    auto acc = fill<float, 64, 64, layout>(0.0f);
    for (int stage = 0; stage < 2; ++stage) block::copy_async<256>(shared.a[slots.ahead(stage)], A.block(span(0), span(stage * 64)));
    for (int k = 0; k < A.extent[1]; k += 64) {
        if constexpr (F != fault::no_wait) wait_copies<F == fault::short_wait ? 2 * copies : copies>();
        if constexpr (F == fault::bare_barrier) gfx9::barrier();
        else if constexpr (F != fault::no_barrier) block::sync();
        const auto left = warpgroup::load_left<layout>(shared.a[slots.slot]);
        const auto right = warpgroup::load_right<layout>(transposed(shared.a[slots.slot]));
        const int refilled = F == fault::refill_too_early ? slots.slot : slots.previous();
        block::copy_async<256>(shared.a[refilled], A.block(span(0), span(k + 128)));
        warpgroup::multiply(acc, left, right);
        slots.advance();
    }
    wait_copies<0>();
    warpgroup::store(C.block(span(0), span(0)), acc);
}

template <fault F>
outcome run_two_slots(uint64_t seed) {
    fresh_machine(seed);
    bf16* const a = tensor_memory<bf16>("A", 64 * 256);
    fill_small(a, 64 * 256, 3);
    float* const c = tensor_memory<float>("C", 64 * 64, false);
    const outcome o = run<two_slots_kernel<F>>(1, 256, 3 * 8192, tensor<const bf16, 2>{a, {64, 256}, {256, 1}}, tensor<float, 2>{c, {64, 64}, {64, 1}});
    if (F == fault::none)
        for (int i = 0; i < 64; ++i)
            for (int j = 0; j < 64; ++j) {
                float sum = 0;
                for (int k = 0; k < 256; ++k) sum += float(a[i * 256 + k]) * float(a[j * 256 + k]);
                EXPECT_EQ(c[i * 64 + j], sum) << i << ", " << j;
            }
    return o;
}

TEST(Cdna, NothingLeftOut) {
    for (uint64_t seed = 0; seed < 3; ++seed) EXPECT_TRUE(run_two_slots<fault::none>(seed).findings.empty()) << run_two_slots<fault::none>(seed).text();
}
TEST(Cdna, WaitForTooFew) {
    for (uint64_t seed = 0; seed < 2; ++seed) EXPECT_TRUE(run_two_slots<fault::short_wait>(seed).has("race"));
}
TEST(Cdna, NoWait) {
    for (uint64_t seed = 0; seed < 2; ++seed) {
        const outcome o = run_two_slots<fault::no_wait>(seed);
        EXPECT_NE(o.story("race").find("buffer_load"), std::string::npos) << o.text();
    }
}
TEST(Cdna, NoBarrier) { EXPECT_TRUE(run_two_slots<fault::no_barrier>(0).has("race")); }
/// s_barrier waits for no memory: loads of a wave may be outstanding when another refills their slot.
TEST(Cdna, BarrierWithoutWaitForSharedMemory) {
    for (uint64_t seed = 0; seed < 2; ++seed) {
        const outcome o = run_two_slots<fault::bare_barrier>(seed);
        EXPECT_NE(o.story("race").find("shared load"), std::string::npos) << o.text();
    }
}
TEST(Cdna, RefillOfTheSlotThatIsRead) { EXPECT_TRUE(run_two_slots<fault::refill_too_early>(0).has("race")); }

/// Stores of one wave, loads of another: the count of lgkmcnt says how far the barrier publishes them.
template <int Newest>
TK_KERNEL(128)
exchange_kernel(const tensor<float, 1> out) {
    struct memory {
        float first[128], second[128];
    };
    auto& shared = block::shared<memory>();
    const int t = thread::index();
    arch::store_shared_variable(shared.first[t], float(t));
    gfx9::wait_shared_memory<15>();
    arch::store_shared_variable(shared.second[t], float(-t));
    gfx9::wait_shared_memory<Newest>();
    gfx9::barrier();
    const float x = arch::load_shared_variable(shared.first[127 - t]);
    gfx9::wait_shared_memory<0>();
    gfx9::barrier();
    arch::store_global(out.data + t, x + arch::load_shared_variable(shared.second[127 - t]));
}
TEST(Cdna, CountedWaitForSharedMemory) {
    for (int newest = 0; newest < 3; ++newest) {
        fresh_machine(0);
        const tensor<float, 1> out{tensor_memory<float>("out", 128, false), {128}, {1}};
        const auto go = newest == 0 ? run<exchange_kernel<0>, 1, tensor<float, 1>> : newest == 1 ? run<exchange_kernel<1>, 1, tensor<float, 1>> : run<exchange_kernel<2>, 1, tensor<float, 1>>;
        const outcome o = go(1, 128, 1024, out);
        // The first store is complete with at most one outstanding, the second is read behind another barrier.
        EXPECT_EQ(o.has("race"), newest == 2) << newest << o.text();
        for (int t = 0; t < 128; ++t) EXPECT_EQ(out.data[t], 0.0f);
    }
}

/// P V with P in registers, and rows and columns reduced over the lanes of a wave.
TK_KERNEL(256)
chained_kernel(const tensor<const bf16, 2> Q, const tensor<const bf16, 2> V, const tensor<float, 2> O, const tensor<float, 1> most, const tensor<float, 1> sums) {
    struct memory {
        shared_tile<bf16, 64, 64, swizzle::b128> q, v;
        reduce_scratch<float, 64> scratch;
    };
    auto& shared = block::shared<memory>();
    using layout = matrix_layout<4>;
    block::copy_async<256>(shared.q, Q.block(span(0), span(0)));
    block::copy_async<256>(shared.v, V.block(span(0), span(0)));
    wait_copies<0>();
    block::sync();
    auto s = fill<float, 64, 64, layout>(1.0f);
    warpgroup::multiply_zero(s, warpgroup::load_left<layout>(shared.q), warpgroup::load_right<layout>(transposed(shared.q)));
    const auto top = row_max(s);
    const auto down = col_sum(s, shared.scratch);
    const auto p = convert<bf16>(s - top);
    auto o = fill<float, 64, 64, layout>(0.0f);
    TK_UNROLL
    for (int step = 0; step < 64; step += 32) {
        const auto part = columns<32>(p, step);
        const auto v = warpgroup::load_right<layout, true>(rows<32>(shared.v, step));
        warpgroup::multiply_subtract(o, part, v);
    }
    warpgroup::store(O.block(span(0), span(0)), o);
    warpgroup::store(most.block(span(0)), top);
    warpgroup::store(transposed(sums.block(span(0))), down);
}

TEST(Cdna, ChainOfProducts) {
    fresh_machine(2);
    bf16* const q = tensor_memory<bf16>("Q", 64 * 64);
    bf16* const v = tensor_memory<bf16>("V", 64 * 64);
    std::mt19937 random(5);
    for (int i = 0; i < 64 * 64; ++i) q[i] = bf16(float(int(random() % 3) - 1)), v[i] = bf16(float(int(random() % 5) - 2));
    const tensor<float, 2> o{tensor_memory<float>("O", 64 * 64, false), {64, 64}, {64, 1}};
    const tensor<float, 1> most{tensor_memory<float>("most", 64, false), {64}, {1}}, sums{tensor_memory<float>("sums", 64, false), {64}, {1}};
    const outcome found = run<chained_kernel>(1, 256, 2 * 8192 + 2048, tensor<const bf16, 2>{q, {64, 64}, {64, 1}}, tensor<const bf16, 2>{v, {64, 64}, {64, 1}}, o, most, sums);
    EXPECT_TRUE(found.findings.empty()) << found.text();
    EXPECT_EQ(conflicts(sim::counted::shared_load), 0);
    EXPECT_EQ(conflicts(sim::counted::transposed_load), 0);
    std::vector<float> s(64 * 64), down(64, 0.0f), top(64, -1e30f);
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j) {
            for (int k = 0; k < 64; ++k) s[size_t(i * 64 + j)] += float(q[i * 64 + k]) * float(q[j * 64 + k]);
            top[size_t(i)] = std::max(top[size_t(i)], s[size_t(i * 64 + j)]);
            down[size_t(j)] += s[size_t(i * 64 + j)];
        }
    for (int i = 0; i < 64; ++i) {
        EXPECT_EQ(most.data[i], top[size_t(i)]) << i;
        EXPECT_EQ(sums.data[i], down[size_t(i)]) << i;
        for (int j = 0; j < 64; ++j) {
            float sum = 0;
            for (int k = 0; k < 64; ++k) sum -= (s[size_t(i * 64 + k)] - top[size_t(i)]) * float(v[k * 64 + j]);
            EXPECT_EQ(o.data[i * 64 + j], sum) << i << ", " << j;
        }
    }
}

/// Rows that start anywhere, and ranges that end inside a piece, go element by element.
TEST(Cdna, CopiesThatNoPieceFits) {
    for (const int k : {61, 64}) {
        fresh_machine(1);
        bf16* const a = tensor_memory<bf16>("A", 64 * 80);
        fill_small(a, 64 * 80, 9);
        const tensor<float, 2> c{tensor_memory<float>("C", 64 * 64, false), {64, 64}, {64, 1}};
        const int pitch = k == 61 ? 80 : 67;
        const outcome o = run<two_slots_kernel<fault::none>>(1, 256, 3 * 8192, tensor<const bf16, 2>{a, {64, k}, {pitch, 1}}, c);
        EXPECT_TRUE(o.findings.empty()) << o.text();
        for (int i = 0; i < 64; ++i)
            for (int j = 0; j < 64; ++j) {
                float sum = 0;
                for (int x = 0; x < k; ++x) sum += float(a[i * pitch + x]) * float(a[j * pitch + x]);
                EXPECT_EQ(c.data[i * 64 + j], sum) << i << ", " << j;
            }
    }
}

/// One instruction's conflicts by the groups of lanes that go together.
TEST(Cdna, Banks) {
    using sim::chip;
    using sim::counted;
    const auto access = [](auto address) {
        sim::warp_access a;
        a.mask = ~uint64_t(0);
        for (uint64_t lane = 0; lane < 64; ++lane) a.address[size_t(lane)] = uint64_t(address(lane));
        return a;
    };
    const auto dense = [&](uint64_t bytes) { return access([=](uint64_t lane) { return lane * bytes; }); };
    // 128 bytes a clock on gfx942 and for stores, 256 for gfx950's loads.
    for (const int bytes : {4, 8, 16}) {
        EXPECT_EQ(sim::wavefronts(counted::shared_load, bytes, dense(uint64_t(bytes)), chip::gfx942), bytes / 2);
        EXPECT_EQ(sim::wavefronts(counted::shared_load, bytes, dense(uint64_t(bytes)), chip::gfx950), bytes / 4);
        EXPECT_EQ(sim::wavefronts(counted::shared_store, bytes, dense(uint64_t(bytes)), chip::gfx950), bytes / 2);
    }
    // A column of rows of 128 bytes: lane l reads row l % 16, 16 bytes at chunk l / 16; unswizzled, eight rows of each group meet.
    const auto column = access([](uint64_t lane) { return lane % 16 * 128 + lane / 16 * 16; });
    EXPECT_EQ(sim::wavefronts(counted::shared_load, 16, column, chip::gfx950), 16);
    EXPECT_EQ(sim::wavefronts(counted::shared_load, 16, column, chip::gfx942), 32);
    const auto turned = access([](uint64_t lane) { return swizzled<swizzle::b128>(uint32_t(lane % 16 * 128 + lane / 16 * 16)); });
    EXPECT_EQ(sim::wavefronts(counted::shared_load, 16, turned, chip::gfx950), 4);
    EXPECT_EQ(sim::wavefronts(counted::shared_load, 16, turned, chip::gfx942), 8);
    EXPECT_EQ(sim::ideal_wavefronts(counted::shared_load, 16, turned, chip::gfx942), 8);
}

}  // namespace
}  // namespace tk::sim_test

// SPDX-License-Identifier: MIT
// Kernels for sm_80: a product with copies several steps ahead (test/runtime/multistage_gemm.h) against a plain loop, and small
// kernels on asynchronous copies, right in one form and wrong in others.
#include "test/sim/run_kernel.h"

#include "test/runtime/multistage_gemm.h"

namespace tk::sim_test {
namespace {

/// As `run`, for kernels that do not overlap the launch before them.
template <auto Kernel, class... Argument>
outcome run_after(int blocks, int threads, int shared_bytes, const Argument&... arguments) {
    const tk_status status = host::launch_kernel<Kernel>({blocks, threads, shared_bytes, nullptr, false}, arguments...);
    EXPECT_EQ(status.code, TK_OK) << status.message;
    return {sim::the().found.all()};
}

int whole(int n) { return n * 37 % 11 - 5; }

struct extents {
    int M, N, K;
    int pad;  // elements between rows
};

template <class T, int Workers, bool Transposed>
void product(extents e, uint64_t seed) {
    SCOPED_TRACE(std::to_string(e.M) + " x " + std::to_string(e.N) + " x " + std::to_string(e.K) + ", seed " + std::to_string(seed));
    fresh_machine(seed);
    const int wide_a = e.K + e.pad, wide_b = (Transposed ? e.K : e.N) + e.pad, rows_b = Transposed ? e.N : e.K;
    T* a = tensor_memory<T>("A", size_t(e.M * wide_a));
    T* b = tensor_memory<T>("B", size_t(rows_b * wide_b));
    T* d = tensor_memory<T>("D", size_t(e.M * e.N), false);
    for (int n = 0; n < e.M * wide_a; ++n) a[n] = T(float(whole(n)));
    for (int n = 0; n < rows_b * wide_b; ++n) b[n] = T(float(whole(n + 3)));
    const multistage::arguments<T> p{{a, {e.M, e.K}, {wide_a, 1}}, {b, {rows_b, Transposed ? e.K : e.N}, {wide_b, 1}}, {d, {e.M, e.N}, {e.N, 1}}};
    const int blocks = cdiv(e.M, multistage::BM) * cdiv(e.N, multistage::BN);
    const outcome result = run_after<multistage::gemm<T, Workers, Transposed>>(blocks, 128 * Workers, sizeof(multistage::shared<T, Transposed>), p);
    EXPECT_TRUE(result.findings.empty()) << result.text();
    for (int m = 0; m < e.M; ++m)
        for (int n = 0; n < e.N; ++n) {
            int sum = 0;
            for (int k = 0; k < e.K; ++k) sum += whole(m * wide_a + k) * whole((Transposed ? n * wide_b + k : k * wide_b + n) + 3);
            ASSERT_EQ(float(d[m * e.N + n]), float(T(float(sum)))) << m << ", " << n;
        }
}

TEST(Multistage, whole_tiles) { product<bf16, 2, false>({128, 256, 96, 0}, 0); }
TEST(Multistage, transposed_operand) { product<f16, 1, true>({128, 128, 160, 0}, 1); }
TEST(Multistage, ragged) { product<bf16, 2, false>({120, 136, 40, 0}, 2); }
TEST(Multistage, pieces_of_8_bytes) { product<bf16, 2, true>({70, 130, 68, 0}, 3); }
TEST(Multistage, pieces_of_4_bytes) { product<f16, 1, false>({33, 62, 34, 0}, 4); }
TEST(Multistage, odd_rows) { product<bf16, 2, false>({65, 31, 33, 0}, 5); }
TEST(Multistage, rows_apart) { product<bf16, 2, true>({64, 64, 50, 14}, 6); }
TEST(Multistage, less_than_the_pipeline_holds) { product<f16, 2, true>({16, 16, 8, 0}, 7); }

// A ring of two slots, through which all 64 threads copy rows and read those of other threads.
constexpr int kThreads = 64, kSteps = 6;

enum class fault {
    none,
    no_wait,          // for the copies
    waits_too_late,   // for one group less than is needed
    no_barrier,       // behind the wait
    refilled_early,   // before all have read the slot
    no_commit,
    not_drained,      // the thread ends with copies under way
    copied_twice,     // two copies into one slot with nothing between
    partner_first,    // a barrier, then the wait
};

struct ring_shared {
    float slot[3][kThreads * 4];
};

template <fault F>
TK_KERNEL(kThreads)
ring_kernel(const float* in, float* out) {
    auto& shared = block::shared<ring_shared>();
    const int t = thread::index();
    const auto copy = [&](int step) {
        float* to = &shared.slot[step % 3][4 * t];
        if (step < kSteps) sm80::copy_async<16>(sm80::shared_address(to), in + (step * kThreads + t) * 4, 16);
        if (F == fault::copied_twice && step == 3) sm80::copy_async<16>(sm80::shared_address(to), in, 16);
        if (F != fault::no_commit) commit_copies();
    };
    copy(0);
    copy(1);
    for (int step = 0; step < kSteps; ++step) {
        if constexpr (F == fault::partner_first) block::sync();
        if constexpr (F != fault::no_wait) wait_copies<F == fault::waits_too_late ? 2 : 1>();
        if constexpr (F != fault::no_barrier && F != fault::partner_first) block::sync();
        if constexpr (F == fault::refilled_early) copy(step + 3);
        sm80::store_global(out + step * kThreads + t, sm80::load_shared_variable(shared.slot[step % 3][4 * (t ^ 33)]));
        if constexpr (F != fault::refilled_early) copy(step + 2);
    }
    if constexpr (F != fault::not_drained) wait_copies<0>();
}

template <fault F>
outcome run_ring() {
    const float* in = tensor_memory<float>("in", size_t(kSteps * kThreads * 4), true, 2.0f);
    float* out = tensor_memory<float>("out", size_t(kSteps * kThreads), false);
    const outcome result = run_after<ring_kernel<F>>(1, kThreads, sizeof(ring_shared), in, out);
    if constexpr (F == fault::none) {
        for (int n = 0; n < kSteps * kThreads; ++n) EXPECT_EQ(out[n], 2.0f) << n;
    }
    return result;
}

/// Found whatever the seed.
template <fault F>
void found(const std::string& kind, const std::string& part) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        fresh_machine(seed);
        const outcome result = run_ring<F>();
        EXPECT_TRUE(result.has(kind)) << "seed " << seed << "\n" << result.text();
        EXPECT_NE(result.story(kind).find(part), std::string::npos) << "seed " << seed << "\n" << result.text();
    }
}

TEST(Multistage, ring_of_copies) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        fresh_machine(seed);
        const outcome result = run_ring<fault::none>();
        EXPECT_TRUE(result.findings.empty()) << "seed " << seed << "\n" << result.text();
    }
}
TEST(Multistage, no_wait) { found<fault::no_wait>("race", "`shared load` is not ordered behind a `cp.async`"); }
TEST(Multistage, waits_for_a_group_less) { found<fault::waits_too_late>("race", "`shared load` is not ordered behind a `cp.async`"); }
TEST(Multistage, no_barrier_behind_the_wait) { found<fault::no_barrier>("race", "`shared load` is not ordered behind a `cp.async`"); }
TEST(Multistage, barrier_before_the_wait) { found<fault::partner_first>("race", "`shared load` is not ordered behind a `cp.async`"); }
TEST(Multistage, refilled_before_all_have_read) { found<fault::refilled_early>("race", "cp.async"); }
TEST(Multistage, not_committed) { found<fault::no_commit>("race", "`shared load` is not ordered behind a `cp.async`"); }
TEST(Multistage, not_drained) { found<fault::not_drained>("exited-with-pending", "copies into shared memory"); }
TEST(Multistage, two_copies_into_one_slot) { found<fault::copied_twice>("race", "`cp.async` is not ordered behind a `cp.async`"); }

// Register tiles in the layout of the accumulator as left operands; warps below and beside each other.
constexpr int kSide = 64;
struct chain_shared {
    shared_tile<bf16, kSide, kSide, swizzle::b128> a, b, c;
};

/// out = a @ b, and then, by the registers of that, (a @ b) @ c - a @ c + transposed(b) @ c; all small whole numbers.
template <int WarpRows, int WarpCols>
TK_KERNEL(128)
chain_kernel(const float* in, float* out) {
    using layout = tk::layout<4, 2, 2, 8, WarpRows, WarpCols>;
    auto& shared = block::shared<chain_shared>();
    for (int n = thread::index(); n < 3 * kSide * kSide; n += 128) {
        const auto tile = n < kSide * kSide ? shared.a.view() : n < 2 * kSide * kSide ? shared.b.view() : shared.c.view();
        sm80::store_shared(tile.address(n / kSide % kSide, n % kSide), bf16(sm80::load_global(in + n)));
    }
    block::sync();
    auto acc = fill<float, kSide, kSide, layout>(5.0f);
    const auto a = warpgroup::load_left<layout>(shared.a);
    warpgroup::multiply_zero(acc, a, warpgroup::load_right<layout>(shared.b));
    warpgroup::store(global_block<float>{out, kSide, 1, 0, kSide, 0, kSide}, acc);
    if constexpr (WarpCols == 1) {
        const auto p = convert<bf16>(acc);
        TK_UNROLL
        for (int k = 0; k < kSide; k += 16) {
            const auto right = warpgroup::load_right<layout>(rows<16>(shared.c, k));
            if (k == 0) warpgroup::multiply_zero(acc, columns<16>(p, k), right);
            else warpgroup::multiply(acc, columns<16>(p, k), right);
        }
        const auto c = warpgroup::load_right<layout>(shared.c);
        warpgroup::multiply_subtract(acc, a, c);
        warpgroup::multiply(acc, warpgroup::load_left<layout>(transposed(shared.b)), c);
        warpgroup::store(global_block<float>{out + kSide * kSide, kSide, 1, 0, kSide, 0, kSide}, acc);
    }
}

template <int WarpRows, int WarpCols>
void chain() {
    fresh_machine(3);
    constexpr int size = kSide * kSide;
    float* in = tensor_memory<float>("in", 3 * size);
    for (int n = 0; n < 3 * size; ++n) in[n] = n % 17 == 0 ? float(whole(n)) : 0.0f;  // few, so that bf16 holds the products
    float* out = tensor_memory<float>("out", (WarpCols == 1 ? 2 : 1) * size, false);
    const outcome result = run_after<chain_kernel<WarpRows, WarpCols>>(1, 128, sizeof(chain_shared), in, out);
    EXPECT_TRUE(result.findings.empty()) << result.text();
    const float *a = in, *b = in + size, *c = b + size;
    std::vector<float> ab(size), expected(size);
    for (int m = 0; m < kSide; ++m)
        for (int n = 0; n < kSide; ++n) {
            for (int k = 0; k < kSide; ++k) ab[size_t(m * kSide + n)] += a[m * kSide + k] * b[k * kSide + n];
            ASSERT_EQ(out[m * kSide + n], ab[size_t(m * kSide + n)]) << m << ", " << n;
        }
    if constexpr (WarpCols == 1)
        for (int m = 0; m < kSide; ++m)
            for (int n = 0; n < kSide; ++n) {
                float sum = 0;
                for (int k = 0; k < kSide; ++k)
                    sum += (float(bf16(ab[size_t(m * kSide + k)])) - a[m * kSide + k] + b[k * kSide + m]) * c[k * kSide + n];
                ASSERT_EQ(out[size + m * kSide + n], sum) << m << ", " << n;
            }
}

TEST(Multistage, products_of_register_tiles) { chain<4, 1>(); }
TEST(Multistage, warps_two_by_two) { chain<2, 2>(); }
TEST(Multistage, warps_side_by_side) { chain<1, 4>(); }

// Right operands of an odd number of column blocks, as they lie and transposed.
template <int N>
struct narrow_shared {
    shared_tile<bf16, kSide, kSide, swizzle::b128> a;
    shared_tile<bf16, kSide, N> b;
    shared_tile<bf16, N, kSide, swizzle::b128> turned;
};

template <int N>
TK_KERNEL(128)
narrow_kernel(const float* in, float* out) {
    using layout = tk::layout<4, 2, 2, 8, 4>;
    auto& shared = block::shared<narrow_shared<N>>();
    for (int n = thread::index(); n < kSide * kSide; n += 128) {
        const int r = n / kSide, c = n % kSide;
        sm80::store_shared(shared.a.view().address(r, c), bf16(sm80::load_global(in + n)));
        const bf16 b(sm80::load_global(in + kSide * kSide + n));
        if (c < N) sm80::store_shared(shared.b.view().address(r, c), b);
        if (c < N) sm80::store_shared(shared.turned.view().address(c, r), b);
    }
    block::sync();
    auto acc = fill<float, kSide, N, layout>(0.0f);
    const auto a = warpgroup::load_left<layout>(shared.a);
    warpgroup::multiply(acc, a, warpgroup::load_right<layout>(shared.b));
    warpgroup::multiply(acc, a, warpgroup::load_right<layout>(transposed(shared.turned)));
    warpgroup::store(global_block<float>{out, N, 1, 0, kSide, 0, N}, acc);
}

template <int N>
void narrow() {
    fresh_machine(1);
    float* in = tensor_memory<float>("in", 2 * kSide * kSide);
    for (int n = 0; n < 2 * kSide * kSide; ++n) in[n] = float(whole(n));
    float* out = tensor_memory<float>("out", kSide * N, false);
    const outcome result = run_after<narrow_kernel<N>>(1, 128, sizeof(narrow_shared<N>), in, out);
    EXPECT_TRUE(result.findings.empty()) << result.text();
    for (int m = 0; m < kSide; ++m)
        for (int n = 0; n < N; ++n) {
            float sum = 0;
            for (int k = 0; k < kSide; ++k) sum += 2 * in[m * kSide + k] * in[kSide * kSide + k * kSide + n];
            ASSERT_EQ(out[m * N + n], sum) << m << ", " << n;
        }
}
TEST(Multistage, narrow_right_operands) {
    narrow<8>();
    narrow<24>();
    narrow<40>();
}

// Columns of a tensor of rank 1, and small and transposed tiles.
constexpr int kRows = 100, kWide = 24;
template <class T>
struct small_shared {
    shared_tile<T, kRows, 1> column;
    shared_tile<T, 8, kWide> small;
    shared_tile<T, kWide, 8> turned;
};

template <class T>
TK_KERNEL(256)
small_kernel(tensor<const T, 1> column, tensor<const T, 2> rows, int start, float* out) {
    auto& shared = block::shared<small_shared<T>>();
    block::copy_async<256>(shared.column, column.block(span(start)));
    block::copy_async<256>(shared.small, rows.block(span(start), span(0)));
    block::copy_async<256>(transposed(shared.turned), rows.block(span(start), span(0)));
    commit_copies();
    wait_copies<0>();
    block::sync();
    const auto show = [&](int n, uint32_t address) { sm80::store_global(out + n, float(sm80::load_shared<T>(address))); };
    for (int n = thread::index(); n < kRows; n += 256) show(n, shared.column.view().address(n, 0));
    for (int n = thread::index(); n < 8 * kWide; n += 256) {
        show(kRows + n, shared.small.view().address(n / kWide, n % kWide));
        show(kRows + 8 * kWide + n, shared.turned.view().address(n % kWide, n / kWide));
    }
}

template <class T>
void small(int start) {
    SCOPED_TRACE(start);
    fresh_machine(2);
    T* column = tensor_memory<T>("column", kRows);
    T* rows = tensor_memory<T>("rows", 10 * kWide);
    for (int n = 0; n < kRows; ++n) column[n] = T(float(n + 1));
    for (int n = 0; n < 10 * kWide; ++n) rows[n] = T(float(n % 100 + 1));
    float* out = tensor_memory<float>("out", kRows + 16 * kWide, false);
    const outcome result = run_after<small_kernel<T>>(1, 256, sizeof(small_shared<T>), tensor<const T, 1>{column, {kRows}, {1}},
                                                      tensor<const T, 2>{rows, {10, kWide}, {kWide, 1}}, start, out);
    EXPECT_TRUE(result.findings.empty()) << result.text();
    for (int n = 0; n < kRows; ++n) ASSERT_EQ(out[n], n + start < kRows ? float(n + start + 1) : 0.0f) << n;
    for (int n = 0; n < 8 * kWide; ++n) {
        const int at = n + start * kWide;
        const float expected = at < 10 * kWide ? float(at % 100 + 1) : 0.0f;
        ASSERT_EQ(out[kRows + n], expected) << n;
        ASSERT_EQ(out[kRows + 8 * kWide + n], expected) << n;
    }
}
TEST(Multistage, columns_and_small_tiles) {
    for (int start : {0, 3, 8}) {
        small<float>(start);
        small<bf16>(start);
    }
}

/// On which devices code runs (call::device): the simulated one is an H200.
TEST(Multistage, devices_of_code) {
    fresh_machine(0);
    const auto told = [](int capability, size_t bytes) {
        host::call call("f", nullptr);
        call.device(capability, bytes);
        return std::string(call.status().message);
    };
    EXPECT_EQ(told(80, 1000), "");
    EXPECT_EQ(told(89, 1000), "");
    EXPECT_EQ(told(90, 232448), "");
    EXPECT_EQ(told(90, 232449), "f: needs 232449 bytes of shared memory a block, device 0 has 232448");
    EXPECT_EQ(told(120, 1000), "f: compiled for sm_120, device 0 is sm_90");
}

}  // namespace
}  // namespace tk::sim_test

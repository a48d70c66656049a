// SPDX-License-Identifier: MIT
// Kernels that use the tensor core and the copy engine wrongly, each beside the right one: what the simulator says.
#include <cmath>

#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

template <class F>
void silent(F run_once) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        const outcome result = run_once(seed);
        EXPECT_TRUE(result.findings.empty()) << "seed " << seed << "\n" << result.text();
    }
}

template <class F>
void found(const std::string& kind, const std::string& part, F run_once) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        const outcome result = run_once(seed);
        EXPECT_NE(result.story(kind).find(part), std::string::npos) << "seed " << seed << "\n" << result.text();
    }
}

enum class fault {
    none,
    no_fence,
    no_fence_again,
    scaled_in_flight,
    waits_too_late,
    never_waits,
    no_proxy_fence,
    other_descriptor,
    overlapping,
    base_offset,
    a_not_fenced,
    refilled_in_flight,
    fresh_not_fenced
};

struct product_shared {
    shared_tile<bf16, 64, 64, swizzle::b128> a, b;
};

/// d = ones @ ones twice: 128 everywhere.
template <fault F>
TK_KERNEL(128)
product(float* out) {
    auto& shared = block::shared<product_shared>();
    grid::wait_previous();
    for (int n = thread::index(); n < 64 * 64; n += 128) {
        sm80::store_shared(shared.a.view().address(n / 64, n % 64), bf16(1.0f));
        sm80::store_shared(shared.b.view().address(n / 64, n % 64), bf16(1.0f));
    }
    if constexpr (F != fault::no_proxy_fence) fence_async_proxy();
    block::sync();
    auto acc = fill<float, 64, 64, mma_layout>(0.0f);
    if constexpr (F != fault::no_fence) warpgroup::mma_fence(acc);
    if constexpr (F == fault::other_descriptor) {
        const int row = thread::index() / 64 * 8;
        const uint64_t from = detail::matrix_descriptor<decltype(shared.a.view()), true>(shared.a.view()).at(row, 0);
        const uint64_t by = detail::matrix_descriptor<decltype(shared.b.view()), false>(shared.b.view()).at(0, 0);
        sm90::wgmma<64>::shared<true, 1, 0, 1>(acc.data, from, by, 1);
    }
    if constexpr (F == fault::base_offset) {
        const uint64_t from =
            detail::matrix_descriptor<decltype(shared.a.view()), true>(shared.a.view()).at(0, 0) | uint64_t(1) << 49;
        const uint64_t by = detail::matrix_descriptor<decltype(shared.b.view()), false>(shared.b.view()).at(0, 0);
        sm90::wgmma<64>::shared<true, 1, 0, 1>(acc.data, from, by, 1);
    }
    warpgroup::mma(acc, shared.a, shared.b);
    if constexpr (F == fault::overlapping) {
        const uint64_t from = detail::matrix_descriptor<decltype(shared.a.view()), true>(shared.a.view()).at(0, 0);
        const uint64_t by = detail::matrix_descriptor<decltype(shared.b.view()), false>(shared.b.view()).at(0, 0);
        sm90::wgmma<32>::shared<true, 1, 0, 1>(acc.data + 8, from, by, 1);
    }
    warpgroup::mma_commit();
    if constexpr (F == fault::refilled_in_flight)
        sm80::store_shared(shared.a.view().address(thread::index() / 2, 0), bf16(2.0f));
    if constexpr (F == fault::scaled_in_flight)
        for (float& x : acc.data) x *= 0.5f;
    if constexpr (F == fault::waits_too_late)
        warpgroup::mma_wait<1>(acc);
    else if constexpr (F != fault::never_waits)
        warpgroup::mma_wait<0>(acc);
    if constexpr (F == fault::no_fence_again || F == fault::a_not_fenced || F == fault::waits_too_late)
        for (float& x : acc.data) x += 0.0f;
    if constexpr (F == fault::fresh_not_fenced) {
        register_tile<float, 64, 64, mma_layout> other;
        warpgroup::mma_zero(other, shared.a, shared.b);
        warpgroup::mma_commit();
        warpgroup::mma_wait<0>(other);
    }
    if constexpr (F == fault::a_not_fenced) {
        auto other = fill<float, 64, 64, mma_layout>(0.0f);
        warpgroup::mma_fence(other);
        warpgroup::mma(other, shared.a, shared.b);
        warpgroup::mma_commit();
        warpgroup::mma_wait<0>(other);
        const auto narrow = convert<bf16>(other);
        warpgroup::mma(acc, narrow, shared.b);
    } else {
        if constexpr (F != fault::no_fence_again) warpgroup::mma_fence();
        warpgroup::mma(acc, shared.a, shared.b);
    }
    warpgroup::mma_commit();
    if constexpr (F != fault::never_waits) {
        warpgroup::mma_wait<0>(acc);
        for (int n = 0; n < acc.size; ++n) sm80::store_global(out + thread::index() * 32 + n, acc.data[n]);
    }
}

template <fault F>
outcome run_product(uint64_t seed) {
    fresh_machine(seed);
    float* out = tensor_memory<float>("out", 64 * 64, false);
    const outcome result = run<product<F>>(1, 128, sizeof(product_shared), out);
    for (int n = 0; F == fault::none && n < 64 * 64; ++n) EXPECT_EQ(out[n], 128.0f);
    return result;
}

TEST(Product, right) { silent(run_product<fault::none>); }
TEST(Product, first_without_fence) { found("accumulator-touched", "no wgmma.fence", run_product<fault::no_fence>); }
TEST(Product, second_without_fence) {
    found("accumulator-touched", "no wgmma.fence", run_product<fault::no_fence_again>);
}
TEST(Product, register_operand_without_fence) {
    found("accumulator-touched", "no wgmma.fence", run_product<fault::a_not_fenced>);
}
TEST(Product, other_registers_without_fence) {
    found("accumulator-touched", "no wgmma.fence", run_product<fault::fresh_not_fenced>);
}
TEST(Product, scaled_in_flight) {
    found("accumulator-touched", "while it was in flight", run_product<fault::scaled_in_flight>);
}
TEST(Product, used_before_its_group_is_waited_for) {
    found("accumulator-touched", "while it was in flight", run_product<fault::waits_too_late>);
}
TEST(Product, never_waited_for) { found("exited-with-pending", "products", run_product<fault::never_waits>); }
TEST(Product, operands_without_proxy_fence) { found("race", "wgmma", run_product<fault::no_proxy_fence>); }
TEST(Product, operand_refilled_in_flight) { found("race", "wgmma", run_product<fault::refilled_in_flight>); }
TEST(Product, lanes_name_different_operands) {
    found("divergence", "different products", run_product<fault::other_descriptor>);
}
TEST(Product, part_of_another_ones_registers) {
    found("accumulator-touched", "part of the registers", run_product<fault::overlapping>);
}
TEST(Product, base_offset) { found("misaligned", "base offset", run_product<fault::base_offset>); }

enum class misuse { none, no_map, other_rank, misaligned, no_proxy_fence, refilled_unread, ragged_rows };

struct copy_shared {
    shared_tile<float, 16, 32, swizzle::b128> tile;
    alignas(128) unsigned char more[128];
    barrier full;
};

/// Box (0, 0) in, one added, box (16, 0) out.
template <misuse M>
TK_KERNEL(32)
copy(TK_TENSOR_MAP in_map, TK_TENSOR_MAP out_map) {
    auto& shared = block::shared<copy_shared>();
    grid::wait_previous();
    if (thread::index() == 0) {
        init(shared.full, 1);
        fence_barrier_init();
    }
    block::sync();
    const uint32_t base = sm80::shared_address(&shared.tile) + (M == misuse::misaligned ? 64 : 0);
    if (thread::index() == 0) {
        expect_bytes(shared.full, 2048);
        const int at[] = {0, 0}, along[] = {0};
        const uint32_t full = sm80::shared_address(&shared.full);
        if constexpr (M == misuse::other_rank)
            sm90::tensor_copy<1>::load(base, &in_map, along, full);
        else
            sm90::tensor_copy<2>::load(base, &in_map, at, full);
    }
    wait(shared.full, 0);
    for (int n = thread::index(); n < 16 * 32; n += 32) {
        const uint32_t place = shared.tile.view().address(n / 32, n % 32);
        sm80::store_shared(place, sm80::load_shared<float>(place) + 1);
    }
    if constexpr (M != misuse::no_proxy_fence) fence_async_proxy();
    block::sync();
    if (thread::index() == 0) {
        const int at[] = {0, 16};
        sm90::tensor_copy<2>::store(&out_map, at, base);
        commit_stores();
        if constexpr (M != misuse::refilled_unread) wait_stores_read<0>();
    }
    block::sync();
    sm80::store_shared(base + uint32_t(thread::index()) * 4, 0.0f);
    if constexpr (M == misuse::refilled_unread)
        if (thread::index() == 0) wait_stores_read<0>();
}

template <misuse M>
outcome run_copy(uint64_t seed) {
    fresh_machine(seed);
    constexpr int columns = M == misuse::ragged_rows ? 30 : 32;
    float* in = tensor_memory<float>("in", 32 * 32, true, 3.0f);
    float* out = tensor_memory<float>("out", 32 * 32, true, 0.0f);
    if (columns < 32) {  // the last two of each row do not exist
        sim::region& r = *sim::resolve_global(out, 4, true, "", 0);
        r.exists.resize(32 * 128);
        for (size_t n = 0; n < 32 * 128; ++n) r.exists[n] = n % 128 < columns * 4;
    }
    tensor_map in_map{}, out_map{};
    host::map_description d{in, TK_F32, 2, {uint64_t(columns), 32}, {128}, {32, 16}, swizzle::b128};
    if (M != misuse::no_map) {
        EXPECT_EQ(host::encode_map(in_map, d).code, TK_OK);
    }
    d.data = out;
    EXPECT_EQ(host::encode_map(out_map, d).code, TK_OK);
    const outcome result = run<copy<M>>(1, 32, sizeof(copy_shared), in_map, out_map);
    for (int n = 0; M == misuse::none && n < 32 * 32; ++n) EXPECT_EQ(out[n], n < 16 * 32 ? 0.0f : 4.0f);
    return result;
}

TEST(TensorCopy, right) { silent(run_copy<misuse::none>); }
TEST(TensorCopy, map_never_made) { found("out-of-bounds", "never made", run_copy<misuse::no_map>); }
TEST(TensorCopy, coordinates_of_another_rank) {
    found("out-of-bounds", "1 coordinates through a map of rank 2", run_copy<misuse::other_rank>);
}
TEST(TensorCopy, misaligned_tile) { found("misaligned", "not a multiple of 128", run_copy<misuse::misaligned>); }
TEST(TensorCopy, store_without_proxy_fence) { found("race", "tensor store", run_copy<misuse::no_proxy_fence>); }
TEST(TensorCopy, refilled_before_it_is_read) { found("race", "tensor store", run_copy<misuse::refilled_unread>); }
TEST(TensorCopy, rows_that_end_inside_16_bytes) {
    found("out-of-bounds", "tensor store", run_copy<misuse::ragged_rows>);
}

}  // namespace
}  // namespace tk::sim_test

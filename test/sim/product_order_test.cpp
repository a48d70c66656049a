// SPDX-License-Identifier: MIT
// The order of the tensor core's reads: behind ordinary stores by a proxy fence and a meeting, before later stores by a
// wait.
#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

enum class fault { none, no_proxy_fence, no_meeting, no_commit, no_wait, overwritten, overwritten_by_one_warp };

struct operands {
    shared_tile<bf16, 64, 64, swizzle::b128> a, b;
};

template <fault F>
TK_KERNEL(128)
square(float* out) {
    auto& shared = block::shared<operands>();
    grid::wait_previous();
    warpgroup::store_shared(shared.a, fill<bf16, 64, 64, mma_layout>(bf16(1.0f)));
    warpgroup::store_shared(shared.b, fill<bf16, 64, 64, mma_layout>(bf16(2.0f)));
    if constexpr (F != fault::no_proxy_fence) fence_async_proxy();
    if constexpr (F != fault::no_meeting) warpgroup::sync();
    auto acc = fill<float, 64, 64, mma_layout>(0.0f);
    warpgroup::mma_fence(acc);
    warpgroup::mma(acc, shared.a, shared.b);
    if constexpr (F != fault::no_commit) warpgroup::mma_commit();
    if (F == fault::overwritten || (F == fault::overwritten_by_one_warp && warp::index() == 3))
        sm80::store_shared(sm80::shared_address(&shared.b) + 16 * uint32_t(warpgroup::thread()), 0.0f);
    if constexpr (F != fault::no_wait) warpgroup::mma_wait<0>(acc);
    sm80::store_global(out + warpgroup::thread(), F == fault::no_wait ? 0.0f : acc.data[0]);
}

template <fault F>
outcome run_square(uint64_t seed) {
    fresh_machine(seed);
    float* out = tensor_memory<float>("out", 128, false);
    const outcome result = run<square<F>>(1, 128, sizeof(operands), out);
    for (int i = 0; i < 128 && F == fault::none; ++i) EXPECT_EQ(out[i], 128.0f);
    return result;
}

template <fault F>
void expect_found(const std::string& kind, const std::string& part) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        const outcome result = run_square<F>(seed);
        EXPECT_NE(result.story(kind).find(part), std::string::npos) << "seed " << seed << "\n" << result.text();
    }
}

TEST(ProductOrder, is_silent_under_twenty_seeds) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const outcome result = run_square<fault::none>(seed);
        EXPECT_TRUE(result.findings.empty()) << "seed " << seed << "\n" << result.text();
    }
}
TEST(ProductOrder, operands_without_proxy_fence) { expect_found<fault::no_proxy_fence>("race", "fence.proxy.async"); }
TEST(ProductOrder, writers_have_not_met) { expect_found<fault::no_meeting>("race", "`wgmma` is not ordered behind a"); }
TEST(ProductOrder, never_committed) { expect_found<fault::no_commit>("exited-with-pending", "not committed"); }
TEST(ProductOrder, never_awaited) { expect_found<fault::no_wait>("exited-with-pending", "wgmma.wait_group 0"); }
TEST(ProductOrder, operand_overwritten_in_flight) {
    expect_found<fault::overwritten>("race", "not ordered behind a `wgmma`");
}
TEST(ProductOrder, overwritten_by_one_warp) {
    expect_found<fault::overwritten_by_one_warp>("race", "not ordered behind a `wgmma`");
}

}  // namespace
}  // namespace tk::sim_test

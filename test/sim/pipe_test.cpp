// SPDX-License-Identifier: MIT
// A pipe of tensor copies, as tkc generates them, right and with one fault each: a loading warp fills slots, four warps
// add the tiles up, round, stage the sum and store it by the copy engine.
#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

constexpr int kSlots = 2, kSide = 64, kTileBytes = kSide * kSide * 2;

enum class fault {
    none,
    no_release,        // a reader does not give its slot back
    one_release_less,  // one warp does not
    released_twice,
    no_wait_full,
    no_wait_empty,
    full_phase_flipped,
    empty_phase_flipped,
    too_many_bytes,
    too_few_bytes,
    released_before_read,
    read_not_fenced,
    no_init_fence,
    no_block_sync,
    made_twice,
    no_init,
    no_fence_async,
    no_sync_before_store,
    no_wait_read,  // of the store, at the end
    every_warp_stores,
    last_load_not_waited,
    wrong_count,  // one arrival too many is expected
    staged_over_barrier,
};

struct pipe_shared {
    shared_tile<bf16, kSide, kSide, swizzle::b128> slots[kSlots];
    shared_tile<bf16, kSide, kSide, swizzle::b128> stage;
    barrier full[kSlots], empty[kSlots];
};

template <fault F>
TK_KERNEL(256)
pipe(TK_TENSOR_MAP in, TK_TENSOR_MAP out, int steps) {
    auto& shared = block::shared<pipe_shared>();
    if (thread::index() == 0 && F != fault::no_init) {
        for (int i = 0; i < kSlots; ++i) {
            init(shared.full[i], 1);
            init(shared.empty[i], F == fault::wrong_count ? 5 : 4);
        }
        if constexpr (F == fault::made_twice) init(shared.full[0], 1);
        if constexpr (F != fault::no_init_fence) fence_barrier_init();
    }
    if constexpr (F != fault::no_block_sync) block::sync();
    grid::wait_previous();
    if (warpgroup::index() == 0) {
        if (warp::index() == 0 && warp::elect()) {
            ring<kSlots> at;
            for (int n = 0; n < steps; ++n) {
                if constexpr (F != fault::no_wait_empty)
                    wait(shared.empty[at.slot], F == fault::empty_phase_flipped ? at.phase : at.phase ^ 1);
                const int bytes = F == fault::too_many_bytes  ? kTileBytes + 16
                                  : F == fault::too_few_bytes ? kTileBytes - 16
                                                              : kTileBytes;
                expect_bytes(shared.full[at.slot], bytes);
                load_async(shared.slots[at.slot], in, shared.full[at.slot], n * kSide, 0);
                at.advance();
            }
        }
        return;
    }
    auto sum = fill<float, kSide, kSide, mma_layout>(0.0f);
    ring<kSlots> at;
    const int reads = F == fault::last_load_not_waited ? steps - 1 : steps;
    for (int n = 0; n < reads; ++n) {
        if constexpr (F != fault::no_wait_full)
            wait(shared.full[at.slot], F == fault::full_phase_flipped ? at.phase ^ 1 : at.phase);
        if constexpr (F == fault::released_before_read) warp::arrive(shared.empty[at.slot]);
        sum += convert<float>(warpgroup::load_shared<mma_layout>(shared.slots[at.slot]));
        const bool releases = F != fault::no_release && F != fault::released_before_read &&
                              (F != fault::one_release_less || warp::index() != 5);
        if constexpr (F != fault::read_not_fenced) fence_async_proxy();
        if (releases) warp::arrive(shared.empty[at.slot]);
        if constexpr (F == fault::released_twice) warp::arrive(shared.empty[at.slot]);
        at.advance();
    }
    warpgroup::store_shared(shared.stage, convert<bf16>(sum));
    if (F == fault::staged_over_barrier && thread::index() == 128)
        sm80::store_shared_variable(shared.full[0].state, uint64_t(0));
    if constexpr (F != fault::no_fence_async) fence_async_proxy();
    if constexpr (F != fault::no_sync_before_store) warpgroup::sync();
    if (F == fault::every_warp_stores ? warp::lane() == 0 : warpgroup::thread() == 0) {
        store_async(out, shared.stage, 0, 0);
        commit_stores();
    }
    if constexpr (F != fault::no_wait_read) wait_stores_read<0>();
}

template <fault F>
outcome run_pipe(uint64_t seed, int steps) {
    fresh_machine(seed);
    bf16* x = tensor_memory<bf16>("X", size_t(steps) * kSide * kSide);
    for (int i = 0; i < steps * kSide * kSide; ++i) x[i] = bf16(float(i % 7 - 3));
    bf16* y = tensor_memory<bf16>("Y", kSide * kSide, false);
    const auto map = [](bf16* data, int rows) {
        tensor_map result{};
        const host::map_description d{data,           TK_BF16,      2, {kSide, uint64_t(rows)}, {kSide * 2},
                                      {kSide, kSide}, swizzle::b128};
        EXPECT_EQ(host::encode_map(result, d).code, TK_OK);
        return result;
    };
    const outcome result = run<pipe<F>>(1, 256, sizeof(pipe_shared), map(x, steps * kSide), map(y, kSide), steps);
    if (F == fault::none)
        for (int i = 0; i < kSide * kSide; ++i) {
            float sum = 0;
            for (int n = 0; n < steps; ++n) sum += float(x[n * kSide * kSide + i]);
            EXPECT_EQ(float(y[i]), sum) << i << ", seed " << seed;
        }
    return result;
}

TEST(Pipe, is_silent_under_twenty_seeds) {
    for (uint64_t seed = 0; seed < 20; ++seed)
        for (int steps : {1, 2, 5}) {
            const outcome result = run_pipe<fault::none>(seed, steps);
            EXPECT_TRUE(result.findings.empty()) << "seed " << seed << ", " << steps << " steps\n" << result.text();
        }
}

/// Seeds 0 to 4 find `kind`, each of them.
template <fault F>
void expect_found(const std::string& kind, const std::string& part = "", int steps = 7) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        const outcome result = run_pipe<F>(seed, steps);
        EXPECT_TRUE(result.has(kind)) << "seed " << seed << "\n" << result.text();
        EXPECT_NE(result.story(kind).find(part), std::string::npos) << "seed " << seed << "\n" << result.text();
    }
}

TEST(Pipe, slot_never_given_back_is_a_cycle_of_waits) {
    expect_found<fault::no_release>("deadlock", "has 0 of 4 arrivals");
}
TEST(Pipe, one_arrival_missing_is_told_with_its_count) {
    expect_found<fault::one_release_less>("deadlock", "has 3 of 4 arrivals");
}
TEST(Pipe, count_over_participants) { expect_found<fault::wrong_count>("deadlock", "has 4 of 5 arrivals"); }
TEST(Pipe, slot_given_back_twice) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        const outcome result = run_pipe<fault::released_twice>(seed, 7);
        EXPECT_TRUE(result.has("race") || result.has("barrier-misuse") || result.has("stale-phase")) << result.text();
    }
}
TEST(Pipe, read_without_wait) { expect_found<fault::no_wait_full>("race", "`tensor load`"); }
TEST(Pipe, refill_without_wait) { expect_found<fault::no_wait_empty>("race", "`tensor load` is not ordered behind"); }
TEST(Pipe, phase_of_full_flipped) { expect_found<fault::full_phase_flipped>("race"); }
TEST(Pipe, phase_of_empty_flipped) { expect_found<fault::empty_phase_flipped>("deadlock"); }
TEST(Pipe, too_many_bytes) { expect_found<fault::too_many_bytes>("deadlock", "waits for 16 more bytes"); }
TEST(Pipe, too_few_bytes) { expect_found<fault::too_few_bytes>("deadlock", "16 bytes more than were announced"); }
TEST(Pipe, given_back_before_read) {
    expect_found<fault::released_before_read>("race", "`tensor load` is not ordered behind a `ldmatrix`");
}
TEST(Pipe, given_back_under_its_loads) {
    expect_found<fault::read_not_fenced>("race", "`tensor load` touches bytes of an ordinary load without fence.proxy.async");
}
TEST(Pipe, initialisation_not_fenced) { expect_found<fault::no_init_fence>("barrier-misuse", "fence.mbarrier_init"); }
TEST(Pipe, initialisation_not_awaited) {
    for (uint64_t seed = 0; seed < 5; ++seed)
        EXPECT_TRUE(run_pipe<fault::no_block_sync>(seed, 7).has("barrier-misuse"));
}
TEST(Pipe, barrier_made_twice) { expect_found<fault::made_twice>("barrier-misuse", "made again"); }
TEST(Pipe, barrier_never_made) { expect_found<fault::no_init>("barrier-misuse", "holds no barrier"); }
TEST(Pipe, store_without_proxy_fence) { expect_found<fault::no_fence_async>("race", "fence.proxy.async"); }
TEST(Pipe, store_before_writers_met) {
    expect_found<fault::no_sync_before_store>("race", "`tensor store` is not ordered behind a `stmatrix`");
}
TEST(Pipe, end_before_store_was_read) { expect_found<fault::no_wait_read>("exited-with-pending"); }
TEST(Pipe, stored_by_every_warp) {
    expect_found<fault::every_warp_stores>("race", "`tensor store` is not ordered behind a `tensor store`");
}
TEST(Pipe, load_that_nobody_waits_for) { expect_found<fault::last_load_not_waited>("exited-with-pending", "copy"); }
TEST(Pipe, store_over_barrier) {
    expect_found<fault::staged_over_barrier>("barrier-misuse", "touches the bytes of a barrier");
}

TEST(Pipe, cycle_names_both_sides) {
    const std::string story = run_pipe<fault::no_release>(0, 7).story("deadlock");
    EXPECT_NE(story.find("thread 0 waits"), std::string::npos) << story;
    EXPECT_NE(story.find("warps 4-7"), std::string::npos) << story;
}

TEST(Pipe, same_seed_same_findings) {
    EXPECT_EQ(run_pipe<fault::no_wait_full>(3, 7).text(), run_pipe<fault::no_wait_full>(3, 7).text());
}

}  // namespace
}  // namespace tk::sim_test

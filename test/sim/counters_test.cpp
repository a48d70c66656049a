// SPDX-License-Identifier: MIT
// The model of shared-memory banks against what an H200 was measured to do (cycles a warp instruction at full rate).
#include "runtime/sim/counters.h"

#include <gtest/gtest.h>

namespace tk::sim {
namespace {

enum class pattern { contiguous, same, pairs, sixteen_apart, eight_apart, one_bank };

warp_access access_of(pattern p, int bytes) {
    warp_access a;
    a.mask = ~0u;
    for (int lane = 0; lane < 32; ++lane) {
        const int number = p == pattern::contiguous      ? lane
                           : p == pattern::same          ? 0
                           : p == pattern::pairs         ? lane / 2
                           : p == pattern::sixteen_apart ? lane % 16
                           : p == pattern::eight_apart   ? lane % 8
                                                         : lane * 128 / bytes;
        a.address[size_t(lane)] = uint64_t(number * bytes);
    }
    return a;
}

int loads(pattern p, int bytes) { return wavefronts(counted::shared_load, bytes, access_of(p, bytes)); }
int stores(pattern p, int bytes) { return wavefronts(counted::shared_store, bytes, access_of(p, bytes)); }

TEST(Banks, loads) {
    const int contiguous[] = {1, 2, 4}, same[] = {1, 1, 2}, pairs[] = {1, 1, 2}, one_bank[] = {32, 32, 32};
    for (int i = 0; i < 3; ++i) {
        const int bytes = 4 << i;
        EXPECT_EQ(loads(pattern::contiguous, bytes), contiguous[i]) << bytes;
        EXPECT_EQ(loads(pattern::same, bytes), same[i]) << bytes;
        EXPECT_EQ(loads(pattern::pairs, bytes), pairs[i]) << bytes;
        EXPECT_EQ(loads(pattern::one_bank, bytes), one_bank[i]) << bytes;
    }
    EXPECT_EQ(loads(pattern::sixteen_apart, 8), 2);
    EXPECT_EQ(loads(pattern::eight_apart, 16), 4);
}

TEST(Banks, stores) {
    const int contiguous[] = {1, 2, 4}, same[] = {1, 2, 4}, one_bank[] = {32, 32, 32};
    for (int i = 0; i < 3; ++i) {
        const int bytes = 4 << i;
        EXPECT_EQ(stores(pattern::contiguous, bytes), contiguous[i]) << bytes;
        EXPECT_EQ(stores(pattern::same, bytes), same[i]) << bytes;
        EXPECT_EQ(stores(pattern::one_bank, bytes), one_bank[i]) << bytes;
    }
}

TEST(Banks, two_lanes_in_different_banks) {
    for (int t = 1; t < 32; ++t)
        for (int bytes : {4, 8, 16}) {
            warp_access a;
            a.mask = 1u | 1u << t;
            a.address[size_t(t)] = uint64_t(bytes);
            EXPECT_EQ(wavefronts(counted::shared_load, bytes, a), bytes == 16 ? 2 : 1) << t << ", " << bytes;
            const int groups = bytes == 4 ? 1 : bytes == 8 ? (t < 16 ? 1 : 2) : (t < 8 ? 1 : 2);
            EXPECT_EQ(wavefronts(counted::shared_store, bytes, a), groups) << t << ", " << bytes;
        }
}

/// An f32 fragment as 8-byte stores into rows of 128 bytes: lane l has row l / 4, columns 2 (l % 4).
TEST(Banks, fragment_into_rows) {
    for (bool swizzled : {false, true}) {
        warp_access a;
        a.mask = ~0u;
        for (uint64_t lane = 0; lane < 32; ++lane) {
            const uint64_t address = lane / 4 * 128 + lane % 4 * 8;
            a.address[lane] = swizzled ? address ^ (address >> 3 & 0x70) : address;
        }
        EXPECT_EQ(wavefronts(counted::shared_store, 8, a), swizzled ? 4 : 8);
        EXPECT_EQ(ideal_wavefronts(counted::shared_store, 8, a), 2);
    }
}

/// Eight rows of 16 bytes in different 16-byte columns are one pass a matrix.
TEST(Banks, matrices) {
    for (bool swizzled : {false, true}) {
        warp_access a;
        a.mask = ~0u;
        for (uint64_t lane = 0; lane < 32; ++lane) {
            const uint64_t address = lane % 8 * 128 + lane / 8 * 16;
            a.address[lane] = swizzled ? address ^ (address >> 3 & 0x70) : address;
        }
        for (counted kind : {counted::ldmatrix, counted::stmatrix}) {
            EXPECT_EQ(wavefronts(kind, 16, a), swizzled ? 4 : 32);
            EXPECT_EQ(ideal_wavefronts(kind, 16, a), 4);
        }
    }
}

TEST(Sectors, counted_once_each) {
    warp_access a;
    a.mask = ~0u;
    for (uint64_t lane = 0; lane < 32; ++lane) a.address[lane] = 1024 + lane * 4;
    EXPECT_EQ(sectors(4, a), 4);
    for (uint64_t lane = 0; lane < 32; ++lane) a.address[lane] = 1024 + lane * 128;
    EXPECT_EQ(sectors(4, a), 32);
    for (uint64_t lane = 0; lane < 32; ++lane) a.address[lane] = 1028 + lane * 4;
    EXPECT_EQ(sectors(4, a), 5);
}

/// Lanes run one after another; their accesses are one instruction again by place and order.
TEST(Counter, puts_instructions_together) {
    counter_table table;
    access_counter counter;
    for (int lane = 0; lane < 32; ++lane)
        for (int n = 0; n < 3; ++n) counter.add(table, 7, counted::shared_load, 4, lane, uint64_t(n * 128 + lane * 4));
    EXPECT_EQ((table[{7, counted::shared_load}].accesses), 3);
    for (int lane = 0; lane < 8; ++lane) counter.add(table, 7, counted::shared_load, 4, lane, uint64_t(lane * 4));
    EXPECT_EQ((table[{7, counted::shared_load}].accesses), 3);
    counter.flush(table);
    EXPECT_EQ((table[{7, counted::shared_load}].accesses), 4);
    EXPECT_EQ((table[{7, counted::shared_load}].wavefronts), 4);
    EXPECT_EQ((table[{7, counted::shared_load}].ideal), 4);
}

/// One lane has made all its accesses before another completes the first: what that costs grows with their number only.
TEST(Counter, lanes_that_do_not_meet_for_long) {
    counter_table table;
    access_counter counter;
    constexpr int kMany = 20000;
    for (int lane = 0; lane < 32; ++lane)
        for (int n = 0; n < kMany; ++n) counter.add(table, 7, counted::global_load, 4, lane, uint64_t(n * 128 + lane * 4));
    EXPECT_EQ((table[{7, counted::global_load}].accesses), kMany);
    counter.add(table, 7, counted::global_load, 4, 3, 0);
    counter.flush(table);
    EXPECT_EQ((table[{7, counted::global_load}].accesses), kMany + 1);
    EXPECT_EQ((table[{7, counted::global_load}].sectors), 4 * kMany + 1);
}

}  // namespace
}  // namespace tk::sim

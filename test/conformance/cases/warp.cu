// SPDX-License-Identifier: MIT
// Instructions of a warp, and where a thread is.
#include "test/conformance/case.h"

namespace conformance {
namespace {

/// How many lanes are chosen, twice, and whether they are the same.
TK_KERNEL(128) elect_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t first = sm90::elect(), second = sm90::elect();
    uint32_t count = first, both = first & second;
    for (int mask = 16; mask > 0; mask /= 2) {
        count += sm80::shuffle_xor(count, mask);
        both += sm80::shuffle_xor(both, mask);
    }
    put(out, 2 * t, count);
    put(out, 2 * t + 1, both);
}

TK_KERNEL(64) shuffle_xor_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t value = get(in, t);
    for (int mask = 0; mask < 32; ++mask) put(out, mask * 64 + t, sm80::shuffle_xor(value, mask));
}

TK_KERNEL(64) shuffle_from_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t value = get(in, t);
    for (int lane = 0; lane < 32; ++lane) put(out, lane * 64 + t, sm80::shuffle_from(value, lane));
    put(out, 32 * 64 + t, sm80::shuffle_from(value, (t * 7 + 3) % 32));
}

/// What the product of a left operand that is kept relies on.
TK_KERNEL(32) clock_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    put(out, sm80::thread_index(), uint32_t(sm80::clock() >> 63));
}

TK_KERNEL(96) position_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const int at = sm80::block_index() * 96 + sm80::thread_index();
    put(out, 2 * at, uint32_t(at));
    put(out, 2 * at + 1, uint32_t(sm80::block_count()));
}

TK_CLUSTER_KERNEL(32, 4) cluster_position_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const int at = sm80::block_index() * 32 + sm80::thread_index();
    put(out, at, sm90::cluster_block_rank() | sm90::cluster_index() << 8 | sm90::cluster_count() << 16);
}

TK_KERNEL(64) warp_sync_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    uint32_t value = get(in, t);
    for (int round = 1; round < 32; ++round) {
        put_shared(base + uint32_t(t) * 4, value);
        sm80::warp_sync();
        value += get_shared(base + uint32_t(t / 32 * 32 + (t + round) % 32) * 4);
        sm80::warp_sync();
    }
    put(out, t, value);
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: elect in 1 out 256 exact covers elect
CASE(elect) { return start<elect_kernel>(stream, 1, 128, 0, output(out)); }
EXPECTED(elect) {
    for (int i = 0; i < 256; ++i) out[i] = 1;
}

// case: clock_reading in 1 out 32 exact covers clock
CASE(clock_reading) { return start<clock_kernel>(stream, 1, 32, 0, output(out)); }
EXPECTED(clock_reading) {
    for (int t = 0; t < 32; ++t) out[t] = 0;
}

// case: shuffle_xor in 64 out 2048 exact covers shuffle_xor
CASE(shuffle_xor) { return start<shuffle_xor_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(shuffle_xor) {
    for (int mask = 0; mask < 32; ++mask)
        for (int t = 0; t < 64; ++t) out[mask * 64 + t] = in[t ^ mask];
}

// case: shuffle_from in 64 out 2112 exact covers shuffle_from
CASE(shuffle_from) { return start<shuffle_from_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(shuffle_from) {
    for (int t = 0; t < 64; ++t) {
        for (int lane = 0; lane < 32; ++lane) out[lane * 64 + t] = in[t / 32 * 32 + lane];
        out[32 * 64 + t] = in[t / 32 * 32 + (t * 7 + 3) % 32];
    }
}

// case: position in 1 out 960 exact covers thread_index, block_index, block_count
CASE(position) { return start<position_kernel>(stream, 5, 96, 0, output(out)); }
EXPECTED(position) {
    for (uint32_t i = 0; i < 480; ++i) out[2 * i] = i, out[2 * i + 1] = 5;
}

// case: cluster_position in 1 out 256 exact covers cluster_block_rank, cluster_index, cluster_count
CASE(cluster_position) { return start<cluster_position_kernel, 4>(stream, 8, 32, 0, output(out)); }
EXPECTED(cluster_position) {
    for (uint32_t i = 0; i < 256; ++i) out[i] = i / 32 % 4 | i / 128 << 8 | 2u << 16;
}

// case: warp_sync in 64 out 64 exact covers warp_sync
CASE(warp_sync) { return start<warp_sync_kernel>(stream, 1, 64, 1024, input(in), output(out)); }
EXPECTED(warp_sync) {
    uint32_t value[64], before[64];
    for (int t = 0; t < 64; ++t) value[t] = in[t];
    for (int round = 1; round < 32; ++round) {
        for (int t = 0; t < 64; ++t) before[t] = value[t];
        for (int t = 0; t < 64; ++t) value[t] += before[t / 32 * 32 + (t + round) % 32];
    }
    for (int t = 0; t < 64; ++t) out[t] = value[t];
}

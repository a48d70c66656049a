// SPDX-License-Identifier: MIT
// mbarriers: parities, counts, arrivals from another block. Byte counts of copies: tma.cu.
#include "test/conformance/case.h"

namespace conformance {
namespace {

template <bool Sleeps = true>
TK_DEVICE void wait(uint32_t barrier, uint32_t parity) {
    while (!(Sleeps ? sm90::mbarrier_try_wait(barrier, parity) : sm80::mbarrier_test_wait(barrier, parity))) {
    }
}

/// Which phases count as over: the one before a fresh barrier's, then each one that is complete. That a phase in
/// progress is not over shows in the ring below: whoever did not wait would read too early.
TK_KERNEL(32) parity_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    if (sm80::thread_index() != 0) return;
    const uint32_t barrier = shared_base();
    sm80::mbarrier_init(barrier, 2);
    sm90::fence_mbarrier_init();
    put(out, 0, sm90::mbarrier_try_wait(barrier, 1));
    for (int phase = 0; phase < 5; ++phase) {
        if (phase % 2)
            sm90::mbarrier_arrive_expect_tx(barrier, 0);
        else
            sm80::mbarrier_arrive(barrier);
        put(out, 1 + 2 * phase, sm90::mbarrier_try_wait(barrier, uint32_t(phase & 1) ^ 1));  // one arrival is missing
        sm80::mbarrier_arrive(barrier);
        put(out, 2 + 2 * phase, sm90::mbarrier_try_wait(barrier, uint32_t(phase & 1)));
    }
}

/// A ring of two slots, a warp writing, a warp reading, which ask again and again or sleep.
template <bool Sleeps>
TK_KERNEL(64) ring_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index(), lane = t % 32;
    const uint32_t base = shared_base(), full = base + 256, empty = base + 272;
    if (t == 0) {
        for (uint32_t slot = 0; slot < 2; ++slot) {
            sm80::mbarrier_init(full + slot * 8, 32);
            sm80::mbarrier_init(empty + slot * 8, 32);
        }
        sm90::fence_mbarrier_init();
    }
    sm80::block_sync();
    for (int n = 0; n < 9; ++n) {
        const uint32_t slot = uint32_t(n & 1), lap = uint32_t(n / 2), place = base + slot * 128;
        if (t < 32) {
            wait<Sleeps>(empty + slot * 8, (lap & 1) ^ 1);
            put_shared(place + uint32_t(lane) * 4, get(in, n * 32 + lane));
            sm80::mbarrier_arrive(full + slot * 8);
        } else {
            wait<Sleeps>(full + slot * 8, lap & 1);
            put(out, n * 32 + lane, get_shared(place + uint32_t(31 - lane) * 4));
            sm80::mbarrier_arrive(empty + slot * 8);
        }
    }
}

/// Every block of the cluster stores its data into the other one, and tells every one that it has read.
TK_CLUSTER_KERNEL(32, 2) cluster_arrivals_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int lane = sm80::thread_index(), rank = int(sm90::cluster_block_rank());
    const uint32_t base = shared_base(), full = base + 512, done = base + 520;
    if (lane == 0) {
        sm80::mbarrier_init(full, 1);
        sm80::mbarrier_init(done, 2);
        sm90::fence_mbarrier_init();
    }
    sm90::cluster_arrive();
    sm90::cluster_wait();
    if (lane == 0) sm90::mbarrier_arrive_expect_tx(full, 32 * 16);
    float v[4];
    for (int e = 0; e < 4; ++e) v[e] = as_float(get(in, (rank * 32 + lane) * 4 + e));
    sm90::store_async_f32x4(sm90::map_to_block(base + uint32_t(lane) * 16, uint32_t(1 - rank)), v, sm90::map_to_block(full, uint32_t(1 - rank)));
    wait(full, 0);
    for (int e = 0; e < 4; ++e) v[e] = as_float(get_shared(base + uint32_t((31 - lane) * 4 + e) * 4));
    sm80::warp_sync();
    if (lane < 2) sm90::mbarrier_arrive_cluster(sm90::map_to_block(done, uint32_t(lane)));
    wait(done, 0);
    for (int e = 0; e < 4; ++e) {
        put_shared(base + uint32_t(lane * 4 + e) * 4, 0);  // both have read
        put(out, (rank * 32 + lane) * 4 + e, as_bits(v[e]));
    }
    sm90::cluster_arrive();
    sm90::cluster_wait();
}

/// Each lane of each block stores a word into its own and into the other block, and each block waits for all of them.
TK_CLUSTER_KERNEL(32, 2) store_async_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int lane = sm80::thread_index(), rank = int(sm90::cluster_block_rank());
    const uint32_t base = shared_base(), full = base + 512, place = base + uint32_t(rank * 32 + lane) * 4;
    if (lane == 0) {
        sm80::mbarrier_init(full, 1);
        sm90::fence_mbarrier_init();
    }
    sm90::cluster_arrive_relaxed();
    sm90::cluster_wait();
    if (lane == 0) sm90::mbarrier_arrive_expect_tx(full, 64 * 4);
    for (uint32_t to = 0; to < 2; ++to)
        sm90::store_async_b32(sm90::map_to_block(place, to), get(in, rank * 32 + lane), sm90::map_to_block(full, to));
    wait(full, 0);
    for (int n = 0; n < 2; ++n) put(out, rank * 64 + n * 32 + lane, get_shared(base + uint32_t(n * 32 + 31 - lane) * 4));
    sm90::cluster_arrive();
    sm90::cluster_wait();
}

/// A phase whose bytes come from no copy: it ends with the last of them, and not before.
TK_KERNEL(32) complete_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    if (sm80::thread_index() != 0) return;
    const uint32_t barrier = shared_base();
    sm80::mbarrier_init(barrier, 1);
    sm90::fence_mbarrier_init();
    for (int phase = 0; phase < 3; ++phase) {
        sm90::mbarrier_arrive_expect_tx(barrier, 96);
        sm90::mbarrier_complete_tx(barrier, 64);
        put(out, 2 * phase, sm90::mbarrier_try_wait(barrier, uint32_t(phase & 1) ^ 1));  // 32 bytes are missing
        sm90::mbarrier_complete_tx(barrier, 32);
        put(out, 2 * phase + 1, sm90::mbarrier_try_wait(barrier, uint32_t(phase & 1)));
    }
}

/// The same in two blocks, each of which gets its bytes from the other.
TK_CLUSTER_KERNEL(32, 2) complete_cluster_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const bool is_first = sm80::thread_index() == 0;
    const int rank = int(sm90::cluster_block_rank());
    const uint32_t barrier = shared_base(), other = sm90::map_to_block(barrier, uint32_t(rank ^ 1));
    if (is_first) {
        sm80::mbarrier_init(barrier, 1);
        sm90::fence_mbarrier_init();
    }
    sm90::cluster_arrive();
    sm90::cluster_wait();
    for (int phase = 0; phase < 3; ++phase) {
        if (is_first) sm90::mbarrier_arrive_expect_tx(barrier, 96);
        if (is_first) sm90::mbarrier_complete_tx_cluster(other, 64);
        if (is_first) put(out, 6 * rank + 2 * phase, sm90::mbarrier_try_wait(barrier, uint32_t(phase & 1) ^ 1));  // 32 bytes are missing
        sm90::cluster_arrive();
        sm90::cluster_wait();
        if (is_first) sm90::mbarrier_complete_tx_cluster(other, 32);
        if (is_first) wait(barrier, uint32_t(phase & 1));
        if (is_first) put(out, 6 * rank + 2 * phase + 1, 1);
        sm90::cluster_arrive();
        sm90::cluster_wait();
    }
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: mbarrier_parity in 1 out 11 exact covers mbarrier_init, mbarrier_arrive, mbarrier_arrive_expect_tx, mbarrier_try_wait
CASE(mbarrier_parity) { return start<parity_kernel>(stream, 1, 32, 1024, output(out)); }
EXPECTED(mbarrier_parity) {
    for (int n = 0; n < 11; ++n) out[n] = 1;
}

// case: mbarrier_complete in 1 out 6 exact covers mbarrier_complete_tx, mbarrier_arrive_expect_tx, mbarrier_try_wait
CASE(mbarrier_complete) { return start<complete_kernel>(stream, 1, 32, 1024, output(out)); }
EXPECTED(mbarrier_complete) {
    for (int n = 0; n < 6; ++n) out[n] = 1;
}

// case: mbarrier_complete_cluster in 1 out 12 exact covers mbarrier_complete_tx_cluster, map_to_block
CASE(mbarrier_complete_cluster) { return start<complete_cluster_kernel, 2>(stream, 2, 32, 1024, output(out)); }
EXPECTED(mbarrier_complete_cluster) {
    for (int n = 0; n < 12; ++n) out[n] = 1;
}

// case: mbarrier_ring in 288 out 288 exact covers mbarrier_init, mbarrier_arrive, mbarrier_try_wait, fence_mbarrier_init
CASE(mbarrier_ring) { return start<ring_kernel<true>>(stream, 1, 64, 1024, input(in), output(out)); }
EXPECTED(mbarrier_ring) {
    for (int n = 0; n < 288; ++n) out[n] = in[n / 32 * 32 + 31 - n % 32];
}

// case: mbarrier_ring_asking in 288 out 288 exact covers mbarrier_init, mbarrier_arrive, mbarrier_test_wait
CASE(mbarrier_ring_asking) { return start<ring_kernel<false>>(stream, 1, 64, 1024, input(in), output(out)); }
EXPECTED(mbarrier_ring_asking) {
    for (int n = 0; n < 288; ++n) out[n] = in[n / 32 * 32 + 31 - n % 32];
}

// case: mbarrier_cluster in 256 out 256 exact covers mbarrier_arrive_cluster, store_async_f32x4, cluster_arrive
CASE(mbarrier_cluster) { return start<cluster_arrivals_kernel, 2>(stream, 2, 32, 1024, input(in), output(out)); }
EXPECTED(mbarrier_cluster) {
    for (int rank = 0; rank < 2; ++rank)
        for (int lane = 0; lane < 32; ++lane)
            for (int e = 0; e < 4; ++e) out[(rank * 32 + lane) * 4 + e] = in[((1 - rank) * 32 + 31 - lane) * 4 + e];
}

// case: mbarrier_store_async in 64 out 128 exact covers store_async_b32, cluster_arrive_relaxed, cluster_wait, map_to_block, mbarrier_arrive_expect_tx
CASE(mbarrier_store_async) { return start<store_async_kernel, 2>(stream, 2, 32, 1024, input(in), output(out)); }
EXPECTED(mbarrier_store_async) {
    for (int rank = 0; rank < 2; ++rank)
        for (int n = 0; n < 64; ++n) out[rank * 64 + n] = in[n / 32 * 32 + 31 - n % 32];
}

// SPDX-License-Identifier: MIT
// D[M, N] = A[M, K] @ B[K, N] for sm_80, as a person writes it with the runtime: all threads of the block copy three steps of K
// ahead and multiply. With Transposed B is given as [N, K].
#pragma once

#include "tk/sm80.h"

namespace multistage {

inline constexpr int BM = 128, BN = 128, BK = 32, slots = 4;

template <class T>
struct arguments {
    tk::tensor<const T, 2> A, B;
    tk::tensor<T, 2> D;
};

template <class T, bool Transposed>
struct shared {
    tk::shared_tile<T, BM, BK, tk::swizzle::b64> a[slots];
    tk::shared_tile<T, Transposed ? BN : BK, Transposed ? BK : BN, Transposed ? tk::swizzle::b64 : tk::swizzle::b128> b[slots];
};

/// The slot's tile as [BK, BN].
template <bool Transposed, class Tile>
TK_DEVICE auto as_right(const Tile& tile) {
    if constexpr (Transposed) return tk::transposed(tile);
    else return tile.view();
}

/// `Workers` warpgroups, each BM / Workers rows.
template <class T, int Workers, bool Transposed>
TK_KERNEL(128 * Workers, 2 / Workers)
gemm(const arguments<T> p) {
    constexpr int threads = 128 * Workers, rows = BM / Workers;
    using layout = tk::layout<4, 2, 2, 8, 2, 2>;
    auto& shared = tk::block::shared<multistage::shared<T, Transposed>>();
    const int w = tk::warpgroup::index(), across = tk::cdiv(p.D.extent[1], BN);
    const int m = tk::block::index() / across * BM, n = tk::block::index() % across * BN, K = p.A.extent[1];
    const auto copy = [&](int slot, int k) {
        tk::block::copy_async<threads>(shared.a[slot], p.A.block(tk::span(m), tk::span(k)));
        if constexpr (Transposed) tk::block::copy_async<threads>(shared.b[slot], p.B.block(tk::span(n), tk::span(k)));
        else tk::block::copy_async<threads>(shared.b[slot], p.B.block(tk::span(k), tk::span(n)));
        tk::commit_copies();
    };

    tk::ring<slots> ring;
    auto acc = tk::fill<float, rows, BN, layout>(0.0f);
    TK_UNROLL
    for (int stage = 0; stage < slots - 1; ++stage) copy(ring.ahead(stage), stage * BK);
    for (int k = 0; k < K; k += BK) {
        tk::wait_copies<slots - 2>();
        tk::block::sync();
        const auto a = tk::rows<rows>(shared.a[ring.slot], w * rows);
        const auto b = as_right<Transposed>(shared.b[ring.slot]);
        copy(ring.previous(), k + (slots - 1) * BK);
        const auto a_0 = tk::warpgroup::load_left<layout>(tk::cols<16>(a, 0));
        const auto b_0 = tk::warpgroup::load_right<layout>(tk::rows<16>(b, 0));
        const auto a_1 = tk::warpgroup::load_left<layout>(tk::cols<16>(a, 16));
        const auto b_1 = tk::warpgroup::load_right<layout>(tk::rows<16>(b, 16));
        tk::warpgroup::multiply(acc, a_0, b_0);
        tk::warpgroup::multiply(acc, a_1, b_1);
        ring.advance();
    }
    tk::wait_copies<0>();
    tk::warpgroup::store(p.D.block(tk::span(m + w * rows), tk::span(n)), tk::convert<T>(acc));
}

}  // namespace multistage

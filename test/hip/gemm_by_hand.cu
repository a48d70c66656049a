// SPDX-License-Identifier: MIT
// A matrix product for CDNA as a person writes it on the runtime: C = A B, A [M, K] and B [K, N] with contiguous rows, in bf16.
// Two workers of four waves side by side on BM rows; Slots copies in flight. tools and tests compile it for gfx942 and gfx950
// (HAND_FOR), run it on the simulator and read its instructions.
#ifndef HAND_FOR
#define HAND_FOR "tk/gfx950.h"
#endif
#include HAND_FOR

namespace by_hand {

using namespace tk;

template <int BM_, int BN_, int BK_, int Slots_, int Workers_>
struct shape {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, Slots = Slots_, Workers = Workers_, threads = Workers * warpgroup::threads;
    using a_tile = shared_tile<bf16, BM, BK, BK == 32 ? swizzle::b64 : swizzle::b128>;
    using b_tile = shared_tile<bf16, BK, BN, swizzle::t128>;
    struct shared_memory {
        a_tile a[Slots];
        b_tile b[Slots];
    };
    /// Copy instructions of a wave for one slot.
    static constexpr int copies = detail::copy_instructions(a_tile::bytes, threads) + detail::copy_instructions(b_tile::bytes, threads);
};

template <class S>
TK_KERNEL(S::threads)
gemm_kernel(const tensor<const bf16, 2> A, const tensor<const bf16, 2> B, const tensor<bf16, 2> C) {
    constexpr int BM = S::BM, BN = S::BN, BK = S::BK, rows_each = BM / S::Workers;
    auto& shared = block::shared<typename S::shared_memory>();
    using layout = matrix_layout<2, 2>;
    const int w = warpgroup::index();
    const int tiles_n = cdiv(B.extent[1], BN), K = A.extent[1];
    const int m = block::index() / tiles_n * BM, n = block::index() % tiles_n * BN;
    ring<S::Slots> ab;
    auto acc = fill<float, rows_each, BN, layout>(0.0f);
    TK_UNROLL
    for (int stage = 0; stage < S::Slots - 1; ++stage) {
        block::copy_pieces<S::threads>(shared.a[ab.ahead(stage)], A.block(span(m), span(stage * BK)));
        block::copy_pieces<S::threads>(shared.b[ab.ahead(stage)], B.block(span(stage * BK), span(n)));
    }
    for (int k = 0; k < K; k += BK) {
        wait_copies<(S::Slots - 2) * S::copies>();
        block::sync();
        const auto& a = shared.a[ab.slot];
        const auto& b = shared.b[ab.slot];
        // The first operands are loaded before the copies are issued, whose instructions then lie between the products.
        const auto left_0 = warpgroup::load_left<layout>(cols<32>(rows<rows_each>(a, w * rows_each), 0));
        const auto right_0 = warpgroup::load_right<layout>(rows<32>(b, 0));
        block::copy_pieces<S::threads>(shared.a[ab.previous()], A.block(span(m), span(k + (S::Slots - 1) * BK)));
        block::copy_pieces<S::threads>(shared.b[ab.previous()], B.block(span(k + (S::Slots - 1) * BK), span(n)));
        warpgroup::multiply(acc, left_0, right_0);
        TK_UNROLL
        for (int step = 32; step < BK; step += 32) {
            const auto left = warpgroup::load_left<layout>(cols<32>(rows<rows_each>(a, w * rows_each), step));
            const auto right = warpgroup::load_right<layout>(rows<32>(b, step));
            warpgroup::multiply(acc, left, right);
        }
        ab.advance();
    }
    wait_copies<0>();
    warpgroup::store(C.block(span(m + w * rows_each), span(n)), convert<bf16>(acc));
}

}  // namespace by_hand

#ifdef HAND_SHAPE  // instructions of one of them, to be read
template __global__ void by_hand::gemm_kernel<by_hand::shape<HAND_SHAPE>>(const tk::tensor<const tk::bf16, 2>, const tk::tensor<const tk::bf16, 2>,
                                                                         const tk::tensor<tk::bf16, 2>);
#endif

// SPDX-License-Identifier: MIT
// wgmma on the simulator: a warpgroup meets, then the product runs on its own. Until a wait covers its group, the
// accumulators in the registers hold a signalling NaN; whoever computes with one or writes one is found out.
#pragma once

#include "tk/platform.h"

namespace tk::sim {

struct product_call {
    float* d;           // N / 2 accumulators of the calling lane
    const uint32_t* a;  // four registers of A, or null
    uint64_t a_bits, b_bits;
    int columns, sign;
    bool bf16, accumulate, a_mn_major, b_mn_major;
};

// runtime/sim/tensor_product.cpp
void issue_product(product_call call);
void fence_products();
void commit_products();
void wait_products(int newest);

}  // namespace tk::sim

namespace tk::sm90 {

TK_DEVICE void wgmma_fence() { sim::fence_products(); }

TK_DEVICE void wgmma_commit_group() { sim::commit_products(); }

template <int N>
TK_DEVICE void wgmma_wait_group() {
    sim::wait_products(N);
}

template <int N>
struct wgmma {
    static_assert(N >= 8 && N <= 256 && N % 8 == 0);

    template <bool Bf16, int SignA, int TransposeA, int TransposeB>
    static TK_DEVICE void shared(float* d, uint64_t a, uint64_t b, int accumulate) {
        sim::issue_product({d, nullptr, a, b, N, SignA, Bf16, accumulate != 0, TransposeA != 0, TransposeB != 0});
    }
    template <bool Bf16, int SignA, int TransposeB>
    static TK_DEVICE void registers(float* d, const uint32_t (&a)[4], uint64_t b, int accumulate) {
        sim::issue_product({d, a, 0, b, N, SignA, Bf16, accumulate != 0, false, TransposeB != 0});
    }
};

}  // namespace tk::sm90

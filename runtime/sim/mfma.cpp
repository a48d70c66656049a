// SPDX-License-Identifier: MIT
// MFMA 16x16: the lanes of a wave give their parts of the operands (tk/hip/gfx9/matrix.h, tk/hip/gfx950/matrix.h) and get theirs of
// the sum. The sum of an element is exact and rounded once, to nearest even: AMD documents no order, and it was not measured. Kernels
// must not rely on the last bit.
#include <array>
#include <cmath>

#include "runtime/sim/agent.h"
#include "runtime/sim/machine.h"
#include "tk/sim/gfx9/matrix.h"
#include "tk/sim/sm80/convert.h"

namespace tk::sim {

namespace {

struct product {
    float* d;
    const uint32_t *a, *b;
    int k;  // 16 or 32
    bool bf16;
    const char* what;
};

constexpr int kMatrixCycles = 16;

/// Element e of an operand's registers.
double element(const uint32_t* registers, int e, bool bf16) {
    const uint16_t bits = uint16_t(registers[e / 2] >> (e % 2 * 16));
    return bf16 ? double(__builtin_bit_cast(float, uint32_t(bits) << 16)) : double(widen_f16(bits));
}

/// x + y as a sum and what rounding it lost.
double two_sum(double x, double y, double& lost) {
    const double sum = x + y, back = sum - x;
    lost += (x - (sum - back)) + (y - back);
    return sum;
}

void multiply_wave(void* const* all) {
    const product& first = *static_cast<const product*>(all[0]);
    const int per_lane = first.k / 4;
    std::array<std::array<double, 32>, 16> a{}, b{};
    for (int lane = 0; lane < 64; ++lane) {
        const product& of = *static_cast<const product*>(all[lane]);
        if (of.k != first.k || of.bf16 != first.bf16) report("divergence", "lanes of one wave are at different matrix instructions");
        for (int e = 0; e < per_lane; ++e) {
            a[size_t(lane % 16)][size_t(lane / 16 * per_lane + e)] = element(of.a, e, first.bf16);
            b[size_t(lane % 16)][size_t(lane / 16 * per_lane + e)] = element(of.b, e, first.bf16);
        }
    }
    for (int lane = 0; lane < 64; ++lane) {
        float* d = static_cast<const product*>(all[lane])->d;
        for (int e = 0; e < 4; ++e) {
            const auto& row = a[size_t(lane / 16 * 4 + e)];
            const auto& col = b[size_t(lane % 16)];
            double sum = d[e], lost = 0;
            for (int k = 0; k < first.k; ++k) sum = two_sum(sum, row[size_t(k)] * col[size_t(k)], lost);
            d[e] = float(std::isfinite(lost) ? sum + lost : sum);
        }
    }
    the().current->time += kMatrixCycles;
}

}  // namespace

void mfma(const char* what, float* d, const uint32_t* a, const uint32_t* b, int k, bool bf16) {
    product mine{d, a, b, k, bf16, what};
    meet_warp(what, multiply_wave, &mine);
}

}  // namespace tk::sim

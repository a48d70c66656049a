// SPDX-License-Identifier: MIT
// The functions that the runtime composes from instructions, against double precision: relative error at most 2^-20 wherever the
// result is a normal number (lang-spec, se-11), exact limits. The host's ex2 rounds correctly, the hardware's is within 2^-22 of
// it; the formulas must leave room for that.
#include "check.h"
#include "tk/sm90.h"

#include <cmath>
#include <cstdint>

namespace {

constexpr double kAllowed = 0x1p-20, kHardware = 0x1p-22;

template <class F, class G>
void CheckFunction(F ours, G exact, float from, float to, double hardware, double allowed = kAllowed) {
    double worst = 0;
    for (uint32_t bits = __builtin_bit_cast(uint32_t, from); bits <= __builtin_bit_cast(uint32_t, to); bits += 997) {
        for (uint32_t sign : {0u, 0x80000000u}) {
            const float x = __builtin_bit_cast(float, bits | sign);
            const double want = exact(double(x));
            if (!(std::fabs(want) >= 0x1p-126 && std::fabs(want) <= 0x1.fffffep127)) continue;
            worst = std::fmax(worst, std::fabs(double(ours(x)) / want - 1));
        }
    }
    CHECK(worst > 0 && worst + hardware < allowed);
}

void CheckLimits() {
    const float inf = HUGE_VALF;
    CHECK(tk::exp(inf) == inf && tk::exp(-inf) == 0 && std::isnan(tk::exp(NAN)) && tk::exp(0.0f) == 1 && tk::exp(-0.0f) == 1);
    CHECK(tk::log(0.0f) == -inf && tk::log(inf) == inf && tk::log(1.0f) == 0 && std::isnan(tk::log(-1.0f)));
    CHECK(tk::sigmoid(inf) == 1 && tk::sigmoid(-inf) == 0 && tk::sigmoid(0.0f) == 0.5f);
    // Where the result overflows or vanishes, neither NaN nor a negative number.
    for (uint32_t bits = __builtin_bit_cast(uint32_t, 87.0f); bits < 0x7f800000u; bits += bits < 0x42c00000u ? 1 : 9973) {
        const float x = __builtin_bit_cast(float, bits);
        CHECK(tk::exp(x) >= 0x1p125f && tk::exp(-x) >= 0 && tk::exp(-x) < 0x1p-125f);
        CHECK(x < 88.7229f || tk::exp(x) == inf);
    }
}

}  // namespace

int main() {
    CheckFunction([](float x) { return tk::exp(x); }, [](double x) { return std::exp(x); }, 0x1p-30f, 89.0f, kHardware);
    CheckFunction([](float x) { return tk::exp2(x); }, [](double x) { return std::exp2(x); }, 0x1p-30f, 128.0f, kHardware);
    CheckFunction([](float x) { return tk::log(x); }, [](double x) { return std::log(x); }, 0x1p-126f, 0x1p127f, 0);
    CheckFunction([](float x) { return tk::log2(x); }, [](double x) { return std::log2(x); }, 0x1p-126f, 0x1p127f, 0);
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    CheckFunction([](float x) { return tk::sigmoid(x); }, sigmoid, 0x1p-30f, 8.0f, kHardware + 0x1p-23);
    for (float x = 8; x < 86; x += 1)
        CheckFunction([](float x) { return tk::sigmoid(x); }, sigmoid, x, x + 1, kHardware + 0x1p-23, 0x1p-23 * x);
    CheckLimits();
    return 0;
}

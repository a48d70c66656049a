// SPDX-License-Identifier: MIT
#include "runtime/sim/reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/sim/tensor_map.h"
#include "tk/host/abi.h"
#include "tk/sim/sm80/convert.h"
#include "tk/sim/sm80/math.h"

namespace tk::sim {

namespace {

/// x + y rounded to odd: rounding that to a type of at most 24 significant bits gives the sum rounded once.
double sum_to_odd(double x, double y) {
    const double sum = x + y, back = sum - x, error = (x - (sum - back)) + (y - back);
    uint64_t bits = std::bit_cast<uint64_t>(sum);
    if (std::isfinite(sum) && error != 0 && (bits & 1) == 0) bits += (error > 0) == (sum > 0) ? 1 : -1;
    return std::bit_cast<double>(bits);
}

/// A finite value rounded to nearest even to a type of `digits` significant bits whose smallest normal exponent is
/// `lowest`, as f64; too large values are the caller's.
double round_to(double value, int digits, int lowest) {
    if (value == 0 || !std::isfinite(value)) return value;
    int exponent;
    std::frexp(value, &exponent);
    const int unit = std::max(exponent - 1, lowest) - (digits - 1);
    return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

template <class T, class F>
void combine(void* memory, const void* value, int count, F f) {
    T x, y;
    for (int n = 0; n < count; ++n) {
        std::memcpy(&x, static_cast<char*>(memory) + n * sizeof(T), sizeof(T));
        std::memcpy(&y, static_cast<const char*>(value) + n * sizeof(T), sizeof(T));
        x = f(x, y);
        std::memcpy(static_cast<char*>(memory) + n * sizeof(T), &x, sizeof(T));
    }
}

}  // namespace

float add_f32(float x, float y) {
    const float sum = flush_subnormal(flush_subnormal(x) + flush_subnormal(y));
    return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : sum;
}

uint16_t add_bf16(uint16_t x, uint16_t y) {
    const double sum = sum_to_odd(std::bit_cast<float>(uint32_t(x) << 16), std::bit_cast<float>(uint32_t(y) << 16));
    return round_to_bf16(float(round_to(sum, 8, -126)));
}

uint16_t add_f16(uint16_t x, uint16_t y) {
    const double sum = sum_to_odd(widen_f16(x), widen_f16(y));
    return round_to_f16(float(round_to(sum, 11, -14)));
}

void add_elements(int dtype, void* memory, const void* value, int count) {
    switch (dtype) {
        case TK_BF16: return combine<uint16_t>(memory, value, count, add_bf16);
        case TK_F16: return combine<uint16_t>(memory, value, count, add_f16);
        case TK_F32: return combine<float>(memory, value, count, add_f32);
        default: break;
    }
    switch (element_bytes(dtype)) {
        case 1: return combine<uint8_t>(memory, value, count, [](uint8_t x, uint8_t y) { return uint8_t(x + y); });
        case 4: return combine<uint32_t>(memory, value, count, [](uint32_t x, uint32_t y) { return x + y; });
        case 8: return combine<uint64_t>(memory, value, count, [](uint64_t x, uint64_t y) { return x + y; });
        default: return;
    }
}

}  // namespace tk::sim

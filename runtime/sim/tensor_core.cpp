// SPDX-License-Identifier: MIT
// Two ways to the same bits. The slow one follows the definition. The fast one works on rows of f32 that the host
// compiler turns into vectors: products of 16-bit floats are exact in f32, a scaling by 2^(25 - emax) makes truncation
// a conversion to int, and two int sums (8 products each, below 2^30) add up exactly in f64. It needs exponents well
// inside f32's range; instructions and single outputs where they are not take the slow one.
#include "runtime/sim/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tk::sim {

namespace {

constexpr int kKept = 25;  // the last bit that an addend keeps: 2^(emax - 25)
constexpr int kNoExponent = -10000;

struct split_value {
    double significand;  // of the value: [1, 2), or less for subnormals
    int exponent;
};

/// Exponent field as the hardware sees it: subnormals have the smallest normal one.
split_value split(float x, int smallest) {
    int exponent;
    std::frexp(x, &exponent);
    exponent = std::max(exponent - 1, smallest);
    return {std::ldexp(double(x), -exponent), exponent};
}

/// sum * 2^exponent, truncated towards zero; what is too large becomes infinite.
float truncate_to_f32(int64_t sum, int exponent) {
    if (sum == 0) return 0.0f;
    const uint64_t magnitude = uint64_t(sum < 0 ? -sum : sum);
    const int top = 63 - std::countl_zero(magnitude) + exponent;  // exponent of the leading bit
    const int unit = std::max(top, -126) - 23;                    // the result is a multiple of 2^unit
    const int drop = unit - exponent;
    const uint64_t kept = drop <= 0 ? magnitude : drop > 63 ? 0 : magnitude >> drop << drop;
    const double value = std::ldexp(double(kept), exponent);
    const float result =
        value > double(std::numeric_limits<float>::max()) ? std::numeric_limits<float>::infinity() : float(value);
    return sum < 0 ? -result : result;
}

constexpr uint32_t kExponentBits = 0x7f800000u;
constexpr uint32_t kNan = 0x7fffffffu;

uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
bool is_finite(float x) { return (bits_of(x) & kExponentBits) != kExponentBits; }

/// Every factor's magnitude, rounded down to a power of two, 0 for 0.
float power_below(float x) { return std::bit_cast<float>(bits_of(x) & kExponentBits); }

/// Range of exponents of the nonzero values; false if one is infinite, NaN or an f32 that no 16-bit type's normals
/// give.
struct exponent_range {
    int smallest = 1000, largest = -1000;
    bool usable = true;
    void add(float x) {
        const uint32_t field = (bits_of(x) & kExponentBits) >> 23;
        if (field == 255 || (field == 0 && x != 0)) usable = false;
        if (x == 0) return;
        smallest = std::min(smallest, int(field) - 127);
        largest = std::max(largest, int(field) - 127);
    }
};

/// Whether power_below is the exponent that the hardware sees, and no product over- or underflows f32.
bool fast_path_serves(const product_operands& o, int rows, int columns, operand_type type) {
    exponent_range a, b;
    for (int r = 0; r < rows; ++r)
        for (float x : o.a[r]) a.add(x);
    for (const auto& row : o.b)
        for (int c = 0; c < columns; ++c) b.add(row[c]);
    const int smallest_normal = type == operand_type::bf16 ? -126 : -14;
    return a.usable && b.usable && a.smallest >= smallest_normal && b.smallest >= smallest_normal &&
           a.smallest + b.smallest >= -95 && a.largest + b.largest <= 120;
}

/// One row of D. False if some outputs are left as they were: their largest addend is not in 2^-95 .. 2^120 (or there
/// is none), which `served` says.
bool fast_row(const product_operands& o, const float* a, int columns, float* d, bool* served) {
    alignas(64) float top[256], scale[256], held[256];
    alignas(64) int32_t low[256], high[256];
    for (int c = 0; c < columns; ++c) top[c] = power_below(d[c]), low[c] = high[c] = 0;
    for (int k = 0; k < 16; ++k) {
        const float power = power_below(a[k]);
        for (int c = 0; c < columns; ++c) {
            const float product = power * power_below(o.b[k][c]);
            top[c] = product > top[c] ? product : top[c];
        }
    }
    bool all = true;
    for (int c = 0; c < columns; ++c) {
        served[c] = top[c] >= 0x1p-95f && top[c] <= 0x1p120f;
        all &= served[c];
        held[c] = served[c] ? d[c] : 0.0f;
        top[c] = served[c] ? top[c] : 0x1p100f;
        scale[c] = std::bit_cast<float>((uint32_t(127 + 127 + kKept) << 23) - bits_of(top[c]));  // 2^(25 - emax)
        if (!served[c]) scale[c] = 0.0f;
    }
    for (int k = 0; k < 8; ++k)
        for (int c = 0; c < columns; ++c) low[c] += int32_t(a[k] * o.b[k][c] * scale[c]);
    for (int k = 8; k < 16; ++k)
        for (int c = 0; c < columns; ++c) high[c] += int32_t(a[k] * o.b[k][c] * scale[c]);
    for (int c = 0; c < columns; ++c) {
        const double sum = double(low[c]) + double(high[c]) + double(int32_t(held[c] * scale[c]));
        const double unit = double(std::bit_cast<float>(bits_of(top[c]) - (uint32_t(kKept) << 23)));
        // Cut to 24 significant bits, so that the conversion to f32 is exact.
        const uint64_t cut = std::bit_cast<uint64_t>(sum * unit) & ~((uint64_t(1) << 29) - 1);
        d[c] = served[c] ? float(std::bit_cast<double>(cut)) : d[c];
    }
    return all;
}

void slow_output(const product_operands& o, int row, int c, float* d, operand_type type) {
    float column[16];
    for (int k = 0; k < 16; ++k) column[k] = o.b[k][c];
    d[c] = tensor_core_sum(o.a[row], column, d[c], type);
}

}  // namespace

float operand_value(uint16_t bits, operand_type type) {
    if (type == operand_type::bf16) return std::bit_cast<float>(uint32_t(bits) << 16);
    const uint32_t sign = uint32_t(bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, fraction = bits & 0x3ffu;
    if (exponent == 0) {
        const float magnitude = float(fraction) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13);
}

float tensor_core_sum(const float (&a)[16], const float (&b)[16], float c, operand_type type) {
    bool invalid = std::isnan(c), positive = std::isinf(c) && c > 0, negative = std::isinf(c) && c < 0;
    for (int k = 0; k < 16; ++k) {
        if (is_finite(a[k]) && is_finite(b[k])) continue;
        const float product = a[k] * b[k];  // an infinity or NaN, in f32 as in the tensor core
        invalid = invalid || std::isnan(product);
        (product > 0 ? positive : negative) = true;
    }
    if (invalid || (positive && negative)) return std::bit_cast<float>(kNan);
    if (positive) return std::numeric_limits<float>::infinity();
    if (negative) return -std::numeric_limits<float>::infinity();

    const int smallest = type == operand_type::bf16 ? -126 : -14;
    double significand[17];
    int exponent[17], emax = kNoExponent;
    for (int k = 0; k < 16; ++k) {
        const split_value x = split(a[k], smallest), y = split(b[k], smallest);
        significand[k] = x.significand * y.significand;
        exponent[k] = x.exponent + y.exponent;
    }
    const split_value held = split(c, -126);
    significand[16] = held.significand;
    exponent[16] = held.exponent;
    for (int k = 0; k <= 16; ++k)
        if (significand[k] != 0) emax = std::max(emax, exponent[k]);
    if (emax == kNoExponent) return 0.0f;
    int64_t sum = 0;
    for (int k = 0; k <= 16; ++k)
        if (significand[k] != 0) sum += int64_t(std::ldexp(significand[k], exponent[k] - emax + kKept));
    return truncate_to_f32(sum, emax - kKept);
}

void multiply_accumulate(const product_operands& operands, int rows, int columns, bool accumulate, float* d, operand_type type) {
    const bool fast = fast_path_serves(operands, rows, columns, type);
    bool served[256] = {};
    for (int row = 0; row < rows; ++row, d += 256) {
        if (!accumulate) std::fill_n(d, columns, 0.0f);
        if (fast && fast_row(operands, operands.a[row], columns, d, served)) continue;
        for (int c = 0; c < columns; ++c)
            if (!fast || !served[c]) slow_output(operands, row, c, d, type);
    }
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Conversions: random values, ties, subnormals, overflow, infinities and NaN.
#include <cmath>

#include "test/conformance/case.h"

namespace conformance {
namespace {

/// Random bits with the exponent near those of 16-bit floats, and hard values in between.
TK_HOST_DEVICE float hard_value(uint32_t word, int i) {
    const uint32_t hard[] = {0x7fc00000u, 0xffc00001u, 0x7f800001u, 0x7f800000u, 0xff800000u, 0u,
                             0x80000000u, 0x00000001u, 0x807fffffu, 0x3f808000u, 0x3f818000u, 0x3f808001u,
                             0x7f7fffffu, 0x477fefffu, 0x477ff000u, 0x477fffffu, 0x38800000u, 0x387fffffu,
                             0x33000000u, 0x33000001u, 0x33800000u, 0x3f801000u, 0x3f803000u, 0x32ffffffu};
    if (i < 24) return as_float(hard[i]);
    if (i % 3 == 0) return as_float(word);
    return as_float((word & 0x807fffffu) | (100 + word / 7 % 46) << 23);
}

/// The nearest value of a format with `digits` significant bits, smallest normal 2^lowest, largest exponent `highest`.
double nearest(double x, int digits, int lowest, int highest) {
    if (x == 0 || !std::isfinite(x)) return x;
    const int unit = std::max(std::ilogb(x), lowest) - (digits - 1);
    const double result = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
    return std::fabs(result) >= std::ldexp(1.0, highest + 1) ? std::copysign(HUGE_VAL, x) : result;
}

uint32_t expected_bf16(float x) { return std::isnan(x) ? 0x7fffu : as_bits(float(nearest(x, 8, -126, 127))) >> 16; }

uint32_t expected_f16(float x) {
    if (std::isnan(x)) return 0x7fffu;
    const double y = nearest(x, 11, -14, 15);
    const uint32_t sign = std::signbit(x) ? 0x8000u : 0;
    if (std::isinf(y)) return sign | 0x7c00u;
    if (std::fabs(y) < 0x1p-14) return sign | uint32_t(std::fabs(y) * 0x1p24);
    const int exponent = std::ilogb(y);
    return sign | uint32_t(exponent + 15) << 10 | uint32_t(std::ldexp(std::fabs(y), 10 - exponent) - 1024);
}

TK_KERNEL(128) pack_bf16_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    put(out, t, sm80::pack_bf16(hard_value(get(in, 2 * t), 2 * t), hard_value(get(in, 2 * t + 1), 2 * t + 1)));
}

TK_KERNEL(128) pack_f16_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    put(out, t, sm80::pack_f16(hard_value(get(in, 2 * t), 2 * t), hard_value(get(in, 2 * t + 1), 2 * t + 1)));
}

/// All 65536 values but NaN, whose bits the next case shows.
TK_KERNEL(256) f16_to_f32_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    for (int n = sm80::thread_index(); n < 65536; n += 256)
        put(out, n, (n & 0x7fff) > 0x7c00 ? 0 : as_bits(sm80::f16_to_f32(uint16_t(n))));
}

TK_KERNEL(32) f16_nan_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    put(out, t, as_bits(sm80::f16_to_f32(uint16_t(0x7c01 | (get(in, t) & 0x83ff)))));
}

/// Floats around the ends of the integers, and NaNs, infinities, fractions in between.
TK_HOST_DEVICE float near_integers(uint32_t word, int i) {
    const uint32_t hard[] = {0x7fc00000u, 0xffc00001u, 0x7f800001u, 0x7f800000u, 0xff800000u, 0u,          0x80000000u, 0x00000001u,
                             0x4effffffu, 0x4f000000u, 0xcf000000u, 0xcf000001u, 0x4f7fffffu, 0x4f800000u, 0x5effffffu, 0x5f000000u,
                             0xdf000000u, 0xdf000001u, 0x5f7fffffu, 0x5f800000u, 0x3f7fffffu, 0xbf7fffffu, 0x7f7fffffu, 0xff7fffffu};
    return i < 24 ? as_float(hard[i]) : as_float((word & 0x807fffffu) | (120 + word / 7 % 76) << 23);
}

TK_KERNEL(128) to_integers_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const float x = near_integers(get(in, t), t);
    const uint64_t s64 = uint64_t(sm80::f32_to_s64(x)), u64 = sm80::f32_to_u64(x);
    put(out, 6 * t, uint32_t(sm80::f32_to_s32(x)));
    put(out, 6 * t + 1, sm80::f32_to_u32(x));
    put(out, 6 * t + 2, uint32_t(s64));
    put(out, 6 * t + 3, uint32_t(s64 >> 32));
    put(out, 6 * t + 4, uint32_t(u64));
    put(out, 6 * t + 5, uint32_t(u64 >> 32));
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: pack_bf16 in 256 out 128 exact covers pack_bf16
CASE(pack_bf16) { return start<pack_bf16_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(pack_bf16) {
    for (int t = 0; t < 128; ++t)
        out[t] = expected_bf16(hard_value(in[2 * t], 2 * t)) | expected_bf16(hard_value(in[2 * t + 1], 2 * t + 1))
                                                                   << 16;
}

// case: pack_f16 in 256 out 128 exact covers pack_f16
CASE(pack_f16) { return start<pack_f16_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(pack_f16) {
    for (int t = 0; t < 128; ++t)
        out[t] = expected_f16(hard_value(in[2 * t], 2 * t)) | expected_f16(hard_value(in[2 * t + 1], 2 * t + 1)) << 16;
}

// case: f16_to_f32 in 1 out 65536 exact covers f16_to_f32
CASE(f16_to_f32) { return start<f16_to_f32_kernel>(stream, 1, 256, 0, output(out)); }
EXPECTED(f16_to_f32) {
    for (uint32_t n = 0; n < 65536; ++n) {
        const uint32_t exponent = n >> 10 & 31, fraction = n & 1023;
        float value = exponent == 0    ? std::ldexp(float(fraction), -24)
                      : exponent == 31 ? HUGE_VALF
                                       : std::ldexp(1.0f + float(fraction) / 1024, int(exponent) - 15);
        if (n & 0x8000) value = -value;
        out[n] = (n & 0x7fff) > 0x7c00 ? 0 : as_bits(value);
    }
}

// case: f16_nan in 32 out 32 print covers f16_to_f32
CASE(f16_nan) { return start<f16_nan_kernel>(stream, 1, 32, 0, input(in), output(out)); }
EXPECTED(f16_nan) {
    for (int t = 0; t < 32; ++t) out[t] = 0x7fffffffu;
}

// case: to_integers in 128 out 768 exact covers f32_to_s32, f32_to_u32, f32_to_s64, f32_to_u64
CASE(to_integers) { return start<to_integers_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(to_integers) {
    for (int t = 0; t < 128; ++t) {
        const double x = std::trunc(double(near_integers(in[t], t)));
        const uint64_t ends[] = {0x80000000u, 0x7fffffffu, 0, 0xffffffffu, uint64_t(1) << 63, ~(uint64_t(1) << 63), 0, ~uint64_t(0)};
        uint64_t results[4];
        for (int type = 0; type < 4; ++type) {
            const double least = type == 0 ? -0x1p31 : type == 2 ? -0x1p63 : 0, beyond = type == 0 ? 0x1p31 : type == 1 ? 0x1p32 : type == 2 ? 0x1p63 : 0x1p64;
            if (std::isnan(x)) results[type] = type < 2 ? 0 : uint64_t(1) << 63;
            else if (x < least || x >= beyond) results[type] = ends[2 * type + (x > 0)];
            else results[type] = x < 0 ? 0 - uint64_t(-x) : uint64_t(x);
        }
        out[6 * t] = uint32_t(results[0]), out[6 * t + 1] = uint32_t(results[1]);
        out[6 * t + 2] = uint32_t(results[2]), out[6 * t + 3] = uint32_t(results[2] >> 32);
        out[6 * t + 4] = uint32_t(results[3]), out[6 * t + 5] = uint32_t(results[3] >> 32);
    }
}

// SPDX-License-Identifier: MIT
// The special function unit, within the error that tk/cuda/sm90/math.h documents; special values exactly.
#include <cmath>

#include "test/conformance/case.h"

namespace conformance {
namespace {

TK_HOST_DEVICE float special_value(int i) {
    const uint32_t bits[] = {0u,          0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x00400000u,
                             0x80400000u, 0x00800000u, 0x3f800000u, 0xbf800000u, 0x43000000u, 0xc2fc0000u,
                             0xc2fe0000u, 0xc3170000u, 0x7f000000u, 0x7e800000u};
    return as_float(bits[i]);
}

/// The first 16 are special; then values over the function's range.
TK_HOST_DEVICE float exponent_value(uint32_t word, int i) {
    return i < 16 ? special_value(i) : (float(word >> 8) * 0x1p-24f - 0.5f) * 250.0f;
}
TK_HOST_DEVICE float any_value(uint32_t word, int i) {
    return i < 16 ? special_value(i) : as_float((word & 0x807fffffu) | (2 + word / 3 % 250) << 23);
}

TK_KERNEL(128) ex2_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    for (int i = sm80::thread_index(); i < 4096; i += 128)
        put(out, i, as_bits(sm80::ex2_approx(exponent_value(get(in, i), i))));
}
TK_KERNEL(128) rcp_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    for (int i = sm80::thread_index(); i < 4096; i += 128)
        put(out, i, as_bits(sm80::rcp_approx(any_value(get(in, i), i))));
}
TK_KERNEL(128) mul_down_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    for (int i = sm80::thread_index(); i < 4096; i += 128)
        put(out, i, as_bits(sm80::mul_down(any_value(get(in, i), 16), exponent_value(get(in, 4095 - i), 16))));
}

double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: ex2_approx in 4096 out 4096 within 2^-22 covers ex2_approx
CASE(ex2_approx) { return start<ex2_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(ex2_approx) {
    for (int i = 0; i < 4096; ++i) out[i] = as_bits(float(flushed(std::exp2(flushed(exponent_value(in[i], i))))));
}

// case: rcp_approx in 4096 out 4096 within 2^-22 covers rcp_approx
CASE(rcp_approx) { return start<rcp_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(rcp_approx) {
    for (int i = 0; i < 4096; ++i) out[i] = as_bits(float(flushed(1.0 / flushed(any_value(in[i], i)))));
}

// case: mul_down in 4096 out 4096 exact covers mul_down
CASE(mul_down) { return start<mul_down_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(mul_down) {
    for (int i = 0; i < 4096; ++i) {
        const double exact =
            double(any_value(in[i], 16)) * double(exponent_value(in[4095 - i], 16));  // 48 bits, in range
        const float nearest = float(exact);
        out[i] = as_bits(double(nearest) > exact ? std::nextafterf(nearest, -HUGE_VALF) : nearest);
    }
}

// SPDX-License-Identifier: MIT
// Division by a number that the launcher knows: a multiplication and a shift, where a GPU takes some forty instructions to divide.
#pragma once

#include "tk/platform.h"

namespace tk {

/// Divides 0 <= number < 2^31 by 0 < value < 2^31. The quotient is that by 2^shift, the next power of two, and as much again as
/// 2^shift / value is above 1 (Granlund, Montgomery: Division by Invariant Integers using Multiplication; PLDI 1994).
struct divisor {
    int value;
    int shift = 0;
    uint32_t multiplier = 0;  // 2^32 * (2^shift - value) / value, rounded up

    TK_HOST_DEVICE explicit constexpr divisor(int by) : value(by) {
        while (int64_t(1) << shift < value) ++shift;
        multiplier = uint32_t((((uint64_t(1) << shift) - uint64_t(value)) << 32) / uint64_t(value) + 1);
    }

    friend TK_HOST_DEVICE constexpr int operator/(int number, const divisor& by) {
        const uint32_t high = uint32_t(uint64_t(uint32_t(number)) * by.multiplier >> 32);
        return int((high + uint32_t(number)) >> by.shift);
    }
    friend TK_HOST_DEVICE constexpr int operator%(int number, const divisor& by) { return number - number / by * by.value; }
};

}  // namespace tk

// SPDX-License-Identifier: MIT
// The conversions of tk/hip/gfx9/convert.h on the host: round to nearest even, subnormals kept.
#pragma once

#include "tk/sim/sm80/convert.h"

namespace tk::gfx9 {

TK_DEVICE uint32_t pack_bf16(float low, float high) {
    return sim::round_to_bf16(low) | uint32_t(sim::round_to_bf16(high)) << 16;
}

TK_DEVICE uint32_t pack_f16(float low, float high) {
    return sim::round_to_f16(low) | uint32_t(sim::round_to_f16(high)) << 16;
}

TK_DEVICE uint32_t pack_halves(uint16_t low, uint16_t high) { return low | uint32_t(high) << 16; }

TK_DEVICE float f16_to_f32(uint16_t bits) { return sim::widen_f16(bits); }

}  // namespace tk::gfx9

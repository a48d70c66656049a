// SPDX-License-Identifier: MIT
// gfx950's MFMA on the simulator.
#pragma once

#include "tk/sim/gfx9/matrix.h"

namespace tk::gfx950 {

TK_DEVICE void mfma_16x16x32_bf16(gfx9::sums4& d, gfx9::words4 a, gfx9::words4 b) { sim::mfma("v_mfma_f32_16x16x32_bf16", d, a, b, true); }
TK_DEVICE void mfma_16x16x32_f16(gfx9::sums4& d, gfx9::words4 a, gfx9::words4 b) { sim::mfma("v_mfma_f32_16x16x32_f16", d, a, b, false); }

}  // namespace tk::gfx950

// SPDX-License-Identifier: MIT
// gfx950's wide copy on the simulator.
#pragma once

#include "tk/sim/gfx9/buffer.h"

namespace tk::gfx950 {

TK_DEVICE void copy_buffer_to_shared_b128(uint32_t to, const gfx9::buffer& from, uint32_t offset, uint32_t more) {
    sim::copy_buffer_to_shared("buffer_load_dwordx4 lds", to, from.base, from.bytes, offset, more, 16);
}

}  // namespace tk::gfx950

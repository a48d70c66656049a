// SPDX-License-Identifier: MIT
// What `red` does to one element in global memory. Additions of floats round once, to nearest even. Subnormal inputs and
// results of f32 are flushed to zero of their sign, 16-bit floats keep them. A NaN that comes out has no payload
// (0x7fffffff, 0x7fff), whatever went in. All this was seen on an H200.
#pragma once

#include <cstdint>

namespace tk::sim {

float add_f32(float x, float y);
uint16_t add_bf16(uint16_t x, uint16_t y);
uint16_t add_f16(uint16_t x, uint16_t y);

/// Adds `count` elements of a tk_dtype at `value` to those at `memory`, both as they lie in memory.
void add_elements(int dtype, void* memory, const void* value, int count);

}  // namespace tk::sim

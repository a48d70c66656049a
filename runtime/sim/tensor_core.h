// SPDX-License-Identifier: MIT
// The tensor core's arithmetic for 16-bit operands, bit for bit as an H200 has it (test/conformance): the 16 products and the accumulator
// are truncated towards zero to multiples of 2^(emax - 25), summed exactly, and the sum is truncated towards zero to
// f32. emax is the largest exponent of the addends; a product's is the sum of its factors' exponents, so that its
// significand lies in [1, 4). Subnormals count as they are, with the smallest normal exponent.
#pragma once

#include <cstdint>

namespace tk::sim {

enum class operand_type { bf16, f16 };

/// The value of 16 bits, exact in f32.
float operand_value(uint16_t bits, operand_type type);

/// One output: c + sum over k of a[k] * b[k]. The definition; `multiply_accumulate` gives the same bits.
float tensor_core_sum(const float (&a)[16], const float (&b)[16], float c, operand_type type);

/// Operands of one instruction, m64nNk16 or smaller, as values of their 16-bit type.
struct product_operands {
    alignas(64) float a[64][16];   // [row][k]; a subtracted product has its signs changed
    alignas(64) float b[16][256];  // [k][column]
};

/// d[r][c] = (d[r][c] or 0) + sum over k of a[r][k] * b[k][c], for `rows` (1 .. 64) rows and `columns` (8 .. 256) columns; d's
/// rows lie 256 values apart.
void multiply_accumulate(const product_operands& operands, int rows, int columns, bool accumulate, float* d, operand_type type);

}  // namespace tk::sim

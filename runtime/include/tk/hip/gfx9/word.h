// SPDX-License-Identifier: MIT
// Machine words of 1 to 16 bytes, as the memory instructions move them.
#pragma once

#include "tk/platform.h"

namespace tk::gfx9 {

namespace detail {
template <size_t Bytes>
struct word_of;
template <> struct word_of<1> { using type = uint8_t; };
template <> struct word_of<2> { using type = uint16_t; };
template <> struct word_of<4> { using type = uint32_t; };
template <> struct word_of<8> { using type = uint32_t __attribute__((vector_size(8))); };
template <> struct word_of<16> { using type = uint32_t __attribute__((vector_size(16))); };
}  // namespace detail

template <size_t Bytes>
using plain_word = typename detail::word_of<Bytes>::type;

/// Two and four registers: operands of the matrix instructions, 8 and 16 bytes of memory.
using words2 = plain_word<8>;
using words4 = plain_word<16>;
/// Four sums of a matrix instruction.
using sums4 = float __attribute__((vector_size(16)));

}  // namespace tk::gfx9

// SPDX-License-Identifier: MIT
// Which integers a kernel stores are made of floats that two right programs may compute differently (se-5, se-6, se-11). Where such
// a float lies at a tie, the integer that it is converted to may be one more or one less: of a quotient that is 2.5,
// `i32(round(x))` is 2, and 3 if the quotient is off by one rounding.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compiler/sema/typed.h"

namespace tkc {

enum class MadeOfFloats : uint8_t {
  kConverted,  // the integer itself, moved, bounded or shifted by one that is exact: off by a step where the float is
  kComputed,   // from such integers, or by comparisons: packed into one, or the place of the largest; a step there is any number
               // here
};

/// Of each output and scratch tensor of integers that is; the others are not in it.
std::map<std::string, MadeOfFloats> IntegersMadeOfFloats(const typed::Kernel& kernel);

}  // namespace tkc

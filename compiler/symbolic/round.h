// SPDX-License-Identifier: MIT
// Rounding of literals to the element types of the language: to nearest, ties to even, as the hardware's conversions do.
#pragma once

#include <cstdint>

#include "compiler/support/dtype.h"

namespace tkc::symbolic {

/// `value` as the nearest value of a floating type (types without rounding here: unchanged).
double Round(double value, DType dtype);

/// An integer rounded once (not first to double).
double RoundInteger(int64_t value, DType dtype);

}  // namespace tkc::symbolic

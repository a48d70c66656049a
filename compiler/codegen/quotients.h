// SPDX-License-Identifier: MIT
// Quotients that several formulas of the launcher have in common.
#pragma once

#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/scalar_cpp.h"

namespace tkc::codegen {

/// Prints a variable, `quotient_1` and so on, for each long quotient that occurs more than once in `terms`, which may be null, and
/// puts it in its place. `printer` knows what they are of, and then the variables too.
void EmitQuotients(std::vector<symbolic::Scalar>& terms, ScalarPrinter& printer, CodeWriter& out);

}  // namespace tkc::codegen

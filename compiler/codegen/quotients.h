// SPDX-License-Identifier: MIT
// Constants of the launcher's functions: what has a name, and quotients that several formulas have in common.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/scalar_cpp.h"

namespace tkc::codegen {

/// Prints a constant of that name, of whose value `printer` knows what it knows of `value`.
void EmitConstant(const std::string& name, const symbolic::Scalar& value, ScalarPrinter& printer, CodeWriter& out);

/// Prints a constant, `quotient_1` and so on, for each long quotient that occurs more than once in `terms`, which may be null, and
/// puts it in its place. `printer` knows what they are of, and then the constants too.
void EmitQuotients(std::vector<symbolic::Scalar>& terms, ScalarPrinter& printer, CodeWriter& out);

}  // namespace tkc::codegen

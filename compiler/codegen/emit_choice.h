// SPDX-License-Identifier: MIT
// The launcher's rule: which schedule runs.
#pragma once

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/emit_cost.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/ir/ir.h"

namespace tkc::codegen {

/// Whether some schedule of the entry has no condition.
bool AlwaysChooses(const ir::Module& module, const ir::Entry& entry);

/// `int choose() const`. `host` knows the entry's dimensions and scalars. Long quotients that occur more than once have names
/// there, `quotient_1` and so on.
void EmitChoice(const ir::Module& module, const ir::Entry& entry, const CostFunctions& costs, ScalarPrinter host, CodeWriter& out);

}  // namespace tkc::codegen

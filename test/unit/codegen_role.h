// SPDX-License-Identifier: MIT
// The text of a kernel's first role.
#pragma once

#include <string>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/emit_op.h"
#include "compiler/codegen/quote.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/ir/ir.h"
#include "compiler/support/source.h"

namespace tkc::codegen {

/// Of statements that stand in no source.
inline std::string PrintedRole(const ir::Kernel& kernel, const KernelUses& uses) {
  SourceManager sources;
  CodeWriter out;
  const SourceStatements statements(sources);
  SourceQuoter quoter(statements, out, false);
  ScalarPrinter scalars(ScalarPrinter::Place::kKernel);
  OpEmitter(kernel, uses, out, quoter, scalars).Role(kernel.workers[0]);
  return out.Take();
}

/// The same of what stands before the roles.
inline std::string PrintedSetup(const ir::Kernel& kernel) {
  SourceManager sources;
  CodeWriter out;
  const SourceStatements statements(sources);
  SourceQuoter quoter(statements, out, false);
  ScalarPrinter scalars(ScalarPrinter::Place::kKernel);
  const KernelUses uses(kernel);
  OpEmitter(kernel, uses, out, quoter, scalars).Frame(kernel.setup);
  return out.Take();
}

}  // namespace tkc::codegen

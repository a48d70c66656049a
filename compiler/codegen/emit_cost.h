// SPDX-License-Identifier: MIT
// The functions of the source that give what schedule sets cost, once each for an entry.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/ir/ir.h"

namespace tkc::codegen {

class CostFormulas {
 public:
  CostFormulas(const ir::Module& module, const ir::Entry& entry);

  /// The functions; `host` knows what their arguments are of.
  void Emit(const ScalarPrinter& host, CodeWriter& out) const;
  /// The call of one of them.
  std::string Call(const ir::CostFormula& formula, const ScalarPrinter& host) const;

 private:
  struct Function {
    std::string name;
    std::vector<const ir::CostFormula*> calls;  // of one body
  };
  std::vector<Function> functions_;
};

}  // namespace tkc::codegen

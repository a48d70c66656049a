// SPDX-License-Identifier: MIT
// The functions of the source that give what schedule sets cost, once each for an entry.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/ir/ir.h"
#include "compiler/support/source_manager.h"

namespace tkc::codegen {

class CostFunctions {
 public:
  CostFunctions(const ir::Module& module, const ir::Entry& entry);

  /// The functions; `host` knows what their arguments are of.
  void Emit(const ScalarPrinter& host, const SourceManager& sources, CodeWriter& out) const;
  /// The call of one of them.
  std::string Call(const ir::Cost& cost, const ScalarPrinter& host) const;

 private:
  struct Function {
    std::string name;
    std::vector<const ir::Cost*> calls;  // of one body
  };
  static void EmitFunction(const Function& function, const ScalarPrinter& host, CodeWriter& out);
  static void EmitComment(const ir::Cost& cost, const SourceManager& sources, CodeWriter& out);

  std::vector<Function> functions_;
};

}  // namespace tkc::codegen

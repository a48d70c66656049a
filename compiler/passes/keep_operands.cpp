// SPDX-License-Identifier: MIT
#include "compiler/passes/keep_operands.h"

#include <set>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

class Keeping {
 public:
  explicit Keeping(ir::Worker& worker) : worker_(worker) {
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kMma) left_operands_.insert(op.operands[1]);
    });
  }

  void Run() {
    std::set<ValueId> made;
    Visit(worker_.body, made);
  }

 private:
  /// `made`: what comes into being anew in each iteration of the loop around the region.
  void Visit(Region& region, std::set<ValueId>& made) {
    for (Op& op : region) {
      const bool is_copy = op.code == OpCode::kVar && !op.operands.empty() && left_operands_.contains(op.results[0]);
      if (is_copy) {
        const bool is_needed_again = !made.contains(op.operands[0]) || CountUses(worker_.body, op.operands[0]) > 1;
        op.Set(is_needed_again ? ir::kOwnRegisters : ir::kMayShare);
      }
      made.insert(op.results.begin(), op.results.end());
      const bool is_loop = ir::IsLoop(op.code);
      for (Region& inner : op.regions) {
        std::set<ValueId> made_in_loop;
        Visit(inner, is_loop ? made_in_loop : made);
      }
    }
  }

  ir::Worker& worker_;
  std::set<ValueId> left_operands_;
};

}  // namespace

Result<void> KeepOperands(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Keeping(worker).Run();
  }
  return {};
}

}  // namespace tkc::passes

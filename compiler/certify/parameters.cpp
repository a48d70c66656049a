// SPDX-License-Identifier: MIT
// Trip counts by which instances that take turns pass over slots: the replay tries them one by one.
#include <algorithm>

#include "compiler/certify/program.h"
#include "compiler/passes/walk.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Kind;

void FindParameters(Program& program, const Agent& agent) {
  const ir::Kernel& kernel = *program.kernel;
  Scope scope(kernel, *agent.worker, agent.instance, agent.block, program.long_terms);
  const auto add = [&](const Scalar& amount) {
    const std::optional<symbolic::Polynomial> terms = symbolic::ToPolynomial(amount);
    if (!terms) return;
    std::vector<Scalar> work{amount};
    while (!work.empty()) {
      const Scalar scalar = work.back();
      work.pop_back();
      if (scalar->kind == Kind::kCdiv || scalar->kind == Kind::kName) {
        const std::string text = symbolic::CanonicalText(scalar);
        if (std::find(program.parameters.begin(), program.parameters.end(), text) == program.parameters.end())
          program.parameters.push_back(text);
        continue;
      }
      for (const Scalar& arg : scalar->args) work.push_back(arg);
    }
  };
  const auto visit = [&](const Region& region, int depth, const auto& self) -> void {
    for (const Op& op : region) {
      if (op.code == OpCode::kLet || op.code == OpCode::kTilePosition) scope.BindOp(op);
      if (op.code == OpCode::kAdvance && !op.scalars.empty()) add(scope.Resolve(op.scalars[0]));
      const bool is_loop = op.code == OpCode::kFor || op.code == OpCode::kForTiles;
      if (is_loop) scope.BindLoop(op, depth);
      const std::string branches = scope.Branches();
      for (size_t i = 0; i < op.regions.size(); ++i) {
        const Scalar condition = op.code == OpCode::kIf ? scope.Resolve(op.scalars[0]) : nullptr;
        const std::optional<int64_t> value = condition ? Constant(condition) : std::nullopt;
        if (value && (*value != 0) != (i == 0)) continue;
        if (condition && !value) scope.EnterBranch(condition, i == 0);
        self(op.regions[i], depth + is_loop, self);
        scope.LeaveBranches(branches);
      }
      if (is_loop) scope.LeaveLoop(op);
    }
  };
  visit(agent.worker->body, 0, visit);
}

bool Skips(const ir::Kernel& kernel) {
  bool skips = false;
  for (const ir::Worker& worker : kernel.workers) {
    passes::ForEachOp(worker.body, [&](const Op& op) { skips |= op.code == OpCode::kAdvance && !op.scalars.empty(); });
  }
  return skips;
}

}  // namespace tkc::certify

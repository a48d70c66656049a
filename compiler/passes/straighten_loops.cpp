// SPDX-License-Identifier: MIT
#include "compiler/passes/straighten_loops.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/known_ranges.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/sent_slots.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

class Straightening {
 public:
  Straightening(const ir::Kernel& kernel, const ir::Worker& worker) : known_(KnownAtLaunch(kernel)) {
    if (!worker.instance_name.empty()) known_.DefineWithin(worker.instance_name, {0, worker.instances - 1});
    ForEachOp(worker.body, [&](const Op& op) { ir::ForEachScalarDefined(op, [&](const std::string& name) { ++defined_[name]; }); });
  }

  void Rewrite(Region& region) {
    Region out;
    for (Op& op : region) {
      if (op.code == OpCode::kLet) known_.Define(op.symbol, op.scalars[0], !op.Is(ir::kStays));
      if (op.code == OpCode::kFor) known_.EnterLoop(op);
      for (Region& inner : op.regions) Rewrite(inner);
      if (op.code == OpCode::kFor) known_.LeaveLoop();
      const bool is_one = op.code == OpCode::kFor && !IsOverInstances(op) && known_.IsOneStepAtMost(op) && MayStandBeside(op);
      if (is_one)
        Straighten(std::move(op), out);
      else
        out.push_back(std::move(op));
    }
    region = std::move(out);
  }

 private:
  /// Whether names that the body defines are no others' where the loop stands.
  bool MayStandBeside(const Op& loop) const {
    bool is_another = false;
    for (const Op& op : loop.regions[0])
      ir::ForEachScalarDefined(op, [&](const std::string& name) { is_another |= defined_.at(name) > 1; });
    return !is_another;
  }

  void Straighten(Op loop, Region& out) const {
    const ir::Scalar lo = loop.scalars[0], hi = loop.scalars[1];
    Region body = std::move(loop.regions[0]);
    Substitute(body, loop.symbol, lo);
    if (known_.Difference(hi, lo).lo > 0)
      Append(out, std::move(body));
    else
      AppendIfAny(lo, hi, std::move(body), loop.span, out);
  }

  KnownRanges known_;
  std::map<std::string, int> defined_;  // how often
};

}  // namespace

Result<void> StraightenLoops(ir::Kernel& kernel, Diagnostics&) {
  const auto keeps_loops = [](const ir::Worker& worker) { return !worker.folded.empty() || worker.in_turn; };
  if (std::ranges::any_of(kernel.workers, keeps_loops)) return {};
  for (ir::Worker& worker : kernel.workers) Straightening(kernel, worker).Rewrite(worker.body);
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/straighten_loops.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

using Pipes = std::set<std::string>;

/// Which something sends to or receives from.
Pipes PipesOf(const Region& region) {
  Pipes pipes;
  ForEachOp(region, [&](const Op& op) {
    if (op.code == OpCode::kSend || op.code == OpCode::kReceive) pipes.insert(op.symbol);
  });
  return pipes;
}

bool Meet(const Pipes& a, const Pipes& b) {
  return std::ranges::any_of(a, [&](const std::string& pipe) { return b.contains(pipe); });
}

class Straightening {
 public:
  Straightening(const ir::Kernel& kernel, const ir::Worker& worker) : known_(KnownAtLaunch(kernel)) {
    if (!worker.instance_name.empty()) known_.DefineWithin(worker.instance_name, {0, worker.instances - 1});
    ForEachOp(worker.body, [&](const Op& op) { ir::ForEachScalarDefined(op, [&](const std::string& name) { ++defined_[name]; }); });
  }

  /// Adds the pipes of each loop that need not be one.
  void Find(const Region& region, std::vector<Pipes>& found) {
    for (const Op& op : region) {
      Define(op);
      for (const Region& inner : op.regions) Find(inner, found);
      if (Leave(op)) found.push_back(PipesOf(op.regions[0]));
    }
  }

  /// `kept`: the pipes whose loops stay.
  void Rewrite(Region& region, const Pipes& kept) {
    Region out;
    for (Op& op : region) {
      Define(op);
      for (Region& inner : op.regions) Rewrite(inner, kept);
      if (Leave(op) && !Meet(PipesOf(op.regions[0]), kept))
        Straighten(std::move(op), out);
      else
        out.push_back(std::move(op));
    }
    region = std::move(out);
  }

 private:
  void Define(const Op& op) {
    if (op.code == OpCode::kLet) known_.Define(op.symbol, op.scalars[0], !op.Is(ir::kStays));
    if (op.code == OpCode::kFor) known_.EnterLoop(op);
  }

  /// Behind the operation. Whether it is a loop that need not be one.
  bool Leave(const Op& op) {
    if (op.code != OpCode::kFor) return false;
    known_.LeaveLoop();
    return !IsOverInstances(op) && known_.IsOneStepAtMost(op) && MayStandBeside(op);
  }

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

/// Of a worker.
struct Traffic {
  Pipes pipes;
  std::vector<Pipes> of_loops;  // of each loop that need not be one
};

/// Pipes of which one worker would have other loops left than another. Their loops all stay: the certificate follows what is sent
/// and received iteration by iteration. A loop that stays for one pipe stays for its others, too.
Pipes UnevenPipes(const ir::Kernel& kernel, const std::vector<Traffic>& workers) {
  Pipes uneven;
  const auto is_uneven = [&](const std::string& pipe) {
    std::set<std::ptrdiff_t> counts;
    for (const Traffic& worker : workers) {
      const auto goes = [&](const Pipes& of_loop) { return of_loop.contains(pipe) && !Meet(of_loop, uneven); };
      if (worker.pipes.contains(pipe)) counts.insert(std::ranges::count_if(worker.of_loops, goes));
    }
    return counts.size() > 1;
  };
  for (bool changes = true; std::exchange(changes, false);) {
    for (const ir::Pipe& pipe : kernel.pipes) {
      if (!uneven.contains(pipe.name) && is_uneven(pipe.name)) changes = uneven.insert(pipe.name).second;
    }
  }
  return uneven;
}

}  // namespace

Result<void> StraightenLoops(ir::Kernel& kernel, Diagnostics&) {
  const auto keeps_loops = [](const ir::Worker& worker) { return !worker.folded.empty() || worker.in_turn; };
  if (std::ranges::any_of(kernel.workers, keeps_loops)) return {};
  std::vector<Straightening> straightenings;
  std::vector<Traffic> traffic;
  for (const ir::Worker& worker : kernel.workers) {
    traffic.push_back({PipesOf(worker.body), {}});
    straightenings.emplace_back(kernel, worker).Find(worker.body, traffic.back().of_loops);
  }
  const Pipes uneven = UnevenPipes(kernel, traffic);
  for (size_t i = 0; i < kernel.workers.size(); ++i) straightenings[i].Rewrite(kernel.workers[i].body, uneven);
  return {};
}

}  // namespace tkc::passes

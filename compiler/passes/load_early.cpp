// SPDX-License-Identifier: MIT
#include "compiler/passes/load_early.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

bool IsLoad(const Op& op) { return op.code == OpCode::kLoadShared || ir::LoadsFragments(op.code); }

/// Scalars that the worker's program gives values to.
std::set<std::string> ScalarsOf(const ir::Worker& worker) {
  std::set<std::string> names;
  ForEachOp(worker.body, [&](const Op& op) { AddScalarsMade(op, names); });
  return names;
}

class Moving {
 public:
  Moving(const ir::Kernel& kernel, const std::set<std::string>& buffers, const ir::Worker& worker)
      : kernel_(kernel), buffers_(buffers), views_(BuffersOfViews(kernel, worker.body)) {}

  /// Takes the loads, and the parts that they load, from where they stand.
  void Take(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Take(inner);
      const auto view = op.operands.empty() ? views_.end() : views_.find(op.operands[0]);
      const bool moves = (IsLoad(op) || ir::IsPartOrTranspose(op.code)) && view != views_.end() && buffers_.contains(view->second);
      (moves ? taken_[view->second] : out).push_back(std::move(op));
    }
    region = std::move(out);
  }

  /// Puts them behind the receive.
  void Put(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Put(inner);
      out.push_back(std::move(op));
      if (out.back().code != OpCode::kReceive) continue;
      const ir::Pipe& pipe = FindPipe(kernel_, out.back().symbol);
      for (size_t i = 0; i < pipe.fields.size(); ++i) {
        for (Op& moved : taken_[FieldBuffer(pipe, i)]) out.push_back(std::move(moved));
        taken_.erase(FieldBuffer(pipe, i));
      }
    }
    region = std::move(out);
  }

 private:
  const ir::Kernel& kernel_;
  const std::set<std::string>& buffers_;
  const std::map<ValueId, std::string> views_;
  std::map<std::string, Region> taken_;  // in program order
};

}  // namespace

std::set<std::string> LoadableEarly(const ir::Kernel& kernel, const ir::Worker& worker) {
  const std::map<ValueId, std::string> views = BuffersOfViews(kernel, worker.body);
  const std::set<std::string> scalars = ScalarsOf(worker);
  std::map<std::string, int> receives;
  std::set<std::string> loaded, others;
  ForEachOp(worker.body, [&](const Op& op) {
    if (op.code == OpCode::kReceive) ++receives[op.symbol];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const auto view = views.find(op.operands[i]);
      if (view == views.end() || (i == 0 && FillsShared(op.code))) continue;
      const bool may_move = IsLoad(op) || (ir::IsPartOrTranspose(op.code) && !NamesScalar(op, scalars));
      (may_move ? loaded : others).insert(view->second);
    }
  });
  std::set<std::string> slots;
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size() && receives[pipe.name] == 1; ++i) slots.insert(FieldBuffer(pipe, i));
  }
  std::erase_if(loaded, [&](const std::string& name) { return others.contains(name) || !slots.contains(name); });
  return loaded;
}

void LoadEarly(const ir::Kernel& kernel, ir::Worker& worker, const std::set<std::string>& buffers) {
  Moving moving(kernel, buffers, worker);
  moving.Take(worker.body);
  moving.Put(worker.body);
}

}  // namespace tkc::passes

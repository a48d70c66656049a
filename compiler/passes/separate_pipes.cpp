// SPDX-License-Identifier: MIT
// Each instance's traffic of a pipe is a tree of loops and branches whose leaves are slots, numbered in program order: equal trees
// have the same number at the two ends of a slot. Two slots conflict where an instance holds the value of one when it receives the
// other; slots that do not may share a pipe.
#include "compiler/passes/separate_pipes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/passes/copy_traffic.h"
#include "compiler/passes/expand_workers.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/slot_views.h"
#include "compiler/symbolic/condition.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// One end of a pipe in one instance.
struct End {
  std::string shape;                         // the tree: loops, branches and slots
  std::vector<std::vector<Op*>> slots;       // the operations of each slot: a receive, or sends of its parts
  std::set<std::pair<size_t, size_t>> held;  // slots of which the first is held when the second is received
};

class Traffic {
 public:
  Traffic(const ir::Kernel& kernel, ir::Worker& worker, int64_t instance, std::string pipe, OpCode end)
      : worker_(worker), instance_(instance), pipe_(std::move(pipe)), end_(end), slot_of_(SlotsOfViews(worker.body)) {
    ForEachOp(kernel.lets, [&](const Op& op) { NoteLet(op, names_); });
    Walk(worker.body, {});
  }

  End Take() { return std::move(traffic_); }

 private:
  /// `held`: the slots that are held throughout the region.
  void Walk(Region& region, const std::set<size_t>& held) {
    const Names around = names_;
    std::map<size_t, size_t> last_use;  // of what is received here
    bool opens = true;
    for (size_t i = 0; i < region.size(); ++i) {
      Op& op = region[i];
      std::erase_if(last_use, [&](const auto& value) { return value.second < i; });
      std::set<size_t> here = held;
      for (const auto& value : last_use) here.insert(value.first);
      if (op.code == end_ && op.symbol == pipe_) {
        if (end_ == OpCode::kSend) opens = OpensSlot(region, i);
        Slot(op, opens, here);
        if (end_ == OpCode::kReceive) last_use[traffic_.slots.size() - 1] = LastUse(region, i, op.results, slot_of_);
      }
      NoteLet(op, names_);
      Inside(op, here);
    }
    names_ = around;
  }

  void Slot(Op& op, bool opens, const std::set<size_t>& held) {
    if (opens) {
      traffic_.shape += "s";
      traffic_.slots.emplace_back();
    }
    traffic_.slots.back().push_back(&op);
    for (const size_t other : held) traffic_.held.insert({other, traffic_.slots.size() - 1});
  }

  void Inside(Op& op, const std::set<size_t>& held) {
    const bool is_branch = op.code == OpCode::kIf && !IsDecided(op);
    const symbolic::Condition condition = is_branch ? symbolic::ConditionOf(Resolve(op.scalars[0], names_)) : symbolic::Condition{};
    // Loops around a slot are the same at both ends, whatever their indices are called.
    if (op.code == OpCode::kFor) names_[op.symbol] = symbolic::Name(fmt::format("loop {}", depth_++));
    std::vector<std::string> shapes;
    for (size_t i = 0; i < op.regions.size(); ++i) {
      // The other end may ask the opposite.
      const size_t side = condition.is_negated ? op.regions.size() - 1 - i : i;
      const std::string before = std::exchange(traffic_.shape, "");
      if (Takes(op, side, worker_, instance_)) Walk(op.regions[side], held);
      shapes.push_back(std::exchange(traffic_.shape, before));
    }
    if (op.code == OpCode::kFor) {
      names_.erase(op.symbol);
      --depth_;
    }
    const bool has_traffic = std::any_of(shapes.begin(), shapes.end(), [](const std::string& shape) { return !shape.empty(); });
    if (!has_traffic) return;
    if (is_branch) traffic_.shape += "?" + condition.text;
    for (const std::string& shape : shapes) traffic_.shape += op.code == OpCode::kIf && !is_branch ? shape : "(" + shape + ")";
  }

  /// By the number of the instance.
  bool IsDecided(const Op& branch) const { return !Takes(branch, 0, worker_, instance_) || !Takes(branch, 1, worker_, instance_); }

  ir::Worker& worker_;
  const int64_t instance_;
  const std::string pipe_;
  const OpCode end_;
  const SlotOfView slot_of_;
  Names names_;    // of lets and of the loops around
  int depth_ = 0;  // of loops
  End traffic_;
};

End EndOf(const ir::Kernel& kernel, ir::Worker& worker, int64_t instance, const std::string& pipe, OpCode end) {
  return Traffic(kernel, worker, instance, pipe, end).Take();
}

/// All ends of the pipe; none if it is one that this pass can't take apart.
std::vector<End> EndsOf(ir::Kernel& kernel, const ir::Pipe& pipe) {
  std::vector<End> ends;
  for (ir::Worker& worker : kernel.workers) {
    const int64_t instances = worker.InstancesOfTile();
    for (int64_t instance = 0; instance < instances; ++instance) {
      for (const OpCode end : {OpCode::kSend, OpCode::kReceive}) {
        End traffic = EndOf(kernel, worker, instance, pipe.name, end);
        if (!traffic.slots.empty()) ends.push_back(std::move(traffic));
      }
    }
  }
  const auto is_same = [&](const End& end) { return end.shape == ends[0].shape; };
  if (pipe.per_worker.empty() && std::all_of(ends.begin(), ends.end(), is_same)) return ends;
  return {};
}

/// Which of the new pipes each slot goes through.
std::vector<size_t> Share(const std::vector<End>& ends) {
  std::vector<size_t> pipe_of;
  for (size_t slot = 0; slot < ends[0].slots.size(); ++slot) {
    std::set<size_t> taken;
    for (const End& end : ends) {
      for (const auto& [first, second] : end.held) {
        if (second == slot) taken.insert(pipe_of[first]);
      }
    }
    size_t pipe = 0;
    while (taken.count(pipe) > 0) ++pipe;
    pipe_of.push_back(pipe);
  }
  return pipe_of;
}

/// The pipe that each operation is to name; nothing if it would have to name several.
std::optional<std::map<Op*, size_t>> ChoicesOfEnds(const std::vector<End>& ends, const std::vector<size_t>& pipe_of) {
  std::map<Op*, size_t> choices;
  for (const End& end : ends) {
    for (size_t slot = 0; slot < end.slots.size(); ++slot) {
      for (Op* op : end.slots[slot]) {
        if (choices.emplace(op, pipe_of[slot]).first->second != pipe_of[slot]) return std::nullopt;
      }
    }
  }
  return choices;
}

void Separate(ir::Kernel& kernel, size_t place) {
  const ir::Pipe source = kernel.pipes[place];
  const std::vector<End> ends = EndsOf(kernel, source);
  if (ends.empty()) return;
  const std::vector<size_t> pipe_of = Share(ends);
  const size_t count = *std::max_element(pipe_of.begin(), pipe_of.end()) + 1;
  const auto choices = ChoicesOfEnds(ends, pipe_of);
  if (count == 1 || !choices) return;

  ir::TakenNames used = kernel.UsedNames();
  std::vector<ir::Pipe> pipes(count, source);
  const auto shares = static_cast<int64_t>(count);
  for (size_t i = 0; i < count; ++i) {
    pipes[i].part_of = source.name;
    if (i > 0) pipes[i].name = used.TakeFree(source.name);
    if (source.slots > 0) pipes[i].slots = std::max<int64_t>(1, (source.slots + shares - 1 - static_cast<int64_t>(i)) / shares);
    // All the others may hold one each.
    pipes[i].least_slots = std::max<int64_t>(1, source.least_slots - (shares - 1));
  }
  for (const auto& [op, pipe] : *choices) op->symbol = pipes[pipe].name;
  kernel.pipes.erase(kernel.pipes.begin() + static_cast<ptrdiff_t>(place));
  kernel.pipes.insert(kernel.pipes.begin() + static_cast<ptrdiff_t>(place), pipes.begin(), pipes.end());
}

}  // namespace

bool HoldsSeveral(const ir::Kernel& kernel, const ir::Worker& worker, const std::string& pipe) {
  ir::Worker copy = worker;
  return !EndOf(kernel, copy, 0, pipe, OpCode::kReceive).held.empty();
}

Result<void> SeparatePipes(ir::Kernel& kernel, Diagnostics&) {
  for (size_t place = kernel.pipes.size(); place-- > 0;) Separate(kernel, place);
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/split_instances.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/meetings.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

bool IsTraffic(const Op& op) { return op.code == OpCode::kReceive || op.code == OpCode::kSend; }

/// Whether a side of a branch holds a value or a number of its own beyond traffic, where all instances may have to meet.
bool HoldsBeyondTraffic(const Region& side) {
  std::set<ir::ValueId> values, held;
  std::set<std::string> names, held_names;
  for (const Op& op : side) {
    if (IsTraffic(op)) held = values, held_names = names;
    bool uses = std::any_of(held.begin(), held.end(), [&](ir::ValueId value) { return Uses(op, value); });
    for (const Region& inner : op.regions) ForEachOp(inner, [&](const Op& each) { uses |= NamesScalar(each, held_names); });
    if (uses || NamesScalar(op, held_names)) return true;
    values.insert(op.results.begin(), op.results.end());
    if (op.code == OpCode::kLet || op.code == OpCode::kTest) names.insert(op.symbol);
  }
  return false;
}

/// Whether there is traffic that instances do not have in common, but for tiles exchanged directly in a branch through one slot, of
/// which neither side holds anything meanwhile: a barrier of the block between two halves of the branch serves those. Several slots
/// are counted, by each for himself.
bool TrafficDiffers(const ir::Kernel& kernel, const ir::Worker& worker, const std::set<std::string>& loaded) {
  bool differs = false;
  ForEachApart(worker, [&](const Op& op, int branches, int loops) {
    if (op.code == OpCode::kIf && branches > 0) differs |= std::any_of(op.regions.begin(), op.regions.end(), HoldsBeyondTraffic);
    if (!IsTraffic(op)) return;
    const bool is_counted = loaded.count(op.symbol) > 0 || FindPipe(kernel, op.symbol).slots > 1;
    differs |= loops > 0 || branches > 1 || (branches > 0 && is_counted);
  });
  return differs;
}

/// Branches whose conditions are known are taken.
Region Decided(Region region) {
  Region out;
  for (Op& op : region) {
    for (Region& inner : op.regions) inner = Decided(std::move(inner));
    if (op.code != OpCode::kIf || op.scalars[0]->kind != symbolic::Kind::kBool) {
      out.push_back(std::move(op));
      continue;
    }
    for (Op& each : op.regions[op.scalars[0]->int_value != 0 ? 0 : 1]) out.push_back(std::move(each));
  }
  return out;
}

/// Values that only the branches of other instances wanted are not computed.
void DropComputed(Region& body) {
  for (bool drops = true; drops;) {
    std::set<ir::ValueId> used;
    ForEachOp(body, [&](const Op& op) { used.insert(op.operands.begin(), op.operands.end()); });
    drops = false;
    const std::function<void(Region&)> drop = [&](Region& region) {
      for (Op& op : region) {
        for (Region& inner : op.regions) drop(inner);
      }
      drops |= std::erase_if(region, [&](const Op& op) {
                 const auto is_used = [&](ir::ValueId value) { return used.contains(value); };
                 const bool is_pure = ir::OnlyComputes(op.code) || op.code == OpCode::kRead || op.code == OpCode::kGather;
                 return is_pure && !op.results.empty() && std::none_of(op.results.begin(), op.results.end(), is_used);
               }) > 0;
    };
    drop(body);
  }
}

}  // namespace

void SplitInstances(ir::Kernel& kernel) {
  std::set<std::string> loaded;
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kUnassigned) continue;
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kSend) loaded.insert(op.symbol);
    });
  }
  SplitWorkers(kernel, [&](const ir::Worker& worker) {
    return worker.kind == ir::RoleKind::kUnassigned && TrafficDiffers(kernel, worker, loaded);
  });
}

void SplitWorkers(ir::Kernel& kernel, const std::function<bool(const ir::Worker&)>& is_to_be) {
  std::vector<ir::Worker> workers;
  for (ir::Worker& worker : kernel.workers) {
    if (!is_to_be(worker)) {
      workers.push_back(std::move(worker));
      continue;
    }
    for (int64_t number = 0; number < worker.instances; ++number) {
      ir::Worker one = worker;
      if (worker.instances > 1) {
        one.name = fmt::format("{}_{}", worker.name, number);
        one.instance_of = worker.name;
        one.number = number;
      }
      one.instances = 1;
      one.instance_name = "";
      if (number > 0) one.body = Copied(kernel, worker.body);
      Substitute(one.body, worker.instance_name, symbolic::Int(number));
      one.body = Decided(std::move(one.body));
      DropComputed(one.body);
      workers.push_back(std::move(one));
    }
  }
  kernel.workers = std::move(workers);
}

}  // namespace tkc::passes

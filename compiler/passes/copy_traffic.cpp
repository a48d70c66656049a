// SPDX-License-Identifier: MIT
#include "compiler/passes/copy_traffic.h"

#include <algorithm>

#include "compiler/ir/queries.h"
#include "compiler/passes/sent_slots.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

void ResolveAll(Op& op, const Names& names) {
  ForEachScalar(op, [&](Scalar& scalar) { scalar = Resolve(scalar, names); });
  for (Region& inner : op.regions) {
    for (Op& each : inner) ResolveAll(each, names);
  }
}

std::set<std::string> PipesOf(const Op& op) {
  std::set<std::string> pipes;
  const Region alone{op};
  ForEachOp(alone, [&](const Op& each) {
    if (each.code == OpCode::kSend) pipes.insert(each.symbol);
  });
  return pipes;
}

/// The branch with its lets replaced by their values. False: it holds a scalar variable.
bool ResolveBranch(Region& region, Names names) {
  Region out;
  for (Op& op : region) {
    if (op.code == OpCode::kLet) {
      if (!op.Is(ir::kStays)) return false;
      names[op.symbol] = Resolve(op.scalars[0], names);
      continue;
    }
    if (op.code == OpCode::kIf) {
      op.scalars[0] = Resolve(op.scalars[0], names);
      for (Region& inner : op.regions) {
        if (!ResolveBranch(inner, names)) return false;
      }
    } else {
      ResolveAll(op, names);
    }
    out.push_back(std::move(op));
  }
  region = std::move(out);
  return true;
}

}  // namespace

Scalar Resolve(const Scalar& scalar, const Names& names) {
  if (!scalar) return scalar;
  Scalar result = scalar;
  for (const auto& [name, value] : names) {
    if (symbolic::Mentions(result, name)) result = symbolic::Substitute(result, name, symbolic::Name(name + "'", value->dtype));
  }
  for (const auto& [name, value] : names) {
    if (symbolic::Mentions(result, name + "'")) result = symbolic::Substitute(result, name + "'", value);
  }
  return result;
}

void NoteLet(const Op& op, Names& names) {
  constexpr size_t kLongText = 600;
  if (op.code != OpCode::kLet) return;
  const Scalar value = Resolve(op.scalars[0], names);
  names.erase(op.symbol);
  const bool is_variable = !op.Is(ir::kStays);
  if (!is_variable && symbolic::ToString(value).size() <= kLongText) names[op.symbol] = value;
}

void NameLet(const Op& let, const Names& kept, Names& names) {
  const Scalar value = Resolve(let.scalars[0], names);
  const auto is_same = [&](const auto& own) { return symbolic::Equal(own.second, value); };
  auto same = kept.find(let.symbol);
  if (same == kept.end() || !is_same(*same))
    same = symbolic::MentionsElement(value) ? std::find_if(kept.begin(), kept.end(), is_same) : kept.end();
  if (same == kept.end())
    names[let.symbol] = value;
  else if (same->first == let.symbol)
    names.erase(let.symbol);  // it stands for itself
  else
    names[let.symbol] = symbolic::Name(same->first, value->dtype);
}

bool CollectTraffic(const Feed& feed, const Names& kept, std::vector<Traffic>& out) {
  Names names = feed.names;
  const Region& region = *feed.region;
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    switch (op.code) {
      case OpCode::kLet:
        if (!op.Is(ir::kStays)) return false;
        NameLet(op, kept, names);
        break;
      case OpCode::kSend: {
        // Parts that follow fill the same slot.
        const auto is_same = [&](const Traffic& t) { return t.kind == Traffic::Kind::kSend && t.pipes.count(op.symbol) > 0; };
        auto slot = std::find_if(out.rbegin(), out.rend(), is_same);
        if (slot == out.rend() || OpensSlot(region, i)) {
          out.push_back({Traffic::Kind::kSend, {}, &op, names, {op.symbol}, {}});
          slot = out.rbegin();
        }
        slot->ops.push_back(op);
        ResolveAll(slot->ops.back(), names);
        break;
      }
      case OpCode::kFor:
      case OpCode::kForTiles: out.push_back({Traffic::Kind::kLoop, {}, &op, names, PipesOf(op), {}}); break;
      case OpCode::kIf: {
        Traffic branch{Traffic::Kind::kBranch, {op}, &op, names, PipesOf(op), {}};
        const bool has_loop = Contains(branch.ops, OpCode::kFor);
        if (!has_loop && !ResolveBranch(branch.ops, names)) return false;
        if (has_loop) branch.ops.clear();
        if (!branch.pipes.empty()) out.push_back(std::move(branch));
        break;
      }
      default: break;  // tile positions: the computing worker has the same
    }
  }
  return true;
}

Region OnlyPipe(const Region& region, const std::string& pipe) {
  Region out;
  for (const Op& op : region) {
    if (op.code == OpCode::kSend && op.symbol != pipe) continue;
    out.push_back(op);
    if (op.code != OpCode::kIf) continue;
    for (Region& inner : out.back().regions) inner = OnlyPipe(inner, pipe);
    if (out.back().regions[0].empty() && out.back().regions[1].empty()) out.pop_back();
  }
  return out;
}

bool ReadsElementsOtherwise(const Region& region) {
  bool reads = false;
  ForEachOp(region, [&](const Op& op) {
    reads |= std::any_of(op.scalars.begin(), op.scalars.end(), symbolic::MentionsElement);
    for (const ir::AxisRange& axis : op.axes)
      reads |= symbolic::MentionsElement(axis.lo) || symbolic::MentionsElement(axis.hi) ||
               (axis.exists && symbolic::MentionsElement(axis.start));
  });
  return reads;
}

void BeginWhere(const ir::Kernel& kernel, const Scalar& exists, Region& region) {
  ForEachOp(region, [&](Op& op) {
    for (size_t i = 0; i < op.axes.size(); ++i) {
      ir::AxisRange& axis = op.axes[i];
      if (!symbolic::MentionsElement(axis.start)) continue;
      // Pieces of blocks are copied from the first one that is in the tensor: so behind its end, at the begin of a block.
      const Scalar extent = FindTensor(kernel, op.symbol).extents[i], block = symbolic::Int(axis.extent);
      const Scalar outside = symbolic::Mul(symbolic::Cdiv(extent, block), block);
      axis.start = symbolic::Make(symbolic::Kind::kSelect, axis.start->dtype, {exists, axis.start, outside});
    }
  });
}

}  // namespace tkc::passes

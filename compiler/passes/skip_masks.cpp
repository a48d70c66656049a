// SPDX-License-Identifier: MIT
#include "compiler/passes/skip_masks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/mask_conditions.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using ir::ValueId;

class Skipping {
 public:
  Skipping(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), body_(worker.body), masks_(kernel, worker) {}

  void Visit(Region& region) {
    for (Op& op : region) {
      for (Region& inner : op.regions) Visit(inner);
    }
    const auto multiplies = [](const Op& op) {
      return ir::IsProduct(op.code) ||
             (op.code == OpCode::kUnroll && (Contains(op.regions[0], OpCode::kMma) || Contains(op.regions[0], OpCode::kMultiply)));
    };
    if (std::none_of(region.begin(), region.end(), multiplies)) return;
    for (size_t i = 0; i < region.size(); ++i) {
      if (region[i].code == OpCode::kSelect) i = Skip(region, i);
    }
  }

 private:
  /// Returns where the region goes on.
  size_t Skip(Region& region, size_t place);
  /// Takes what only leads to the mask out of the region.
  Region TakeMaker(Region& region, size_t& place, ValueId mask) const;

  ir::Kernel& kernel_;
  const Region& body_;
  const MaskConditions masks_;
};

/// Pure, used by this chain only, and the same there. Data that only the mask asks for is loaded where it is asked.
Region Skipping::TakeMaker(Region& region, size_t& place, ValueId mask) const {
  Region maker;
  std::set<ValueId> wanted{mask};
  for (size_t i = place; i-- > 0;) {
    const Op& op = region[i];
    const bool loads = op.code == OpCode::kRead && KeepsTensor(kernel_, op.symbol);
    const bool computes = loads || ir::ComputesElements(op.code) || op.code == OpCode::kPart;
    if (!computes || !wanted.contains(op.results[0]) || !masks_.IsFixed(op)) continue;
    if (CountUses(body_, op.results[0]) != (op.results[0] == mask ? 1 : 0)) continue;  // what uses it here has not been taken
    wanted.insert(op.operands.begin(), op.operands.end());
    maker.insert(maker.begin(), op);
    region.erase(region.begin() + static_cast<std::ptrdiff_t>(i));
    --place;
  }
  return maker;
}

size_t Skipping::Skip(Region& region, size_t place) {
  const ValueId mask = region[place].operands[0], result = region[place].results[0];
  // Which of the two values is the one that stays, and is a tile of the result's shape?
  std::optional<Scalar> condition;
  size_t kept = 0;
  size_t tile = 1;
  for (size_t side = 0; side < 2 && !condition; ++side) {
    if (!region[place].IsTileArm(side)) continue;
    const ValueId value = region[place].operands[tile];
    const ir::Type& type = kernel_.TypeOf(value);
    const bool is_whole = ir::HaveOneShape(type, kernel_.TypeOf(result));
    if (is_whole) condition = masks_.HasOther(mask, side == 0);
    kept = tile++;
  }
  if (!condition || (*condition)->kind == symbolic::Kind::kBool) return place;

  Op select = region[place];
  const Span span = select.span;
  const ValueId masked = kernel_.AddValueAfter(result, "", kernel_.TypeOf(result));
  kernel_.values[result].is_mutable = true;
  Region edge = TakeMaker(region, place, mask);
  edge.insert(edge.begin(), Explain("A block in which the mask leaves something out.", span));
  region[place] = Op{OpCode::kVar, {result}, {select.operands[kept]}};
  region[place].span = span;
  select.results = {masked};
  select.operands[kept] = result;
  edge.push_back(std::move(select));
  edge.push_back(Op{OpCode::kAssign, {}, {result, masked}});
  edge.back().span = span;
  Op branch{OpCode::kIf};
  branch.scalars = {*condition};
  branch.regions = {std::move(edge), {}};
  branch.span = span;
  region.insert(region.begin() + static_cast<std::ptrdiff_t>(place) + 1, std::move(branch));
  return place + 1;
}

}  // namespace

Result<void> SkipMasks(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Skipping(kernel, worker).Visit(worker.body);
  }
  return {};
}

}  // namespace tkc::passes

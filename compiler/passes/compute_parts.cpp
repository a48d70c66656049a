// SPDX-License-Identifier: MIT
#include "compiler/passes/compute_parts.h"

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

class Parts {
 public:
  Parts(ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), body_(worker.body) {}

  /// From the end: the parts that one makes of its operands come next.
  void Rewrite(Region& region) {
    for (size_t i = region.size(); i-- > 0;) {
      for (Region& inner : region[i].regions) Rewrite(inner);
      if (region[i].code != OpCode::kPart || IsPlaceKnown(region[i])) continue;
      const size_t whole = PlaceOf(region[i].operands[0], region, i);
      if (whole == i || !IsMadeOfParts(region[i], region[whole].results[0], region, i)) continue;
      if (std::any_of(region.begin() + static_cast<std::ptrdiff_t>(whole), region.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const Op& op) { return ir::DefinesScalarOf(op, region[i]); }))
        continue;
      i = Exchange(region, whole, i) + 1;
    }
  }

 private:
  static bool IsPlaceKnown(const Op& part) {
    return std::all_of(part.scalars.begin(), part.scalars.end(), [](const ir::Scalar& at) { return symbolic::IsInt(at, nullptr); });
  }

  /// Of the elementwise operation before `at` that makes the value; `at` if it is made otherwise, or elsewhere.
  static size_t PlaceOf(ValueId value, const Region& region, size_t at) {
    for (size_t i = at; i-- > 0;) {
      if (!region[i].results.empty() && region[i].results[0] == value) return ir::IsElementwise(region[i].code) ? i : at;
    }
    return at;
  }

  /// Whether the operand is broadcast along what the part cuts.
  bool IsWhole(const Op& part, ValueId operand) const {
    const ir::Type &own = kernel_.TypeOf(operand), &whole = kernel_.TypeOf(part.operands[0]),
                   &cut = kernel_.TypeOf(part.results[0]);
    return (own.rows == 1 || cut.rows == whole.rows) && (own.cols == 1 || cut.cols == whole.cols);
  }

  /// Whether it lies in memory, or is made of such tiles for the sake of one part only.
  bool IsMadeOfParts(const Op& part, ValueId value, const Region& region, size_t at) const {
    const size_t made = PlaceOf(value, region, at);
    if (made == at) return IsInMemory(value, region);
    const ir::Type& type = kernel_.TypeOf(value);
    const auto is_made = [&](ValueId operand) {
      const ir::Type& own = kernel_.TypeOf(operand);
      return IsWhole(part, operand) ||
             (own.rows == type.rows && own.cols == type.cols && IsMadeOfParts(part, operand, region, made));
    };
    return CountUses(body_, value) == 1 && std::ranges::all_of(region[made].operands, is_made);
  }

  bool IsInMemory(ValueId value, const Region& region) const {
    return std::ranges::any_of(region, [&](const Op& op) {
      const bool makes = std::ranges::find(op.results, value) != op.results.end();
      return makes && (op.code == OpCode::kReceive || (op.code == OpCode::kRead && CountUses(body_, value) == 1));
    });
  }

  /// Returns where the elementwise operation then stands.
  size_t Exchange(Region& region, size_t whole_at, size_t part_at) {
    const Op part = region[part_at];
    Op whole = region[whole_at];
    const ir::Type& result = kernel_.TypeOf(part.results[0]);
    Region parts;
    std::map<ValueId, ValueId> part_of;
    for (ValueId& operand : whole.operands) {
      if (IsWhole(part, operand)) continue;
      if (const auto known = part_of.find(operand); known != part_of.end()) {
        operand = known->second;
        continue;
      }
      ir::Type type = result;
      type.dtype = kernel_.TypeOf(operand).dtype;
      Op own = part;
      own.results = {kernel_.AddValueAfter(operand, "_part", type)};
      own.operands = {operand};
      own.span = whole.span;
      operand = part_of[operand] = own.results[0];
      parts.push_back(std::move(own));
    }
    whole.results = part.results;
    region.erase(region.begin() + static_cast<std::ptrdiff_t>(part_at));
    region[whole_at] = std::move(whole);
    region.insert(region.begin() + static_cast<std::ptrdiff_t>(whole_at), parts.begin(), parts.end());
    return whole_at + parts.size();
  }

  ir::Kernel& kernel_;
  const Region& body_;
};

}  // namespace

Result<void> ComputeParts(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) Parts(kernel, worker).Rewrite(worker.body);
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/ir/rewrite.h"

#include <iterator>

#include "compiler/ir/queries.h"

namespace tkc::ir {

void Append(Region& to, Region more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void ReplaceOperands(Op& op, const std::map<ValueId, ValueId>& instead) {
  for (ValueId& operand : op.operands) {
    if (const auto other = instead.find(operand); other != instead.end()) operand = other->second;
  }
}

void ReplaceOperands(Region& region, const std::map<ValueId, ValueId>& instead) {
  ForEachOp(region, [&](Op& op) { ReplaceOperands(op, instead); });
}

void Substitute(Region& region, const std::string& name, const Scalar& value) {
  ForEachOp(region,
            [&](Op& op) { ForEachScalar(op, [&](Scalar& scalar) { scalar = symbolic::Substitute(scalar, name, value); }); });
}

Region Copied(Kernel& kernel, const Region& region, const std::string& suffix) {
  Region copy = region;
  std::map<ValueId, ValueId> renamed;
  ForEachOp(copy, [&](Op& op) {
    for (ValueId& result : op.results)
      result = renamed[result] = kernel.AddValueAfter(result, suffix, kernel.TypeOf(result), kernel.values[result].is_mutable);
  });
  ReplaceOperands(copy, renamed);
  return copy;
}

}  // namespace tkc::ir

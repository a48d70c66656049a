// SPDX-License-Identifier: MIT
#include "compiler/passes/name_elements.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/make_op.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

/// Elements and what they are called, where the walk is.
using Known = std::vector<std::pair<Scalar, std::string>>;

/// Adds all that a loop and what is in it give a name to.
void AddNamesMadeIn(const Op& loop, std::set<std::string>& names) {
  AddScalarsMade(loop, names);
  for (const Region& region : loop.regions) ForEachOp(region, [&](const Op& op) { AddScalarsMade(op, names); });
}

class Elements {
 public:
  explicit Elements(const ir::Kernel& kernel) : kernel_(kernel), used_(kernel.UsedNames()) {}

  void Visit(ir::Worker& worker) {
    variables_.clear();
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kLet && !op.Is(ir::kStays)) variables_.insert(op.symbol);
    });
    Visit(worker.body, {});
  }

 private:
  void Visit(Region& region, Known known) {
    for (size_t i = 0; i < region.size(); ++i) {
      if (region[i].code == OpCode::kFor || region[i].code == OpCode::kForTiles) {
        Region lets = NameIn(region[i], known);
        const auto count = static_cast<std::ptrdiff_t>(lets.size());
        region.insert(region.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(lets.begin()),
                      std::make_move_iterator(lets.end()));
        i += static_cast<size_t>(count);
      }
      const Op& op = region[i];
      if (op.code == OpCode::kLet && op.Is(ir::kStays) && IsKept(*op.scalars[0]) && !NamesScalar(op, variables_))
        known.emplace_back(op.scalars[0], op.symbol);
      for (Region& inner : region[i].regions) Visit(inner, known);
    }
  }

  /// What a section before has written stays where the program reads it: elsewhere nothing may have been written.
  bool IsKept(const symbolic::Node& scalar) const {
    return scalar.kind == symbolic::Kind::kElement && !ir::IsWritten(FindTensor(kernel_, scalar.name));
  }

  /// Elements in the loop's body that do not depend on an iteration have names; returned is what gives them, in front of the loop.
  Region NameIn(Op& loop, Known& known) {
    std::set<std::string> varying = variables_;
    AddNamesMadeIn(loop, varying);
    Region lets;
    for (Region& region : loop.regions) {
      ForEachOp(region,
                [&](Op& op) { ForEachScalar(op, [&](Scalar& scalar) { scalar = Named(scalar, varying, op.span, known, lets); }); });
    }
    return lets;
  }

  Scalar Named(const Scalar& scalar, const std::set<std::string>& varying, Span span, Known& known, Region& lets) {
    if (!symbolic::MentionsElement(scalar)) return scalar;
    const auto mentions = [&](const std::string& name) { return symbolic::Mentions(scalar, name); };
    if (IsKept(*scalar) && std::none_of(varying.begin(), varying.end(), mentions)) {
      auto same = std::find_if(known.begin(), known.end(), [&](const auto& each) { return symbolic::Equal(each.first, scalar); });
      if (same == known.end()) {
        lets.push_back(Let(used_.TakeFree(scalar->name + "_element"), scalar, span));
        same = known.insert(known.end(), {scalar, lets.back().symbol});
      }
      return symbolic::Name(same->second, scalar->dtype);
    }
    std::vector<Scalar> args;
    for (const Scalar& arg : scalar->args) args.push_back(Named(arg, varying, span, known, lets));
    return symbolic::WithArgs(scalar, std::move(args));
  }

  const ir::Kernel& kernel_;
  ir::TakenNames used_;
  std::set<std::string> variables_;  // scalars of the worker that change
};

}  // namespace

Result<void> NameElements(ir::Kernel& kernel, const Target&, Diagnostics&) {
  Elements elements(kernel);
  for (ir::Worker& worker : kernel.workers) elements.Visit(worker);
  return {};
}

}  // namespace tkc::passes

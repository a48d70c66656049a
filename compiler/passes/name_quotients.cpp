// SPDX-License-Identifier: MIT
#include "compiler/passes/name_quotients.h"

#include <algorithm>
#include <iterator>
#include <memory>
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
using symbolic::Kind;

bool Divides(const ir::Scalar& scalar) {
  const bool is_kind = scalar->kind == Kind::kDiv || scalar->kind == Kind::kMod || scalar->kind == Kind::kCdiv;
  return is_kind && !IsFloat(scalar->dtype) && !symbolic::IsInt(scalar->args[1]);
}

/// Whether a tensor, or a function whose calls differ, decides its value.
bool MayDiffer(const ir::Scalar& scalar) {
  return scalar->kind == Kind::kElement || scalar->kind == Kind::kCall || std::ranges::any_of(scalar->args, MayDiffer);
}

/// Calls `change` on the scalars of an operation on data: what loops, branches and names depend on stays as it is.
template <typename Change>
void ForEachNumber(Op& op, const Change& change) {
  if (!op.regions.empty() || ir::DefinesScalars(op.code)) return;
  ir::ForEachScalar(op, [&](ir::Scalar& scalar) {
    if (scalar) change(scalar);
  });
}

class Naming {
 public:
  explicit Naming(const ir::Kernel& kernel) : used_(kernel.UsedNames()) {}

  /// `named`: the lets that hold where the region begins.
  void Visit(Region& region, Region named) {
    Region out;
    for (Op& op : region) {
      std::set<std::string> made;
      ir::AddScalarsMade(op, made);
      for (const Region& inner : op.regions) ForEachOp(inner, [&](const Op& each) { ir::AddScalarsMade(each, made); });
      std::erase_if(named, [&](const Op& let) { return ir::NamesScalar(let, made); });
      const auto known = static_cast<std::ptrdiff_t>(named.size());
      if (op.code == OpCode::kFor || op.code == OpCode::kUnroll) Name(op.regions[0], made, named);
      auto place = out.end();
      while (place != out.begin() && std::prev(place)->code == OpCode::kComment) --place;  // which is about the loop
      out.insert(place, named.begin() + known, named.end());
      ForEachNumber(op, [&](ir::Scalar& scalar) { scalar = Named(scalar, named); });
      for (Region& inner : op.regions) Visit(inner, named);
      out.push_back(std::move(op));
    }
    region = std::move(out);
  }

 private:
  /// Adds names of what is the same in each iteration of a loop, in which the names of `made` are not.
  void Name(Region& body, const std::set<std::string>& made, Region& named) {
    ForEachOp(body, [&](Op& op) { ForEachNumber(op, [&](const ir::Scalar& scalar) { Add(scalar, made, op.span, named); }); });
  }

  void Add(const ir::Scalar& scalar, const std::set<std::string>& made, Span span, Region& named) {
    if (!Divides(scalar) || ir::MentionsAny({scalar}, made) || MayDiffer(scalar)) {
      for (const ir::Scalar& arg : scalar->args) Add(arg, made, span, named);
    } else if (Named(scalar, named) == scalar) {
      named.push_back(Let(used_.TakeFree(scalar->kind == Kind::kMod ? "remainder" : "quotient"), scalar, span));
    }
  }

  static ir::Scalar Named(const ir::Scalar& scalar, const Region& named) {
    const auto let = std::ranges::find_if(named, [&](const Op& each) { return symbolic::Equal(each.scalars[0], scalar); });
    if (let != named.end()) return symbolic::Name(let->symbol, scalar->dtype);
    symbolic::Node node = *scalar;
    for (ir::Scalar& arg : node.args) arg = Named(arg, named);
    return node.args == scalar->args ? scalar : std::make_shared<const symbolic::Node>(std::move(node));
  }

  ir::TakenNames used_;
};

}  // namespace

Result<void> NameQuotients(ir::Kernel& kernel, Diagnostics&) {
  Naming naming(kernel);
  for (ir::Worker& worker : kernel.workers) naming.Visit(worker.body, {});
  return {};
}

}  // namespace tkc::passes

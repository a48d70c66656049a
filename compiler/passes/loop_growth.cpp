// SPDX-License-Identifier: MIT
#include "compiler/passes/loop_growth.h"

#include <algorithm>
#include <map>

#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Scalar;
using symbolic::Kind;

Growth Opposite(Growth growth) {
  return growth == Growth::kGrows ? Growth::kShrinks : growth == Growth::kShrinks ? Growth::kGrows : growth;
}

/// Of what grows with both.
Growth Both(Growth a, Growth b) { return a == Growth::kStays ? b : b == Growth::kStays || a == b ? a : Growth::kUnknown; }

class Lengths {
 public:
  explicit Lengths(const std::string& axis) : axis_(axis) {}

  void Read(const ir::Region& region) {
    ForEachOp(region, [&](const Op& op) {
      if (op.code == OpCode::kLet) {
        const Growth growth = op.Is(ir::kStays) ? Of(op.scalars[0]) : Growth::kUnknown;
        const auto [place, is_new] = lets_.emplace(op.symbol, growth);
        if (!is_new && place->second != growth) place->second = Growth::kUnknown;
      } else if (op.code == OpCode::kFor) {
        all_ = Both(all_, Both(Of(op.scalars[1]), Opposite(Of(op.scalars[0]))));
      }
    });
  }

  Growth All() const { return all_; }

 private:
  Growth Of(const Scalar& scalar) const {
    switch (scalar->kind) {
      case Kind::kName: {
        if (scalar->name == axis_) return Growth::kGrows;
        const auto place = lets_.find(scalar->name);
        return place == lets_.end() ? Growth::kStays : place->second;
      }
      case Kind::kAdd:
      case Kind::kMin:
      case Kind::kMax: return Both(Of(scalar->args[0]), Of(scalar->args[1]));
      case Kind::kSub: return Both(Of(scalar->args[0]), Opposite(Of(scalar->args[1])));
      case Kind::kNeg: return Opposite(Of(scalar->args[0]));
      case Kind::kConvert: return Of(scalar->args[0]);
      case Kind::kMul:
      case Kind::kDiv:
      case Kind::kCdiv: return Scaled(*scalar);
      default: return IsFixed(*scalar) ? Growth::kStays : Growth::kUnknown;
    }
  }

  /// By a number that is known.
  Growth Scaled(const symbolic::Node& node) const {
    int64_t by = 0;
    if (symbolic::IsInt(node.args[1], &by) && by > 0) return Of(node.args[0]);
    if (node.kind == Kind::kMul && symbolic::IsInt(node.args[0], &by) && by > 0) return Of(node.args[1]);
    return IsFixed(node) ? Growth::kStays : Growth::kUnknown;
  }

  bool IsFixed(const symbolic::Node& node) const {
    return std::all_of(node.args.begin(), node.args.end(), [&](const Scalar& arg) { return Of(arg) == Growth::kStays; });
  }

  const std::string& axis_;
  std::map<std::string, Growth> lets_;
  Growth all_ = Growth::kStays;
};

}  // namespace

Growth LoopGrowth(const ir::Kernel& kernel, const std::string& axis) {
  Growth all = Growth::kStays;
  for (const ir::Worker& worker : kernel.workers) {
    Lengths lengths(axis);
    lengths.Read(kernel.lets);
    lengths.Read(worker.body);
    all = Both(all, lengths.All());
  }
  return all;
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// An instance that takes turns passes over the slots of a tile by a sum of trip counts. Here that sum is compared with what the
// branch for own tiles takes, counted from its loops and conditions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/certify/program.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Kind;

/// By how many slots each ring turns, and as text the loops and branches in which that depends on an index or a condition.
struct Taken {
  std::map<std::string, Scalar> slots;
  std::multiset<std::string> rest;
};

class Counting {
 public:
  explicit Counting(const ir::Kernel& kernel) : kernel_(kernel) {}

  Taken Of(const Region& region, Scope scope) {
    Taken taken;
    for (const Op& op : region) AddOp(op, scope, taken);
    return taken;
  }

 private:
  void AddOp(const Op& op, Scope& scope, Taken& taken) {
    switch (op.code) {
      case OpCode::kLet:
      case OpCode::kTest:
      case OpCode::kTilePosition: return scope.BindOp(op);
      case OpCode::kAdvance:
        return Add(taken, op.symbol, op.scalars.empty() ? symbolic::Int(1) : Clean(scope.Resolve(op.scalars[0])));
      case OpCode::kFor: return AddLoop(op, scope, taken);
      case OpCode::kIf: return AddBranches(op, scope, taken);
      default:
        for (const Region& inner : op.regions) {
          const int64_t times = op.code == OpCode::kUnroll ? op.Trips() : 1;
          for (int64_t i = 0; i < times; ++i) {
            if (op.code == OpCode::kUnroll) scope.Bind(op.symbol, symbolic::Int(i));
            AddAll(taken, Of(inner, scope));
          }
        }
    }
  }

  static void Add(Taken& taken, const std::string& ring, const Scalar& count) {
    const auto [place, is_new] = taken.slots.try_emplace(ring, count);
    if (!is_new) place->second = symbolic::Add(place->second, count);
  }

  static void AddAll(Taken& taken, Taken inner) {
    for (const auto& [ring, count] : inner.slots) Add(taken, ring, count);
    taken.rest.merge(inner.rest);
  }

  void AddLoop(const Op& op, const Scope& scope, Taken& taken) {
    const Scalar lo = scope.Resolve(op.scalars[0]);
    const Scalar extent = symbolic::Sub(scope.Resolve(op.scalars[1]), lo);
    const std::string index = fmt::format("~{}", depth_++);
    Scope inside = scope;
    inside.Bind(op.symbol, symbolic::Name(index));
    Taken inner = Of(op.regions[0], std::move(inside));
    --depth_;
    if (inner.slots.empty() && inner.rest.empty()) return;
    const bool is_same = inner.rest.empty() && std::all_of(inner.slots.begin(), inner.slots.end(), [&](const auto& slots) {
                           return !symbolic::Mentions(slots.second, index);
                         });
    if (!is_same) {
      taken.rest.insert(fmt::format("{} from {} over {} by {}: {}", index, symbolic::CanonicalText(lo),
                                    symbolic::CanonicalText(extent), op.Step(), Text(inner)));
      return;
    }
    const Scalar trips =
        symbolic::Cdiv(Clean(symbolic::Make(Kind::kMax, DType::kI64, {extent, symbolic::Int(0)})), symbolic::Int(op.Step()));
    for (const auto& [ring, count] : inner.slots) Add(taken, ring, symbolic::Mul(trips, count));
  }

  void AddBranches(const Op& op, const Scope& scope, Taken& taken) {
    const Scalar condition = scope.Resolve(op.scalars[0]);
    if (const std::optional<int64_t> value = Constant(condition)) {
      const size_t region = *value != 0 ? 0 : 1;
      if (region < op.regions.size()) AddAll(taken, Of(op.regions[region], scope));
      return;
    }
    Taken then = Of(op.regions[0], scope), other = op.regions.size() > 1 ? Of(op.regions[1], scope) : Taken{};
    for (auto slots = then.slots.begin(); slots != then.slots.end();) {
      const auto same = other.slots.find(slots->first);
      const bool is_common = same != other.slots.end() && symbolic::HaveSameNormalForm(slots->second, same->second);
      if (is_common) Add(taken, slots->first, slots->second), other.slots.erase(same);
      slots = is_common ? then.slots.erase(slots) : std::next(slots);
    }
    const std::string first = Text(then), second = Text(other);
    if (!first.empty() || !second.empty())
      taken.rest.insert(fmt::format("if {} ({}) else ({})", symbolic::CanonicalText(condition), first, second));
  }

  static std::string Text(const Taken& taken) {
    std::string text;
    for (const auto& [ring, count] : taken.slots) text += fmt::format("{} {}; ", ring, symbolic::CanonicalText(count));
    for (const std::string& rest : taken.rest) text += rest + "; ";
    return text;
  }

  /// max(x, 0) of what is not below zero is x.
  Scalar Clean(const Scalar& scalar) const {
    if (scalar->args.empty()) return scalar;
    std::vector<Scalar> args;
    for (const Scalar& arg : scalar->args) args.push_back(Clean(arg));
    int64_t zero = 1;
    if (scalar->kind == Kind::kMax && symbolic::IsInt(args[1], &zero) && zero == 0 && kernel_.IsNonNegative(args[0]))
      return args[0];
    return symbolic::WithArgs(scalar, std::move(args));
  }

  const ir::Kernel& kernel_;
  int depth_ = 0;
};

}  // namespace

bool PassesOver(const ir::Kernel& kernel, const Scope& scope, const Op& turn) {
  Counting counting(kernel);
  const Taken own = counting.Of(turn.regions[0], scope);
  const Taken others = turn.regions.size() > 1 ? counting.Of(turn.regions[1], scope) : Taken{};
  return own.rest == others.rest &&
         std::equal(own.slots.begin(), own.slots.end(), others.slots.begin(), others.slots.end(), [](const auto& a, const auto& b) {
           return a.first == b.first && symbolic::HaveSameNormalForm(a.second, b.second);
         });
}

}  // namespace tkc::certify

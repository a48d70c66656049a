// SPDX-License-Identifier: MIT
#include "compiler/passes/pass_over.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Int;
using symbolic::Kind;

/// How many slots of each pipe, and loops and branches that take as many as an index or a condition says.
struct Passed {
  std::map<std::string, Scalar> slots;
  Region rest;
  bool IsNothing() const { return slots.empty() && rest.empty(); }
};

class PassingOver {
 public:
  PassingOver(const ir::Kernel& kernel, const Region& body) : kernel_(kernel) {
    ForEachOp(body, [&](const Op& op) {
      if (op.code == OpCode::kReceive) received_.insert(op.symbol);
    });
  }

  Passed Of(const Region& region) {
    const size_t outside = lets_.size();
    Passed passed;
    for (size_t i = 0; i < region.size(); ++i) {
      const Op& op = region[i];
      if (op.code == OpCode::kLet) lets_.emplace_back(op.symbol, op.scalars[0]);
      // Of what an instance sends to itself as many slots are received.
      const bool sends = op.code == OpCode::kSend && !received_.contains(op.symbol) && ClosesSlot(region, i);
      const bool receives = op.code == OpCode::kReceive && !op.Is(ir::kPreviousReceive);
      if (receives || sends) Add(passed, op.symbol, Int(1));
      if (op.code == OpCode::kFor) AddLoop(passed, op);
      if (op.code == OpCode::kIf) AddBranches(passed, op);
    }
    lets_.resize(outside);
    return passed;
  }

  static Region Program(Passed passed, Span span) {
    Region out;
    for (const auto& [pipe, count] : passed.slots) {
      int64_t one = 0;
      const bool is_one = symbolic::IsInt(count, &one) && one == 1;
      Op advance{OpCode::kAdvance, {}, {}, is_one ? std::vector<Scalar>{} : std::vector<Scalar>{count}};
      advance.symbol = pipe;
      advance.span = span;
      out.push_back(std::move(advance));
    }
    Append(out, std::move(passed.rest));
    return out;
  }

 private:
  static void Add(Passed& passed, const std::string& pipe, const Scalar& count) {
    const auto [place, is_new] = passed.slots.try_emplace(pipe, count);
    if (!is_new) place->second = symbolic::Add(place->second, count);
  }

  void AddLoop(Passed& passed, const Op& op) {
    const Scalar lo = Resolved(op.scalars[0]), hi = Resolved(op.scalars[1]);
    Passed inner = Of(op.regions[0]);
    if (inner.IsNothing()) return;
    const auto is_the_same = [&](const auto& slots) { return !symbolic::Mentions(slots.second, op.symbol); };
    if (!inner.rest.empty() || !std::all_of(inner.slots.begin(), inner.slots.end(), is_the_same)) {
      Op loop{OpCode::kFor, {}, {}, {lo, hi}};
      loop.symbol = op.symbol;
      loop.SetStep(op.Step());
      loop.span = op.span;
      loop.regions = {Program(std::move(inner), op.span)};
      return passed.rest.push_back(std::move(loop));
    }
    Scalar extent = symbolic::Sub(hi, lo);
    if (!kernel_.IsNonNegative(ResolvedInKernel(extent))) extent = symbolic::Make(Kind::kMax, DType::kI64, {extent, Int(0)});
    const Scalar trips = symbolic::Cdiv(extent, Int(op.Step()));
    for (const auto& [pipe, count] : inner.slots) Add(passed, pipe, symbolic::Mul(trips, count));
  }

  void AddBranches(Passed& passed, const Op& op) {
    const Scalar condition = Resolved(op.scalars[0]);
    Passed then = Of(op.regions[0]), other = op.regions.size() > 1 ? Of(op.regions[1]) : Passed{};
    // What either branch takes is taken whatever the condition says.
    for (auto slots = then.slots.begin(); slots != then.slots.end();) {
      const auto same = other.slots.find(slots->first);
      const bool is_common = same != other.slots.end() && symbolic::HaveSameNormalForm(slots->second, same->second);
      if (is_common) Add(passed, slots->first, slots->second), other.slots.erase(same);
      slots = is_common ? then.slots.erase(slots) : std::next(slots);
    }
    if (then.IsNothing() && other.IsNothing()) return;
    passed.rest.push_back(If(condition, Program(std::move(then), op.span), Program(std::move(other), op.span), op.span));
  }

  /// Without the names that the body makes.
  Scalar Resolved(Scalar scalar) const {
    for (size_t i = lets_.size(); i-- > 0;) scalar = symbolic::Substitute(scalar, lets_[i].first, lets_[i].second);
    return scalar;
  }

  /// Without those that the kernel makes, either.
  Scalar ResolvedInKernel(Scalar scalar) const {
    for (auto let = kernel_.lets.rbegin(); let != kernel_.lets.rend(); ++let) {
      if (let->code == OpCode::kLet) scalar = symbolic::Substitute(scalar, let->symbol, let->scalars[0]);
    }
    return scalar;
  }

  const ir::Kernel& kernel_;
  std::set<std::string> received_;                    // pipes
  std::vector<std::pair<std::string, Scalar>> lets_;  // of the body, where the walk stands
};

}  // namespace

Region PassOver(const ir::Kernel& kernel, const Region& body) {
  return PassingOver::Program(PassingOver(kernel, body).Of(body), kernel.span);
}

}  // namespace tkc::passes

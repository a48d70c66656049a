// SPDX-License-Identifier: MIT
#include "compiler/passes/slots_per_tile.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/symbolic/evaluate.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Int;
using symbolic::Kind;
using Counts = std::map<std::string, Scalar>;

class SlotCounting {
 public:
  explicit SlotCounting(const ir::Kernel& kernel) : kernel_(kernel) {
    for (const Op& let : kernel.lets) Define(let);
  }

  Counts Of(const Region& region) {
    Counts counts;
    for (const Op& op : region) {
      Define(op);
      if (op.code == OpCode::kReceive) Add(counts, op.symbol, Int(1));
      if (op.code == OpCode::kFor) {
        indices_.push_back(op.symbol);
        const Scalar trips = Trips(op);
        for (const auto& [pipe, count] : Of(op.regions[0])) Add(counts, pipe, symbolic::Mul(trips, count));
      }
      if (op.code == OpCode::kIf) AddBranches(counts, op);
    }
    return counts;
  }

  /// The number in terms of dimensions, launch scalars, elements and indices.
  Scalar Resolved(Scalar count) const {
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let) count = symbolic::Substitute(count, let->first, let->second);
    return count;
  }

  /// What decides the number, in words; empty: it is the same for all tiles.
  std::string CauseOf(const std::string& pipe, const Scalar& count) const {
    for (const ir::GridAxis& axis : kernel_.axes) {
      if (symbolic::Mentions(count, axis.name)) return fmt::format("`{}`", axis.name);
    }
    for (const std::string& index : indices_) {
      if (symbolic::Mentions(count, index)) return fmt::format("`{}`", index);
    }
    return conditional_.contains(pipe) ? "a condition" : "";
  }

 private:
  void Define(const Op& op) {
    if (op.code == OpCode::kLet) lets_.emplace_back(op.symbol, op.scalars[0]);
  }

  static void Add(Counts& counts, const std::string& pipe, const Scalar& count) {
    const auto [place, is_new] = counts.try_emplace(pipe, count);
    if (!is_new) place->second = symbolic::Add(place->second, count);
  }

  Scalar Trips(const Op& loop) const {
    Scalar extent = symbolic::Sub(loop.scalars[1], loop.scalars[0]);
    const auto is_dim = [&](std::string_view name) {
      return std::find(kernel_.dims.begin(), kernel_.dims.end(), name) != kernel_.dims.end();
    };
    if (!symbolic::IsNotNegative(Resolved(extent), is_dim)) extent = symbolic::Make(Kind::kMax, DType::kI64, {extent, Int(0)});
    return symbolic::Cdiv(extent, Int(loop.number));
  }

  void AddBranches(Counts& counts, const Op& op) {
    const Counts then = Of(op.regions[0]);
    Counts other = op.regions.size() > 1 ? Of(op.regions[1]) : Counts{};
    for (const auto& [pipe, count] : then) other.try_emplace(pipe, Int(0));
    for (const auto& [pipe, otherwise] : other) {
      const auto found = then.find(pipe);
      const Scalar count = found == then.end() ? Int(0) : found->second;
      if (!symbolic::Equal(count, otherwise)) conditional_.insert(pipe);
      Add(counts, pipe, count);
    }
  }

  const ir::Kernel& kernel_;
  std::vector<std::pair<std::string, Scalar>> lets_;  // in the order in which they are made
  std::vector<std::string> indices_;                  // of loops
  std::set<std::string> conditional_;                 // pipes that the branches of an `if` do not use alike
};

}  // namespace

SlotsPerTile CountSlots(const ir::Kernel& kernel, const Region& body) {
  SlotCounting counting(kernel);
  SlotsPerTile slots;
  for (const auto& [pipe, count] : counting.Of(body)) {
    const Scalar resolved = counting.Resolved(count);
    slots.of[pipe] = resolved;
    if (const std::string cause = counting.CauseOf(pipe, resolved); !cause.empty() && slots.pipe.empty())
      slots.pipe = pipe, slots.cause = cause;
  }
  return slots;
}

}  // namespace tkc::passes

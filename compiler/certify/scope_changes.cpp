// SPDX-License-Identifier: MIT
// Scalars that are assigned again have no one value. Each assignment makes a name, which stands for all that the value follows
// from: what is assigned, under which conditions, and the value before; at the head of a loop, what its body makes of it; behind
// the loop, how often that runs, too. So what has one name in two roles has one value in both.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/program.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

std::set<std::string> Scope::ChangedIn(const Region& body) const {
  std::set<std::string> changed;
  ir::ForEachOp(body, [&](const Op& op) {
    if (op.code == OpCode::kLet && op.Is(ir::kChanges) && names_.contains(op.symbol)) changed.insert(op.symbol);
  });
  return changed;
}

void Scope::BindChange(const std::string& symbol, DType dtype, std::string follows_from) {
  const size_t number = long_terms_->try_emplace(std::move(follows_from), long_terms_->size()).first->second;
  Bind(symbol, symbolic::Name(fmt::format("{} #{}", symbol, number), dtype));
}

void Scope::Assign(const Op& op) {
  const auto before = names_.find(op.symbol);
  const bool is_again = op.Is(ir::kChanges) && before != names_.end();
  BindChange(op.symbol, op.scalars[0]->dtype,
             fmt::format("{} = {}, before {}, if {}", op.symbol, symbolic::CanonicalText(Resolve(op.scalars[0])),
                         is_again ? symbolic::CanonicalText(before->second) : "nothing", conditions_));
}

void Scope::BindTest(const Op& op) { BindChange(op.symbol, DType::kBool, fmt::format("test {} of {}", tests_++, who_)); }

void Scope::EnterBranch(const Scalar& condition, bool is_taken) {
  conditions_ += (is_taken ? "" : "not ") + symbolic::CanonicalText(condition) + ";";
}

void Scope::Carry(const Op& loop, int depth) {
  const std::set<std::string> changed = ChangedIn(loop.regions[0]);
  if (changed.empty()) return;
  std::map<std::string, Scalar> before;
  for (const std::string& symbol : changed) {
    before[symbol] = names_.at(symbol);
    Bind(symbol, symbolic::Name(symbol + " #carried", before[symbol]->dtype));
  }
  Scope body = *this;
  Assignments assignments;
  body.Gather(loop.regions[0], depth + 1, assignments);
  for (const std::string& symbol : changed) {
    // And of those that it is made of.
    std::set<std::string> with{symbol};
    for (size_t size = 0; size != with.size();) {
      size = with.size();
      for (const auto& [assigned, text] : assignments) {
        if (!with.contains(assigned)) continue;
        for (const std::string& other : changed) {
          if (text.find(other + " #") != std::string::npos) with.insert(other);
        }
      }
    }
    std::string text = fmt::format("{} carried", symbol);
    for (const std::string& other : with) text += fmt::format(", {} from {}", other, symbolic::CanonicalText(before[other]));
    for (const auto& [assigned, value] : assignments) {
      if (with.contains(assigned)) text += fmt::format("; {} = {}", assigned, value);
    }
    BindChange(symbol, before[symbol]->dtype, std::move(text));
  }
}

void Scope::LeaveLoop(const Op& loop) {
  const int64_t number = loop.code == OpCode::kFor ? loop.Step() : loop.Turns();
  for (const std::string& symbol : ChangedIn(loop.regions[0])) {
    std::string text = fmt::format("{} behind a loop by {}", symbolic::CanonicalText(names_.at(symbol)), number);
    for (const Scalar& bound : loop.scalars) text += ", " + symbolic::CanonicalText(Resolve(bound));
    BindChange(symbol, names_.at(symbol)->dtype, std::move(text));
  }
}

void Scope::Gather(const Region& region, int depth, Assignments& assignments) {
  for (const Op& op : region) {
    if (ir::DefinesScalars(op.code)) {
      const bool changes = op.code == OpCode::kLet && op.Is(ir::kChanges);
      if (changes) assignments.emplace_back(op.symbol, symbolic::CanonicalText(Resolve(op.scalars[0])) + " if " + conditions_);
      BindOp(op);
    } else if (op.code == OpCode::kFor || op.code == OpCode::kForTiles) {
      BindLoop(op, depth);
      Assignments inside;  // they are in what is known behind the loop
      Gather(op.regions[0], depth + 1, inside);
      LeaveLoop(op);
      for (const std::string& symbol : ChangedIn(op.regions[0]))
        assignments.emplace_back(symbol, symbolic::CanonicalText(names_.at(symbol)) + " if " + conditions_);
    } else if (op.code == OpCode::kUnroll) {
      for (int64_t i = 0; i < op.Trips(); ++i) {
        Bind(op.symbol, symbolic::Int(i));
        Gather(op.regions[0], depth, assignments);
      }
    } else if (op.code == OpCode::kIf) {
      const Scalar condition = Resolve(op.scalars[0]);
      const std::optional<int64_t> value = Constant(condition);
      for (size_t i = 0; i < op.regions.size(); ++i) {
        if (value && (*value != 0) != (i == 0)) continue;
        const std::string around = conditions_;
        if (!value) EnterBranch(condition, i == 0);
        Gather(op.regions[i], depth, assignments);
        conditions_ = around;
      }
    } else {
      for (const Region& inner : op.regions) Gather(inner, depth, assignments);
    }
  }
}

}  // namespace tkc::certify

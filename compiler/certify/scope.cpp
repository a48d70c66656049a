// SPDX-License-Identifier: MIT
// Names of an agent's scalars, resolved into the terms of the block and the ordinals of loops.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/program.h"
#include "compiler/symbolic/evaluate.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {

using ir::Op;
using ir::OpCode;
using ir::Scalar;
using symbolic::Kind;

std::string OrdinalName(int depth) { return "@" + std::to_string(depth); }

std::optional<Linear> Split(const Scalar& scalar, int depth) {
  const std::optional<symbolic::Polynomial> polynomial = symbolic::ToPolynomial(scalar);
  if (!polynomial) return std::nullopt;
  Linear linear;
  linear.of_loop.assign(static_cast<size_t>(depth), 0);
  for (const auto& [key, coefficient] : *polynomial) {
    if (key.empty()) {
      linear.constant = coefficient;
      continue;
    }
    bool is_ordinal = false;
    for (int d = 0; d < depth; ++d) {
      if (key != OrdinalName(d) + "*") continue;
      linear.of_loop[static_cast<size_t>(d)] = coefficient;
      is_ordinal = true;
    }
    if (!is_ordinal) linear.rest += fmt::format("{:+}*{}", coefficient, key);
  }
  return linear;
}

/// `chiplet_order(block::index(), block::count(), n)`: the blocks of a launch, each with the number of another.
static bool RenumbersBlocks(const symbolic::Node& call) {
  if (call.name != "chiplet_order" || call.args.size() != 3) return false;
  int64_t chiplets = 0;
  return call.args[0]->kind == Kind::kCall && call.args[0]->name == "block::index" && call.args[1]->kind == Kind::kCall &&
         call.args[1]->name == "block::count" && symbolic::IsInt(call.args[2], &chiplets) && chiplets > 0;
}

Scalar WhoseTurnIs(int depth, int64_t of) {
  return symbolic::Call("whose_turn", DType::kI64, {symbolic::Int(depth), symbolic::Int(of)});
}

std::optional<WhoseTurn> TurnOf(const Scalar& condition) {
  WhoseTurn turn;
  int64_t depth = 0;
  const bool is_turn = condition->kind == Kind::kEq && condition->args[0]->name == "whose_turn" &&
                       symbolic::IsInt(condition->args[0]->args[0], &depth) &&
                       symbolic::IsInt(condition->args[0]->args[1], &turn.of) && symbolic::IsInt(condition->args[1], &turn.which);
  if (!is_turn) return std::nullopt;
  turn.depth = static_cast<int>(depth);
  return turn;
}

std::optional<int64_t> Constant(const Scalar& scalar) {
  return symbolic::Evaluate(scalar, [](std::string_view) { return std::nullopt; });
}

/// The names and built-in numbers that the formula is made of.
static void Leaves(const Scalar& scalar, std::map<std::string, Scalar>& leaves) {
  const bool is_leaf = scalar->kind == Kind::kName || (scalar->kind == Kind::kCall && scalar->args.empty());
  if (is_leaf) leaves.emplace(scalar->name, scalar);
  for (const Scalar& arg : scalar->args) Leaves(arg, leaves);
}

Scope::Scope(const Program& program, const Agent& agent)
    : long_terms_(program.long_terms), who_(fmt::format("{} {} {}", agent.worker->SourceName(), agent.instance, agent.block)) {
  const ir::Kernel& kernel = *program.kernel;
  for (const auto& [name, value] : kernel.launch_lets) names_[name] = Resolve(value);
  for (const Op& op : kernel.lets) BindOp(op);
  if (!agent.worker->instance_name.empty()) names_[agent.worker->instance_name] = symbolic::Int(agent.instance);
  if (kernel.cluster > 1) names_["@rank"] = symbolic::Int(agent.block);
}

/// Operations and leaves; counts no further than to `most`.
static size_t Size(const Scalar& scalar, size_t most) {
  size_t size = 1;
  for (const Scalar& arg : scalar->args) {
    if (size >= most) break;
    size += Size(arg, most - size);
  }
  return size;
}

Scalar Scope::Shortened(Scalar scalar) const {
  constexpr size_t kLongText = 1000, kFewParts = 24;
  if (Size(scalar, kFewParts) < kFewParts) return scalar;
  std::string text = symbolic::CanonicalText(scalar);
  if (text.size() <= kLongText) return scalar;
  std::map<std::string, Scalar> leaves;
  Leaves(scalar, leaves);
  std::vector<Scalar> args;
  for (const auto& leaf : leaves) args.push_back(leaf.second);
  const size_t number = long_terms_->try_emplace(std::move(text), long_terms_->size()).first->second;
  return symbolic::Call(fmt::format("long_term_{}", number), scalar->dtype, std::move(args));
}

Scalar Scope::Resolve(const Scalar& scalar) const {
  if (scalar->kind == Kind::kName) {
    const auto place = names_.find(scalar->name);
    return place == names_.end() ? scalar : place->second;
  }
  if (scalar->kind == Kind::kCall && scalar->name == "cluster::rank") {
    const auto place = names_.find("@rank");
    return place == names_.end() ? scalar : place->second;
  }
  // One to one on the numbers of blocks: what holds of all blocks under one numbering holds under the other.
  if (scalar->kind == Kind::kCall && RenumbersBlocks(*scalar)) return scalar->args[0];
  if (scalar->args.empty()) return scalar;
  std::vector<Scalar> args;
  args.reserve(scalar->args.size());
  bool changes = false;
  for (const Scalar& arg : scalar->args) {
    args.push_back(Resolve(arg));
    changes |= args.back() != arg;
  }
  // Where one side is an integer of the language, so is the result: ranks and block numbers are small.
  const bool is_integer = std::any_of(args.begin(), args.end(), [](const Scalar& arg) { return arg->dtype == DType::kI64; });
  const bool widens = is_integer && scalar->dtype == DType::kI32 && scalar->kind >= Kind::kNeg && scalar->kind <= Kind::kCdiv;
  if (!changes && !widens) return scalar;
  return widens ? symbolic::Make(scalar->kind, DType::kI64, std::move(args)) : symbolic::WithArgs(scalar, std::move(args));
}

void Scope::BindLoop(const Op& loop, int depth) {
  const Scalar ordinal = symbolic::Name(OrdinalName(depth));
  if (loop.code == OpCode::kForTiles) {
    // Where they are drawn, a number that all roles have alike (CheckDraws).
    if (loop.scalars.size() == 2) {
      Bind(loop.symbol, symbolic::Call("drawn_tile", DType::kI32, {ordinal}));
      if (loop.TakesTurns()) Bind(loop.WhoseTurn(), WhoseTurnIs(depth, loop.Turns()));
      return Carry(loop, depth);
    }
    // The block's tiles in its own order: index + ordinal * count, whoever takes them.
    std::string unit = "block";
    if (Resolve(loop.scalars[0])->kind == Kind::kCall)
      unit = Resolve(loop.scalars[0])->name.substr(0, Resolve(loop.scalars[0])->name.find(':'));
    Bind(loop.symbol, symbolic::Add(symbolic::Call(unit + "::index", DType::kI32, {}),
                                    symbolic::Mul(ordinal, symbolic::Call(unit + "::count", DType::kI32, {}))));
    if (loop.TakesTurns()) Bind(loop.WhoseTurn(), WhoseTurnIs(depth, loop.Turns()));
  } else {
    Bind(loop.symbol, symbolic::Add(Resolve(loop.scalars[0]), symbolic::Mul(symbolic::Int(loop.Step()), ordinal)));
  }
  Carry(loop, depth);
}

void Scope::BindOp(const Op& op) {
  if (op.code == OpCode::kLet) {
    if (kept_.contains(op.symbol)) return Bind(op.symbol, symbolic::Name(op.symbol));
    if (op.Is(ir::kStays)) return Bind(op.symbol, Shortened(Resolve(op.scalars[0])));
    return Assign(op);
  }
  if (op.code == OpCode::kTest) return BindTest(op);
  if (op.code != OpCode::kTilePosition) return;
  const auto [row, col] = ir::NamesOfPosition(op);
  std::vector<Scalar> args;
  for (const Scalar& scalar : op.scalars) args.push_back(Resolve(scalar));
  args.push_back(symbolic::Int(op.Group()));
  // An axis of single integers begins where its block does, and is the position itself.
  const auto bind = [&](const std::string& name, const char* call) {
    Bind(name, kept_.contains(name) ? symbolic::Name(name) : symbolic::Call(call, DType::kI64, args));
  };
  bind(row, "tile_row");
  bind(col, "tile_column");
}

}  // namespace tkc::certify

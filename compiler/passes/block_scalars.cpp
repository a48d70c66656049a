// SPDX-License-Identifier: MIT
#include "compiler/passes/block_scalars.h"

#include <algorithm>
#include <map>

#include "compiler/passes/walk.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Scalar;

BlockScalars::BlockScalars(const ir::Region& body) {
  std::map<std::string, int> definitions;
  ForEachOp(body, [&](const Op& op) {
    const bool counts = op.code == OpCode::kFor || op.code == OpCode::kUnroll;
    if (counts || op.code == OpCode::kLet || op.code == OpCode::kTest) definitions[op.symbol] += counts ? 2 : 1;
    if (op.code != OpCode::kTilePosition) return;
    // Of the number by a function that gives both: no expression stands for either.
    const auto [row, column] = ir::NamesOfPosition(op);
    ++definitions[row], ++definitions[column];
  });
  for (const Op& op : body) {
    if (op.code == OpCode::kLet && definitions[op.symbol] == 1) values_.emplace_back(op.symbol, op.scalars[0]);
  }
  for (const auto& [name, value] : values_) definitions.erase(name);
  for (const auto& [name, count] : definitions) changing_.insert(name);
}

/// Backwards: a let mentions those before it. Only what is mentioned is replaced, as others may be long.
Scalar BlockScalars::Expanded(Scalar scalar) const {
  for (auto let = values_.rbegin(); let != values_.rend(); ++let) {
    if (symbolic::Mentions(scalar, let->first)) scalar = symbolic::Substitute(scalar, let->first, let->second);
  }
  return scalar;
}

bool BlockScalars::IsConstant(const Scalar& scalar) const {
  if (scalar->kind == symbolic::Kind::kElement) return false;
  if (scalar->kind == symbolic::Kind::kName) return !changing_.contains(scalar->name);
  return std::all_of(scalar->args.begin(), scalar->args.end(), [&](const Scalar& arg) { return IsConstant(arg); });
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Fill taint of the numbers of elements, and of what compares them. Elements of a tile have a width: a comparison says something of
// positions only where nothing that it compares can wrap around.
#include <algorithm>
#include <utility>

#include "compiler/sema/fill_taint.h"

namespace tkc::sema {

using symbolic::IntRange;
using symbolic::Scalar;
using typed::Expr;
using typed::ExprKind;
using typed::Op;

namespace {

constexpr int64_t kLargest = typed::kLargestExtent;

}  // namespace

/// The numbers of elements that do not exist count as elements that do not exist, and `iota` has none.
Taint FillTaint::OfPositions(const Expr& expr) {
  Taint taint;
  if (expr.args.size() < 2) {
    taint.numbers[0] = Fill::kFinite;
    return taint;
  }
  const Scalar start = table_->Of(*expr.args[0]);
  sources_.AddEnd(taint.axis[0], start, expr.type.rows, table_->Of(*expr.args[1]), Fill::kFinite);
  if (expr.args.size() > 2) sources_.AddBegin(taint.axis[0], start, table_->Of(*expr.args[2]), Fill::kFinite);
  return taint;
}

std::optional<FillTaint::Positions> FillTaint::PositionsOf(const Expr& expr) {
  std::optional<Positions> positions = PositionsAsTheyAre(expr);
  const bool changes = expr.kind == ExprKind::kConvert || expr.kind == ExprKind::kBinary;
  return positions && changes && !Fits(positions->range, expr.type.dtype) ? std::nullopt : positions;
}

std::optional<FillTaint::Positions> FillTaint::PositionsAsTheyAre(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kPositions: {
      // They are numbers of elements, or not far from such.
      const Scalar start = table_->Of(*expr.args[0]);
      const IntRange first = sources_.RangeOf(start);
      return Positions{start, 0, {std::max(first.lo, -kLargest), std::min(first.hi, kLargest) + expr.type.rows}};
    }
    case ExprKind::kConvert: return IsFloat(expr.type.dtype) ? std::nullopt : PositionsOf(*expr.args[0]);
    case ExprKind::kTranspose: {
      auto inner = PositionsOf(*expr.args[0]);
      if (inner) inner->axis = 1 - inner->axis;
      return inner;
    }
    case ExprKind::kPart: {
      auto inner = PositionsOf(*expr.args[0]);
      if (inner) inner->start = symbolic::Add(inner->start, table_->Of(*expr.args[inner->axis == 0 ? 1 : 2]));
      return inner;
    }
    case ExprKind::kVar: {
      const auto place = positions_.find(expr.id);
      return place == positions_.end() ? std::nullopt : std::optional(place->second);
    }
    case ExprKind::kBinary: {
      if (expr.op != Op::kAdd && expr.op != Op::kSub) return std::nullopt;
      const bool left = expr.args[0]->type.is_tile && !expr.args[1]->type.is_tile;
      const bool right = expr.op == Op::kAdd && expr.args[1]->type.is_tile && !expr.args[0]->type.is_tile;
      if (!left && !right) return std::nullopt;
      auto inner = PositionsOf(*expr.args[left ? 0 : 1]);
      const std::optional<Scalar> offset = IntegerOf(*expr.args[left ? 1 : 0]);
      if (!inner || !offset) return std::nullopt;
      const bool adds = expr.op == Op::kAdd;
      inner->start = adds ? symbolic::Add(inner->start, *offset) : symbolic::Sub(inner->start, *offset);
      const IntRange by = sources_.RangeOf(*offset);
      inner->range = adds ? Sum(inner->range, by) : Difference(inner->range, by);
      return inner;
    }
    default: return std::nullopt;
  }
}

Fill FillTaint::OfOrdinary(const Expr& expr, Fill fill) {
  const std::optional<Positions> positions = expr.type.is_tile ? PositionsOf(expr) : std::nullopt;
  if (!positions || positions->range.lo < 0) return fill;
  return positions->range.lo > 0 ? Fill::kPositive : Fill::kNotNegative;
}

std::optional<Scalar> FillTaint::IntegerOf(const Expr& expr) {
  if (expr.kind != ExprKind::kConvert || IsFloat(expr.args[0]->type.dtype)) return table_->Of(expr);
  std::optional<Scalar> inner = IntegerOf(*expr.args[0]);
  // The ends of ranges in sight are numbers of elements, too.
  const bool is_whole = inner && (Fits(sources_.RangeOf(*inner), expr.type.dtype) || sources_.IsEndInSight(*inner));
  return is_whole ? inner : std::nullopt;
}

/// What stands at positions from `limit` on, or before it: from a minimum on they are where one of its arguments is reached.
void FillTaint::AddLimits(std::map<int, Fill>& axis, const Scalar& start, const Scalar& limit, bool upper, Fill fill) {
  sources_.AddSource(axis, start, limit, upper, fill);
  for (const Scalar& each : ArgumentsOf(limit, upper ? symbolic::Kind::kMin : symbolic::Kind::kMax))
    sources_.AddSource(axis, start, each, upper, fill);
}

bool FillTaint::Comparison(const Expr& expr, Taint& taint) {
  Op op = expr.op;
  const Expr* tile = expr.args[0].get();
  const Expr* bound = expr.args[1].get();
  if (!tile->type.is_tile) {
    std::swap(tile, bound);
    op = op == Op::kLt ? Op::kGt : op == Op::kGt ? Op::kLt : op == Op::kLe ? Op::kGe : op == Op::kGe ? Op::kLe : op;
  }
  if (!tile->type.is_tile || bound->type.is_tile || IsFloat(bound->type.dtype)) return false;
  if (op != Op::kLt && op != Op::kLe && op != Op::kGt && op != Op::kGe) return false;
  const std::optional<Positions> positions = PositionsOf(*tile);
  const std::optional<Scalar> number = positions ? IntegerOf(*bound) : std::nullopt;
  if (!number) return false;
  const bool is_behind = op == Op::kLe || op == Op::kGt;
  const Scalar limit = is_behind ? symbolic::Add(*number, symbolic::Int(1)) : *number;
  const bool is_below = op == Op::kLt || op == Op::kLe;
  std::map<int, Fill>& axis = taint.axis[positions->axis];
  for (auto& [source, fill] : axis) {
    if (sources_.LiesBeyond(source, positions->start, limit, true)) fill = is_below ? Fill::kZero : Fill::kPositive;
    if (sources_.LiesBeyond(source, positions->start, limit, false)) fill = is_below ? Fill::kPositive : Fill::kZero;
  }
  AddLimits(axis, positions->start, limit, true, is_below ? Fill::kZero : Fill::kPositive);
  AddLimits(axis, positions->start, limit, false, is_below ? Fill::kPositive : Fill::kZero);
  return true;
}

}  // namespace tkc::sema

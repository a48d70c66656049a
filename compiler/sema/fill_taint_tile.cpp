// SPDX-License-Identifier: MIT
// Fill taint of what cuts tiles, joins them, and sums over their axes.
#include <set>
#include <utility>

#include "compiler/sema/fill_taint.h"

namespace tkc::sema {

using symbolic::Scalar;
using typed::Expr;
using typed::ExprKind;
using typed::Op;

Taint FillTaint::Part(const Expr& expr) {
  Taint taint = Eval(*expr.args[0]);
  for (int which = 0; which < 2; ++which) {
    const Scalar offset = table_->Of(*expr.args[which + 1]);
    std::map<int, Fill> moved;
    for (const auto& [id, fill] : taint.axis[which]) {
      const Source source = sources_.At(id);
      const Source part = sources_.Moved(source, offset);
      if (!sources_.CanMiss(part, which == 0 ? expr.type.rows : expr.type.cols)) continue;
      const int there = sources_.Intern(part);
      moved[there] = sources_.IsOftenReshaped(there) ? Fill::kAny : fill;
    }
    taint.axis[which] = std::move(moved);
  }
  return taint;
}

/// What is missing at the end of a long row is part of a short one, or all of it; and the other way around. Where that is, no mask
/// says but one that was reshaped alike.
Taint FillTaint::Reshape(const Expr& expr) {
  Taint taint = Eval(*expr.args[0]);
  const bool cuts = expr.type.rows > expr.args[0]->type.rows;
  std::map<int, Fill> axis[2];
  const auto add = [&](int which, int source, Fill fill) {
    const auto [slot, is_new] = axis[which].emplace(source, fill);
    if (!is_new) slot->second = Join(slot->second, fill);
  };
  const typed::Type& from = expr.args[0]->type;
  for (int which = 0; which < 2; ++which) {
    for (const auto& [id, fill] : taint.axis[which]) {
      if (const auto back = sources_.ShapedBack(id, which, from, expr.type)) {
        add(back->axis, back->source, fill);
        continue;
      }
      const int source = sources_.Reshaped(id, which, from, expr.type);
      const Fill there = sources_.IsOftenReshaped(source) ? Fill::kAny : fill;
      if (which == 0 || cuts) add(0, source, there);
      if (which == 1 || !cuts) add(1, source, there);
    }
  }
  taint.axis[0] = std::move(axis[0]);
  taint.axis[1] = std::move(axis[1]);
  return taint;
}

Taint FillTaint::Cumsum(const Expr& expr) {
  Taint taint = Eval(*expr.args[0]);
  for (auto& [source, fill] : taint.axis[expr.axis]) fill = Join(fill, SumFill(taint.base));
  return taint;
}

Taint FillTaint::Cat(const Expr& expr) {
  Taint result = Eval(*expr.args[0]);
  result.axis[1].clear();
  for (size_t i = 1; i < expr.args.size(); ++i) {
    Taint part = Eval(*expr.args[i]);
    part.axis[1].clear();
    result = Join(result, part);
  }
  return result;
}

namespace {

/// Whether no element is below zero (it may be a NaN), as far as type and outermost functions tell.
bool IsNonNegative(const Expr& expr) {
  if (expr.kind == ExprKind::kFloat) return expr.float_value >= 0;
  if (expr.kind == ExprKind::kInt) return expr.int_value >= 0;
  if (expr.kind == ExprKind::kSplat) return IsNonNegative(*expr.args[0]);
  if (expr.kind == ExprKind::kSelect) return IsNonNegative(*expr.args[1]) && IsNonNegative(*expr.args[2]);
  if (IsInteger(expr.type.dtype) && RangeOf(expr.type.dtype).least == 0) return true;
  if (expr.kind == ExprKind::kConvert || expr.kind == ExprKind::kTranspose || expr.kind == ExprKind::kReduce ||
      expr.kind == ExprKind::kReshape)
    return IsNonNegative(*expr.args[0]);
  return expr.kind == ExprKind::kCall &&
         (expr.op == Op::kAbs || expr.op == Op::kExp || expr.op == Op::kExp2 || expr.op == Op::kSqrt);
}

}  // namespace

Taint FillTaint::Reduce(const Expr& expr) {
  const Taint x = Eval(*expr.args[0]);
  const bool truth = expr.op == Op::kAny || expr.op == Op::kAll;
  std::vector<int> missing;
  for (const auto& [source, fill] : x.axis[expr.axis]) {
    const bool neutral = fill == Fill::kNone || !sources_.At(source).is_read || (expr.op == Op::kAdd && fill == Fill::kZero) ||
                         (expr.op == Op::kMax && fill == Fill::kNegInf) ||
                         (expr.op == Op::kMax && fill == Fill::kZero && IsNonNegative(*expr.args[0])) ||
                         (expr.op == Op::kMin && fill == Fill::kPosInf) || truth;
    if (!neutral) missing.push_back(source);
  }
  if (!missing.empty()) ReportReduce(expr, missing, x.At(expr.axis, missing.front()));
  Taint result = x;
  result.axis[expr.axis].clear();
  result.read_infinite = false;
  return result;
}

Taint FillTaint::MatMul(const Expr& expr) {
  const Taint a = Eval(*expr.args[0]);
  const Taint b = Eval(*expr.args[1]);
  bool infinite = false;
  for (int i = 0; i < 2; ++i) {
    if (!(i == 0 ? a.read_infinite : b.read_infinite)) continue;
    ReportInfinite(expr, *expr.args[i]);
    infinite = true;
  }
  std::set<int> sources;
  for (const auto& [source, fill] : a.axis[1]) sources.insert(source);
  for (const auto& [source, fill] : b.axis[0]) sources.insert(source);
  std::vector<int> missing;
  for (const int source : sources) {
    const Fill x = a.At(1, source);
    const Fill y = b.At(0, source);
    if (x == Fill::kNone || y == Fill::kNone || !sources_.At(source).is_read || ApplyFill(Op::kMul, x, y) == Fill::kZero) continue;
    missing.push_back(source);
  }
  // What is infinite was said already.
  if (!missing.empty() && !infinite) ReportMatMul(expr, missing, a.At(1, missing.front()), b.At(0, missing.front()));
  Taint result;
  for (const auto& [source, fill] : a.axis[0]) result.axis[0][source] = ApplyFill(Op::kMul, fill, b.base);
  for (const auto& [source, fill] : b.axis[1]) result.axis[1][source] = ApplyFill(Op::kMul, fill, a.base);
  if (a.base == Fill::kNone || b.base == Fill::kNone) result.base = Fill::kNone;
  return result;
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Fill taint of what sums over axes of tiles: running sums, reductions, products.
#include <set>
#include <utility>
#include <vector>

#include "compiler/sema/fill_taint.h"

namespace tkc::sema {

using typed::Expr;
using typed::ExprKind;
using typed::Op;

const Expr* FillTaint::LetOf(const Expr& expr) const {
  if (expr.kind != ExprKind::kVar || kernel_.vars[expr.id].kind != typed::VarKind::kLet) return nullptr;
  const auto let = lets_.find(expr.id);
  return let == lets_.end() ? nullptr : let->second;
}

/// Whether elements along the axis of the operand may be missing there, under the conditions around.
bool FillTaint::MayMiss(const Expr& operand, int axis, int source) {
  const Source& place = sources_.At(source);
  return place.is_read && sources_.CanMiss(place, axis == 0 ? operand.type.rows : operand.type.cols);
}

/// Missing elements in front of others, or between them, are summed up into these; behind the last one only a part of what comes
/// may be taken for the sum of all.
Taint FillTaint::Cumsum(const Expr& expr) {
  const Taint x = Eval(*expr.args[0]);
  Taint taint = x;
  std::vector<int> missing;
  for (auto& [source, fill] : taint.axis[expr.axis]) {
    const Source& place = sources_.At(source);
    const bool is_neutral = fill == Fill::kNone || IsZero(fill) || !MayMiss(*expr.args[0], expr.axis, source);
    const bool is_behind = place.upper && place.changes.empty();
    if (!is_neutral && !is_behind) missing.push_back(source);
    fill = is_neutral ? Join(fill, x.base) : Fill::kSummed;
  }
  if (!missing.empty()) ReportReduce(expr, missing, x.At(expr.axis, missing.front()));
  return taint;
}

bool FillTaint::IsNonNegative(const Expr& expr) const {
  if (const Expr* named = LetOf(expr)) return IsNonNegative(*named);
  if (expr.kind == ExprKind::kFloat) return expr.float_value >= 0;
  if (expr.kind == ExprKind::kInt) return expr.int_value >= 0;
  if (expr.kind == ExprKind::kSplat) return IsNonNegative(*expr.args[0]);
  if (expr.kind == ExprKind::kSelect) return IsNonNegative(*expr.args[1]) && IsNonNegative(*expr.args[2]);
  const bool may_wrap = IsInteger(expr.type.dtype);  // the least integer is its own `abs`
  if (may_wrap && IntegersOf(expr.type.dtype).least == 0) return true;
  if (expr.kind == ExprKind::kConvert)
    return !WrapsAbove(expr.args[0]->type.dtype, expr.type.dtype) && IsNonNegative(*expr.args[0]);
  const bool sums = expr.kind == ExprKind::kReduce && expr.op == Op::kAdd;
  const bool keeps_signs = expr.kind == ExprKind::kTranspose || expr.kind == ExprKind::kReshape || expr.kind == ExprKind::kReduce ||
                           expr.kind == ExprKind::kPart;
  if (keeps_signs && !(sums && may_wrap)) return IsNonNegative(*expr.args[0]);
  return expr.kind == ExprKind::kCall && !may_wrap &&
         (expr.op == Op::kAbs || expr.op == Op::kExp || expr.op == Op::kExp2 || expr.op == Op::kSqrt);
}

bool FillTaint::IsNeutral(const Expr& reduce, Fill fill) const {
  switch (reduce.op) {
    case Op::kAdd:
    case Op::kAny: return IsZero(fill);
    case Op::kAll: return fill == Fill::kPositive;
    case Op::kMin: return fill == Fill::kPosInf;
    default: return fill == Fill::kNegInf || (IsZero(fill) && IsNonNegative(*reduce.args[0]));
  }
}

/// What the reduction is of: an extreme element of bytes is found among them as wider integers, whose least is another.
const Expr& FillTaint::ReducedOperand(const Expr& reduce) {
  const Expr& operand = *reduce.args[0];
  const bool is_widened = operand.kind == ExprKind::kConvert && IsNarrowInteger(operand.args[0]->type.dtype);
  return is_widened && reduce.op != Op::kAdd ? *operand.args[0] : operand;
}

Taint FillTaint::Reduce(const Expr& expr) {
  const Taint x = Eval(ReducedOperand(expr));
  std::vector<int> missing;
  for (const auto& [source, fill] : x.axis[expr.axis]) {
    const bool is_neutral = fill == Fill::kNone || IsNeutral(expr, fill);
    if (is_neutral && expr.op == Op::kMax && IsZero(fill)) maxima_of_zeros_[expr.span.begin] = &expr;
    if (!is_neutral && MayMiss(*expr.args[0], expr.axis, source)) missing.push_back(source);
  }
  // `rowargmax` also asks where the maximum is: for that, 0 is not enough.
  const auto maximum = maxima_of_zeros_.find(expr.span.begin);
  const bool is_place = maximum != maxima_of_zeros_.end() && maximum->second->span == expr.span && maximum->second != &expr;
  if (!missing.empty() && is_place) ReportReduce(*maximum->second, missing, Fill::kZero);
  if (!missing.empty() && !is_place) ReportReduce(expr, missing, x.At(expr.axis, missing.front()));
  Taint result = Eval(*expr.args[0]);
  result.Forget(expr.axis);
  result.read_infinite = false;
  if (expr.op != Op::kAdd || !IsInteger(expr.type.dtype)) return result;
  // Sums of integers wrap.
  const auto of_sum = [](Fill fill) { return fill == Fill::kPositive ? Fill::kFinite : fill; };
  result.Apply(of_sum);
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
  Taint summed = a;
  std::swap(summed.axis[0], summed.axis[1]);
  std::swap(summed.numbers[0], summed.numbers[1]);
  std::set<int> sources;
  for (const auto& [source, fill] : a.axis[1]) sources.insert(source);
  for (const auto& [source, fill] : b.axis[0]) sources.insert(source);
  std::vector<int> missing;
  for (const int source : sources) {
    // Of both the sources are rows.
    const Fill product = sources_.WhereMissing({&summed, &b}, 0, source,
                                               [](const std::vector<Fill>& of) { return ApplyFill(Op::kMul, of[0], of[1]); });
    if (product == Fill::kNone || IsZero(product)) continue;
    if (!MayMiss(*expr.args[0], 1, source)) continue;
    missing.push_back(source);
  }
  // What is infinite was said already.
  if (!missing.empty() && !infinite) ReportMatMul(expr, missing, a.At(1, missing.front()), b.At(0, missing.front()));
  Taint result;
  for (const auto& [source, fill] : a.axis[0]) result.axis[0][source] = ApplyFill(Op::kMul, fill, b.base);
  for (const auto& [source, fill] : b.axis[1]) result.axis[1][source] = ApplyFill(Op::kMul, fill, a.base);
  if (a.numbers[0]) result.numbers[0] = ApplyFill(Op::kMul, *a.numbers[0], b.base);
  if (b.numbers[1]) result.numbers[1] = ApplyFill(Op::kMul, *b.numbers[1], a.base);
  if (a.base == Fill::kNone || b.base == Fill::kNone) result.base = Fill::kNone;
  return result;
}

}  // namespace tkc::sema

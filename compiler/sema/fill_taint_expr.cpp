// SPDX-License-Identifier: MIT
// Fill taint of expressions.
#include <algorithm>
#include <set>

#include "compiler/sema/fill_taint.h"

namespace tkc::sema {

using symbolic::Scalar;
using typed::Expr;
using typed::ExprKind;
using typed::Op;

namespace {

Taint Constant(Fill fill) {
  Taint taint;
  taint.base = fill;
  return taint;
}

Taint Unary(Op op, Taint x) {
  x.Apply([&](Fill fill) { return ApplyFill(op, fill); });
  x.read_infinite = false;
  return x;
}

/// Sources of an axis along which a tile is repeated say nothing about the result.
void Drop(Taint& taint, const typed::Type& from, const typed::Type& to) {
  if (!from.is_tile || from.rows != to.rows) taint.Forget(0);
  if (!from.is_tile || from.cols != to.cols) taint.Forget(1);
}

/// Nothing but selections, minima and maxima leaves the end of an integer type where it is, and its sign what it was: sums wrap.
bool KeepsEnds(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kCumsum: return false;
    case ExprKind::kCall:
    case ExprKind::kReduce: return expr.op == Op::kMin || expr.op == Op::kMax;
    default: return true;
  }
}

}  // namespace

Taint FillTaint::Eval(const Expr& expr) {
  Taint taint = EvalKind(expr);
  if (!expr.type.is_tile) taint.Forget(0), taint.Forget(1);
  if (taint.base == Fill::kAny) taint.base = Fill::kFinite;
  if (IsInteger(expr.type.dtype) && !KeepsEnds(expr)) taint.Apply(DropEnds);
  for (std::optional<Fill>& numbers : taint.numbers) {
    if (numbers) numbers = OfOrdinary(expr, *numbers);
  }
  return taint;
}

Taint FillTaint::EvalKind(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kInt: return Constant(FillOfInteger(expr.int_value, expr.type.dtype));
    case ExprKind::kFloat: return Constant(FillOfNumber(expr.float_value, expr.type.dtype));
    case ExprKind::kBool: return Constant(expr.int_value != 0 ? Fill::kPositive : Fill::kZero);
    case ExprKind::kParam: return Constant(positive_.contains(expr.id) ? Fill::kPositive : Fill::kFinite);
    case ExprKind::kDim:
    case ExprKind::kElement: return Taint{};
    case ExprKind::kPositions: return OfPositions(expr);
    case ExprKind::kVar:
      return kernel_.vars[expr.id].kind == typed::VarKind::kGrid || kernel_.vars[expr.id].kind == typed::VarKind::kLoop ||
                     kernel_.vars[expr.id].kind == typed::VarKind::kInstance
                 ? Taint{}
                 : vars_[expr.id];
    case ExprKind::kRead: return Read(expr);
    case ExprKind::kGather: return Gather(expr);
    case ExprKind::kConvert: return Convert(expr);
    case ExprKind::kSplat: return Eval(*expr.args[0]);
    case ExprKind::kUnary: return Unary(expr.op, Eval(*expr.args[0]));
    case ExprKind::kCall: return Call(expr);
    case ExprKind::kBinary: return Binary(expr);
    case ExprKind::kSelect: return Select(expr);
    case ExprKind::kReduce: return Reduce(expr);
    case ExprKind::kCumsum: return Cumsum(expr);
    case ExprKind::kTranspose: {
      Taint transposed = Eval(*expr.args[0]);
      std::swap(transposed.axis[0], transposed.axis[1]);
      std::swap(transposed.numbers[0], transposed.numbers[1]);
      return transposed;
    }
    case ExprKind::kPart: return Part(expr);
    case ExprKind::kMatMul: return MatMul(expr);
    case ExprKind::kCat: return Cat(expr);
    case ExprKind::kReshape: return Reshape(expr);
  }
  return Taint{};
}

Taint FillTaint::Combine(const std::vector<const Taint*>& taints, const OfElements& apply) const {
  std::vector<Fill> fills;
  for (const Taint* taint : taints) fills.push_back(taint->base);
  Taint result;
  result.base = apply(fills);
  for (int which = 0; which < 2; ++which) {
    std::set<int> sources;
    for (const Taint* taint : taints) {
      for (const auto& [source, fill] : taint->axis[which]) sources.insert(source);
    }
    for (const int source : sources) result.axis[which][source] = sources_.WhereMissing(taints, which, source, apply);
    if (std::none_of(taints.begin(), taints.end(), [&](const Taint* taint) { return taint->numbers[which].has_value(); })) continue;
    for (size_t i = 0; i < taints.size(); ++i) fills[i] = taints[i]->Beside(which);
    result.numbers[which] = apply(fills);
  }
  return result;
}

Taint FillTaint::Operands(const Expr& expr, size_t i) {
  Taint taint = Eval(*expr.args[i]);
  Drop(taint, expr.args[i]->type, expr.type);
  return taint;
}

Taint FillTaint::Call(const Expr& expr) {
  if (expr.args.size() == 1) return Unary(expr.op, Eval(*expr.args[0]));
  Taint result = Operands(expr, 0);
  for (size_t i = 1; i < expr.args.size(); ++i) {
    const Taint next = Operands(expr, i);
    result = Combine({&result, &next}, [&](const std::vector<Fill>& of) { return ApplyFill(expr.op, of[0], of[1]); });
  }
  return result;
}

Taint FillTaint::Convert(const Expr& expr) {
  const Expr& from = *expr.args[0];
  const DType dtype = expr.type.dtype;
  if (from.kind == ExprKind::kInt && IsInteger(dtype)) return Constant(FillOfInteger(from.int_value, dtype));
  Taint taint = Eval(from);
  taint.Apply([&](Fill fill) { return ConvertFill(fill, from.type.dtype, dtype); });
  if (IsFloat(dtype) && Bytes(dtype) == 1) taint.read_infinite = false;
  return taint;
}

Taint FillTaint::Binary(const Expr& expr) {
  Taint a = Operands(expr, 0);
  Taint b = Operands(expr, 1);
  const bool of_integers = IsInteger(expr.args[0]->type.dtype);
  const auto apply = [&](Fill x, Fill y) { return of_integers ? ApplyToIntegers(expr.op, x, y) : ApplyFill(expr.op, x, y); };
  if (expr.op >= Op::kEq && expr.op <= Op::kGe) {
    a.base = OfOrdinary(*expr.args[0], a.base);
    b.base = OfOrdinary(*expr.args[1], b.base);
    Taint taint = Combine({&a, &b}, [&](const std::vector<Fill>& of) { return apply(of[0], of[1]); });
    taint.base = Fill::kFinite;
    if (expr.type.is_tile) Comparison(expr, taint);
    return taint;
  }
  // Data that divides counts as different from zero, what stands for missing data does not, nor what is counted there.
  for (int which = 0; expr.op == Op::kDiv && !of_integers && which < 2; ++which) {
    for (auto& [source, fill] : b.axis[which]) fill = AsDivisor(fill);
    if (b.numbers[which]) b.numbers[which] = AsDivisor(*b.numbers[which]);
  }
  return Combine({&a, &b}, [&](const std::vector<Fill>& of) {
    const Fill result = apply(of[0], of[1]);
    if (expr.op == Op::kMul && result == Fill::kAny && IsInfinite(of[0]) != IsInfinite(of[1]))
      NoteSign(*expr.args[IsInfinite(of[0]) ? 1 : 0]);
    return result;
  });
}

void FillTaint::NoteSign(const Expr& factor) {
  if (factor.kind == ExprKind::kParam && IsFloat(factor.type.dtype) && !positive_.contains(factor.id)) unsure_ = &factor;
  if (factor.kind == ExprKind::kVar && lets_.contains(factor.id)) NoteSign(*lets_.at(factor.id));
  for (const typed::ExprPtr& arg : factor.args) NoteSign(*arg);
}

Taint FillTaint::Select(const Expr& expr) {
  const Taint condition = Operands(expr, 0);
  const Taint a = Operands(expr, 1);
  const Taint b = Operands(expr, 2);
  Taint result = Combine({&condition, &a, &b}, [](const std::vector<Fill>& of) {
    const Fill holds = of[0];
    if (holds == Fill::kNone) return holds;
    return IsZero(holds) ? of[2] : holds == Fill::kPositive ? of[1] : Join(of[1], of[2]);
  });
  for (int which = 0; which < 2; ++which) DropShifted(condition.axis[which], result.axis[which]);
  return result;
}

void FillTaint::DropShifted(const std::map<int, Fill>& chosen_by, std::map<int, Fill>& axis) {
  for (const auto& [end, holds] : chosen_by) {
    if (holds != Fill::kZero || !sources_.AsksForBlocks(end)) continue;
    const size_t dropped =
        std::erase_if(axis, [&, end = end](const auto& source) { return sources_.IsShifted(source.first, end); });
    if (dropped > 0) sources_.TakeAsRead(end);
  }
}

Taint FillTaint::Read(const Expr& expr) {
  Taint taint;
  const Fill fill = expr.args.empty() ? Fill::kZero : Eval(*expr.args[0]).base;
  taint.read_infinite = IsInfinite(fill);
  AddKept(expr, 0, fill, taint);
  return taint;
}

void FillTaint::AddKept(const Expr& access, int which, Fill fill, Taint& taint) {
  for (size_t i = 0; i < access.axes.size(); ++i) {
    const typed::AxisRange& axis = access.axes[i];
    if (axis.dropped) continue;
    const Scalar start = table_->Of(*axis.start);
    const Scalar end = table_->Of(*kernel_.params[access.id].extents[i]);
    std::map<int, Fill>& found = taint.axis[which++];
    // Of two bounds the tighter one says it all, where it is known which that is.
    const Scalar zero = symbolic::Int(0);
    const Scalar hi = axis.hi ? table_->Of(*axis.hi) : end;
    const Scalar lo = axis.lo ? table_->Of(*axis.lo) : zero;
    const bool hi_suffices = sources_.IsAtMost(hi, end);
    const bool lo_suffices = sources_.IsAtMost(zero, lo);
    if (hi_suffices || !sources_.IsAtMost(end, hi)) sources_.AddEnd(found, start, axis.extent, hi, fill);
    if (!hi_suffices) sources_.AddEnd(found, start, axis.extent, end, fill);
    if (lo_suffices || !sources_.IsAtMost(lo, zero)) sources_.AddBegin(found, start, lo, fill);
    if (!lo_suffices) sources_.AddBegin(found, start, zero, fill);
  }
}

/// Where a number is missing, whatever it would have chosen stands; the fill, where it lies outside of the tensor, as what is below
/// zero does. Columns of rows are a block's.
Taint FillTaint::Gather(const Expr& expr) {
  Taint taint;
  const auto columns = static_cast<size_t>(
      std::count_if(expr.axes.begin(), expr.axes.end(), [](const typed::AxisRange& axis) { return axis.chosen; }));
  const Fill fill = expr.args.size() == columns ? Fill::kZero : Eval(*expr.args[columns]).base;
  taint.read_infinite = IsInfinite(fill);
  const Fill unknown = IsInfinite(fill) ? Fill::kAny : Fill::kFinite;
  std::vector<Taint> numbers;
  for (size_t column = 0; column < columns; ++column) numbers.push_back(Eval(*expr.args[column]));
  for (const Taint& column : numbers) {
    for (const auto& missing : column.axis[0]) {
      const int source = missing.first;
      const auto finds_none = [source](const Taint& number) { return number.At(0, source) == Fill::kNegative; };
      taint.axis[0][source] = std::any_of(numbers.begin(), numbers.end(), finds_none) ? fill : unknown;
    }
  }
  for (size_t i = 0, column = 0; i < expr.axes.size(); ++i) {
    if (!expr.axes[i].chosen) continue;
    const auto positions = PositionsOf(*expr.args[column++]);
    if (!positions) continue;
    const Scalar end = table_->Of(*kernel_.params[expr.id].extents[i]);
    sources_.AddEnd(taint.axis[0], positions->start, expr.type.rows, end, fill);
    sources_.AddBegin(taint.axis[0], positions->start, symbolic::Int(0), fill);
  }
  AddKept(expr, 1, fill, taint);
  return taint;
}

}  // namespace tkc::sema

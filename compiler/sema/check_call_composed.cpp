// SPDX-License-Identifier: MIT
// Standard functions that are made of others, as a `fn` of a file could be: each stands in front of its own as one. What they
// compute on the way has names, and stands where the call does.
#include <fmt/format.h>

#include <cfloat>
#include <limits>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/fill.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;
using typed::Type;

/// A variable stays what it is called: nothing changes it before the call is done.
Value Elaborator::Named(const std::string& name, Value value) {
  const Span span = value.span;
  return value.expr->kind == ExprKind::kVar ? std::move(value) : BindNew(name, std::move(value), span);
}

/// In f32; an error, which is reported, if it is no such tile.
Value Elaborator::FloatTile(const ast::CallExpr& expr, Value x) {
  if (x.IsTile() && IsFloat(x.expr->type.dtype)) return ExprValue(MakeConvert(std::move(x.expr), DType::kF32), x.span);
  const std::string& name = expr.callee.text;
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}` takes a tile of floating-point numbers", name));
  report.Label(x.span, fmt::format("is {}", Describe(x)));
  if (x.IsTile())
    report.Help("convert it: `f32(..)`", std::vector<Edit>{{{x.span.file, x.span.begin, x.span.begin}, "f32("},
                                                           {{x.span.file, x.span.end, x.span.end}, ")"}});
  return Error();
}

/// What is subtracted in exponents: where nothing lies above -inf, a number of which -inf - it is -inf, and no NaN.
Value Elaborator::AboveMinusInfinity(Value top, Span span) {
  return MinMax(Op::kMax, "max", std::move(top), ExprValue(MakeFloat(-FLT_MAX, span), span), span);
}

/// fn softmax(x: f32[R, C]) -> f32[R, C] {
///     let e = exp(x - max(rowmax(x), -3.4028234663852886e38))
///     let sum = rowsum(e)
///     e / where(sum == 0, 1, sum)
/// }
Value Elaborator::CallSoftmax(const ast::CallExpr& expr, Value x) {
  const Span span = expr.span;
  const auto number = [&](double value) { return ExprValue(MakeFloat(value, span), span); };
  x = FloatTile(expr, std::move(x));
  if (x.IsError()) return Error();
  x = Named("x", std::move(x));
  Value top = AboveMinusInfinity(CallReduce(expr, Op::kMax, 1, x.Clone()), span);
  Value difference = Arithmetic(Op::kSub, "-", std::move(x), std::move(top), span, span);
  Value e = BindNew("e", CallFloatFunction(expr, Op::kExp, std::move(difference)), span);
  Value sum = BindNew("sum", CallReduce(expr, Op::kAdd, 1, e.Clone()), span);
  Value is_empty = Arithmetic(Op::kEq, "==", sum.Clone(), number(0), span, span);
  Value divisor = Select(std::move(is_empty), number(1), std::move(sum), "where", span);
  return Arithmetic(Op::kDiv, "/", std::move(e), std::move(divisor), span, span);
}

/// fn online(s: f32[R, C], m: f32[R, 1]) -> (f32[R, C], f32[R, 1], f32[R, 1]) {
///     let top = max(m, rowmax(s))
///     let base = max(top, -3.4028234663852886e38)
///     (exp2(s - base), top, exp2(m - base))
/// }
Value Elaborator::CallOnline(const ast::CallExpr& expr, std::vector<Value> args) {
  const Span span = expr.span;
  Value s = FloatTile(expr, std::move(args[0])), m = s.IsError() ? Error() : FloatTile(expr, std::move(args[1]));
  if (m.IsError()) return Error();
  if (m.expr->type.cols != 1 || m.expr->type.rows != s.expr->type.rows) {
    diagnostics_.Error(DiagnosticKind::kShapeMismatch, span, "`online` takes a tile and the column of its rows' maxima so far")
        .Label(s.span, fmt::format("has {} rows", s.expr->type.rows))
        .Label(m.span, fmt::format("is {}", Describe(m)));
    return Error();
  }
  s = Named("s", std::move(s)), m = Named("m", std::move(m));
  Value top = BindNew("top", MinMax(Op::kMax, "max", m.Clone(), CallReduce(expr, Op::kMax, 1, s.Clone()), span), span);
  Value base = BindNew("base", AboveMinusInfinity(top.Clone(), span), span);
  const auto exp2_of = [&](Value x) {
    return CallFloatFunction(expr, Op::kExp2, Arithmetic(Op::kSub, "-", std::move(x), base.Clone(), span, span));
  };
  std::vector<Value> results;
  results.push_back(exp2_of(std::move(s)));
  results.push_back(std::move(top));
  results.push_back(exp2_of(std::move(m)));
  return TupleValue(std::move(results), span);
}

/// fn rowargmax(x: f32[R, C]) -> (f32[R, 1], i32[R, 1]) {
///     let top = rowmax(x)
///     let place = rowmin(where(x == top and x > -inf, iota(C).T, 2147483647))
///     (top, where(place < C, place, 0))
/// }
/// `x > -inf`: what is missing holds that, so that it never is the place. Integers have the end of their type instead.
Value Elaborator::CallRowArgMax(const ast::CallExpr& expr, Value x) {
  const Span span = expr.span;
  if (!x.IsTile() || x.expr->type.dtype == DType::kBool) return CallReduce(expr, Op::kMax, 1, std::move(x));  // which reports it
  const DType dtype = x.expr->type.dtype;
  const int64_t columns = x.expr->type.cols;
  const auto integer = [&](int64_t value) { return ExprValue(MakeInt(value, span), span); };
  if (IsFloat(dtype)) x = FloatTile(expr, std::move(x));
  x = Named("x", std::move(x));
  Value top = BindNew("top", CallReduce(expr, Op::kMax, 1, x.Clone()), span);
  Value least = IsFloat(dtype) ? ExprValue(MakeFloat(-std::numeric_limits<double>::infinity(), span), span)
                               : integer(IntegersOf(dtype).least);
  Value is_top = Arithmetic(Op::kEq, "==", x.Clone(), top.Clone(), span, span);
  Value exists = Arithmetic(Op::kGt, ">", std::move(x), std::move(least), span, span);
  const Type row = Type::Tile(DType::kI32, 1, columns);
  ExprPtr positions = MakeNode(ExprKind::kPositions, Op::kNone, Type::Tile(DType::kI32, columns, 1), Args(MakeInt(0, span)), span);
  positions = MakeNode(ExprKind::kTranspose, Op::kNone, row, Args(std::move(positions)), span);
  constexpr int64_t kBehindAll = std::numeric_limits<int32_t>::max();
  Value places = Select(Logic(Op::kAnd, "and", std::move(is_top), std::move(exists), span), ExprValue(std::move(positions), span),
                        integer(kBehindAll), "where", span);
  Value place = BindNew("place", CallReduce(expr, Op::kMin, 1, std::move(places)), span);
  Value is_found = Arithmetic(Op::kLt, "<", place.Clone(), integer(columns), span, span);
  std::vector<Value> results;
  results.push_back(ExprValue(MakeConvert(std::move(top.expr), dtype), span));
  results.push_back(Select(std::move(is_found), std::move(place), integer(0), "where", span));
  return TupleValue(std::move(results), span);
}

/// fn repeat(x: f32[R, C], n) -> f32[R, C * n] {
///     let column = reshape(x, R * C, 1)
///     reshape(where(iota(n).T >= 0, column, column), R, C * n)
/// }
/// Where a lane holds the columns that a column becomes, no element moves.
Value Elaborator::CallRepeat(const ast::CallExpr& expr, std::vector<Value> args) {
  constexpr int64_t kMostColumns = 1 << 20;
  const Span span = expr.span;
  Value& x = args[0];
  if (!x.IsTile()) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, "`repeat` takes a tile")
        .Label(x.span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  const std::optional<int64_t> times = ConstantOf(args[1], "how often `repeat` puts each column");
  if (!times) return Error();
  const auto [is_tile, dtype, rows, columns] = x.expr->type;
  if (*times < 1 || *times > kMostColumns / columns) {
    diagnostics_.Error(
        DiagnosticKind::kTypeMismatch, args[1].span,
        fmt::format("`repeat` puts each of {} columns from 1 to {} times, not {}", columns, kMostColumns / columns, *times));
    return Error();
  }
  if (*times == 1) return std::move(x);
  const auto reshaped = [&](Value tile, int64_t r, int64_t c) {
    if (tile.expr->type.rows == r) return tile;
    return ExprValue(MakeNode(ExprKind::kReshape, Op::kNone, Type::Tile(dtype, r, c), Args(std::move(tile.expr)), span), span);
  };
  Value column = Named("column", reshaped(std::move(x), rows * columns, 1));
  ExprPtr positions = MakeNode(ExprKind::kPositions, Op::kNone, Type::Tile(DType::kI32, *times, 1), Args(MakeInt(0, span)), span);
  positions = MakeNode(ExprKind::kTranspose, Op::kNone, Type::Tile(DType::kI32, 1, *times), Args(std::move(positions)), span);
  Value all = Arithmetic(Op::kGe, ">=", ExprValue(std::move(positions), span), ExprValue(MakeInt(0, span), span), span, span);
  Value copy = column.Clone();
  return reshaped(Select(std::move(all), std::move(column), std::move(copy), "where", span), rows, columns * *times);
}

}  // namespace tkc::sema

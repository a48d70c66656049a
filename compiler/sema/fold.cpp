// SPDX-License-Identifier: MIT
#include "compiler/sema/fold.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/support/floor_div.h"
#include "compiler/support/number.h"

namespace tkc::sema {

using typed::Expr;
using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;
using typed::Type;

namespace {

ExprPtr Leaf(ExprKind kind, Type type, Span span) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->type = type;
  expr->span = span;
  return expr;
}

bool IsNumber(const Expr& expr) {
  return expr.kind == ExprKind::kInt || expr.kind == ExprKind::kFloat || expr.kind == ExprKind::kBool;
}

std::optional<int64_t> ComputeInteger(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  const bool divides = op == Op::kDiv || op == Op::kMod || op == Op::kCdiv;
  if (divides && (b == 0 || (a == INT64_MIN && b == -1))) return std::nullopt;
  switch (op) {
    case Op::kAdd: return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::kSub: return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::kMul: return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::kDiv: return FloorDiv(a, b);
    case Op::kMod: return a - b * FloorDiv(a, b);
    case Op::kCdiv: return FloorDiv(a, b) + (a % b != 0 ? 1 : 0);
    case Op::kMin: return std::min(a, b);
    case Op::kMax: return std::max(a, b);
    case Op::kAnd: return a != 0 && b != 0;
    case Op::kOr: return a != 0 || b != 0;
    default: return typed::IsComparison(op) ? std::optional<int64_t>(typed::Compare(op, a, b)) : std::nullopt;
  }
}

/// f32 arithmetic: each operation rounds.
std::optional<float> ComputeFloat(Op op, float a, float b) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kMin: return std::fmin(a, b);
    case Op::kMax: return std::fmax(a, b);
    default: return std::nullopt;
  }
}

ExprPtr NumberLike(int64_t value, DType dtype, Span span) {
  return dtype == DType::kBool ? MakeBool(value != 0, span) : MakeInt(value, span, dtype);
}

ExprPtr FoldUnary(Op op, const Type& type, const Expr& arg, Span span) {
  if (arg.kind == ExprKind::kFloat) {
    if (op == Op::kNeg) return MakeFloat(-arg.float_value, span);
    if (op == Op::kAbs) return MakeFloat(std::fabs(arg.float_value), span);
    return nullptr;
  }
  if (op == Op::kNot) return MakeBool(arg.int_value == 0, span);
  if (arg.int_value == INT64_MIN) return nullptr;
  if (op == Op::kNeg) return NumberLike(-arg.int_value, type.dtype, span);
  if (op == Op::kAbs) return NumberLike(arg.int_value < 0 ? -arg.int_value : arg.int_value, type.dtype, span);
  return nullptr;
}

ExprPtr FoldBinary(Op op, const Type& type, const Expr& a, const Expr& b, Span span) {
  if (a.kind == ExprKind::kFloat && b.kind == ExprKind::kFloat) {
    const auto x = static_cast<float>(a.float_value);
    const auto y = static_cast<float>(b.float_value);
    if (typed::IsComparison(op)) return MakeBool(typed::Compare(op, x, y), span);
    const auto number = ComputeFloat(op, x, y);
    ExprPtr folded = number ? MakeFloat(*number, span) : nullptr;
    if (folded) folded->type.dtype = type.dtype;
    return folded;
  }
  if (a.kind == ExprKind::kFloat || b.kind == ExprKind::kFloat) return nullptr;
  if (type.dtype != DType::kI64 && type.dtype != DType::kBool) return nullptr;
  const std::optional<int64_t> result = ComputeInteger(op, a.int_value, b.int_value);
  return result ? NumberLike(*result, type.dtype, span) : nullptr;
}

/// x + 0, x - 0, x * 1, x / 1, 0 * x on mathematical integers; true and x, false or x.
ExprPtr Simplify(Op op, const Type& type, std::vector<ExprPtr>& args) {
  const std::optional<int64_t> a = NumberOf(*args[0]);
  const std::optional<int64_t> b = NumberOf(*args[1]);
  if (op == Op::kAnd || op == Op::kOr) {
    const bool neutral = op == Op::kAnd;
    if (a) return (*a != 0) == neutral ? std::move(args[1]) : std::move(args[0]);
    if (b) return (*b != 0) == neutral ? std::move(args[0]) : std::move(args[1]);
    return nullptr;
  }
  if (type.dtype != DType::kI64) return nullptr;
  switch (op) {
    case Op::kAdd: return a == 0 ? std::move(args[1]) : b == 0 ? std::move(args[0]) : nullptr;
    case Op::kSub: return b == 0 ? std::move(args[0]) : nullptr;
    case Op::kMul:
      if (a == 1 || b == 0) return std::move(args[1]);
      return b == 1 || a == 0 ? std::move(args[0]) : nullptr;
    case Op::kDiv:
    case Op::kCdiv: return b == 1 ? std::move(args[0]) : nullptr;
    default: return nullptr;
  }
}

}  // namespace

ExprPtr MakeInt(int64_t value, Span span, DType dtype) {
  ExprPtr expr = Leaf(ExprKind::kInt, Type::Scalar(dtype), span);
  expr->int_value = value;
  return expr;
}

ExprPtr MakeFloat(double value, Span span) {
  ExprPtr expr = Leaf(ExprKind::kFloat, Type::Scalar(DType::kF32), span);
  expr->float_value = value;
  return expr;
}

ExprPtr MakeBool(bool value, Span span) {
  ExprPtr expr = Leaf(ExprKind::kBool, Type::Scalar(DType::kBool), span);
  expr->int_value = value;
  return expr;
}

std::vector<ExprPtr> Args(ExprPtr a, ExprPtr b, ExprPtr c) {
  std::vector<ExprPtr> args;
  args.push_back(std::move(a));
  if (b) args.push_back(std::move(b));
  if (c) args.push_back(std::move(c));
  return args;
}

ExprPtr MakeNode(ExprKind kind, Op op, Type type, std::vector<ExprPtr> args, Span span) {
  ExprPtr expr = Leaf(kind, type, span);
  expr->op = op;
  for (const ExprPtr& arg : args) expr->level = std::max(expr->level, arg->level);
  expr->args = std::move(args);
  return expr;
}

namespace {

bool AddsNumber(ExprKind kind, Op op, const std::vector<ExprPtr>& args) {
  return kind == ExprKind::kBinary && (op == Op::kAdd || op == Op::kSub) && NumberOf(*args[1]).has_value();
}

/// x + 3 - 1 of a tile of integers as x + 2: where elements wrap around, it is the same. Null where it is no such sum.
ExprPtr JoinNumbers(ExprKind kind, Op op, const Type& type, std::vector<ExprPtr>& args, Span span) {
  if (!type.is_tile || !IsInteger(type.dtype) || !AddsNumber(kind, op, args)) return nullptr;
  typed::Expr& sum = *args[0];
  if (!AddsNumber(sum.kind, sum.op, sum.args) || !(sum.type == type) || !(sum.args[0]->type == type)) return nullptr;
  const auto signed_number = [](Op of, int64_t number) { return of == Op::kAdd ? __int128{number} : -__int128{number}; };
  const __int128 number = signed_number(sum.op, *NumberOf(*sum.args[1])) + signed_number(op, *NumberOf(*args[1]));
  if (number == 0) return std::move(sum.args[0]);
  const __int128 magnitude = number < 0 ? -number : number;
  if (magnitude > INT32_MAX) return nullptr;
  ExprPtr joined = MakeConvert(MakeInt(static_cast<int64_t>(magnitude), span), type.dtype);
  return MakeNode(kind, number < 0 ? Op::kSub : Op::kAdd, type, Args(std::move(sum.args[0]), std::move(joined)), span);
}

}  // namespace

ExprPtr MakeFolded(ExprKind kind, Op op, Type type, std::vector<ExprPtr> args, Span span) {
  if (ExprPtr joined = JoinNumbers(kind, op, type, args, span)) return joined;
  if (!type.is_tile) {
    if (kind == ExprKind::kSelect) {
      if (const auto chosen = NumberOf(*args[0])) return std::move(args[*chosen != 0 ? 1 : 2]);
    } else if (args.size() == 1 && IsNumber(*args[0])) {
      if (ExprPtr folded = FoldUnary(op, type, *args[0], span)) return folded;
    } else if (args.size() == 2) {
      if (IsNumber(*args[0]) && IsNumber(*args[1])) {
        if (ExprPtr folded = FoldBinary(op, type, *args[0], *args[1], span)) return folded;
      } else if (ExprPtr simple = Simplify(op, type, args)) {
        return simple;
      }
    }
  }
  return MakeNode(kind, op, type, std::move(args), span);
}

ExprPtr MakeInteger(Op op, ExprPtr a, ExprPtr b, Span span) {
  const bool is_function = op == Op::kMin || op == Op::kMax || op == Op::kCdiv;
  const bool compares = op >= Op::kEq && op <= Op::kOr;
  return MakeFolded(is_function ? ExprKind::kCall : ExprKind::kBinary, op, Type::Scalar(compares ? DType::kBool : DType::kI64),
                    Args(std::move(a), std::move(b)), span);
}

ExprPtr MakeConvert(ExprPtr expr, DType dtype) {
  if (expr->type.dtype == dtype) return expr;
  if (expr->kind == ExprKind::kInt && IsFloat(dtype)) {
    ExprPtr number = MakeFloat(RealFromInteger(dtype, expr->int_value), expr->span);
    number->type.dtype = dtype;
    return number;
  }
  if (expr->kind == ExprKind::kFloat && IsFloat(dtype)) {
    expr->float_value = RoundReal(dtype, expr->float_value);
    expr->type.dtype = dtype;
    return expr;
  }
  // The mathematical integer keeps its value in a narrower type only where it fits.
  if (expr->kind == ExprKind::kInt && dtype == DType::kI32 && expr->int_value >= INT32_MIN && expr->int_value <= INT32_MAX) {
    return MakeInt(expr->int_value, expr->span, dtype);
  }
  Type type = expr->type;
  type.dtype = dtype;
  const Span span = expr->span;
  return MakeNode(ExprKind::kConvert, Op::kNone, type, Args(std::move(expr)), span);
}

typed::AxisRange Clone(const typed::AxisRange& axis) {
  typed::AxisRange copy;
  copy.start = Clone(*axis.start);
  copy.extent = axis.extent;
  copy.dropped = axis.dropped;
  copy.is_slice = axis.is_slice;
  copy.chosen = axis.chosen;
  if (axis.lo) copy.lo = Clone(*axis.lo);
  if (axis.hi) copy.hi = Clone(*axis.hi);
  return copy;
}

ExprPtr Clone(const Expr& expr) {
  ExprPtr copy = Leaf(expr.kind, expr.type, expr.span);
  copy->op = expr.op;
  copy->level = expr.level;
  copy->id = expr.id;
  copy->axis = expr.axis;
  copy->int_value = expr.int_value;
  copy->float_value = expr.float_value;
  for (const ExprPtr& arg : expr.args) copy->args.push_back(Clone(*arg));
  for (const typed::AxisRange& axis : expr.axes) copy->axes.push_back(Clone(axis));
  return copy;
}

std::optional<int64_t> NumberOf(const Expr& expr) {
  if (expr.kind == ExprKind::kInt || expr.kind == ExprKind::kBool) return expr.int_value;
  return std::nullopt;
}

int CountNodes(const Expr& expr, int limit) {
  int count = 1;
  for (const ExprPtr& arg : expr.args) {
    if (count >= limit) return limit;
    count += CountNodes(*arg, limit - count);
  }
  for (const typed::AxisRange& axis : expr.axes) {
    if (count >= limit) return limit;
    count += CountNodes(*axis.start, limit - count);
  }
  return count;
}

}  // namespace tkc::sema

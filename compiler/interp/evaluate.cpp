// SPDX-License-Identifier: MIT
#include "compiler/interp/evaluate.h"

#include <algorithm>

#include "compiler/support/internal_error.h"

namespace tkc::interp {
namespace {

using typed::Expr;
using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;
using typed::Type;

bool IsSum(const Expr& expr) {
  return expr.kind == ExprKind::kBinary && (expr.op == Op::kAdd || expr.op == Op::kSub) && IsFloat(expr.type.dtype);
}

/// A product, or a sum that takes one up: the tensor unit may keep adding without rounding in between, so the oracle,
/// which is as exact as the language allows, rounds the whole sum once.
bool TakesProduct(const Expr& expr) {
  if (expr.kind == ExprKind::kMatMul) return true;
  if (expr.kind == ExprKind::kUnary && expr.op == Op::kNeg) return TakesProduct(*expr.args[0]);
  return IsSum(expr) && (TakesProduct(*expr.args[0]) || TakesProduct(*expr.args[1]));
}

Value Number(const Expr& expr) {
  const DType dtype = expr.type.dtype;
  const bool is_real = expr.kind == ExprKind::kFloat;
  if (!IsFloat(dtype)) return Value::Integer(dtype, expr.int_value);
  return Value::Real(dtype, is_real ? expr.float_value : static_cast<double>(expr.int_value));
}

}  // namespace

Value Evaluator::Evaluate(const Expr& expr) {
  if (faults_.failed()) return Value::Zero(expr.type);
  switch (expr.kind) {
    case ExprKind::kInt:
    case ExprKind::kFloat:
    case ExprKind::kBool: return Number(expr);
    case ExprKind::kDim: return Value::Integer(expr.type.dtype, launch_.dims[static_cast<size_t>(expr.id)]);
    case ExprKind::kParam: return launch_.scalars[static_cast<size_t>(expr.id)].ConvertedTo(expr.type.dtype);
    case ExprKind::kVar: return vars_[static_cast<size_t>(expr.id)].ConvertedTo(expr.type.dtype);
    case ExprKind::kElement:
    case ExprKind::kRead: return Read(expr);
    case ExprKind::kGather: return Gather(expr);
    case ExprKind::kUnary:
      if (expr.op == Op::kNeg && expr.type.is_tile && DropsSigns(expr)) return Evaluate(*expr.args[0]);
      return ApplyUnary(expr.op, Evaluate(*expr.args[0]), expr.type);
    case ExprKind::kBinary: return Binary(expr, Rounding::kNow);
    case ExprKind::kSelect: {
      const Value condition = Evaluate(*expr.args[0]);
      // Values are the same either way, but a branch not taken must not be blamed for dividing by zero.
      if (!condition.type().is_tile) return Evaluate(*expr.args[condition.AsBool() ? 1 : 2]).BroadcastTo(expr.type);
      const Value if_true = Evaluate(*expr.args[1]);
      return Select(condition, if_true, Evaluate(*expr.args[2]), expr.type);
    }
    case ExprKind::kCall: return Call(expr);
    case ExprKind::kConvert: return Evaluate(*expr.args[0]).ConvertedTo(expr.type.dtype);
    case ExprKind::kSplat: return Evaluate(*expr.args[0]).BroadcastTo(expr.type);
    case ExprKind::kReduce:
    case ExprKind::kCumsum: return Sum(expr);
    case ExprKind::kTranspose: return Transpose(Evaluate(*expr.args[0]));
    case ExprKind::kPart: {
      const Value whole = Evaluate(*expr.args[0]);
      const int64_t row = Integer(*expr.args[1]);
      return Part(whole, row, Integer(*expr.args[2]), expr.type);
    }
    case ExprKind::kMatMul: return Product(expr, Rounding::kNow);
    case ExprKind::kPositions: return Positions(Integer(*expr.args[0]), expr.type);
    case ExprKind::kCat: return Cat(expr);
    case ExprKind::kReshape: return Reshape(Evaluate(*expr.args[0]), expr.type);
  }
  InternalError("unknown kind of expression", expr.span);
}

Value Evaluator::Term(const Expr& expr) {
  if (!TakesProduct(expr)) return Evaluate(expr);
  if (expr.kind == ExprKind::kMatMul) return Product(expr, Rounding::kLater);
  if (IsSum(expr)) return Binary(expr, Rounding::kLater);
  if (expr.kind == ExprKind::kUnary && IsFloat(expr.type.dtype)) {
    Value negated = Term(*expr.args[0]);  // ApplyUnary would round
    if (DropsSigns(expr)) return negated;
    double* values = negated.MutableReals();
    for (int64_t i = 0; i < negated.size(); ++i) values[i] = -values[i];
    return negated;
  }
  return Evaluate(expr);
}

Value Evaluator::Binary(const Expr& expr, Rounding rounding) {
  const bool takes_product = IsSum(expr) && TakesProduct(expr);
  const Value x = takes_product ? Term(*expr.args[0]) : Evaluate(*expr.args[0]);
  Value y = takes_product ? Term(*expr.args[1]) : Evaluate(*expr.args[1]);
  if (launch_.flushes && expr.op == Op::kDiv && expr.type.is_tile && IsFloat(expr.type.dtype)) y = WithoutSubnormals(std::move(y));
  const Op op = expr.op == Op::kSub && DropsSigns(expr) ? Op::kAdd : expr.op;
  Value result = ApplyBinary(op, x, y, expr.type, rounding, expr.span);
  if (IsWatched(expr) && (op == Op::kAdd || op == Op::kSub)) Watch(result, std::min(LowestBit(x), LowestBit(y)));
  if (IsWatched(expr) && op == Op::kMul) Watch(result, LowestBit(x) + LowestBit(y));
  return result;
}

void Evaluator::Watch(const Value& result, int lowest_bit) {
  if (launch_.measures == nullptr || !launch_.measures->is_exact) return;
  for (int64_t i = 0; i < result.size() && launch_.measures->is_exact; ++i)
    launch_.measures->is_exact = HasRoom(DType::kF32, result.Reals()[i], lowest_bit);
}

Value Evaluator::Product(const Expr& expr, Rounding rounding) {
  const Value a = Evaluate(*expr.args[0]);
  const Value b = Evaluate(*expr.args[1]);
  // Of terms of either sign, some may add up to more than all of them.
  if (IsWatched(expr)) Watch(MatMul(Magnitudes(a), Magnitudes(b), expr.type, Rounding::kLater), LowestBit(a) + LowestBit(b));
  return MatMul(a, b, expr.type, rounding);
}

/// And what is reduced otherwise.
Value Evaluator::Sum(const Expr& expr) {
  const Value x = Evaluate(*expr.args[0]);
  const bool runs = expr.kind == ExprKind::kCumsum;
  const auto of = [&](const Value& terms) {
    return runs ? Cumsum(terms, expr.axis, expr.type) : Reduce(expr.op, terms, expr.axis, expr.type);
  };
  if (IsWatched(expr) && x.is_float() && (runs || expr.op == Op::kAdd)) Watch(of(Magnitudes(x)), LowestBit(x));
  return of(x);
}

Value Evaluator::Call(const Expr& expr) {
  const Value first = Evaluate(*expr.args[0]);
  if (launch_.flushes && (expr.op == Op::kExp || expr.op == Op::kExp2 || expr.op == Op::kSigmoid))
    return WithoutSubnormals(ApplyUnary(expr.op, WithoutSubnormals(first), expr.type));
  if (expr.args.size() == 1) return ApplyUnary(expr.op, first, expr.type);
  Value result = first;
  for (size_t i = 1; i < expr.args.size(); ++i) {  // min and max may have more than two arguments
    const Value next = Evaluate(*expr.args[i]);
    Type type = expr.type;
    if (i + 1 < expr.args.size()) {
      type.rows = std::max(result.type().rows, next.type().rows);
      type.cols = std::max(result.type().cols, next.type().cols);
    }
    result = ApplyBinary(expr.op, result, next, type, Rounding::kNow, expr.span);
  }
  return result;
}

Value Evaluator::Cat(const Expr& expr) {
  Value result = Value::Zero(expr.type);
  int64_t col = 0;
  for (const ExprPtr& arg : expr.args) {
    const Value part = Evaluate(*arg);
    AssignPart(result, 0, col, part);
    col += part.type().cols;
  }
  return result;
}

Value Evaluator::Read(const Expr& expr) {
  const Tensor& tensor = *launch_.tensors[static_cast<size_t>(expr.id)];
  const Value fill = expr.args.empty() ? Value::Zero(Type::Scalar(tensor.dtype)) : Evaluate(*expr.args[0]);
  const std::vector<AxisBounds> axes = Bounds(tensor, expr.axes);
  if (faults_.failed()) return Value::Zero(expr.type);
  return ReadBlock(tensor, axes, fill, expr.type);
}

Value Evaluator::Gather(const Expr& expr) {
  const Tensor& tensor = *launch_.tensors[static_cast<size_t>(expr.id)];
  std::vector<const Value*> chosen;  // of each axis its column, or null
  std::vector<Value> columns;
  columns.reserve(expr.args.size());
  for (const typed::AxisRange& axis : expr.axes)
    chosen.push_back(axis.chosen ? &columns.emplace_back(Evaluate(*expr.args[columns.size()])) : nullptr);
  const Value fill =
      expr.args.size() == columns.size() ? Value::Zero(Type::Scalar(tensor.dtype)) : Evaluate(*expr.args[columns.size()]);
  const std::vector<AxisBounds> axes = Bounds(tensor, expr.axes);
  if (faults_.failed()) return Value::Zero(expr.type);
  return GatherRows(tensor, axes, chosen, fill, expr.type);
}

std::vector<AxisBounds> Evaluator::Bounds(const Tensor& tensor, const std::vector<typed::AxisRange>& axes) {
  std::vector<AxisBounds> bounds(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    bounds[i].start = Integer(*axes[i].start);
    bounds[i].extent = axes[i].extent;
    bounds[i].dropped = axes[i].dropped;
    bounds[i].lo = axes[i].lo ? std::max<int64_t>(0, Integer(*axes[i].lo)) : 0;
    bounds[i].hi = tensor.extents[i];
    if (axes[i].hi) bounds[i].hi = std::min(bounds[i].hi, Integer(*axes[i].hi));
  }
  return bounds;
}

}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
// Standard functions of whole tiles: reductions, positions, and tiles made of others.
#include <fmt/format.h>

#include <utility>

#include "compiler/sema/elaborator.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::Type;

Value Elaborator::CallReduce(const ast::CallExpr& expr, Op op, int axis, Value x) {
  if (!x.IsTile() || x.expr->type.dtype == DType::kBool) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}` reduces a tile of numbers", expr.callee.text));
    report.Label(x.span, fmt::format("is {}", Describe(x)));
    if (x.IsTile()) report.Help("count with `i32(..)`");
    return Error();
  }
  const DType dtype = x.expr->type.dtype;
  ExprPtr arg = MakeConvert(std::move(x.expr), WidenedType(dtype));
  Type type = arg->type;
  (axis == 1 ? type.cols : type.rows) = 1;
  ExprPtr result = MakeNode(ExprKind::kReduce, op, type, Args(std::move(arg)), expr.span);
  result->axis = axis;
  // A sum has the wider type; an extreme element is one of the elements.
  if (op != Op::kAdd) result = MakeConvert(std::move(result), dtype);
  return ExprValue(std::move(result), expr.span);
}

Value Elaborator::CallAnyAll(const ast::CallExpr& expr, Op op, Value x) {
  if (!x.IsTile() || x.expr->type.dtype != DType::kBool) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}` takes a tile of `bool`s", expr.callee.text))
        .Label(x.span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  const int64_t rows = x.expr->type.rows;
  ExprPtr by_row = MakeNode(ExprKind::kReduce, op, Type::Tile(DType::kBool, rows, 1), Args(std::move(x.expr)), expr.span);
  by_row->axis = 1;
  ExprPtr whole = MakeNode(ExprKind::kReduce, op, Type::Scalar(DType::kBool), Args(std::move(by_row)), expr.span);
  whole->axis = 0;
  whole->level = Level::kWorker;
  return ExprValue(std::move(whole), expr.span);
}

Value Elaborator::CallIota(const ast::CallExpr& expr, const Value& length) {
  constexpr int64_t kMostPositions = 1 << 20;
  const std::optional<int64_t> count = ConstantOf(length, "the length of `iota`");
  if (!count) return Error();
  if (*count < 1 || *count > kMostPositions) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, length.span,
                       fmt::format("`iota({})`: the length lies between 1 and {}", *count, kMostPositions));
    return Error();
  }
  return ExprValue(
      MakeNode(ExprKind::kPositions, Op::kNone, Type::Tile(DType::kI32, *count, 1), Args(MakeInt(0, expr.span)), expr.span),
      expr.span);
}

Value Elaborator::CallPositions(const ast::CallExpr& expr, bool valid, Value x) {
  const BlockIndex& block = *x.block;
  const Span span = expr.span;
  const auto positions = [&] {
    return MakeNode(ExprKind::kPositions, Op::kNone, Type::Tile(DType::kI32, block.step, 1), Args(Clone(*block.start)), span);
  };
  if (!valid) {
    ExprPtr result = positions();
    result->args.push_back(Clone(*block.hi));
    if (block.shifted) result->args.push_back(Clone(*block.lo));
    return ExprValue(std::move(result), span);
  }
  const Type type = Type::Tile(DType::kBool, block.step, 1);
  const auto compare = [&](Op op, const typed::Expr& bound) {
    return MakeNode(ExprKind::kBinary, op, type, Args(positions(), MakeConvert(Clone(bound), DType::kI32)), span);
  };
  ExprPtr result = compare(Op::kLt, *block.hi);
  if (block.shifted) {
    result = MakeNode(ExprKind::kBinary, Op::kAnd, type, Args(compare(Op::kGe, *block.lo), std::move(result)), span);
  }
  return ExprValue(std::move(result), span);
}

Value Elaborator::CallCumsum(const ast::CallExpr& expr, std::vector<Value> args) {
  const std::optional<int64_t> axis = ConstantOf(args[1], "the axis of `cumsum`");
  if (!axis) return Error();
  if (*axis != 0 && *axis != 1) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, args[1].span,
                       fmt::format("`cumsum` along axis {}: 0 runs down the rows, 1 along the columns", *axis));
    return Error();
  }
  if (!args[0].IsTile() || !IsFloat(args[0].expr->type.dtype)) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, args[0].span, "`cumsum` takes a tile of floating-point numbers")
        .Label(args[0].span, fmt::format("is {}", Describe(args[0])));
    return Error();
  }
  ExprPtr arg = MakeConvert(std::move(args[0].expr), DType::kF32);
  const Type type = arg->type;
  ExprPtr result = MakeNode(ExprKind::kCumsum, Op::kNone, type, Args(std::move(arg)), expr.span);
  result->axis = static_cast<int>(*axis);
  return ExprValue(std::move(result), expr.span);
}

Value Elaborator::CallCat(const ast::CallExpr& expr, std::vector<Value> args) {
  std::vector<ExprPtr> parts;
  Type type;
  for (Value& arg : args) {
    const bool first = parts.empty();
    if (!arg.IsTile()) {
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, arg.span, "`cat` takes tiles")
          .Label(arg.span, fmt::format("is {}", Describe(arg)));
      return Error();
    }
    if (first) {
      type = arg.expr->type;
    } else if (arg.expr->type.rows != type.rows || arg.expr->type.dtype != type.dtype) {
      diagnostics_.Error(DiagnosticKind::kShapeMismatch, expr.span, "`cat` takes tiles of equal rows and one element type")
          .Label(args[0].span, fmt::format("has {} rows of `{}`", type.rows, Name(type.dtype)))
          .Label(arg.span, fmt::format("is {}", Describe(arg)));
      return Error();
    } else {
      type.cols += arg.expr->type.cols;
    }
    parts.push_back(std::move(arg.expr));
  }
  return ExprValue(MakeNode(ExprKind::kCat, Op::kNone, type, std::move(parts), expr.span), expr.span);
}

Value Elaborator::CallReshape(const ast::CallExpr& expr, std::vector<Value> args) {
  Value& x = args[0];
  if (!x.IsTile()) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, "`reshape` takes a tile")
        .Label(x.span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  const std::optional<int64_t> rows = ConstantOf(args[1], "the number of rows of `reshape`");
  const std::optional<int64_t> cols = rows ? ConstantOf(args[2], "the number of columns of `reshape`") : std::nullopt;
  if (!cols) return Error();
  Type type = x.expr->type;
  const bool has_room = *rows >= 1 && *cols >= 1 && *rows <= type.rows * type.cols && *cols <= type.rows * type.cols;
  if (!has_room || *rows * *cols != type.rows * type.cols || (*cols % type.cols != 0 && type.cols % *cols != 0)) {
    diagnostics_
        .Error(DiagnosticKind::kShapeMismatch, expr.span,
               fmt::format("a tile of {} x {} does not become one of {} x {}", type.rows, type.cols, *rows, *cols))
        .Label(x.span, fmt::format("is {}", Describe(x)))
        .Help("`reshape` cuts each row into rows of equal length, or joins as many neighbouring rows to one");
    return Error();
  }
  if (*rows == type.rows) return std::move(x);
  type.rows = *rows, type.cols = *cols;
  return ExprValue(MakeNode(ExprKind::kReshape, Op::kNone, type, Args(std::move(x.expr)), expr.span), expr.span);
}

}  // namespace tkc::sema

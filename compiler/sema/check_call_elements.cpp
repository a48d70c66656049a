// SPDX-License-Identifier: MIT
// Standard functions that work element by element.
#include <fmt/format.h>

#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/syntax/source_text.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::Type;

Value Elaborator::CallFloatFunction(const ast::CallExpr& expr, Op op, Value x) {
  const bool literal = x.IsScalar() && x.expr->level == Level::kConst && x.expr->type.dtype != DType::kBool;
  if (!IsFloat(x.expr->type.dtype) && !literal) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}` takes floating-point numbers", expr.callee.text))
        .Label(x.span, fmt::format("is {}", Describe(x)))
        .Help("convert it: `f32(..)`",
              std::vector<Edit>{{{x.span.file, x.span.begin, x.span.begin}, "f32("}, {{x.span.file, x.span.end, x.span.end}, ")"}});
    return Error();
  }
  ExprPtr arg = MakeConvert(std::move(x.expr), DType::kF32);
  const Type type = arg->type;
  return ExprValue(MakeNode(ExprKind::kCall, op, type, Args(std::move(arg)), expr.span), expr.span);
}

Value Elaborator::CallPow(const ast::CallExpr& expr, std::vector<Value> args) {
  const std::string& name = expr.callee.text;
  if (!Unify(args[0], args[1], true, name, expr.callee.span)) return Error();
  if (!IsFloat(args[0].expr->type.dtype)) {
    for (Value& arg : args) arg.expr = MakeConvert(std::move(arg.expr), DType::kF32);
  }
  std::optional<Type> type = Broadcast(args[0], args[1], name, expr.callee.span);
  if (!type) return Error();
  type->dtype = DType::kF32;
  return ExprValue(MakeNode(ExprKind::kCall, Op::kPow, *type, Args(std::move(args[0].expr), std::move(args[1].expr)), expr.span),
                   expr.span);
}

Value Elaborator::CallAbs(const ast::CallExpr& expr, Value x) {
  const DType dtype = x.expr->type.dtype;
  if (dtype == DType::kBool) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, "`abs` takes numbers")
        .Label(x.span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  ExprPtr arg = MakeConvert(std::move(x.expr), WidenedType(dtype));
  const Type type = arg->type;
  return ExprValue(MakeConvert(MakeFolded(ExprKind::kCall, Op::kAbs, type, Args(std::move(arg)), expr.span), dtype), expr.span);
}

Value Elaborator::CallCdiv(const ast::CallExpr& expr, std::vector<Value> args) {
  for (const Value& arg : args) {
    if (arg.IsScalar() && IsInteger(arg.expr->type.dtype)) continue;
    const bool is_tile_of_integers = arg.IsTile() && IsInteger(arg.expr->type.dtype);
    const char* headline = is_tile_of_integers ? "`cdiv` takes single integers, not a tile of them" : "`cdiv` takes integers";
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, arg.span, headline);
    report.Label(arg.span, fmt::format("is {}", Describe(arg)));
    const bool is_float = (arg.IsScalar() || arg.IsTile()) && IsFloat(arg.expr->type.dtype);
    if (is_tile_of_integers || is_float) {
      const auto operand = [](const ast::Expr& of) {
        const bool is_whole =
            of.kind != ast::ExprKind::kBinary && of.kind != ast::ExprKind::kUnary && of.kind != ast::ExprKind::kIf;
        return is_whole || of.parenthesized ? ast::SourceText(of) : fmt::format("({})", ast::SourceText(of));
      };
      const std::string a = operand(*expr.arguments[0]), b = operand(*expr.arguments[1]);
      const std::string quotient = is_float ? fmt::format("ceil({} / {})", a, b) : fmt::format("-(-{} / {})", a, b);
      report.Help(is_float ? fmt::format("floats are divided, then rounded up: `{}`", quotient)
                           : fmt::format("`/` rounds down, element by element; up rounds `{}`", quotient),
                  Edit{expr.span, quotient});
    }
    return Error();
  }
  if (NumberOf(*args[1].expr) == 0) {
    diagnostics_.Error(DiagnosticKind::kDivisionByZero, expr.span, "`cdiv` by zero").Label(args[1].span, "is 0");
    return Error();
  }
  return ExprValue(MakeInteger(Op::kCdiv, MakeConvert(std::move(args[0].expr), DType::kI64),
                               MakeConvert(std::move(args[1].expr), DType::kI64), expr.span),
                   expr.span);
}

Value Elaborator::MinMax(Op op, std::string_view name, Value a, Value b, Span span) {
  if (a.expr->type.dtype == DType::kBool || b.expr->type.dtype == DType::kBool) {
    const Value& wrong = a.expr->type.dtype == DType::kBool ? a : b;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, wrong.span, fmt::format("`{}` takes numbers", name))
        .Label(wrong.span, fmt::format("is {}", Describe(wrong)));
    return Error();
  }
  if (!Unify(a, b, false, name, span)) return Error();
  std::optional<Type> type = Broadcast(a, b, name, span);
  if (!type) return Error();
  // Exact in the wider type, and the result is one of the operands.
  const DType dtype = a.expr->type.dtype;
  type->dtype = WidenedType(dtype);
  a.expr = MakeConvert(std::move(a.expr), type->dtype);
  b.expr = MakeConvert(std::move(b.expr), type->dtype);
  ExprPtr result = MakeFolded(ExprKind::kCall, op, *type, Args(std::move(a.expr), std::move(b.expr)), span);
  return ExprValue(MakeConvert(std::move(result), dtype), span);
}

Value Elaborator::CallMinMax(const ast::CallExpr& expr, Op op, std::vector<Value> args) {
  Value result = std::move(args[0]);
  for (size_t i = 1; i < args.size(); ++i) {
    result = MinMax(op, expr.callee.text, std::move(result), std::move(args[i]), expr.span);
    if (result.IsError()) return result;
  }
  return result;
}

/// 32 random bits for each element of a tile of positions; `uniform`: their upper 24 as a number from 0 up to 1.
Value Elaborator::CallRandom(const ast::CallExpr& expr, std::vector<Value> args, bool uniform) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Type& type = args[i].expr->type;
    if (type.is_tile == (i == 1) && IsInteger(type.dtype)) continue;
    const std::string& name = expr.callee.text;
    diagnostics_
        .Error(DiagnosticKind::kTypeMismatch, args[i].span,
               i == 0 ? fmt::format("the seed of `{}` is an integer", name)
                      : fmt::format("`{}` takes the numbers of elements: a tile of integers", name))
        .Label(args[i].span, fmt::format("is {}", Describe(args[i])));
    return Error();
  }
  Type type = args[1].expr->type;
  type.dtype = DType::kU32;
  std::vector<ExprPtr> operands = Args(MakeConvert(std::move(args[0].expr), DType::kU64), std::move(args[1].expr));
  ExprPtr bits = MakeNode(ExprKind::kCall, Op::kRandom, type, std::move(operands), expr.span);
  if (!uniform) return ExprValue(std::move(bits), expr.span);
  ExprPtr upper = MakeNode(ExprKind::kBinary, Op::kDiv, type,
                           Args(std::move(bits), MakeConvert(MakeInt(256, expr.span), DType::kU32)), expr.span);
  type.dtype = DType::kF32;
  ExprPtr unit = MakeFloat(0x1p-24, expr.span);
  return ExprValue(
      MakeNode(ExprKind::kBinary, Op::kMul, type, Args(MakeConvert(std::move(upper), DType::kF32), std::move(unit)), expr.span),
      expr.span);
}

Value Elaborator::CallWhere(const ast::CallExpr& expr, std::vector<Value> args) {
  if (args[0].expr->type.dtype != DType::kBool) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, args[0].span, "the first argument of `where` is a `bool`")
        .Label(args[0].span, fmt::format("is {}", Describe(args[0])));
    return Error();
  }
  Value condition = std::move(args[0]);
  return Select(std::move(condition), std::move(args[1]), std::move(args[2]), "where", expr.span);
}

Value Elaborator::Select(Value condition, Value a, Value b, std::string_view what, Span span) {
  if (a.kind == Value::Kind::kTuple && b.kind == Value::Kind::kTuple && a.elements.size() == b.elements.size()) {
    std::vector<Value> elements;
    for (size_t i = 0; i < a.elements.size(); ++i) {
      elements.push_back(Select(condition.Clone(), std::move(a.elements[i]), std::move(b.elements[i]), what, span));
      if (elements.back().IsError()) return Error();
    }
    Value tuple = TupleValue(std::move(elements), span);
    tuple.names = a.names;
    return tuple;
  }
  for (const Value* v : {&a, &b}) {
    if (v->kind == Value::Kind::kExpr) continue;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, v->span, fmt::format("{} choose between numbers or tiles", what))
        .Label(v->span, fmt::format("is {}", Describe(*v)));
    return Error();
  }
  if (!Unify(a, b, false, what, span)) return Error();
  std::optional<Type> type = Broadcast(a, b, what, span);
  if (!type) return Error();
  // A tile made of two numbers has the width that they were given.
  const std::optional<DType> width = a.width && b.width && *a.width != *b.width ? std::nullopt : a.width ? a.width : b.width;
  if (width && condition.expr->type.is_tile && !type->is_tile && type->dtype == DType::kI64) {
    type->dtype = *width;
    a.expr = MakeConvert(std::move(a.expr), *width);
    b.expr = MakeConvert(std::move(b.expr), *width);
  }
  Value values = ExprValue(MakeInt(0, span), span);  // stands for the chosen shape in the report
  values.expr->type = *type;
  std::optional<Type> whole = condition.expr->type.is_tile || type->is_tile ? Broadcast(condition, values, what, span) : type;
  if (!whole) return Error();
  const Type result = whole->is_tile ? Type::Tile(type->dtype, whole->rows, whole->cols) : Type::Scalar(type->dtype);
  if (const auto known = NumberOf(*condition.expr); known && !condition.expr->type.is_tile) {
    Value chosen = *known != 0 ? std::move(a) : std::move(b);
    if (chosen.expr->type == result) return chosen;
    const auto spread = [&](ExprPtr number) {
      return MakeNode(ExprKind::kSplat, Op::kNone, result, Args(std::move(number)), span);
    };
    if (!chosen.expr->type.is_tile) return ExprValue(spread(std::move(chosen.expr)), span);
    // The other one does not matter, but it may be what gives the tile its shape.
    ExprPtr other = spread(MakeConvert(result.dtype == DType::kBool ? MakeBool(false, span) : MakeInt(0, span), result.dtype));
    return ExprValue(
        MakeNode(ExprKind::kSelect, Op::kNone, result, Args(MakeBool(true, span), std::move(chosen.expr), std::move(other)), span),
        span);
  }
  return ExprValue(
      MakeFolded(ExprKind::kSelect, Op::kNone, result, Args(std::move(condition.expr), std::move(a.expr), std::move(b.expr)), span),
      span);
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Calls: conversions and the standard functions of builtin.def. `fn`s are in check_fn_call.cpp.
#include <fmt/format.h>

#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/implemented.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/nearest_name.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::Type;

namespace {

enum class Class : uint8_t {
  kFloatUnary,
  kPow,
  kAbs,
  kMinMax,
  kClamp,
  kCdiv,
  kWhere,
  kRowReduce,
  kColReduce,
  kAnyAll,
  kPos,
  kValid,
  kIota,
  kCumsum,
  kCat,
  kReshape,
  kRandom,
  kUniform,
  kLater,
};

struct Builtin {
  std::string_view name;
  Class kind;
  Op op;
  size_t least, most;
};

constexpr Builtin kBuiltins[] = {
#define BUILTIN(name, kind, op, least, most) {#name, Class::k##kind, Op::op, least, most},
#include "compiler/sema/builtin.def"
#undef BUILTIN
};

const Builtin* FindBuiltin(std::string_view name) {
  for (const Builtin& builtin : kBuiltins) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

std::vector<ExprPtr> Args(ExprPtr a, ExprPtr b = nullptr, ExprPtr c = nullptr) {
  std::vector<ExprPtr> args;
  args.push_back(std::move(a));
  if (b) args.push_back(std::move(b));
  if (c) args.push_back(std::move(c));
  return args;
}

}  // namespace

bool IsStandardFunction(std::string_view name) {
  const Builtin* builtin = FindBuiltin(name);
  return (builtin != nullptr && builtin->kind != Class::kLater) || DTypeFromName(name).has_value();
}

Value Elaborator::EvalCall(const ast::CallExpr& expr) {
  const std::string& name = expr.callee.text;
  if (const auto fn = context_.fns.find(name); fn != context_.fns.end()) return CallFn(expr, *fn->second);
  if (const auto dtype = DTypeFromName(name)) return CallConversion(expr, *dtype);
  return CallBuiltin(expr);
}

Value Elaborator::CallConversion(const ast::CallExpr& expr, DType dtype) {
  if (!Info(dtype).implemented) {
    ReportNotImplemented(diagnostics_, expr.callee.span, fmt::format("element type `{}`", Name(dtype)));
    return Error();
  }
  if (expr.arguments.size() != 1) {
    diagnostics_.Error(DiagnosticKind::kWrongArguments, expr.span,
                       fmt::format("`{}(..)` converts one value, found {}", expr.callee.text, expr.arguments.size()));
    return Error();
  }
  Value x = Eval(*expr.arguments[0]);
  if (x.IsError()) return x;
  if (x.kind == Value::Kind::kTuple) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}(..)` converts one value", expr.callee.text))
        .Label(x.span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  if (x.kind == Value::Kind::kBlock || dtype == DType::kBool) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}(..)` converts numbers", expr.callee.text))
        .Label(x.span, fmt::format("is {}", Describe(x)))
        .Help(dtype == DType::kBool ? "compare: `x != 0`" : "its first element is `.start`");
    return Error();
  }
  const bool is_math = !x.expr->type.is_tile && (dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kU32);
  // Scalar integers have no width: `i32(n)` of one changes nothing.
  const auto of_width = [&](ExprPtr scalar) {
    Value value = ExprValue(std::move(scalar), expr.span);
    value.width = dtype;
    return value;
  };
  if (is_math && x.expr->type.dtype == DType::kI64) return of_width(std::move(x.expr));
  if (x.expr->type.dtype == DType::kBool) {
    Type type = x.expr->type;
    type.dtype = dtype;
    std::vector<ExprPtr> args = Args(std::move(x.expr));
    return ExprValue(MakeNode(ExprKind::kConvert, Op::kNone, type, std::move(args), expr.span), expr.span);
  }
  ExprPtr converted = MakeConvert(std::move(x.expr), dtype);
  if (is_math) return of_width(MakeConvert(std::move(converted), DType::kI64));
  return ExprValue(std::move(converted), expr.span);
}

Value Elaborator::NoSuchFunction(const ast::CallExpr& expr) {
  const std::string& name = expr.callee.text;
  std::vector<std::string> names;
  for (const Builtin& candidate : kBuiltins) names.emplace_back(candidate.name);
  for (const auto& [fn, decl] : context_.fns) names.push_back(fn);
  const std::string nearest = NearestName(name, std::move(names));
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kUnknownName, expr.callee.span, fmt::format("there is no function `{}`", name));
  if (!nearest.empty()) report.Help(fmt::format("write `{}`", nearest), Edit{expr.callee.span, nearest});
  for (const ast::ExprPtr& argument : expr.arguments) Eval(*argument);
  return Error();
}

bool Elaborator::EvalArguments(const ast::CallExpr& expr, size_t least, size_t most, bool takes_block, std::vector<Value>& args) {
  const std::string& name = expr.callee.text;
  if (expr.arguments.size() < least || expr.arguments.size() > most) {
    diagnostics_.Error(DiagnosticKind::kWrongArguments, expr.span,
                       fmt::format("`{}` takes {} argument{}, found {}", name,
                                   least == most ? fmt::format("{}", least) : fmt::format("at least {}", least),
                                   most == 1 ? "" : "s", expr.arguments.size()));
    return false;
  }
  if (!EvalAll(expr.arguments, args)) return false;
  for (const Value& arg : args) {
    if (arg.kind == (takes_block ? Value::Kind::kBlock : Value::Kind::kExpr)) continue;
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, arg.span,
                                                  fmt::format("`{}` takes {}", name, takes_block ? "a block index" : "numbers"));
    report.Label(arg.span, fmt::format("is {}", Describe(arg)));
    if (arg.kind == Value::Kind::kBlock) report.Help("the column of its elements is `pos(..)`");
    return false;
  }
  return true;
}

Value Elaborator::CallBuiltin(const ast::CallExpr& expr) {
  const std::string& name = expr.callee.text;
  const Builtin* builtin = FindBuiltin(name);
  if (builtin == nullptr) return NoSuchFunction(expr);
  if (builtin->kind == Class::kLater) {
    ReportNotImplemented(diagnostics_, expr.callee.span, fmt::format("`{}`", name));
    return Error();
  }
  const bool takes_block = builtin->kind == Class::kPos || builtin->kind == Class::kValid;
  std::vector<Value> args;
  if (!EvalArguments(expr, builtin->least, builtin->most, takes_block, args)) return Error();
  switch (builtin->kind) {
    case Class::kFloatUnary: return CallFloatFunction(expr, builtin->op, std::move(args[0]));
    case Class::kPow: return CallPow(expr, std::move(args));
    case Class::kAbs: return CallAbs(expr, std::move(args[0]));
    case Class::kMinMax: return CallMinMax(expr, builtin->op, std::move(args));
    case Class::kClamp: {
      Value low = MinMax(Op::kMax, name, std::move(args[0]), std::move(args[1]), expr.span);
      return low.IsError() ? Error() : MinMax(Op::kMin, name, std::move(low), std::move(args[2]), expr.span);
    }
    case Class::kCdiv: return CallCdiv(expr, std::move(args));
    case Class::kWhere: return CallWhere(expr, std::move(args));
    case Class::kRowReduce: return CallReduce(expr, builtin->op, 1, std::move(args[0]));
    case Class::kColReduce: return CallReduce(expr, builtin->op, 0, std::move(args[0]));
    case Class::kAnyAll: return CallAnyAll(expr, builtin->op, std::move(args[0]));
    case Class::kPos: return CallPositions(expr, false, std::move(args[0]));
    case Class::kValid: return CallPositions(expr, true, std::move(args[0]));
    case Class::kIota: return CallIota(expr, args[0]);
    case Class::kCumsum: return CallCumsum(expr, std::move(args));
    case Class::kCat: return CallCat(expr, std::move(args));
    case Class::kReshape: return CallReshape(expr, std::move(args));
    case Class::kRandom: return CallRandom(expr, std::move(args), false);
    case Class::kUniform: return CallRandom(expr, std::move(args), true);
    case Class::kLater: break;
  }
  InternalError("a function of no class", expr.span);
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
  ExprPtr arg = IsNarrowFloat(dtype) ? MakeConvert(std::move(x.expr), DType::kF32) : std::move(x.expr);
  const Type type = arg->type;
  return ExprValue(MakeConvert(MakeFolded(ExprKind::kCall, Op::kAbs, type, Args(std::move(arg)), expr.span), dtype), expr.span);
}

Value Elaborator::CallCdiv(const ast::CallExpr& expr, std::vector<Value> args) {
  for (const Value& arg : args) {
    if (arg.IsScalar() && !IsFloat(arg.expr->type.dtype) && arg.expr->type.dtype != DType::kBool) continue;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, arg.span, "`cdiv` takes integers")
        .Label(arg.span, fmt::format("is {}", Describe(arg)));
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
  // Exact in f32, and the result is one of the operands.
  const DType dtype = a.expr->type.dtype;
  if (IsFloat(dtype)) {
    a.expr = MakeConvert(std::move(a.expr), DType::kF32);
    b.expr = MakeConvert(std::move(b.expr), DType::kF32);
    type->dtype = DType::kF32;
  }
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

Value Elaborator::CallReduce(const ast::CallExpr& expr, Op op, int axis, Value x) {
  if (!x.IsTile() || x.expr->type.dtype == DType::kBool) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}` reduces a tile of numbers", expr.callee.text));
    report.Label(x.span, fmt::format("is {}", Describe(x)));
    if (x.IsTile()) report.Help("count with `i32(..)`");
    return Error();
  }
  const DType dtype = x.expr->type.dtype;
  const bool is_half = IsNarrowFloat(dtype);
  ExprPtr arg = is_half ? MakeConvert(std::move(x.expr), DType::kF32) : std::move(x.expr);
  Type type = arg->type;
  (axis == 1 ? type.cols : type.rows) = 1;
  ExprPtr result = MakeNode(ExprKind::kReduce, op, type, Args(std::move(arg)), expr.span);
  result->axis = axis;
  // A sum is f32; an extreme element is one of the elements.
  if (is_half && op != Op::kAdd) result = MakeConvert(std::move(result), dtype);
  return ExprValue(std::move(result), expr.span);
}

Value Elaborator::CallAnyAll(const ast::CallExpr& expr, Op op, Value x) {
  if (!x.IsTile() || x.expr->type.dtype != DType::kBool) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, x.span, fmt::format("`{}` takes a tile of `bool`s", expr.callee.text))
        .Label(x.span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  if (!kHasDataConditions) GateFeature(expr.span, fmt::format("`{}` of a tile", expr.callee.text));
  const int64_t rows = x.expr->type.rows;
  ExprPtr by_row = MakeNode(ExprKind::kReduce, op, Type::Tile(DType::kBool, rows, 1), Args(std::move(x.expr)), expr.span);
  by_row->axis = 1;
  ExprPtr whole = MakeNode(ExprKind::kReduce, op, Type::Scalar(DType::kBool), Args(std::move(by_row)), expr.span);
  whole->axis = 0;
  whole->level = Level::kWorker;
  return ExprValue(std::move(whole), expr.span);
}

/// 32 random bits for each element of a tile of positions; `uniform`: their upper 24 as a number from 0 up to 1.
Value Elaborator::CallRandom(const ast::CallExpr& expr, std::vector<Value> args, bool uniform) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Type& type = args[i].expr->type;
    if (type.is_tile == (i == 1) && !IsFloat(type.dtype) && type.dtype != DType::kBool) continue;
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
    return ExprValue(MakeNode(ExprKind::kSelect, Op::kNone, result,
                              Args(std::move(condition.expr), Clone(*chosen.expr), Clone(*chosen.expr)), span),
                     span);
  }
  return ExprValue(
      MakeFolded(ExprKind::kSelect, Op::kNone, result, Args(std::move(condition.expr), std::move(a.expr), std::move(b.expr)), span),
      span);
}

Value Elaborator::CallPositions(const ast::CallExpr& expr, bool valid, Value x) {
  const BlockIndex& block = *x.block;
  const Span span = expr.span;
  const auto positions = [&] {
    return MakeNode(ExprKind::kPositions, Op::kNone, Type::Tile(DType::kI32, block.step, 1), Args(Clone(*block.start)), span);
  };
  if (!valid) return ExprValue(positions(), span);
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

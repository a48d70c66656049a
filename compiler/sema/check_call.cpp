// SPDX-License-Identifier: MIT
// Calls: which function, conversions, and what the standard functions of builtin.def take. What these give:
// check_call_elements.cpp, check_call_tile.cpp, check_call_composed.cpp. `fn`s are in check_fn_call.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/habits.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/scoped.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
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
  // Made of others: check_call_composed.cpp.
  kRowArgMax,
  kSoftmax,
  kOnline,
  kRepeat,
};

struct Builtin {
  std::string_view name;
  Class kind;
  Op op;
  size_t least, most;
  std::string_view arguments;
};

constexpr Builtin kBuiltins[] = {
#define BUILTIN(name, kind, op, least, most, arguments) {#name, Class::k##kind, Op::op, least, most, arguments},
#include "compiler/sema/builtin.def"
#undef BUILTIN
};

const Builtin* FindBuiltin(std::string_view name) {
  for (const Builtin& builtin : kBuiltins) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

}  // namespace

bool IsStandardFunction(std::string_view name) { return FindBuiltin(name) != nullptr || DTypeFromName(name).has_value(); }

bool IsOfElements(std::string_view name) {
  const Builtin* builtin = FindBuiltin(name);
  if (builtin == nullptr) return DTypeFromName(name).has_value();
  switch (builtin->kind) {
    case Class::kFloatUnary:
    case Class::kPow:
    case Class::kAbs:
    case Class::kMinMax:
    case Class::kClamp:
    case Class::kCdiv:
    case Class::kWhere: return true;
    default: return false;
  }
}

bool IsMadeOfOthers(std::string_view name) {
  const Builtin* builtin = FindBuiltin(name);
  if (builtin == nullptr) return false;
  switch (builtin->kind) {
    case Class::kRowArgMax:
    case Class::kSoftmax:
    case Class::kOnline:
    case Class::kRepeat: return true;
    default: return false;
  }
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
  const bool is_math = !x.expr->type.is_tile && typed::ScalarDType(dtype) == DType::kI64;
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
  // What a `fn` gives stands where its body does; the conversion stands here.
  const Span inner = converted->span;
  const bool is_here = inner.file == expr.span.file && inner.begin >= expr.span.begin && inner.end <= expr.span.end;
  if (converted->kind == ExprKind::kConvert && !is_here) converted->span = expr.span;
  // A float may become a u64 that no i64 is.
  if (is_math && dtype != DType::kU64) return of_width(MakeConvert(std::move(converted), DType::kI64));
  return ExprValue(std::move(converted), expr.span);
}

namespace {

/// `exp` of `__expf`, `max` of `fmaxf`: functions of C by their names here, where there is one of that name.
std::string WithoutAffixes(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
  std::string plain = name.ends_with('f') ? name.substr(0, name.size() - 1) : name;
  if (!IsStandardFunction(plain) && plain.starts_with('f')) plain.erase(0, 1);
  return IsStandardFunction(plain) ? plain : name;
}

}  // namespace

Value Elaborator::NoSuchFunction(const ast::CallExpr& expr) {
  const std::string& name = expr.callee.text;
  std::vector<std::string> names;
  for (const Builtin& candidate : kBuiltins) names.emplace_back(candidate.name);
  for (const auto& [fn, decl] : context_.fns) names.push_back(fn);
  const std::string nearest = NearestName(WithoutAffixes(name), std::move(names));
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kUnknownName, expr.callee.span, fmt::format("there is no function `{}`", name));
  const std::string_view type = NameInOtherLanguages(name), help = HelpForFunction(name);
  if (!type.empty())
    report.Help(fmt::format("a conversion is written `{}(..)`", type), Edit{expr.callee.span, std::string(type)});
  else if (!help.empty())
    report.Help(std::string(help));
  else if (!nearest.empty())
    report.Help(fmt::format("write `{}`", nearest), Edit{expr.callee.span, nearest});
  for (const ast::ExprPtr& argument : expr.arguments) Eval(*argument);
  return Error();
}

bool Elaborator::EvalArguments(const ast::CallExpr& expr, size_t least, size_t most, bool takes_block, std::vector<Value>& args) {
  const std::string& name = expr.callee.text;
  if (expr.arguments.size() < least || expr.arguments.size() > most) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kWrongArguments, expr.span,
                           fmt::format("`{}` takes {} argument{}, found {}", name,
                                       least == most ? fmt::format("{}", least) : fmt::format("at least {}", least),
                                       most == 1 ? "" : "s", expr.arguments.size()));
    if (expr.arguments.size() == 1 && (name == "max" || name == "min"))
      report.Help(fmt::format("of the elements of a row or column it is `row{0}(x)` or `col{0}(x)`", name));
    else if (const Builtin* builtin = FindBuiltin(name))
      report.Help(fmt::format("write `{}({})`", name, builtin->arguments));
    return false;
  }
  const Builtin* callee = FindBuiltin(name);
  const bool reduces = callee != nullptr && (callee->kind == Class::kRowReduce || callee->kind == Class::kColReduce ||
                                             callee->kind == Class::kRowArgMax || callee->kind == Class::kSoftmax);
  const Scoped<bool> reduced(is_reduced_, is_reduced_ || reduces);
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
    case Class::kRowArgMax: return CallRowArgMax(expr, std::move(args[0]));
    case Class::kSoftmax: return CallSoftmax(expr, std::move(args[0]));
    case Class::kOnline: return CallOnline(expr, std::move(args));
    case Class::kRepeat: return CallRepeat(expr, std::move(args));
  }
  InternalError("a function of no class", expr.span);
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Calls of `fn`s: arguments matched with declared types, and the body inlined.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/support/scoped.h"

namespace tkc::sema {

using typed::ExprPtr;
using typed::Type;

namespace {

constexpr size_t kDeepestInlining = 50;

}  // namespace

bool Elaborator::MatchExtent(const ast::Expr& extent, int64_t actual, const Value& value, const std::string& what) {
  if (const auto* name = ast::DynCast<ast::NameExpr>(extent); name != nullptr && scope_->Find(name->name) == nullptr) {
    Symbol symbol;
    symbol.value = ExprValue(MakeInt(actual, name->span), name->span);
    symbol.span = name->span;
    scope_->Declare(name->name, std::move(symbol));
    return true;
  }
  const std::optional<int64_t> wanted = Constant(extent, "an extent");
  if (!wanted) return false;
  if (*wanted == actual) return true;
  diagnostics_
      .Error(DiagnosticKind::kShapeMismatch, value.span, fmt::format("{} has extent {}, the value {}", what, *wanted, actual))
      .Label(value.span, fmt::format("is {}", Describe(value)))
      .Label(extent.span, fmt::format("is {}", *wanted));
  return false;
}

/// Checks a value against the written type of a parameter or result; names in it that are new stand for what they meet.
bool Elaborator::MatchFnType(const ast::TypeExpr& type, Value& value, const std::string& what, Span decl) {
  if (type.kind == ast::TypeExpr::Kind::kNamed && !DTypeFromName(type.name.text)) {
    if (type.name.text == "pair" && value.kind == Value::Kind::kTuple && value.elements.size() == 2) return true;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span, fmt::format("{} is `{}`", what, type.name.text))
        .Label(value.span, fmt::format("is {}", Describe(value)));
    return false;
  }
  if (type.kind == ast::TypeExpr::Kind::kTuple) {
    if (value.kind != Value::Kind::kTuple || value.elements.size() != type.fields.size()) {
      diagnostics_
          .Error(DiagnosticKind::kTypeMismatch, value.span, fmt::format("{} is a tuple of {} values", what, type.fields.size()))
          .Label(value.span, fmt::format("is {}", Describe(value)));
      return false;
    }
    for (size_t i = 0; i < type.fields.size(); ++i) {
      if (!MatchFnType(*type.fields[i].type, value.elements[i], what, decl)) return false;
    }
    value.names.clear();
    for (const ast::TypeExpr::Field& field : type.fields) value.names.push_back(field.name.text);
    return true;
  }
  if (type.kind == ast::TypeExpr::Kind::kIndexOf) {
    if (!value.IsScalar() || value.count == 0) {
      diagnostics_
          .Error(DiagnosticKind::kPartIndex, value.span, fmt::format("{} is an index that knows how many parts there are", what))
          .Label(value.span, fmt::format("is {}", Describe(value)))
          .Help("use the index of a worker, `worker compute[W] as w`, or of a loop, `for u in 4`");
      return false;
    }
    return MatchExtent(*type.of, value.count, value, what);
  }
  const std::optional<DType> dtype = ElementType(type);
  if (!dtype) return false;
  if (!type.has_dims && value.IsTile()) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span, fmt::format("{} is a number, the value a tile", what))
        .Label(value.span, fmt::format("is {}", Describe(value)))
        .Note(decl, "declared here")
        .Help(fmt::format("a tile of any shape is `{}[R, C]`", Name(*dtype)));
    return false;
  }
  if (!type.has_dims) {
    ExprPtr expr = Coerce(std::move(value), Type::Scalar(typed::ScalarDType(*dtype)), false, what, decl);
    if (!expr) return false;
    const Span span = expr->span;
    value = ExprValue(std::move(expr), span);
    return true;
  }
  if (!value.IsTile() || value.expr->type.dtype != *dtype || type.dims.size() > 2 ||
      (type.dims.size() == 1 && value.expr->type.cols != 1)) {
    const bool converts = value.IsTile() && IsFloat(value.expr->type.dtype) && IsFloat(*dtype);
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span, fmt::format("{} is a tile of `{}`", what, Name(*dtype)));
    report.Label(value.span, fmt::format("is {}", Describe(value))).Note(decl, "declared here");
    if (converts) {
      report.Help(fmt::format("convert it: `{}(..)`", Name(*dtype)),
                  std::vector<Edit>{{{value.span.file, value.span.begin, value.span.begin}, fmt::format("{}(", Name(*dtype))},
                                    {{value.span.file, value.span.end, value.span.end}, ")"}});
    }
    return false;
  }
  if (!MatchExtent(*type.dims[0], value.expr->type.rows, value, what)) return false;
  return type.dims.size() < 2 || MatchExtent(*type.dims[1], value.expr->type.cols, value, what);
}

Value Elaborator::CallFn(const ast::CallExpr& expr, const ast::FnDecl& fn) {
  if (std::find(inlining_.begin(), inlining_.end(), &fn) != inlining_.end()) {
    diagnostics_
        .Error(DiagnosticKind::kRecursiveFn, expr.span, fmt::format("`{}` calls itself; functions are inlined", fn.name.text))
        .Note(fn.name.span, "declared here");
    return Error();
  }
  if (expr.arguments.size() != fn.params.size()) {
    diagnostics_
        .Error(DiagnosticKind::kWrongArguments, expr.span,
               fmt::format("`{}` takes {} argument{}, found {}", fn.name.text, fn.params.size(), fn.params.size() == 1 ? "" : "s",
                           expr.arguments.size()))
        .Note(fn.name.span, "declared here");
    return Error();
  }
  if (inlining_.size() >= kDeepestInlining || !copies_.Take()) {
    if (copies_.End()) {
      diagnostics_.Error(DiagnosticKind::kNestingTooDeep, expr.span,
                         fmt::format("calls and unrolled loops make more than {} copies, or go more than {} deep",
                                     CopyBudget::kMost, kDeepestInlining));
    }
    return Error();
  }
  std::vector<Value> args;
  if (!EvalAll(expr.arguments, args)) return Error();
  Scope own;
  own.Open();
  const Scoped<Scope*> in_function(scope_, &own);
  inlining_.push_back(&fn);
  bool failed = false;
  for (size_t i = 0; i < args.size() && !failed; ++i) {
    const ast::FnParam& param = fn.params[i];
    const Span span = args[i].span;
    if (param.type) failed = !MatchFnType(*param.type, args[i], fmt::format("parameter `{}`", param.name.text), param.span);
    if (failed) break;
    const int64_t count = args[i].count;
    Symbol symbol;
    symbol.value = BindNew(param.name.text, std::move(args[i]), span);
    symbol.value.count = count;
    symbol.span = param.name.span;
    own.Declare(param.name.text, std::move(symbol));
  }
  Value result;
  if (!failed) {
    const Scoped<const char*> without_receives(no_receive_, "in a function");
    result = EvalBranch(fn.body);
    if (!result.IsError() && fn.return_type &&
        !MatchFnType(*fn.return_type, result, fmt::format("the result of `{}`", fn.name.text), fn.return_type->span))
      result = Error();
  }
  inlining_.pop_back();
  return result;
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/interp/expr_text.h"

#include <fmt/format.h>

#include <string_view>

namespace tkc::interp {
namespace {

using typed::Expr;
using typed::ExprKind;
using typed::Kernel;
using typed::Op;

struct OpText {
  std::string_view text;
  int strength;  // binds tighter when larger; 0 for functions
};

OpText TextOf(Op op) {
  switch (op) {
    case Op::kOr: return {"or", 1};
    case Op::kAnd: return {"and", 2};
    case Op::kEq: return {"==", 3};
    case Op::kNe: return {"!=", 3};
    case Op::kLt: return {"<", 3};
    case Op::kLe: return {"<=", 3};
    case Op::kGt: return {">", 3};
    case Op::kGe: return {">=", 3};
    case Op::kAdd: return {"+", 4};
    case Op::kSub: return {"-", 4};
    case Op::kMul: return {"*", 5};
    case Op::kDiv: return {"/", 5};
    case Op::kMod: return {"%", 5};
    case Op::kMin: return {"min", 0};
    case Op::kMax: return {"max", 0};
    case Op::kCdiv: return {"cdiv", 0};
    case Op::kAbs: return {"abs", 0};
    default: return {"..", 0};
  }
}

std::string Text(const Kernel& kernel, const Expr& expr, int strength) {
  switch (expr.kind) {
    case ExprKind::kInt: return fmt::format("{}", expr.int_value);
    case ExprKind::kFloat: return fmt::format("{}", expr.float_value);
    case ExprKind::kBool: return expr.int_value != 0 ? "true" : "false";
    case ExprKind::kDim: return kernel.dims[static_cast<size_t>(expr.id)].name;
    case ExprKind::kParam: return kernel.params[static_cast<size_t>(expr.id)].name;
    case ExprKind::kVar: return kernel.vars[static_cast<size_t>(expr.id)].name;
    case ExprKind::kConvert:
      if (expr.args[0]->type.dtype == expr.type.dtype) return Text(kernel, *expr.args[0], strength);
      return fmt::format("{}({})", Name(expr.type.dtype), Text(kernel, *expr.args[0], 0));
    case ExprKind::kUnary: return (expr.op == Op::kNot ? "not " : "-") + Text(kernel, *expr.args[0], 6);
    case ExprKind::kBinary: {
      const OpText op = TextOf(expr.op);
      std::string text =
          fmt::format("{} {} {}", Text(kernel, *expr.args[0], op.strength), op.text, Text(kernel, *expr.args[1], op.strength + 1));
      return op.strength < strength ? "(" + text + ")" : text;
    }
    case ExprKind::kCall: {
      std::string text = fmt::format("{}(", TextOf(expr.op).text);
      for (size_t i = 0; i < expr.args.size(); ++i) text += (i > 0 ? ", " : "") + Text(kernel, *expr.args[i], 0);
      return text + ")";
    }
    default: return "..";
  }
}

void Collect(const Expr& expr, std::vector<const Expr*>& names) {
  if (expr.kind == ExprKind::kDim || expr.kind == ExprKind::kParam || expr.kind == ExprKind::kVar) {
    for (const Expr* name : names) {
      if (name->kind == expr.kind && name->id == expr.id) return;
    }
    names.push_back(&expr);
  }
  for (const typed::ExprPtr& arg : expr.args) Collect(*arg, names);
}

}  // namespace

std::string ExprText(const Kernel& kernel, const Expr& expr) { return Text(kernel, expr, 0); }

std::vector<const Expr*> MentionedNames(const Expr& expr) {
  std::vector<const Expr*> names;
  Collect(expr, names);
  return names;
}

}  // namespace tkc::interp

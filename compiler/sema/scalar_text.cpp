// SPDX-License-Identifier: MIT
#include "compiler/sema/scalar_text.h"

#include <fmt/format.h>

#include <string_view>

namespace tkc::sema {
namespace {

using typed::Expr;
using typed::ExprKind;
using typed::Op;

constexpr int kDeepest = 6;  // of a formula in a message: what lies deeper than anybody reads is `..`

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

/// `strength`: in brackets unless it binds as tightly.
std::string Text(const typed::Kernel& kernel, const Expr& expr, int strength, int depth) {
  if (depth > kDeepest) return "..";
  // Conditions are as long as somebody wrote them.
  const int inner = expr.op == Op::kAnd ? depth : depth + 1;
  const auto arg = [&](size_t i, int wanted) { return Text(kernel, *expr.args[i], wanted, inner); };
  switch (expr.kind) {
    case ExprKind::kInt: return fmt::format("{}", expr.int_value);
    case ExprKind::kFloat: return fmt::format("{}", expr.float_value);
    case ExprKind::kBool: return expr.int_value != 0 ? "true" : "false";
    case ExprKind::kDim: return kernel.dims[expr.id].name;
    case ExprKind::kParam: return kernel.params[expr.id].name;
    case ExprKind::kVar: return kernel.vars[expr.id].name;
    case ExprKind::kConvert: {
      if (IsFloat(expr.type.dtype) == IsFloat(expr.args[0]->type.dtype)) return arg(0, strength);
      return fmt::format("{}({})", Name(expr.type.dtype), arg(0, 0));
    }
    case ExprKind::kElement: {
      std::string text = kernel.params[expr.id].name + "[";
      for (size_t i = 0; i < expr.axes.size(); ++i) text += (i > 0 ? ", " : "") + Text(kernel, *expr.axes[i].start, 0, inner);
      return text + "]";
    }
    case ExprKind::kUnary: return (expr.op == Op::kNot ? "not " : "-") + arg(0, 6);
    case ExprKind::kBinary: {
      const OpText op = TextOf(expr.op);
      const std::string text = fmt::format("{} {} {}", arg(0, op.strength), op.text, arg(1, op.strength + 1));
      return op.strength < strength ? "(" + text + ")" : text;
    }
    case ExprKind::kCall: {
      std::string text = fmt::format("{}(", TextOf(expr.op).text);
      for (size_t i = 0; i < expr.args.size(); ++i) text += (i > 0 ? ", " : "") + arg(i, 0);
      return text + ")";
    }
    default: return "..";
  }
}

void AddNames(const Expr& expr, std::vector<const Expr*>& names) {
  if (expr.kind == ExprKind::kDim || expr.kind == ExprKind::kParam || expr.kind == ExprKind::kVar) {
    for (const Expr* name : names) {
      if (name->kind == expr.kind && name->id == expr.id) return;
    }
    names.push_back(&expr);
  }
  for (const typed::ExprPtr& arg : expr.args) AddNames(*arg, names);
}

}  // namespace

std::string ScalarText(const typed::Kernel& kernel, const Expr& expr) { return Text(kernel, expr, 0, 0); }

std::string LoopText(const typed::Kernel& kernel, const typed::Stmt& loop) {
  std::string text = kernel.vars[loop.var].name + " in ";
  const bool from_zero = loop.lo->kind == ExprKind::kInt && loop.lo->int_value == 0;
  if (!from_zero) text += ScalarText(kernel, *loop.lo) + " .. ";
  text += ScalarText(kernel, *loop.hi);
  if (loop.is_block_loop) text += fmt::format(" by {}", loop.step);
  return text;
}

std::vector<const Expr*> MentionedNames(const Expr& expr) {
  std::vector<const Expr*> names;
  AddNames(expr, names);
  return names;
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/sema/scalar_text.h"

#include <fmt/format.h>

namespace tkc::sema {
namespace {

using typed::Expr;
using typed::ExprKind;
using typed::Op;

constexpr int kDeepest = 6;  // of a formula in a message: what lies deeper than anybody reads is `..`

const char* Infix(Op op) {
  switch (op) {
    case Op::kAdd: return "+";
    case Op::kSub: return "-";
    case Op::kMul: return "*";
    case Op::kDiv: return "/";
    case Op::kMod: return "%";
    case Op::kEq: return "==";
    case Op::kNe: return "!=";
    case Op::kLt: return "<";
    case Op::kLe: return "<=";
    case Op::kGt: return ">";
    case Op::kGe: return ">=";
    case Op::kAnd: return "and";
    case Op::kOr: return "or";
    default: return nullptr;
  }
}

std::string Text(const typed::Kernel& kernel, const Expr& expr, int depth) {
  if (depth > kDeepest) return "..";
  const auto arg = [&](size_t i) { return Text(kernel, *expr.args[i], depth + 1); };
  switch (expr.kind) {
    case ExprKind::kInt: return fmt::format("{}", expr.int_value);
    case ExprKind::kFloat: return fmt::format("{}", expr.float_value);
    case ExprKind::kBool: return expr.int_value != 0 ? "true" : "false";
    case ExprKind::kDim: return kernel.dims[expr.id].name;
    case ExprKind::kParam: return kernel.params[expr.id].name;
    case ExprKind::kVar: return kernel.vars[expr.id].name;
    case ExprKind::kConvert: return arg(0);
    case ExprKind::kElement: {
      std::string text = kernel.params[expr.id].name + "[";
      for (size_t i = 0; i < expr.axes.size(); ++i) text += (i > 0 ? ", " : "") + Text(kernel, *expr.axes[i].start, depth + 1);
      return text + "]";
    }
    case ExprKind::kUnary: return (expr.op == Op::kNot ? "not " : "-") + arg(0);
    case ExprKind::kBinary: {
      const char* infix = Infix(expr.op);
      if (infix == nullptr) return "..";
      return depth == 0 ? fmt::format("{} {} {}", arg(0), infix, arg(1)) : fmt::format("({} {} {})", arg(0), infix, arg(1));
    }
    case ExprKind::kCall: {
      const char* name = expr.op == Op::kMin ? "min" : expr.op == Op::kMax ? "max" : expr.op == Op::kCdiv ? "cdiv" : nullptr;
      return name == nullptr || expr.args.size() != 2 ? ".." : fmt::format("{}({}, {})", name, arg(0), arg(1));
    }
    default: return "..";
  }
}

}  // namespace

std::string ScalarText(const typed::Kernel& kernel, const typed::Expr& expr) { return Text(kernel, expr, 0); }

std::string LoopText(const typed::Kernel& kernel, const typed::Stmt& loop) {
  std::string text = kernel.vars[loop.var].name + " in ";
  const bool from_zero = loop.lo->kind == ExprKind::kInt && loop.lo->int_value == 0;
  if (!from_zero) text += ScalarText(kernel, *loop.lo) + " .. ";
  text += ScalarText(kernel, *loop.hi);
  if (loop.is_block_loop) text += fmt::format(" by {}", loop.step);
  return text;
}

}  // namespace tkc::sema

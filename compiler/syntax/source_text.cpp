// SPDX-License-Identifier: MIT
#include "compiler/syntax/source_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace tkc::ast {
namespace {

std::string Listed(const std::vector<ExprPtr>& items) {
  std::vector<std::string> texts;
  for (const ExprPtr& item : items) texts.push_back(SourceText(*item));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string TextOf(const Index& index) {
  switch (index.kind) {
    case Index::Kind::kExpr: return SourceText(*index.expr);
    case Index::Kind::kAll: return ":";
    case Index::Kind::kSlice: return fmt::format("{} :+ {}", SourceText(*index.expr), SourceText(*index.count));
    case Index::Kind::kBlock:
      return fmt::format("{} .. {} by {}", SourceText(*index.expr), SourceText(*index.end), SourceText(*index.count));
  }
  return "";
}

std::string TextOf(const IndexExpr& expr) {
  std::vector<std::string> indices;
  for (const Index& index : expr.indices) indices.push_back(TextOf(index));
  const std::string fill = expr.fill ? " else " + SourceText(*expr.fill) : "";
  return fmt::format("{}[{}]{}", SourceText(*expr.base), fmt::join(indices, ", "), fill);
}

std::string TextOf(const FloatExpr& expr) {
  const std::string text = fmt::format("{}", expr.value);
  return text.find_first_of(".e") != std::string::npos ? text : text + ".0";
}

std::string TextOf(const UnaryExpr& expr) {
  return fmt::format("{}{}{}", Spelling(expr.op), expr.op == UnaryOp::kNot ? " " : "", SourceText(*expr.operand));
}

/// `let`s of a branch are left out: what is shown is short.
std::string TextOf(const IfExpr& expr) {
  const auto branch = [](const Block& block) {
    return fmt::format("{{ {}{} }}", block.stmts.empty() ? "" : ".. ", block.result ? SourceText(*block.result) : "..");
  };
  return fmt::format("if {} {} else {}", SourceText(*expr.condition), branch(expr.then_branch), branch(expr.else_branch));
}

std::string WithoutParentheses(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kInt: return fmt::format("{}", Cast<IntExpr>(expr).value);
    case ExprKind::kFloat: return TextOf(Cast<FloatExpr>(expr));
    case ExprKind::kBool: return Cast<BoolExpr>(expr).value ? "true" : "false";
    case ExprKind::kName: return Cast<NameExpr>(expr).name;
    case ExprKind::kUnary: return TextOf(Cast<UnaryExpr>(expr));
    case ExprKind::kBinary: {
      const auto& binary = Cast<BinaryExpr>(expr);
      return fmt::format("{} {} {}", SourceText(*binary.left), Spelling(binary.op), SourceText(*binary.right));
    }
    case ExprKind::kCall: {
      const auto& call = Cast<CallExpr>(expr);
      return fmt::format("{}({})", call.callee.text, Listed(call.arguments));
    }
    case ExprKind::kMethod: {
      const auto& method = Cast<MethodExpr>(expr);
      return fmt::format("{}.{}({})", SourceText(*method.base), method.method.text, Listed(method.arguments));
    }
    case ExprKind::kField: return fmt::format("{}.{}", SourceText(*Cast<FieldExpr>(expr).base), Cast<FieldExpr>(expr).field.text);
    case ExprKind::kIndex: return TextOf(Cast<IndexExpr>(expr));
    case ExprKind::kTuple: return Listed(Cast<TupleExpr>(expr).elements);
    case ExprKind::kIf: return TextOf(Cast<IfExpr>(expr));
    case ExprKind::kReceive: {
      const auto& receive = Cast<ReceiveExpr>(expr);
      return fmt::format("<-{}{}", receive.pipe.text, receive.index ? fmt::format("[{}]", SourceText(*receive.index)) : "");
    }
  }
  return "";
}

}  // namespace

std::string SourceText(const Expr& expr) {
  const bool has_parentheses = expr.parenthesized || expr.kind == ExprKind::kTuple;
  return has_parentheses ? fmt::format("({})", WithoutParentheses(expr)) : WithoutParentheses(expr);
}

}  // namespace tkc::ast

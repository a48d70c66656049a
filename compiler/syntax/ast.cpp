// SPDX-License-Identifier: MIT
#include "compiler/syntax/ast.h"

namespace tkc::ast {

std::string_view Spelling(UnaryOp op) { return op == UnaryOp::kNegate ? "-" : "not"; }

std::string_view Spelling(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return "+";
    case BinaryOp::kSubtract: return "-";
    case BinaryOp::kMultiply: return "*";
    case BinaryOp::kDivide: return "/";
    case BinaryOp::kModulo: return "%";
    case BinaryOp::kMatMul: return "@";
    case BinaryOp::kEqual: return "==";
    case BinaryOp::kNotEqual: return "!=";
    case BinaryOp::kLess: return "<";
    case BinaryOp::kLessEqual: return "<=";
    case BinaryOp::kGreater: return ">";
    case BinaryOp::kGreaterEqual: return ">=";
    case BinaryOp::kAnd: return "and";
    case BinaryOp::kOr: return "or";
  }
  return "?";
}

std::string_view Spelling(AssignOp op) {
  switch (op) {
    case AssignOp::kSet: return "=";
    case AssignOp::kAdd: return "+=";
    case AssignOp::kSubtract: return "-=";
    case AssignOp::kMultiply: return "*=";
    case AssignOp::kDivide: return "/=";
    case AssignOp::kMax: return "max=";
    case AssignOp::kMin: return "min=";
  }
  return "?";
}

}  // namespace tkc::ast

// SPDX-License-Identifier: MIT
// Types: of elements, tiles and tensors, tuples and their fields, indices.
#include "compiler/support/dtype.h"
#include "compiler/syntax/parser_impl.h"

namespace tkc {

ast::TypeExprPtr Parser::ParseType() {
  Depth depth(*this);
  if (!depth.ok()) return nullptr;
  if (At(TokenKind::kLeftParen)) return ParseTupleType();
  auto type = std::make_unique<ast::TypeExpr>();
  const Span begin = Here();
  if (AtWord("index") && PeekWord(1, "of")) {
    Take();
    Take();
    type->kind = ast::TypeExpr::Kind::kIndexOf;
    if (!(type->of = ParseAdditive())) return nullptr;
    type->span = Since(begin);
    return type;
  }
  if (!ExpectName("a type", type->name)) return nullptr;
  type->kind = DTypeFromName(type->name.text) ? ast::TypeExpr::Kind::kElement : ast::TypeExpr::Kind::kNamed;
  if (At(TokenKind::kLeftBracket) && !AtLineEnd()) {
    const Span open = SpanOf(Take());
    Brackets brackets(*this, true);
    type->has_dims = true;
    do {
      if (At(TokenKind::kRightBracket)) break;
      ast::ExprPtr dim = ParseExpr();
      if (!dim) return nullptr;
      type->dims.push_back(std::move(dim));
    } while (TakeIf(TokenKind::kComma));
    if (!ExpectClose(TokenKind::kRightBracket, open)) return nullptr;
  }
  type->span = Since(begin);
  return type;
}

ast::TypeExprPtr Parser::ParseTupleType() {
  auto type = std::make_unique<ast::TypeExpr>();
  type->kind = ast::TypeExpr::Kind::kTuple;
  const Span open = SpanOf(Take());
  Brackets brackets(*this, true);
  while (!At(TokenKind::kRightParen)) {
    ast::TypeExpr::Field& field = type->fields.emplace_back();
    if (At(TokenKind::kName) && Peek(1).kind == TokenKind::kColon) {
      ExpectName("a field", field.name);
      Take();
    }
    if (!(field.type = ParseType())) return nullptr;
    if (TakeWordIf("x") && !(field.repeat = ParseAdditive())) return nullptr;
    if (!TakeIf(TokenKind::kComma)) break;
  }
  if (!ExpectClose(TokenKind::kRightParen, open)) return nullptr;
  type->span = Since(open);
  if (type->fields.empty()) {
    Error(DiagnosticKind::kExpectedSyntax, type->span, "expected a type, found `()`");
    return nullptr;
  }
  return type;
}

}  // namespace tkc

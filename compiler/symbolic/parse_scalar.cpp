// SPDX-License-Identifier: MIT
// Precedence climbing over the table in precedence.h. Operations take the type of their operands: the text does not repeat it.
#include "compiler/symbolic/parse_scalar.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "compiler/symbolic/precedence.h"

namespace tkc::symbolic {
namespace {

constexpr int kMaxDepth = 256;

class Parser {
 public:
  Parser(TextLexer& lexer, const DTypeOf& dtype_of) : lexer_(lexer), dtype_of_(dtype_of) {}

  Scalar Expression(int precedence = 0) {
    if (++depth_ > kMaxDepth) return Fail(fmt::format("at most {} nested terms", kMaxDepth));
    Scalar left = Unary();
    while (left) {
      const Token& token = lexer_.Peek();
      const bool may_be_infix = token.kind == TokenKind::kPunctuation || token.kind == TokenKind::kName;
      const Infix* infix = may_be_infix && !token.starts_line ? FindInfix(token.text) : nullptr;
      if (!infix || infix->precedence < precedence) break;
      lexer_.Next();
      const Scalar right = Expression(infix->precedence + 1);
      if (!right) return nullptr;
      left = Binary(infix->kind, left, right);
      if (!infix->chains && IsComparison(lexer_.Peek())) return Fail("no second comparison");
    }
    --depth_;
    return left;
  }

 private:
  Scalar Fail(std::string_view expected) {
    lexer_.Error(expected);
    return nullptr;
  }

  static bool IsComparison(const Token& token) {
    const Infix* infix = token.kind == TokenKind::kPunctuation ? FindInfix(token.text) : nullptr;
    return infix && !infix->chains;
  }

  static Scalar Binary(Kind kind, const Scalar& a, const Scalar& b) {
    if (kind == Kind::kAnd || kind == Kind::kOr || (kind >= Kind::kEq && kind <= Kind::kGe))
      return Make(kind, DType::kBool, {a, b});
    // A literal integer beside a typed scalar does not decide.
    // What the runtime counts (blocks, instances) is an index where it is computed with.
    const auto type_of = [](const Scalar& side) {
      return side->kind == Kind::kCall && side->args.empty() ? DType::kI64 : side->dtype;
    };
    return Make(kind, type_of(a) == DType::kI64 ? type_of(b) : type_of(a), {a, b});
  }

  Scalar Unary() {
    if (lexer_.Accept("not")) {
      const Scalar arg = Expression(kNotPrecedence);
      return arg ? Make(Kind::kNot, DType::kBool, {arg}) : nullptr;
    }
    if (lexer_.Accept("-")) {
      if (IsNumber(lexer_.Peek())) return Number(DType::kF32, true);
      if (++depth_ > kMaxDepth) return Fail(fmt::format("at most {} nested terms", kMaxDepth));
      const Scalar arg = Unary();
      --depth_;
      return arg ? Make(Kind::kNeg, arg->dtype, {arg}) : nullptr;
    }
    return Primary();
  }

  static bool IsNumber(const Token& token) {
    return token.kind == TokenKind::kInt || token.kind == TokenKind::kFloat || token.Is("inf") || token.Is("nan");
  }

  /// A literal; floats of type `dtype`.
  Scalar Number(DType dtype, bool negative) {
    const Token token = lexer_.Next();
    if (token.kind == TokenKind::kInt) return Integer(token, negative);
    double value = 0;
    if (token.text == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (token.text == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      value = std::strtod(std::string(token.text).c_str(), nullptr);
    }
    return Float(negative ? -value : value, dtype);
  }

  Scalar Integer(const Token& token, bool negative) {
    const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
    uint64_t magnitude = 0;
    for (const char digit : token.text) {
      const auto next = static_cast<uint64_t>(digit - '0');
      if (magnitude > (limit - next) / 10) {
        lexer_.ErrorAt(token.span, fmt::format("`{}` does not fit in 64 bits", token.text));
        return nullptr;
      }
      magnitude = magnitude * 10 + next;
    }
    return Int(static_cast<int64_t>(negative ? 0 - magnitude : magnitude));
  }

  Scalar Primary() {
    if (IsNumber(lexer_.Peek())) return Number(DType::kF32, false);
    if (lexer_.Accept("(")) {
      const Scalar inner = Expression();
      return inner && lexer_.Expect(")") ? inner : nullptr;
    }
    if (lexer_.Accept("@")) return CallOf(lexer_.Next());
    if (lexer_.Peek().kind != TokenKind::kName) return Fail("a scalar");
    const Token name = lexer_.Next();
    if (name.text == "true" || name.text == "false") return Bool(name.text == "true");
    if (lexer_.Peek().Is("(")) return Function(name);
    if (lexer_.Peek().Is("[") && !lexer_.Peek().starts_line) {
      std::vector<Scalar> indices;
      if (!List("[", "]", &indices)) return nullptr;
      return Element(std::string(name.text), dtype_of_(name.text), std::move(indices));
    }
    return Name(std::string(name.text), dtype_of_(name.text));
  }

  bool List(std::string_view open, std::string_view close, std::vector<Scalar>* list) {
    if (!lexer_.Expect(open)) return false;
    if (lexer_.Accept(close)) return true;
    do {
      list->push_back(Expression());
      if (!list->back()) return false;
    } while (lexer_.Accept(","));
    return lexer_.Expect(close);
  }

  Scalar CallOf(const Token& token) {
    std::string_view name = token.text;
    std::optional<DType> dtype;
    const size_t dot = name.rfind('.');
    if (dot != std::string_view::npos) dtype = DTypeFromName(name.substr(dot + 1));
    if (dtype) name = name.substr(0, dot);
    std::vector<Scalar> args;
    if (!List("(", ")", &args)) return nullptr;
    if (!dtype && args.empty()) {
      lexer_.ErrorAt(token.span, fmt::format("`@{}` has no argument that gives its type: write `@{}.f32()`", name, name));
      return nullptr;
    }
    const DType type = dtype ? *dtype : args[0]->dtype;
    return Call(std::string(name), type, std::move(args));
  }

  Scalar Conversion(DType dtype) {
    lexer_.Expect("(");
    Scalar value = HoldsOnlyNumber() ? Number(IsFloat(dtype) ? dtype : DType::kF32, lexer_.Accept("-")) : Expression();
    if (!value || !lexer_.Expect(")")) return nullptr;
    return Convert(value, dtype);
  }

  /// A literal of the type itself, not an f32 converted to it: f64 keeps all its digits.
  bool HoldsOnlyNumber() const {
    TextLexer ahead = lexer_;
    ahead.Accept("-");
    if (!IsNumber(ahead.Peek())) return false;
    ahead.Next();
    return ahead.Peek().Is(")");
  }

  Scalar Function(const Token& name) {
    if (const std::optional<DType> dtype = DTypeFromName(name.text)) return Conversion(*dtype);
    std::vector<Scalar> args;
    if (!List("(", ")", &args)) return nullptr;
    const auto is = [&](std::string_view text, size_t count) { return name.text == text && args.size() == count; };
    if (is("min", 2)) return Binary(Kind::kMin, args[0], args[1]);
    if (is("max", 2)) return Binary(Kind::kMax, args[0], args[1]);
    if (is("cdiv", 2)) return Binary(Kind::kCdiv, args[0], args[1]);
    if (is("select", 3)) return Make(Kind::kSelect, args[1]->dtype, args);
    lexer_.ErrorAt(name.span, fmt::format("no function `{}` of {} arguments; calls of the runtime are written `@{}(...)`",
                                          name.text, args.size(), name.text));
    return nullptr;
  }

  TextLexer& lexer_;
  const DTypeOf& dtype_of_;
  int depth_ = 0;
};

}  // namespace

Scalar ParseScalar(TextLexer& lexer, const DTypeOf& dtype_of) { return Parser(lexer, dtype_of).Expression(); }

Scalar ParseScalar(std::string_view text, const DTypeOf& dtype_of, Diagnostics& diagnostics) {
  TextLexer lexer(text, kNoFile, diagnostics);
  Scalar scalar = ParseScalar(lexer, dtype_of);
  if (!scalar) return nullptr;
  if (lexer.Peek().kind != TokenKind::kEnd) {
    lexer.Error("the end of the scalar");
    return nullptr;
  }
  return scalar;
}

}  // namespace tkc::symbolic

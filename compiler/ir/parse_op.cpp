// SPDX-License-Identifier: MIT
#include "compiler/ir/parse_op.h"

#include <fmt/format.h>

#include <span>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/op_words.h"

namespace tkc::ir {

using symbolic::Token;
using symbolic::TokenKind;

namespace {

constexpr int kMaxDepth = 200;

bool OpenLine(const Token& token) { return !token.starts_line && token.kind != TokenKind::kEnd; }

}  // namespace

bool TextParser::Name(std::string* name) {
  const Token& token = lexer_.Peek();
  if (token.kind != TokenKind::kName && token.kind != TokenKind::kString) {
    lexer_.Error("a name");
    return false;
  }
  *name = token.kind == TokenKind::kString ? symbolic::Unescape(token.text) : std::string(token.text);
  lexer_.Next();
  return true;
}

bool TextParser::Integer(int64_t* value) {
  const Scalar scalar = symbolic::ParseScalar(lexer_, [](std::string_view) { return DType::kI64; });
  if (!scalar) return false;
  if (symbolic::IsInt(scalar, value)) return true;
  lexer_.Error("an integer before this");
  return false;
}

bool TextParser::ScalarText(Scalar* scalar) {
  *scalar = symbolic::ParseScalar(lexer_, [this](std::string_view name) {
    const auto place = dtypes_.find(name);
    return place == dtypes_.end() ? DType::kI64 : place->second;
  });
  return *scalar != nullptr;
}

bool TextParser::ScalarList(std::vector<Scalar>* list) {
  do {
    list->emplace_back();
    if (!ScalarText(&list->back())) return false;
  } while (lexer_.Accept(","));
  return true;
}

bool TextParser::Shape(DType* dtype, int64_t* rows, int64_t* cols) {
  const std::optional<DType> found = DTypeFromName(lexer_.Peek().text);
  if (!found) {
    lexer_.Error("an element type");
    return false;
  }
  *dtype = *found;
  lexer_.Next();
  return lexer_.Expect("[") && Integer(rows) && lexer_.Expect(",") && Integer(cols) && lexer_.Expect("]");
}

bool TextParser::Words(std::span<const std::string_view> words, int64_t* number) {
  if (const auto found = FindWord(words, lexer_.Peek().text); found && OpenLine(lexer_.Peek())) {
    *number = *found;
    lexer_.Next();
    return true;
  }
  if (const auto empty = FindWord(words, "")) {
    *number = *empty;
    return true;
  }
  lexer_.Error(fmt::format("one of `{}`", fmt::join(words, "`, `")));
  return false;
}

bool TextParser::Block(Region* region) {
  if (++depth_ > kMaxDepth) {
    lexer_.Error(fmt::format("at most {} nested regions", kMaxDepth));
    return false;
  }
  if (!lexer_.Expect("{")) return false;
  while (!lexer_.Accept("}")) {
    Op op{};
    if (!Operation(&op)) return false;
    region->push_back(std::move(op));
  }
  --depth_;
  return true;
}

bool TextParser::Operation(Op* op) {
  op->span = lexer_.Peek().span;
  std::vector<Token> results;
  bool is_raw = false;
  if (!Results(&results) || !Code(op, &is_raw)) return false;
  op->raw_number = FormatOf(op->code).default_number;
  if (!is_raw && !Pattern(op)) return false;
  if (!Remainder(op)) return false;
  op->span = Join(op->span, lexer_.Peek().span);
  DeclareNames(*op);
  if (!results.empty() && (!lexer_.Expect(":") || !Types(results, op))) return false;
  if (lexer_.Peek().Is("{")) {
    do {
      op->regions.emplace_back();
      if (!Block(&op->regions.back())) return false;
    } while (lexer_.Accept("else"));
  }
  if (op->code == OpCode::kIf && op->regions.size() == 1) op->regions.emplace_back();
  if (OpenLine(lexer_.Peek()) && !lexer_.Peek().Is("}")) {
    lexer_.Error("the end of the line");
    return false;
  }
  return true;
}

bool TextParser::Results(std::vector<Token>* names) {
  if (lexer_.Peek().kind != TokenKind::kValue) return true;
  do {
    if (lexer_.Peek().kind != TokenKind::kValue) {
      lexer_.Error("a value");
      return false;
    }
    names->push_back(lexer_.Next());
  } while (lexer_.Accept(","));
  return lexer_.Expect("=");
}

bool TextParser::Code(Op* op, bool* is_raw) {
  *is_raw = lexer_.Accept("raw");
  for (size_t i = 0; i < kOpCodes; ++i) {
    op->code = static_cast<OpCode>(i);
    if (lexer_.Accept(OpText(op->code))) return true;
  }
  lexer_.Error("an operation");
  return false;
}

bool TextParser::Pattern(Op* op) {
  const OpFormat& format = FormatOf(op->code);
  int skipped = 0, entered = 0;
  for (const Element& element : SplitPattern(format.pattern)) {
    if (element.option != 0 && element.option == skipped) continue;
    if (element.option != 0 && element.option != entered) {  // its first word decides
      if (!OpenLine(lexer_.Peek()) || !lexer_.Accept(element.literal)) {
        skipped = element.option;
      } else {
        entered = element.option;
      }
      continue;
    }
    if (!element.literal.empty() ? !lexer_.Expect(element.literal) : !Field(format, element.field, op)) return false;
  }
  return true;
}

bool TextParser::Field(const OpFormat& format, char field, Op* op) {
  switch (field) {
    case 's':
    case 'q': return Name(&op->symbol);
    case 'l': return Name(&op->raw_slot);
    case 't':
      if (!OpenLine(lexer_.Peek()) || !lexer_.Accept("[")) return true;
      if (!Name(&op->raw_slot)) return false;
      if (lexer_.Accept("+")) op->raw_slot += "+" + std::string(lexer_.Next().text);
      return lexer_.Expect("]");
    case 'x': return Axes(op);
    case 'o': return Operand(op);
    case 'O': return Operands(op);
    case 'a': {
      op->scalars.emplace_back();
      return ScalarText(&op->scalars.back());
    }
    case 'A': return ScalarList(&op->scalars);
    case 'k': return Mixed(op);
    case 'n': return Integer(&op->raw_number);
    case 'u': return Words(kOpWords, &op->raw_number);
    case 'w': return Words(kStoreWords, &op->raw_number);
    case 'e': return Words(SplitWords(format.words), &op->raw_number);
    default: break;
  }
  const Token token = lexer_.Peek();
  std::string name;
  if (!Name(&name)) return false;
  for (size_t i = 0; i < kernel_.barriers.size(); ++i) {
    if (kernel_.barriers[i].name != name) continue;
    op->raw_number = static_cast<int64_t>(i);
    return true;
  }
  lexer_.ErrorAt(token.span, fmt::format("no barrier `{}` is declared above", name));
  return false;
}

bool TextParser::Operand(Op* op) {
  if (lexer_.Peek().kind != TokenKind::kValue) {
    lexer_.Error("a value");
    return false;
  }
  const Token token = lexer_.Next();
  const auto place = values_.find(token.text);
  if (place == values_.end()) {
    lexer_.ErrorAt(token.span, fmt::format("`%{}` is used before it is defined", token.text));
    return false;
  }
  op->operands.push_back(place->second);
  return true;
}

bool TextParser::Operands(Op* op) {
  if (lexer_.Peek().kind != TokenKind::kValue || !OpenLine(lexer_.Peek())) return true;
  do {
    if (!Operand(op)) return false;
  } while (lexer_.Accept(","));
  return true;
}

bool TextParser::Mixed(Op* op) {
  std::string order;
  do {
    if (lexer_.Accept("(")) {
      order += 's';
      op->scalars.emplace_back();
      if (!ScalarText(&op->scalars.back()) || !lexer_.Expect(")")) return false;
    } else {
      order += 't';
      if (!Operand(op)) return false;
    }
  } while (lexer_.Accept(","));
  if (op->code == OpCode::kBinary && (order == "tt" || order == "ts" || order == "st")) {
    op->raw_slot = order == "tt" ? "" : order == "ts" ? "right" : "left";
    return true;
  }
  if (op->code == OpCode::kSelect && order.size() == 3 && order[0] == 't') {
    op->raw_slot = order.substr(1);
    return true;
  }
  lexer_.Error(op->code == OpCode::kBinary ? "two operands, at least one of them a value"
                                           : "a condition and two operands before this");
  return false;
}

bool TextParser::Axis(AxisRange* axis) {
  if (!ScalarText(&axis->start)) return false;
  axis->dropped = true;
  if (lexer_.Accept(":")) {
    if (!Integer(&axis->extent)) return false;
    axis->dropped = lexer_.Accept("dropped");
    axis->is_slice = lexer_.Accept("slice");
  }
  axis->exists = lexer_.Accept("exists");
  axis->aligned = lexer_.Accept("aligned");
  if (!lexer_.Accept("in")) return true;
  if (!lexer_.Peek().Is("..") && !ScalarText(&axis->lo)) return false;
  if (!lexer_.Expect("..")) return false;
  return lexer_.Peek().Is(",") || lexer_.Peek().Is("]") || ScalarText(&axis->hi);
}

bool TextParser::Axes(Op* op) {
  if (!lexer_.Expect("[")) return false;
  if (lexer_.Accept("]")) return true;
  do {
    AxisRange& axis = op->axes.emplace_back();
    if (op->code == OpCode::kGather && lexer_.Peek().kind == TokenKind::kValue) {
      axis.start = symbolic::Int(0);
      axis.dropped = axis.chosen = true;
      if (!Operand(op)) return false;
    } else if (!Axis(&axis)) {
      return false;
    }
  } while (lexer_.Accept(","));
  return lexer_.Expect("]");
}

bool TextParser::Remainder(Op* op) {
  while (OpenLine(lexer_.Peek()) && lexer_.Accept("!")) {
    bool ok = false;
    if (lexer_.Accept("symbol")) {
      ok = Name(&op->symbol);
    } else if (lexer_.Accept("slot")) {
      ok = Name(&op->raw_slot);
    } else if (lexer_.Accept("number")) {
      ok = Integer(&op->raw_number);
    } else if (lexer_.Accept("axes")) {
      ok = Axes(op);
    } else if (lexer_.Accept("operands")) {
      ok = Operands(op);
    } else if (lexer_.Accept("scalars")) {
      ok = ScalarList(&op->scalars);
    } else {
      lexer_.Error("a field of the operation");
    }
    if (!ok) return false;
  }
  return true;
}

bool TextParser::Types(const std::vector<Token>& names, Op* op) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && !lexer_.Expect(",")) return false;
    Type type;
    bool is_mutable = op->code == OpCode::kVar;
    if (lexer_.Accept("mutable")) is_mutable = true;
    if (lexer_.Accept("fixed")) is_mutable = false;
    if (lexer_.Accept("reg")) {
      type.space = Space::kRegister;
    } else if (lexer_.Accept("smem")) {
      type.space = Space::kShared;
    } else if (lexer_.Accept("left")) {
      type.space = Space::kLeft;
    } else if (lexer_.Accept("right")) {
      type.space = Space::kRight;
    } else if (lexer_.Accept("pieces")) {
      type.space = Space::kPieces;
    }
    type.transposed = lexer_.Accept("transposed");
    if (!Shape(&type.dtype, &type.rows, &type.cols)) return false;
    const std::string name(names[i].text);
    if (values_.count(name) != 0) {
      lexer_.ErrorAt(names[i].span, fmt::format("`%{}` is defined twice", name));
      return false;
    }
    const ValueId value = kernel_.AddValue(name, type, is_mutable);
    kernel_.KeepName(value);
    values_[name] = value;
    op->results.push_back(value);
  }
  return true;
}

void TextParser::DeclareNames(const Op& op) {
  if (op.code == OpCode::kTest) return Declare(op.symbol, DType::kBool);
  if (op.code != OpCode::kLet || op.scalars.empty()) return;
  // What the runtime counts (blocks, instances) is an index by its name.
  const bool counts = op.scalars[0]->kind == symbolic::Kind::kCall && op.scalars[0]->dtype == DType::kI32;
  Declare(op.symbol, counts ? DType::kI64 : op.scalars[0]->dtype);
}

}  // namespace tkc::ir

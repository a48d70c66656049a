// SPDX-License-Identifier: MIT
// What stands beside a kernel: instances (values for its parameters) and schedule sets (how it is to be run).
#include <fmt/format.h>

#include "compiler/support/nearest_name.h"
#include "compiler/syntax/parser_impl.h"

namespace tkc {

using ast::File;
using ast::ScheduleItem;

constexpr const char* kItems =
    "a schedule set holds `NAME = value`, `persistent`, `slots PIPE = n`, `order = rows`, `cluster = n`, `split = n`, `depth = n`, "
    "`resident = n`, `cost = EXPR`, `in turn WORKER = n`, `alternate WORKER`, `spread WORKER = n`";

void Parser::ParseInstance(File& file) {
  const Span begin = SpanOf(Take());
  ast::InstanceDecl decl;
  if (!ExpectName("a kernel", decl.kernel)) return SkipToDecl();
  if (!At(TokenKind::kLess)) {
    ErrorExpected("`<` and the parameters' values");
    return SkipToDecl();
  }
  const Span open = SpanOf(Take());
  {
    Brackets brackets(*this, true);
    while (!At(TokenKind::kGreater)) {
      ast::Binding& binding = decl.bindings.emplace_back();
      if (At(TokenKind::kInt)) {
        ErrorExpected("a parameter").Help("the parameter's name stands in front of its value: `BM = 128`");
        return SkipToDecl();
      }
      if (!ExpectName("a parameter", binding.name)) return SkipToDecl();
      if (!Expect(TokenKind::kEqual, "and a value")) return SkipToDecl();
      if (!(binding.value = ParseAdditive())) return SkipToDecl();
      binding.span = Since(binding.name.span);
      if (!TakeIf(TokenKind::kComma)) break;
    }
    if (!ExpectClose(TokenKind::kGreater, open)) return SkipToDecl();
  }
  decl.span = Since(begin);
  EndStatement("an instance");
  file.order.push_back({File::DeclKind::kInstance, static_cast<uint32_t>(file.instances.size())});
  file.instances.push_back(std::move(decl));
}

bool Parser::ParseScheduleHead(ast::ScheduleDecl& decl) {
  if (!ExpectName("the schedule's name", decl.name)) return false;
  if (!TakeWordIf("of")) {
    DiagnosticBuilder error = ErrorExpected("`of` and a kernel");
    if (At(TokenKind::kFor)) error.Help("write `of`", Edit{Here(), "of"});
    return false;
  }
  do {
    if (!ExpectName("a kernel after `of`", decl.kernels.emplace_back())) return false;
  } while (TakeIf(TokenKind::kComma));
  if (TakeIf(TokenKind::kFor)) {
    do {
      if (!ExpectName("a target", decl.targets.emplace_back())) return false;
    } while (TakeIf(TokenKind::kComma));
  }
  if (!TakeWordIf("when")) return true;
  decl.condition = ParseExpr();
  return decl.condition != nullptr;
}

void Parser::ErrorExpectedItems(const ast::ScheduleDecl& decl) {
  DiagnosticBuilder error = ErrorExpectedBrace();
  if (At(TokenKind::kEqual) && decl.condition) {
    error.Help("to compare write `==`", Edit{Here(), "=="});
  } else if (At(TokenKind::kIf)) {
    error.Help("write `when`", Edit{Here(), "when"});
  } else if (decl.targets.empty() && !decl.condition && (At(TokenKind::kAnd) || Peek(1).kind == TokenKind::kLeftBrace)) {
    error.Help("between kernels stands `,`: `of a, b`");
  } else {
    SuggestWord(error, {"for", "when"});
  }
}

bool Parser::ParseScheduleItems(ast::ScheduleDecl& decl) {
  const Span open = SpanOf(Take());
  while (!At(TokenKind::kRightBrace)) {
    if (TakeIf(TokenKind::kSemicolon)) continue;
    if (At(TokenKind::kEnd) || (StartsDecl() && Current().line_start)) {
      Error(DiagnosticKind::kUnclosedBracket, open, fmt::format("`{{` of schedule `{}` is never closed", decl.name.text))
          .Help("write `}` where the schedule ends");
      return false;
    }
    const size_t item_pos = pos_;
    const Span item_begin = Here();
    ScheduleItem item{};
    if (!ParseScheduleItem(item)) {
      SkipToStatementEnd(item_pos);
      continue;
    }
    item.span = Since(item_begin);
    decl.items.push_back(std::move(item));
    if (At(TokenKind::kComma)) {
      ErrorExpected("`;` or a line break after a schedule item").Help("write `;`", Edit{Here(), ";"});
      Take();
    } else {
      EndStatement("a schedule item");
    }
  }
  Take();
  return true;
}

void Parser::ParseSchedule(File& file) {
  const Span begin = SpanOf(Take());
  ast::ScheduleDecl decl;
  decl.doc = DocBefore(begin);
  const bool has_head = ParseScheduleHead(decl);
  if (!has_head && !SkipToBrace()) return SkipToDecl();
  if (!At(TokenKind::kLeftBrace)) {
    ErrorExpectedItems(decl);
    return SkipToDecl();
  }
  if (!ParseScheduleItems(decl) || !has_head) return;
  decl.span = Since(begin);
  file.order.push_back({File::DeclKind::kSchedule, static_cast<uint32_t>(file.schedules.size())});
  file.schedules.push_back(std::move(decl));
}

bool Parser::ParseScheduleItem(ScheduleItem& item) {
  const bool followed_by_equal = Peek(1).kind == TokenKind::kEqual;
  if (At(TokenKind::kIn)) {
    Take();
    if (!TakeWordIf("turn")) {
      ErrorExpected("`turn` after `in`");
      return false;
    }
    item.kind = ScheduleItem::Kind::kInTurn;
    return ExpectName("a worker after `in turn`", item.name) &&
           Expect(TokenKind::kEqual, "and the number of instances that take turns") && (item.value = ParseExpr()) != nullptr;
  }
  if (!followed_by_equal && AtWord("alternate")) {
    Take();
    item.kind = ScheduleItem::Kind::kAlternate;
    return ExpectName("a worker after `alternate`", item.name);
  }
  if (!followed_by_equal && AtWord("slots")) {
    Take();
    item.kind = ScheduleItem::Kind::kSlots;
    return ExpectName("a pipe after `slots`", item.name) && Expect(TokenKind::kEqual, "and the number of slots") &&
           (item.value = ParseExpr()) != nullptr;
  }
  if (!followed_by_equal && AtWord("spread")) {
    Take();
    item.kind = ScheduleItem::Kind::kSpread;
    return ExpectName("a worker after `spread`", item.name) && Expect(TokenKind::kEqual, "and a number of blocks") &&
           (item.value = ParseExpr()) != nullptr;
  }
  if (!followed_by_equal && (AtWord("persistent") || AtWord("dynamic"))) {
    item.kind = AtWord("persistent") ? ScheduleItem::Kind::kPersistent : ScheduleItem::Kind::kDynamic;
    Take();
    return true;
  }
  struct Word {
    std::string_view text;
    ScheduleItem::Kind kind;
  };
  static constexpr Word kWords[] = {{"order", ScheduleItem::Kind::kOrder},          {"cluster", ScheduleItem::Kind::kCluster},
                                    {"split", ScheduleItem::Kind::kSplit},          {"depth", ScheduleItem::Kind::kDepth},
                                    {"resident", ScheduleItem::Kind::kResident},    {"cost", ScheduleItem::Kind::kCost},
                                    {"persistent", ScheduleItem::Kind::kPersistent}};
  item.kind = ScheduleItem::Kind::kParam;
  if (!At(TokenKind::kName)) {
    Error(DiagnosticKind::kExpectedSyntax, Here(), fmt::format("expected an item of the schedule, found {}", Found())).Note(kItems);
    return false;
  }
  for (const Word& known : kWords) {
    if (AtWord(known.text)) item.kind = known.kind;
  }
  const Token word = Take();
  if (item.kind == ScheduleItem::Kind::kParam) item.name = {std::string(Text(word)), SpanOf(word)};
  if (!At(TokenKind::kEqual)) {
    ReportNoValue(word);
    return false;
  }
  Take();
  return (item.value = ParseExpr()) != nullptr;
}

void Parser::ReportNoValue(const Token& word) {
  const std::string nearest = NearestName(Text(word), {"persistent", "slots", "alternate", "spread", "dynamic"});
  if (!nearest.empty()) {
    Error(DiagnosticKind::kExpectedSyntax, SpanOf(word), fmt::format("expected an item of the schedule, found `{}`", Text(word)))
        .Help(fmt::format("write `{}`", nearest), Edit{SpanOf(word), nearest});
    return;
  }
  DiagnosticBuilder error = ErrorExpected("`=` and a value");
  if (At(TokenKind::kEqualEqual))
    error.Help("to set it write `=`", Edit{Here(), "="});
  else if (At(TokenKind::kColon))
    error.Help("write `=`", Edit{Here(), " ="});
  else
    error.Note(kItems);
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
// What is written by those who come from another language, and slips of the words that begin a statement: the way it is said here.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/dtype.h"
#include "compiler/support/nearest_name.h"
#include "compiler/syntax/parser_impl.h"

namespace tkc {
namespace {

struct Habit {
  std::string_view word, help;
};

constexpr std::string_view kDeclare =
    "a name is given by `let x = ..`, or by `var x = ..` where it changes; it has its value's type";

constexpr std::string_view kShared =
    "tiles are values, and tkc places them in shared memory; what workers share goes through a `pipe`";

/// In front of another name.
constexpr Habit kDeclarations[] = {{"auto", kDeclare}, {"const", kDeclare},  {"constexpr", kDeclare}, {"float", kDeclare},
                                   {"half", kDeclare}, {"double", kDeclare}, {"int", kDeclare},       {"unsigned", kDeclare},
                                   {"bool", kDeclare}, {"size_t", kDeclare}, {"__shared__", kShared}, {"shared", kShared}};

/// In front of anything on their line.
constexpr Habit kStatements[] = {
    {"while", "a loop runs over a range: `for i in lo .. hi { .. }`"},
    {"return", "a worker ends where its body does, and the last expression of a `fn` is its value"},
    {"break", "a loop runs over its whole range; what is not wanted stands in an `if`"},
    {"continue", "a loop runs over its whole range; what is not wanted stands in an `if`"},
    {"print", "nothing is printed while a kernel runs; `tkc run --out Y=y.npy` keeps what it stores"},
    {"printf", "nothing is printed while a kernel runs; `tkc run --out Y=y.npy` keeps what it stores"},
    {"assert", "what callers have to keep stands in front of the kernel's body: `require M % 8 == 0`"},
    {"__syncthreads", "workers meet in pipes only, and tkc derives the barriers"},
};

constexpr std::string_view kFunction = "a function is `fn f(x) { .. }`, and what is launched a kernel, `kernel k(..) { .. }`";
constexpr std::string_view kImport = "functions of another file are had by `import \"path.tk\"`";
constexpr std::string_view kNumber = "a number with a name is a compile-time parameter of its kernel: `kernel k<BM = 64>(..)`";

/// Where a declaration should begin.
constexpr Habit kOutside[] = {{"def", kFunction},        {"func", kFunction},       {"function", kFunction}, {"void", kFunction},
                              {"__global__", kFunction}, {"__device__", kFunction}, {"extern", kFunction},   {"inline", kFunction},
                              {"from", kImport},         {"use", kImport},          {"using", kImport},      {"include", kImport},
                              {"const", kNumber},        {"constexpr", kNumber},    {"let", kNumber},        {"var", kNumber},
                              {"static", kNumber},       {"template", kNumber}};

constexpr std::string_view kWaits =
    "nobody waits by a call: a worker waits where it receives and sends, and tkc derives the barriers";
constexpr std::string_view kMoves = "to store or to send write `target <- value`";

/// Functions and methods whose result nobody wants.
constexpr Habit kCalls[] = {
    {"wait", kWaits},
    {"sync", kWaits},
    {"syncthreads", kWaits},
    {"__syncwarp", kWaits},
    {"barrier", kWaits},
    {"debug_barrier", kWaits},
    {"arrive", kWaits},
    {"commit", kWaits},
    {"fence", kWaits},
    {"release", kWaits},
    {"acquire", kWaits},
    {"store", kMoves},
    {"store_async", kMoves},
    {"send", kMoves},
    {"push", kMoves},
    {"put", kMoves},
    {"atomic_add", "to add to what others add to, too, write `Y[..] += value`"},
};

const Habit* Find(std::span<const Habit> habits, std::string_view word) {
  const auto found = std::find_if(habits.begin(), habits.end(), [&](const Habit& habit) { return habit.word == word; });
  return found == habits.end() ? nullptr : &*found;
}

}  // namespace

bool Parser::ReportHabit(bool allow_result) {
  if (!At(TokenKind::kName)) return false;
  const std::string_view word = Text(Current());
  const Token& next = Peek(1);
  const bool ends = next.line_start || next.kind == TokenKind::kSemicolon || next.kind == TokenKind::kRightBrace;
  const bool combines = (PeekWord(1, "max") || PeekWord(1, "min")) && Peek(2).kind == TokenKind::kEqual;  // x max= y
  const bool names_another = !ends && next.kind == TokenKind::kName && !combines;
  // What follows no name may be the value of a block.
  const bool is_alone = !allow_result && ends;
  // No expression goes on with a value: `while true`.
  const bool takes_value =
      !ends && (next.kind == TokenKind::kTrue || next.kind == TokenKind::kFalse || next.kind == TokenKind::kInt ||
                next.kind == TokenKind::kFloat || next.kind == TokenKind::kNot);
  const bool is_call = !allow_result && !ends && next.kind == TokenKind::kLeftParen;
  const Habit* habit = names_another ? Find(kDeclarations, word) : nullptr;
  if (!habit && (names_another || is_alone || is_call || takes_value)) habit = Find(kStatements, word);
  if (habit) {
    Error(DiagnosticKind::kExpectedSyntax, Here(), fmt::format("expected a statement, found `{}`", word))
        .Help(std::string(habit->help));
    return true;
  }
  const std::vector<std::string> words = {"let", "var", "for", "if", "each"};
  if (!names_another || NearestName(word, words).empty()) return false;
  SuggestWord(Error(DiagnosticKind::kExpectedSyntax, Here(), fmt::format("expected a statement, found `{}`", word)), words);
  return true;
}

bool Parser::ReportElif() {
  if (!AtWord("elif") && !AtWord("elsif") && !AtWord("elseif")) return false;
  Error(DiagnosticKind::kExpectedSyntax, Here(), fmt::format("expected `else` or a statement, found `{}`", Text(Current())))
      .Help("write `else if`", Edit{Here(), "else if"});
  return true;
}

bool Parser::ReportDeclHabit() {
  const Habit* habit = Find(kOutside, Text(Current()));
  const bool sets_number = At(TokenKind::kName) && Peek(1).kind == TokenKind::kEqual;  // `BM = 64`
  if (!habit && !sets_number) return false;
  Error(DiagnosticKind::kExpectedSyntax, Here(),
        fmt::format("expected `kernel`, `fn`, `import`, `instance` or `schedule`, found {}", Found()))
      .Help(std::string(habit ? habit->help : kNumber));
  SkipToDecl();
  return true;
}

void Parser::SuggestParam(DiagnosticBuilder& error, const ast::Name& name) {
  const bool is_mode = name.text == "out" || name.text == "inout";
  if (At(TokenKind::kName) && is_mode && Peek(1).kind == TokenKind::kColon) {
    const std::string turned = fmt::format("{}: {}", Text(Current()), name.text);
    error.Help(fmt::format("the mode stands in front of the type: `{} ..`", turned),
               Edit{Join(name.span, SpanOf(Peek(1))), turned});
  } else if (At(TokenKind::kName) && DTypeFromName(name.text)) {
    const std::string turned = fmt::format("{}: {}", Text(Current()), name.text);
    error.Help(fmt::format("the name stands in front of the type: `{}`", turned), Edit{Join(name.span, Here()), turned});
  } else if (At(TokenKind::kStar)) {
    error.Help("there are no pointers: a tensor has a type and extents, `X: f32[M, N]`");
  } else {
    error.Help("a parameter is written `X: f32[M, N]`, one that is written to `Y: out f32[M, N]`, a number `scale: f32`");
  }
}

bool Parser::SuggestPipe(DiagnosticBuilder& error) const {
  const Habit* habit = Find(kDeclarations, Text(Current()));
  if (habit == nullptr || habit->help != kShared) return false;
  error.Help(std::string(kShared));
  return true;
}

void Parser::SuggestWord(DiagnosticBuilder error, std::vector<std::string> words) {
  if (!At(TokenKind::kName)) return;
  const std::string nearest = NearestName(Text(Current()), std::move(words));
  if (!nearest.empty()) error.Help(fmt::format("write `{}`", nearest), Edit{Here(), nearest});
}

std::string Parser::HelpOfCall(const ast::Expr& value) {
  const bool is_call = value.kind == ast::ExprKind::kCall;
  if (!is_call && value.kind != ast::ExprKind::kMethod) return "";
  const Habit* habit =
      Find(kCalls, is_call ? ast::Cast<ast::CallExpr>(value).callee.text : ast::Cast<ast::MethodExpr>(value).method.text);
  return habit ? std::string(habit->help) : "";
}

bool Parser::SuggestNames(const ast::Expr& first, DiagnosticBuilder& error) {
  if (first.kind != ast::ExprKind::kName) return false;
  std::string names = ast::Cast<ast::NameExpr>(first).name;
  size_t next = 0;
  for (; Peek(next).kind == TokenKind::kComma && Peek(next + 1).kind == TokenKind::kName; next += 2)
    names += fmt::format(", {}", Text(Peek(next + 1)));
  if (next == 0 || Peek(next).kind != TokenKind::kEqual) return false;
  const Edit edit{{file_, first.span.begin, Peek(next - 1).end}, fmt::format("let ({})", names)};
  const bool receives = Peek(next + 1).kind == TokenKind::kArrow;
  error.Help(fmt::format("several values get their names by `{} = {}..`", edit.replacement, receives ? "<-" : ""), edit);
  return true;
}

std::string Parser::HelpOfArgument(Span open) const {
  const std::string_view name = Text(tokens_[pos_ - 1]);
  size_t opens = pos_;
  while (opens > 0 && tokens_[opens].begin != open.begin) --opens;
  if (opens > 0 && tokens_[opens - 1].kind == TokenKind::kArrow)
    return "the values of several fields stand in the order of the pipe, `p <- (x, y)`; by name they are sent one by one, `p.a <- "
           "x`";
  if (name == "mask" || name == "other")
    return "what does not exist of a block reads as zero, or as `else` says: `X[m, n] else -inf`";
  return "arguments have places and no names; the function names the axis: `rowsum(x)`, `colmax(x)`";
}

bool Parser::SuggestInPlaceOfEnd(DiagnosticBuilder& error) {
  if (AtWord("as") && Peek(1).kind == TokenKind::kName && DTypeFromName(Text(Peek(1)))) {
    error.Help(fmt::format("a conversion is written `{}(..)`", Text(Peek(1))));
    return true;
  }
  // `y = a if c else b`
  if (At(TokenKind::kIf)) {
    for (size_t i = 1; !Peek(i).line_start && Peek(i).kind != TokenKind::kLeftBrace && Peek(i).kind != TokenKind::kEnd; ++i) {
      if (Peek(i).kind != TokenKind::kElse) continue;
      error.Help("a choice is `if c { a } else { b }`, or of tiles `where(c, a, b)`");
      return true;
    }
    return false;
  }
  // `pipe p: bf16[64, 64] x 4`
  if (AtWord("x") && (Peek(1).kind == TokenKind::kInt || Peek(1).kind == TokenKind::kName)) {
    error.Help(fmt::format("several fields are a tuple, which stands in parentheses: `(.. x {})`", Text(Peek(1))));
    return true;
  }
  // `f32 x`
  if (pos_ > 0 && tokens_[pos_ - 1].kind == TokenKind::kName && DTypeFromName(Text(tokens_[pos_ - 1]))) {
    error.Help(fmt::format("a conversion is written `{}(..)`", Text(tokens_[pos_ - 1])));
    return true;
  }
  // `(f32) x`
  if (pos_ < 3 || tokens_[pos_ - 3].kind != TokenKind::kLeftParen || tokens_[pos_ - 1].kind != TokenKind::kRightParen) return false;
  const std::string_view type = Text(tokens_[pos_ - 2]);
  if (!DTypeFromName(type)) return false;
  error.Help(fmt::format("a conversion is written `{}(..)`", type));
  return true;
}

void Parser::ReportSign() {
  const Token* before = pos_ > 0 ? &tokens_[pos_ - 1] : nullptr;
  const bool is_turned = before && before->kind == TokenKind::kEqual && before->end == Current().begin;
  DiagnosticBuilder error = ErrorExpected("an expression");
  if (is_turned)
    error.Help("to add write `+=`", Edit{Join(SpanOf(*before), Here()), "+="});
  else
    error.Help("leave out the sign: a number without one is positive", Edit{Here(), ""});
}

bool Parser::ReportLoopHabit() {
  if (!At(TokenKind::kLeftParen)) return false;
  ErrorExpected("the loop's index").Help("a loop is written `for i in lo .. hi { .. }`, without parentheses");
  int open = 0;
  while (!At(TokenKind::kEnd) && !At(TokenKind::kLeftBrace)) {
    open += At(TokenKind::kLeftParen) - At(TokenKind::kRightParen);
    Take();
    if (open == 0) break;
  }
  return true;
}

}  // namespace tkc

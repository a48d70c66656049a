// SPDX-License-Identifier: MIT
// The recursive-descent parser: one method per rule of lang-spec/grammar.md, in the files parse_*.cpp; parser.cpp has the
// machinery, parse_habits.cpp what is said of habits from other languages. Private to compiler/syntax.
//
// Conventions. A method that fails has reported why and returns null or false; its caller recovers at the next
// statement, item or declaration, or passes the failure on. Where a rule can go on sensibly it reports and does.
// A line break ends a statement unless a bracket is open or an operator, comma or `=` came last; that falls out of
// asking `line_start` of a token only where a rule could as well stop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/syntax/ast.h"
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"

namespace tkc {

class Parser {
 public:
  Parser(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics);

  ast::File ParseFile();
  Result<ast::ExprPtr> ParseExpressionFrom(uint32_t begin);

 private:
  // ---- parser.cpp: tokens
  const Token& Current() const { return tokens_[pos_]; }
  const Token& Peek(size_t ahead) const { return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)]; }
  TokenKind Kind() const { return Current().kind; }
  bool At(TokenKind kind) const { return Kind() == kind; }
  /// At a word of the language; an operator of another one that means the same is none.
  bool AtKeyword() const { return IsKeyword(Kind()) && Text(Current()).find_first_of("&|!") == std::string_view::npos; }
  /// At a word that is no keyword but means something here: `persistent`, `per`.
  bool AtWord(std::string_view word) const { return At(TokenKind::kName) && Text(Current()) == word; }
  bool PeekWord(size_t ahead, std::string_view word) const {
    return Peek(ahead).kind == TokenKind::kName && Text(Peek(ahead)) == word;
  }
  /// The current token starts a line and no bracket is open: an expression may end here.
  bool AtLineEnd() const { return (Current().line_start && open_brackets_ == 0) || At(TokenKind::kEnd); }
  std::string_view Text(const Token& token) const { return text_.substr(token.begin, token.end - token.begin); }
  Span SpanOf(const Token& token) const { return {file_, token.begin, token.end}; }
  Span Here() const { return SpanOf(Current()); }
  /// From `begin` to the end of the last token taken.
  Span Since(Span begin) const { return {file_, begin.begin, std::max(last_end_, begin.end)}; }
  /// The empty place right after the last token taken.
  Span AfterLast() const { return {file_, last_end_, last_end_}; }
  Token Take();
  bool TakeIf(TokenKind kind);
  bool TakeWordIf(std::string_view word);

  // ---- parser.cpp: errors
  DiagnosticBuilder Error(ErrorKind kind, Span span, std::string headline);
  /// "expected X, found Y", at the current token, or after the last one when the line has ended.
  DiagnosticBuilder ErrorExpected(std::string_view what);
  std::string Found() const;
  bool Expect(TokenKind kind, std::string_view where);
  /// "expected `{`": of what begins otherwise in other languages with how it begins here.
  DiagnosticBuilder ErrorExpectedBrace();
  /// Where the next thing on the line is a comment that holds what is missing: a quotient was meant.
  bool HelpOfComment(std::string_view missing, DiagnosticBuilder& error);
  /// A name; a keyword here is reported as such.
  bool ExpectName(std::string_view what, ast::Name& name);
  /// A `{` without its `}`: the one that indentation tells, else `open`, which is `of` a kernel and closes at its `end`.
  void ReportUnclosedBrace(Span open, std::string_view of, std::string_view end);
  /// Of the declaration here: the `{` whose `}` begins a line further left than what the `{` belongs to, and that `}`.
  std::optional<std::pair<Span, Span>> BraceByIndentation() const;
  /// Closes a bracket opened by `open`; reports and recovers within the bracket.
  bool ExpectClose(TokenKind close, Span open);
  /// Gives up on the rest of the file.
  void Abort() {
    pos_ = tokens_.size() - 1;
    stopped_ = true;
  }
  bool StartsStatement(TokenKind kind) const;
  bool StartsDecl() const;
  /// To where a statement may start or a block ends. `begin`: where the statement that failed started; its first
  /// token is passed in any case, so that a loop goes forward.
  void SkipToStatementEnd(size_t begin = 0);
  void SkipToDecl();
  /// Skips forward to the `{` of a header that went wrong; false: there is none before the statement ends.
  bool SkipToBrace();
  void EndStatement(std::string_view what);
  std::string DocBefore(Span span) const;

  /// Counts nesting while it lives; `!ok()`: too deep, reported, the parser is at the end.
  class Depth {
   public:
    explicit Depth(Parser& parser);
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    bool ok() const { return ok_; }

   private:
    Parser& parser_;
    bool ok_;
  };
  /// Opens brackets (line breaks don't count within) or a block (they do).
  class Brackets {
   public:
    Brackets(Parser& parser, bool open) : parser_(parser), saved_(parser.open_brackets_) {
      parser_.open_brackets_ = open ? saved_ + 1 : 0;
    }
    ~Brackets() { parser_.open_brackets_ = saved_; }
    Brackets(const Brackets&) = delete;
    Brackets& operator=(const Brackets&) = delete;

   private:
    Parser& parser_;
    int saved_;
  };

  // ---- parse_habits.cpp
  /// Reports a statement that begins as in another language, or with a slip of a word of this one; else false.
  bool ReportHabit(bool allow_result);
  /// The same of the head of a loop, which is passed.
  bool ReportLoopHabit();
  /// Where memory that workers share would be declared.
  bool SuggestPipe(DiagnosticBuilder& error) const;
  /// Where a name stands that one of the words is near to.
  void SuggestWord(DiagnosticBuilder error, std::vector<std::string> words);
  /// What takes the place of a call that stands alone, as in other languages; empty: nothing that is known.
  static std::string HelpOfCall(const ast::Expr& value);
  /// The same of an argument with a name.
  std::string HelpOfArgument(Span open) const;
  /// What was meant by a token where a statement should end; false: nothing that is known.
  bool SuggestInPlaceOfEnd(DiagnosticBuilder& error);
  /// The same of what begins no declaration.
  /// `elif`, which then stands in for `else if`.
  bool ReportElif();
  bool ReportDeclHabit();
  /// What was meant by a parameter that is written type first, or as a pointer; at what stands where its `:` or type should.
  void SuggestParam(DiagnosticBuilder& error, const ast::Name& name);
  /// At a `+` where an expression should begin: `x =+ 1`, or a sign, of which there is none.
  void ReportSign();

  // ---- parse_decl.cpp
  void ParseImport(ast::File& file);
  void ParseFn(ast::File& file);
  void ParseKernel(ast::File& file, bool deterministic);
  void ParseInstance(ast::File& file);
  void ParseSchedule(ast::File& file);
  bool ParseScheduleHead(ast::ScheduleDecl& decl);
  void ErrorExpectedItems(const ast::ScheduleDecl& decl);  // behind the head
  bool ParseScheduleItems(ast::ScheduleDecl& decl);
  bool ParseScheduleItem(ast::ScheduleItem& item);
  void ReportNoValue(const Token& word);
  bool ParseStaticParams(std::vector<ast::StaticParam>& params);
  bool ParseParams(std::vector<ast::Param>& params);
  bool ParseRequire(ast::KernelDecl& kernel);
  void ParseKernelBody(ast::KernelDecl& kernel);
  void ParseWork(ast::KernelDecl& kernel);
  bool ParseGrid(ast::KernelDecl& kernel);
  void ParseGridItems(ast::GridSection& grid, bool braced);
  bool ParsePipe(ast::GridSection& grid);
  bool ParseWorker(ast::GridSection& grid);
  ast::TypeExprPtr ParseType();
  ast::TypeExprPtr ParseTupleType();

  // ---- parse_stmt.cpp
  /// `{ stmts }`; with allow_result a value may stand last.
  bool ParseBlock(ast::Block& block, bool allow_result);
  ast::StmtPtr ParseStmt(bool allow_result, ast::ExprPtr& result);
  ast::StmtPtr ParseLet();
  ast::StmtPtr ParseVar();
  ast::StmtPtr ParseFor();
  ast::StmtPtr ParseIf(bool allow_result);
  ast::StmtPtr ParseEach();
  bool BeginsSimple();
  ast::StmtPtr ParseArrow(ast::ExprPtr target, Span begin);
  ast::StmtPtr ParseSimple(bool allow_result, ast::ExprPtr& result);
  bool ParsePattern(ast::Pattern& pattern);
  bool ParseRange(ast::Range& range);
  bool CheckTarget(const ast::Expr& target, std::string_view op);
  void ReportUnused(const ast::Expr& value);
  /// For `a, b = ..`, `first` being the first of the names. False and nothing said if that is not what stands here.
  bool SuggestNames(const ast::Expr& first, DiagnosticBuilder& error);
  ast::ExprPtr IfValue(std::unique_ptr<ast::IfStmt> stmt);
  /// Wants `{ lets value }`.
  bool BlockValue(const ast::Block& block, std::string_view why);

  // ---- parse_expr.cpp
  /// A whole expression where one is wanted; knows `a <-1`.
  ast::ExprPtr ParseExpr();
  /// As ParseExpr, but a `<-` may follow (the left side of a send or store).
  ast::ExprPtr ParseExprBeforeArrow();
  ast::ExprPtr ParseOr();
  ast::ExprPtr ParseAnd();
  ast::ExprPtr ParseNot();
  ast::ExprPtr ParseComparison();
  ast::ExprPtr ParseAdditive();
  ast::ExprPtr ParseMultiplicative();
  ast::ExprPtr ParseUnary();
  ast::ExprPtr ParsePostfix();
  ast::ExprPtr ParseReceive();
  ast::ExprPtr ParsePrimary();
  ast::ExprPtr ParseNumber();
  ast::ExprPtr ParseParens();
  ast::ExprPtr ParseField(ast::ExprPtr base);
  ast::ExprPtr ParseIndexing(ast::ExprPtr base);
  bool ParseIndex(ast::Index& index);
  bool ParseArguments(std::vector<ast::ExprPtr>& arguments);
  ast::ExprPtr Binary(ast::BinaryOp op, Span op_span, ast::ExprPtr left, ast::ExprPtr right);
  /// Sets the depth of a new node; null (and the end of parsing) when the tree is too deep.
  ast::ExprPtr Finish(ast::ExprPtr node, std::initializer_list<const ast::Expr*> children);

  std::string_view text_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  Diagnostic muted_{};  // takes what is said about a diagnostic that was suppressed
  std::vector<Token> tokens_;
  size_t pos_ = 0;
  uint32_t last_end_ = 0;
  bool lost_brace_ = false;        // a `{` was missing, or a `}`: whose `}` closes what, can't be told
  size_t error_pos_ = ~size_t{0};  // where the last error was reported; one per token
  int open_brackets_ = 0;
  int depth_ = 0;
  bool stopped_ = false;  // gave up: nothing more is reported
};

}  // namespace tkc

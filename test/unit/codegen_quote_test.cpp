// SPDX-License-Identifier: MIT
#include "compiler/codegen/quote.h"

#include <gtest/gtest.h>

namespace tkc::codegen {
namespace {

TEST(EscapeComment, NothingContinuesOnTheNextLine) {
  EXPECT_EQ(EscapeComment("  x <- y \\"), "x <- y \\ .");
  EXPECT_EQ(EscapeComment("x \?\?/"), "x \?\?/ .");
  EXPECT_EQ(EscapeComment("a \\  \t\r"), "a \\ .");
  EXPECT_EQ(EscapeComment("a\nb\rc\vd"), "a?b?c?d");
}

TEST(EscapeComment, BlockCommentsAreText) { EXPECT_EQ(EscapeComment("x */ y /* z"), "x */ y /* z"); }

TEST(EscapeComment, BytesThatAreNoText) {
  EXPECT_EQ(EscapeComment("A \xc2\xb7 B"), "A \xc2\xb7 B");
  EXPECT_EQ(EscapeComment("\xff\xfe"), "??");
  EXPECT_EQ(EscapeComment("a\xe2\x80\xae"
                          "b"),
            "a?b");  // right-to-left override
  EXPECT_EQ(EscapeComment("a\xe2\x80\xa8"
                          "b"),
            "a?b");                                 // line separator
  EXPECT_EQ(EscapeComment("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(EscapeComment(std::string("a\0b", 3)), "a?b");
}

TEST(EscapeComment, LongLinesAreCut) {
  const std::string quoted = EscapeComment(std::string(5000, 'x'));
  EXPECT_LT(quoted.size(), 250u);
  EXPECT_TRUE(quoted.ends_with(" ..."));
}

TEST(StatementAt, OneLineBlocks) {
  const std::string_view line = "    for k in K by BK { ab <- (A[m, k], B[k, n]) }";
  EXPECT_EQ(StatementAt(line, 4), "for k in K by BK");
  EXPECT_EQ(StatementAt(line, line.find("ab")), "ab <- (A[m, k], B[k, n])");
}

TEST(StatementAt, SeveralStatements) {
  const std::string_view line = "let x = <-p;  y += if a { x } else { 2 };  z = 1";
  EXPECT_EQ(StatementAt(line, 0), "let x = <-p");
  EXPECT_EQ(StatementAt(line, line.find("{ x")), "y += if a { x } else { 2 }");
  EXPECT_EQ(StatementAt(line, line.find("z")), "z = 1");
}

TEST(StatementAt, OddLines) {
  EXPECT_EQ(StatementAt("}", 0), "}");
  EXPECT_EQ(StatementAt("", 0), "");
  EXPECT_EQ(StatementAt("worker load {", 0), "worker load");
  EXPECT_EQ(StatementAt("x = 1 // a; b }", 0), "x = 1 // a; b }");
}

/// The lines of the statement in which `word` stands.
std::vector<std::string> LinesAt(const std::string& text, const std::string& word) {
  SourceManager sources;
  const uint32_t file = sources.Add("a.tk", text);
  const auto begin = static_cast<uint32_t>(text.find(word));
  return SourceStatements(sources).Lines({file, begin, begin + static_cast<uint32_t>(word.size())});
}

using Lines = std::vector<std::string>;

TEST(SourceStatements, AStatementGoesOnBehindAnOperator) {
  const std::string text = "  let a = 1\n  y <- x *  // by rows\n       g +\n    b\n  z <- y\n";
  const Lines whole = {"y <- x *  // by rows", "     g +", "  b"};
  EXPECT_EQ(LinesAt(text, "x *"), whole);
  EXPECT_EQ(LinesAt(text, "g +"), whole);
  EXPECT_EQ(LinesAt(text, "b\n"), whole);
  EXPECT_EQ(LinesAt(text, "let"), Lines{"let a = 1"});
  EXPECT_EQ(LinesAt(text, "z"), Lines{"z <- y"});
}

TEST(SourceStatements, AStatementGoesOnInsideBrackets) {
  const std::string text =
      "kernel f(X: f32[M],\n\n         Y: f32[M]) {  // ) :\n  let a = b or\n    c; d <- a\n  brand\n  e <- 1\n";
  EXPECT_EQ(LinesAt(text, "Y"), (Lines{"kernel f(X: f32[M],", "         Y: f32[M])"}));
  EXPECT_EQ(LinesAt(text, "c;"), (Lines{"let a = b or", "  c"}));
  EXPECT_EQ(LinesAt(text, "d <-"), Lines{"d <- a"});
  EXPECT_EQ(LinesAt(text, "e <-"), Lines{"e <- 1"});
}

TEST(SourceStatements, WhatStandsInAFunctionHasItsName) {
  const std::string text =
      "/// fn no(x) { y }\nfn relu(x: f32[R, C]) -> f32[R, C] { max(x, 0) }\nfn f(x) {\n  let a = if x { 1 } else { 2 }\n  a +\n   "
      " x\n}\n"
      "kernel k(X: f32[M]) {\n  let fn_like = 1\n}\n";
  EXPECT_EQ(LinesAt(text, "max"), Lines{"relu: max(x, 0)"});
  EXPECT_EQ(LinesAt(text, "1 }"), Lines{"f: let a = if x { 1 } else { 2 }"});
  EXPECT_EQ(LinesAt(text, "a +"), (Lines{"f: a +", "  x"}));
  EXPECT_EQ(LinesAt(text, "fn_like"), Lines{"let fn_like = 1"});
}

TEST(SourceQuoter, ARemarkStandsWhereItIsNeededFirst) {
  SourceManager sources;
  CodeWriter out;
  const SourceStatements statements(sources);
  SourceQuoter quoter(statements, out, false);
  quoter.LineWithRemark("fence();", "why");
  quoter.LineWithRemark("fence();", "why");
  quoter.LineWithRemark("f(" + std::string(120, 'x') + ");", "a remark that finds no room");
  EXPECT_EQ(out.Text(), "fence();  // why\nfence();\n// a remark that finds no room\nf(" + std::string(120, 'x') + ");\n");
}

TEST(SourceQuoter, OncePerRunOfAStatement) {
  SourceManager sources;
  const uint32_t file = sources.Add("a.tk", "x = 1\ny = 2; z = 3\n");
  CodeWriter out;
  const SourceStatements statements(sources);
  SourceQuoter quoter(statements, out, false);
  quoter.At({file, 0, 5});
  quoter.At({file, 4, 5});
  quoter.At({file, 6, 11});
  quoter.At({file, 13, 18});
  quoter.At(kNoSpan);
  EXPECT_EQ(out.Text(), "// x = 1\n// y = 2\n// z = 3\n");
}

}  // namespace
}  // namespace tkc::codegen

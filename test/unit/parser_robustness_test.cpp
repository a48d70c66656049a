// SPDX-License-Identifier: MIT
// Damaged files: every prefix, every missing byte and every doubled token of a real kernel parse to a tree or to
// diagnostics inside the text, and large files take time in proportion.
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <sstream>

#include "compiler/support/render.h"
#include "compiler/syntax/ast_print.h"
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"

namespace tkc {
namespace {

std::string ReadTest(const std::string& name) {
  std::ifstream in(std::string(TKC_SOURCE_DIR "/test/parse/kernels/") + name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Number of errors; checks that the outcome is usable.
size_t Parse(const std::string& text) {
  SourceManager sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.Add("x.tk", text);
  const ast::File tree = ParseFile(sources, file, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.All()) {
    EXPECT_LE(diagnostic.span.begin, diagnostic.span.end);
    EXPECT_LE(diagnostic.span.end, text.size());
  }
  if (diagnostics.HasErrors()) {
    EXPECT_FALSE(RenderText(diagnostics, sources).empty());
  } else {
    ast::Print(tree);
  }
  return diagnostics.ErrorCount();
}

TEST(ParserRobustness, EveryPrefix) {
  const std::string text = ReadTest("gemm.tk");
  ASSERT_EQ(Parse(text), 0u);
  for (size_t i = 0; i < text.size(); ++i) Parse(text.substr(0, i));
}

TEST(ParserRobustness, EveryMissingByteGivesFewErrors) {
  const std::string text = ReadTest("hedgehog.tk");
  ASSERT_EQ(Parse(text), 0u);
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t errors = Parse(text.substr(0, i) + text.substr(i + 1));
    EXPECT_LE(errors, 6u) << "cascade without byte " << i << " of hedgehog.tk: " << text.substr(i, 20);
  }
}

TEST(ParserRobustness, EveryDoubledToken) {
  const std::string text = ReadTest("ragged_grids.tk");
  SourceManager sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.Add("x.tk", text);
  for (const Token& token : Lex(sources, file, diagnostics)) {
    const std::string word = text.substr(token.begin, token.end - token.begin);
    Parse(text.substr(0, token.begin) + word + " " + text.substr(token.begin));
  }
}

/// Of processor time, for a kernel of about so many bytes.
double SecondsFor(size_t bytes) {
  std::string body;
  while (body.size() < bytes) body += "        let x = where(valid(k).T, a @ b.T * (scale - 1), -inf) + p[m :+ 4, :]\n";
  const std::clock_t start = std::clock();
  EXPECT_EQ(Parse("kernel k(A: bf16[M]) {\n    grid m in M\n    worker w {\n" + body + "    }\n}\n"), 0u);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(ParserRobustness, TimeGrowsWithTheFile) {
  constexpr size_t kBytes = 128 << 10, kTimes = 8;
  const double once = SecondsFor(kBytes), larger = SecondsFor(kTimes * kBytes);
  // A machine of any speed, also with sanitizers; in proportion to the square it would be eight times as much.
  EXPECT_LT(larger, 3 * kTimes * once);
}

TEST(ParserRobustness, RepeatedFragmentsEnd) {
  for (const char* fragment :
       {"(",     "[",    "{",     "if ", "<-", "a.", "kernel k(",         "grid m in ", "fn f(",     "x: (",
        "-",     "not ", "else ", "}",   ")",  "\"", "schedule s of k {", "worker w {", "for i in ", "if x { } else ",
        "p <- ", "1 < "}) {
    for (const char* lead : {"", "kernel k(A: f32[M]) {\ngrid m in M\nworker w {\n", "fn f(x) { ", "kernel k(A: "}) {
      std::string text = lead;
      for (int i = 0; i < 20000; ++i) text += fragment;
      EXPECT_GT(Parse(text), 0u) << lead << fragment;
    }
  }
}

}  // namespace
}  // namespace tkc

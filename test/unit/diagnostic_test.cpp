// SPDX-License-Identifier: MIT
// Rendering: where marks stand, in which order, and what editors get.
#include <gtest/gtest.h>

#include "compiler/support/render.h"

namespace tkc {
namespace {

struct Rendered : testing::Test {
  uint32_t Add(std::string text) { return sources.Add("a.tk", std::move(text)); }
  std::string Text() { return RenderText(diagnostics, sources); }
  SourceManager sources;
  Diagnostics diagnostics;
};

TEST_F(Rendered, LabelsOfOneLineStandOneBelowTheOther) {
  const uint32_t f = Add("let x = a @ b\n");
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 10, 11}, "shapes clash")
      .Label({f, 8, 9}, "left")
      .Label({f, 12, 13}, "right");
  EXPECT_EQ(Text(),
            "error: shapes clash [expected-syntax]\n"
            " --> a.tk:1:11\n"
            "1 | let x = a @ b\n"
            "  |         ^ left\n"
            "  |             ^ right\n");
}

TEST_F(Rendered, LabelsOfDistantLinesLeaveOutWhatIsBetween) {
  const uint32_t f = Add("one\ntwo\nthree\nfour\n\n\n\n\n\nten\n");
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 0, 3}, "many")
      .Label({f, 24, 27}, "c")
      .Label({f, 0, 3}, "a")
      .Label({f, 4, 7}, "b");
  EXPECT_EQ(Text(),
            "error: many [expected-syntax]\n"
            "  --> a.tk:1:1\n"
            " 1 | one\n"
            "   | ^^^ a\n"
            " 2 | two\n"
            "   | ^^^ b\n"
            "...\n"
            "10 | ten\n"
            "   | ^^^ c\n");
}

TEST_F(Rendered, SourceOrderWhateverTheOrderOfReports) {
  const uint32_t f = Add("ab\n");
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 1, 2}, "second");
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 0, 1}, "first");
  diagnostics.Error(DiagnosticKind::kUnknownTarget, kNoSpan, "no place");
  const std::string text = Text();
  EXPECT_LT(text.find("no place"), text.find("first"));
  EXPECT_LT(text.find("first"), text.find("second"));
}

TEST_F(Rendered, PlacesAtTheEndOfTextAndInEmptyFiles) {
  const uint32_t f = Add("");
  const uint32_t g = Add("x");
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 0, 0}, "empty");
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {g, 1, 1}, "end");
  EXPECT_EQ(Text(),
            "error: empty [expected-syntax]\n --> a.tk:1:1\n1 |\n  | ^\n\n"
            "error: end [expected-syntax]\n --> a.tk:1:2\n1 | x\n  |  ^\n");
}

TEST_F(Rendered, NotesAndHelpsFollow) {
  const uint32_t f = Add("p\nq\n");
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 0, 1}, "what")
      .Note({f, 2, 3}, "declared here")
      .Note("no place")
      .Help("write `r`");
  EXPECT_EQ(Text(),
            "error: what [expected-syntax]\n --> a.tk:1:1\n1 | p\n  | ^\nnote: declared here\n --> a.tk:2:1\n2 | q\n  | ^\n"
            "note: no place\nhelp: write `r`\n");
}

TEST_F(Rendered, JsonCountsUtf16FromZero) {
  const uint32_t f = Add("// \xf0\x9f\x98\x80\n\xf0\x9f\x98\x80\xc3\xa9 x\n");  // an emoji is two units, é one
  diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 15, 16}, "a \"b\" \\ \n").Help("h", Edit{{f, 15, 16}, "y"});
  EXPECT_EQ(
      RenderJson(diagnostics, sources),
      "{\"file\":\"a.tk\",\"range\":{\"start\":{\"line\":1,\"character\":4},\"end\":{\"line\":1,\"character\":5}},\"severity\":1,"
      "\"code\":\"expected-syntax\",\"source\":\"tkc\",\"message\":\"a \\\"b\\\" \\\\ \\u000a\",\"relatedInformation\":[],"
      "\"help\":[{\"message\":\"h\",\"edits\":[{\"file\":\"a.tk\",\"range\":{\"start\":{\"line\":1,\"character\":4},"
      "\"end\":{\"line\":1,\"character\":5}},\"newText\":\"y\"}]}]}\n");
}

TEST_F(Rendered, OneLongLineIsCroppedAroundTheMarkAndCostsNoMore) {
  const uint32_t f = Add(std::string(3000000, 'a') + "b" + std::string(100000, 'c'));
  for (int i = 0; i < 20; ++i) diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 3000000, 3000001}, "here");
  const std::string text = Text();
  EXPECT_LT(text.size(), 20 * 600u);
  const std::string shown =
      "1 | ..." + std::string(40, 'a') + "b" + std::string(119, 'c') + "...\n  | " + std::string(43, ' ') + "^\n";
  EXPECT_NE(text.find(shown), std::string::npos) << text.substr(0, 600);
}

TEST_F(Rendered, ErrorsBeyondTheLimitAreCounted) {
  const uint32_t f = Add("x\n");
  for (size_t i = 0; i < Diagnostics::kKept + 5; ++i) diagnostics.Error(DiagnosticKind::kExpectedSyntax, {f, 0, 1}, "e").Note("n");
  EXPECT_EQ(diagnostics.All().size(), Diagnostics::kKept);
  EXPECT_NE(Text().find("note: 185 more errors not shown\n"), std::string::npos);
}

}  // namespace
}  // namespace tkc

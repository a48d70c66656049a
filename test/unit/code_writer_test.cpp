// SPDX-License-Identifier: MIT
// Where lines of generated code are broken: 132 columns, as in CodeWriter::kColumns.
#include "compiler/codegen/code_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tkc::codegen {
namespace {

std::string Written(const std::string& line) {
  CodeWriter out;
  out.Line(line);
  return out.Take();
}

/// A name of so many letters.
std::string Name(size_t letters, char letter = 'x') { return std::string(letters, letter); }

TEST(CodeWriter, WhatFitsIsLeftAlone) {
  EXPECT_EQ(Written(Name(130) + ";"), Name(130) + ";\n");
  EXPECT_EQ(Written("f(" + Name(127) + ", y);  // 1, or 2"), "f(" + Name(127) + ", y);  // 1, or 2\n");
}

TEST(CodeWriter, ListsAreBrokenBehindCommas) {
  EXPECT_EQ(Written("load(" + Name(80) + ", f<1, 2>(y, z), " + Name(60) + ");"),
            "load(" + Name(80) + ", f<1, 2>(y, z),\n     " + Name(60) + ");\n");
}

TEST(CodeWriter, TheOutermostOperatorsThatBindLeastComeFirst) {
  EXPECT_EQ(Written("const auto t = f(" + Name(40) + ", 1) * a + g(" + Name(40) + ", 2) * b + (" + Name(30) + " - c);"),
            "const auto t = f(" + Name(40) + ", 1) * a + g(" + Name(40) + ", 2) * b +\n               (" + Name(30) + " - c);\n");
  EXPECT_EQ(Written("if (" + Name(70) + " < a && " + Name(70) + " < \"b && c\") return 3;"),
            "if (" + Name(70) + " < a &&\n    " + Name(70) + " < \"b && c\") return 3;\n");
  EXPECT_EQ(Written("return " + Name(90) + " + " + Name(60) + ";"), "return " + Name(90) + " +\n       " + Name(60) + ";\n");
}

TEST(CodeWriter, AValueThatWouldBeCutHasItsOwnLine) {
  EXPECT_EQ(Written("const auto tile = load<1, 2>(aligned(" + Name(100) + ", y));"),
            "const auto tile =\n    load<1, 2>(aligned(" + Name(100) + ", y));\n");
  EXPECT_EQ(Written("const auto tile = load<1, 2>(aligned(" + Name(108) + ", y));"),
            "const auto tile =\n    load<1, 2>(\n        aligned(" + Name(108) + ", y));\n");
}

TEST(CodeWriter, PartsBringTheirOriginsAndTheNumbersOfTheirLines) {
  CodeWriter out, part;
  out.Line("a;");
  part.From({0, 3, 4});
  part.Line("b;");
  part.OwnLines("x.cu");
  part.Line("c;");
  out.Append(std::move(part));
  out.Line("d;");
  ASSERT_EQ(out.Origins().size(), 1U);
  EXPECT_EQ(out.Origins()[0].line, 2);
  EXPECT_EQ(out.LineNumber(), 6);
  EXPECT_EQ(out.Take(), "a;\nb;\n#line 4 \"x.cu\"\nc;\nd;\n");
}

TEST(CodeWriter, WhatCannotBeBrokenIsLong) { EXPECT_EQ(Written(Name(200) + ";"), Name(200) + ";\n"); }

}  // namespace
}  // namespace tkc::codegen

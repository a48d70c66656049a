// SPDX-License-Identifier: MIT
// How each operation is written: one pattern per code, followed by the printer and by the parser, so that the two cannot disagree.
//
//   $s symbol            $t [slot], nothing if empty     $x [axes]           $l slot as a word
//   $o one operand       $O the other operands           $a one scalar       $A the other scalars
//   $n number            $u number as a typed::Op        $w number as a typed::StoreOp
//   $e number as one of the format's own words (an empty word is not written)
//   $b number as the name of a barrier                   $q symbol in quotes
//   $k operands and scalars of `binary` and `select` as they stand, scalars in parentheses
//   [word ...] is written only if what it mentions is there (a number: if it is not the default)
//
// Around the pattern stand results and types: `%r = name pattern : type { region }`. Fields that the pattern does not mention but
// that are set follow as `!field value`; an operation that lacks what its pattern needs is written `raw name !field value ...`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::ir {

struct OpFormat {
  OpCode code;
  std::string_view pattern;
  std::string_view words = "";  // separated by |
  int64_t default_number = 0;
};

const OpFormat& FormatOf(OpCode code);

/// How many values the operation's number may have, from 0 on, where it is a choice; else 0.
int64_t Choices(OpCode code);

/// One piece of a pattern: a literal word or mark, or a field (the letter after $). `option`: 0 outside brackets, else their
/// number.
struct Element {
  char field = '\0';
  std::string_view literal;
  int option = 0;
};

std::vector<Element> SplitPattern(std::string_view pattern);
std::vector<std::string_view> SplitWords(std::string_view words);

}  // namespace tkc::ir

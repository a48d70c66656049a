// SPDX-License-Identifier: MIT
// Parsing of regions by the patterns of op_format.h; parse.cpp parses what surrounds them.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/op_format.h"
#include "compiler/symbolic/parse_scalar.h"
#include "compiler/symbolic/text_lexer.h"

namespace tkc::ir {

/// Pieces that both files parse. Functions return false, or nothing, after an error, which has been reported.
class TextParser {
 public:
  TextParser(symbolic::TextLexer& lexer, Kernel& kernel) : lexer_(lexer), kernel_(kernel) {}

  /// A name, plain or quoted.
  bool Name(std::string* name);
  bool Integer(int64_t* value);
  bool ScalarText(Scalar* scalar);
  bool ScalarList(std::vector<Scalar>* list);
  /// `f32[64, 256]`
  bool Shape(DType* dtype, int64_t* rows, int64_t* cols);
  bool Words(std::span<const std::string_view> words, int64_t* number);
  /// What a scalar name stands for; names that are not declared are integers.
  void Declare(const std::string& name, DType dtype) { dtypes_[name] = dtype; }

  /// `{ operations }`
  bool Block(Region* region);

 private:
  bool Operation(Op* op);
  bool Results(std::vector<symbolic::Token>* names);
  bool Code(Op* op, bool* is_raw);
  bool Pattern(Op* op);
  bool Field(const OpFormat& format, char field, Op* op);
  bool Operand(Op* op);
  bool Operands(Op* op);
  bool Mixed(Op* op);
  bool Axes(Op* op);
  bool Axis(AxisRange* axis);
  bool Remainder(Op* op);
  bool Types(const std::vector<symbolic::Token>& names, Op* op);
  void DeclareNames(const Op& op);

  symbolic::TextLexer& lexer_;
  Kernel& kernel_;
  std::map<std::string, DType, std::less<>> dtypes_;
  std::map<std::string, ValueId, std::less<>> values_;
  int depth_ = 0;
};

}  // namespace tkc::ir

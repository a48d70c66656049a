// SPDX-License-Identifier: MIT
// Comments of generated code: lines of the .tk source, and what is said once of a kernel. Whatever the source holds, the comment
// ends where its line ends.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/source_statements.h"

namespace tkc::codegen {

/// `text` made safe and short for a `//` comment: no control characters, no bytes that are not UTF-8, no direction marks, no
/// backslash at the end, at most 240 characters.
std::string EscapeComment(std::string_view text);

/// Writes a statement as it stands in the source before the code that comes from it, once for a run of operations of one statement;
/// where a block comes back to it, only what it says in front of its value: `acc += ...`.
class SourceQuoter {
 public:
  SourceQuoter(const SourceStatements& statements, CodeWriter& out, bool line_directives)
      : statements_(statements), out_(out), line_directives_(line_directives) {}

  void At(Span span);
  /// Of a statement that other code is for, too: only if it has not been quoted in this role.
  void AtIfNotYet(Span span);
  /// Of an operation that belongs to another statement than the one that goes on behind it: nothing is quoted.
  void Amid(Span span) {
    if (line_directives_) At(span);
  }
  /// A block of code, in braces, begins: the number of the one around it, for EndBlock.
  int BeginBlock() { return std::exchange(block_, ++blocks_); }
  void EndBlock(int around) { block_ = around; }
  bool SameStatement(Span a, Span b) const { return statements_.AreSame(a, b); }
  /// The next statement is quoted even if it is the one before.
  void Forget() {
    last_ = kNoSpan;
    quoted_.clear();
  }
  /// A line of code, which the kernel has for the first time `// remark` beside it.
  void LineWithRemark(std::string_view code, const std::string& remark) {
    out_.Line(code, remarks_.insert(remark).second ? remark : "");
  }
  /// With #line in use: gives the following lines to the generated file again.
  void Leave(const std::string& generated_name);

 private:
  const SourceStatements& statements_;
  CodeWriter& out_;
  bool line_directives_;
  Span last_ = kNoSpan;                                  // what was quoted last
  uint32_t line_ = 0;                                    // its line
  int after_directive_ = 0;                              // the line that follows the last #line
  std::map<std::pair<uint32_t, uint32_t>, int> quoted_;  // files, and where statements begin: in which block last
  int block_ = 0, blocks_ = 0;                           // the innermost one, and how many there have been
  std::set<std::string> remarks_;
};

}  // namespace tkc::codegen

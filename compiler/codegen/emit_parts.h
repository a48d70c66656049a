// SPDX-License-Identifier: MIT
// A file for several targets: which part of it the compiler takes in which pass, the titles of the parts, and the choice between
// them. A part is what the file for its target alone would hold, in a namespace of its own; compilers see the heads of all kernels
// in every pass, so that host code is the same in all of them, and the bodies of one part.
#pragma once

#include <span>
#include <string>

#include "compiler/codegen/code_writer.h"
#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

/// Behind the first comment: the options that the host compiler needs, which part runs where, and TK_TARGET.
void EmitTargetOfPass(std::span<const ir::Module> modules, CodeWriter& out);

/// Prints a part's title and opens its namespace; closes it when it goes. Of no target: prints nothing.
class PartOfFile {
 public:
  PartOfFile(const Target* target, CodeWriter& out);
  ~PartOfFile();
  PartOfFile(const PartOfFile&) = delete;
  PartOfFile& operator=(const PartOfFile&) = delete;

  /// Of the passes that take this part's kernels; empty: all.
  std::string Condition() const;

 private:
  const Target* target_;
  CodeWriter& out_;
};

/// The extern "C" functions of an entry, which call those of the part that the device runs.
void EmitDispatch(std::span<const ir::Module> modules, const ir::Entry& entry, CodeWriter& out);

}  // namespace tkc::codegen

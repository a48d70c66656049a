// SPDX-License-Identifier: MIT
// Printing: modules at schedule level become one source file, CUDA or HIP, and its header. What happens when has been decided:
// every operation has one form, every launch is made as the kernel says. How it is spelled is decided here: names, which integers
// need 64 bits, what is written where it is used.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/ir/ir.h"
#include "compiler/support/source_manager.h"

namespace tkc::codegen {

struct EmitOptions {
  std::string version;                    // of tkc, for the first comment
  std::string options;                    // as the user gave them, without paths: "--target sm_90a -D BM=64"
  std::string source_name = "kernel.cu";  // base names of the two files
  std::string header_name = "kernel.h";
  bool line_directives = false;  // -g: #line instead of quoted source
  bool bundled = false;          // the runtime's headers will stand in both files
};

struct Emitted {
  std::string source;
  std::string header;
  std::vector<LineOrigin> origins;  // of the lines of `source`
};

/// One module for each target: the same entries for different GPUs of one vendor. They must have passed the verifier at schedule
/// level.
Emitted EmitCuda(std::span<const ir::Module> modules, const SourceManager& sources, const EmitOptions& options);
inline Emitted EmitCuda(const ir::Module& module, const SourceManager& sources, const EmitOptions& options) {
  return EmitCuda(std::span(&module, 1), sources, options);
}

/// What was decided, for people: memory map, pipes, roles and registers of every kernel.
std::string EmitReport(const ir::Module& module, const SourceManager& sources);

/// Makes both files complete in themselves: each `#include "tk/..."` is replaced by that file's text from `runtime_include`, once
/// and behind a guard, so that several bundled headers can meet. False (and nothing changed) if a file can't be read: `fault`
/// says which, and why.
bool Bundle(Emitted& emitted, const std::string& runtime_include, std::string& fault);

}  // namespace tkc::codegen

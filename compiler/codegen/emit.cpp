// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit.h"

#include <fmt/format.h>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"

namespace tkc::codegen {

Emitted EmitCuda(const ir::Module& module, const SourceManager& sources, const EmitOptions& options) {
  CodeWriter out;
  if (options.line_directives) out.NeverBreak();
  out.Comment(Provenance(options));
  // First what says for which machine the other headers are.
  out.Raw("#include \"tk/sm90.h\"");
  out.Blank();
  out.Raw(fmt::format("#include \"{}\"", options.header_name));
  out.Blank();
  out.Raw("#include \"tk/host.h\"");
  out.Raw("#include \"tk/host/launcher.h\"");
  out.Blank();
  out.Raw("namespace {");
  for (const ir::Kernel& kernel : module.kernels) {
    out.Blank();
    EmitKernel(kernel, sources, options, out);
  }
  out.Blank();
  out.From(kNoSpan);
  for (const ir::Entry& entry : module.entries) EmitCall(module, entry, out);
  out.Raw("}  // namespace");
  for (const ir::Entry& entry : module.entries) {
    out.Blank();
    EmitEntry(module, entry, out);
  }
  std::vector<LineOrigin> origins = out.Origins();
  return {out.Take(), EmitHeader(module, options), std::move(origins)};
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit.h"

#include <fmt/format.h>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

namespace {

/// The file's first include: it says which architecture's wrappers the rest takes.
std::string_view RuntimeHeader(const ir::Module& module) {
  const Target* target = module.kernels.empty() ? nullptr : FindTarget(module.kernels.front().target);
  return target ? target->runtime_header : Target{}.runtime_header;
}

}  // namespace

Emitted EmitCuda(const ir::Module& module, const SourceManager& sources, const EmitOptions& options) {
  CodeWriter out;
  if (options.line_directives) out.NeverBreak();
  out.Comment(Provenance(options));
  // First what says for which machine the other headers are.
  out.Raw(fmt::format("#include \"{}\"", RuntimeHeader(module)));
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

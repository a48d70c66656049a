// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/emit_parts.h"
#include "compiler/support/parallel.h"

namespace tkc::codegen {
namespace {

CodeWriter WriterFor(const EmitOptions& options) {
  CodeWriter out;
  if (options.line_directives) out.NeverBreak();
  return out;
}

/// Kernels and what calls them, inside the anonymous namespace.
void EmitModule(const ir::Module& module, const SourceStatements& statements, const EmitOptions& options,
                std::string_view condition, CodeWriter& out) {
  const size_t entries = module.entries.size();
  std::vector<CodeWriter> calls(entries, WriterFor(options)), kernels(module.kernels.size(), WriterFor(options));
  ForEachInParallel(entries + kernels.size(), [&](size_t i) {
    if (i < entries)
      EmitCall(module, module.entries[i], statements.Sources(), calls[i]);
    else
      EmitKernel(module.kernels[i - entries], statements, options, condition, kernels[i - entries]);
  });
  std::set<uint32_t> documented;  // where declarations begin: once for all schedules, instances and grids
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Span declaration = module.kernels[i].declaration;
    out.Blank();
    if (documented.insert(declaration.begin).second) {
      for (const std::string& line : Documentation(declaration, statements.Sources())) out.Comment(line);
    }
    out.Append(std::move(kernels[i]));
  }
  out.Blank();
  out.From(kNoSpan);
  for (CodeWriter& call : calls) out.Append(std::move(call));
}

/// Of one vendor's headers, each has all that those with a smaller number have.
std::string_view RuntimeHeader(std::span<const ir::Module> modules) {
  std::string_view largest;
  for (const ir::Module& module : modules) largest = std::max(largest, TargetOf(module).runtime_header);
  return largest;
}

/// How the file is compiled that is for one target. Of code that runs on its GPU only, nvcc's -arch would make another's, too.
std::string CompileCommand(const Target& target, const EmitOptions& options) {
  const bool is_exact = target.is_hip || target.RunsOnlyThere();
  return fmt::format("Compile: {} {}{} -c", target.is_hip ? "hipcc -std=c++20" : "nvcc -std=c++20 --expt-relaxed-constexpr",
                     is_exact ? target.CompilerOptions().front() : fmt::format("-arch={}", target.name),
                     options.bundled ? "" : " -I\"$(tkc --include-dir)\"");
}

}  // namespace

Emitted EmitCuda(std::span<const ir::Module> modules, const SourceManager& sources, const EmitOptions& options) {
  const bool has_parts = modules.size() > 1;
  const SourceStatements statements(sources);
  CodeWriter out = WriterFor(options);
  out.Comment(Provenance(options));
  if (has_parts)
    EmitTargetOfPass(modules, out);
  else
    out.Comment(CompileCommand(TargetOf(modules.front()), options));
  // First what says for which machine the other headers are.
  out.Raw(fmt::format("#include \"{}\"", RuntimeHeader(modules)));
  out.Blank();
  out.Raw(fmt::format("#include \"{}\"", options.header_name));
  out.Blank();
  out.Raw("#include \"tk/host.h\"");
  out.Raw("#include \"tk/host/launcher.h\"");
  out.Blank();
  out.Raw("namespace {");
  for (const ir::Module& module : modules) {
    const PartOfFile part(has_parts ? &TargetOf(module) : nullptr, out);
    EmitModule(module, statements, options, part.Condition(), out);
    if (!has_parts) continue;
    for (const ir::Entry& entry : module.entries) {
      EmitEntry(module, entry, "", out);
      out.Blank();
    }
  }
  out.Raw("}  // namespace");
  for (const ir::Entry& entry : modules.front().entries) {
    out.Blank();
    if (has_parts)
      EmitDispatch(modules, entry, out);
    else
      EmitEntry(modules.front(), entry, "extern \"C\" ", out);
  }
  std::vector<LineOrigin> origins = out.Origins();
  return {out.Take(), EmitHeader(modules.front(), options), std::move(origins)};
}

}  // namespace tkc::codegen

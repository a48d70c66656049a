// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quote.h"

namespace tkc::codegen {
namespace {

constexpr size_t kTitleColumns = 100;

/// `on 9.0 only` and the like: the passes and the devices that a part is for.
std::string RunsOn(const Target& target) {
  if (target.is_hip) return "there only";
  const std::string device = fmt::format("{}.{}", target.Number() / 10, target.Number() % 10);
  return target.RunsOnlyThere() ? fmt::format("on {} only", device)
                                : fmt::format("on {}, and on what is newer and has no part of its own", device);
}

/// Holds in the compiler's passes that take this part, if none in front of it did.
std::string PassOf(const Target& target) {
  if (target.is_hip) return fmt::format("defined(__{}__)", target.name);
  return fmt::format("__CUDA_ARCH__ {} {}", target.RunsOnlyThere() ? "==" : ">=", target.Number() * 10);
}

std::string Arguments(const ir::Module& module, const ir::Entry& entry) {
  std::string list;
  for (const EntryParam& param : EntryParams(FirstKernel(module, entry))) list += (list.empty() ? "" : ", ") + Mangle(param.name);
  return list;
}

const ir::Entry& SameEntry(const ir::Module& module, const ir::Entry& entry) { return *ir::FindNamed(module.entries, entry.name); }

/// `switch (tk::host::choose<..>(..))` with a return for each part; `call` prints the call behind the part's namespace.
void EmitChoice(std::span<const ir::Module> modules, const ir::Entry& entry, std::string_view otherwise,
                const std::function<std::string(const ir::Module&)>& call, CodeWriter& out) {
  std::string numbers;
  for (const ir::Module& module : modules) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", TargetOf(module).Number());
  const ir::Module& first = modules.front();
  out.Line("tk_status status;");
  out.Open(fmt::format("switch (tk::host::choose<{}::{}>({}, {{{}}}, status))", TargetOf(first).name,
                       KernelFunction(FirstKernel(first, SameEntry(first, entry))), StringLiteral(entry.name), numbers));
  for (const ir::Module& module : modules)
    out.Line(fmt::format("case {}: return {}::{};", TargetOf(module).Number(), TargetOf(module).name, call(module)));
  out.Line(fmt::format("default: return {};", otherwise));
  out.Close();
}

/// By the number of their targets, the largest first: the order in which they are asked for.
std::vector<std::reference_wrapper<const ir::Module>> NewestFirst(std::span<const ir::Module> modules) {
  std::vector<std::reference_wrapper<const ir::Module>> sorted(modules.begin(), modules.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const ir::Module& a, const ir::Module& b) { return TargetOf(a).Number() > TargetOf(b).Number(); });
  return sorted;
}

}  // namespace

void EmitTargetOfPass(std::span<const ir::Module> modules, CodeWriter& out) {
  const std::vector<std::reference_wrapper<const ir::Module>> sorted = NewestFirst(modules);
  const bool is_hip = TargetOf(modules.front()).is_hip;
  std::string names;
  for (const ir::Module& module : modules) names += fmt::format("{}{}", names.empty() ? "" : "_", TargetOf(module).name);
  out.Comment("");
  out.Comment(fmt::format("For several GPUs: a part below for each, and a choice between them. {} needs the options",
                          is_hip ? "hipcc" : "nvcc"));
  out.Comment(is_hip ? "  -std=c++20" : "  -std=c++20 --expt-relaxed-constexpr");
  for (const ir::Module& module : modules) out.Comment("  " + Join(TargetOf(module).CompilerOptions(), " "));
  out.Comment(fmt::format("and compiles the file once for each. Such a pass takes the kernels of one part, {}:",
                          is_hip ? "and they run on its GPU" : "and a launch those that the driver loaded"));
  for (const ir::Module& module : sorted) out.Comment(fmt::format("  {:<8} {}", TargetOf(module).name, RunsOn(TargetOf(module))));
  out.Raw(fmt::format("#define TK_TARGETS {}", names));
  const auto take = [&](std::string_view directive, const Target& target) {
    out.Raw(fmt::format("{} {}", directive, PassOf(target)));
    out.Raw(fmt::format("#define TK_TARGET {}", target.Number()));
  };
  out.Raw("#if defined(TK_SIM)");
  out.Raw("#ifndef TK_TARGET");
  out.Raw(fmt::format("#define TK_TARGET {}  // the part that is simulated", TargetOf(sorted.front()).Number()));
  out.Raw("#endif");
  out.Raw(fmt::format("#elif defined({})", is_hip ? "__HIP_DEVICE_COMPILE__" : "__CUDA_ARCH__"));
  for (size_t i = 0; i < sorted.size(); ++i) take(i == 0 ? "#if" : "#elif", TargetOf(sorted[i]));
  out.Raw("#else");
  out.Raw("#define TK_TARGET 0");
  out.Raw("#endif");
  out.Raw("#endif");
}

PartOfFile::PartOfFile(const Target* target, CodeWriter& out) : target_(target), out_(out) {
  if (!target) return;
  const std::string title = fmt::format("---- {}: {} ", target->name, target->chip);
  out.Blank();
  out.Comment(title + std::string(title.size() < kTitleColumns ? kTitleColumns - title.size() : 0, '-'));
  out.Blank();
  out.Raw(fmt::format("namespace {} {{", target->name));
}

PartOfFile::~PartOfFile() {
  if (!target_) return;
  out_.Raw(fmt::format("}}  // namespace {}", target_->name));
  out_.Blank();
}

std::string PartOfFile::Condition() const { return target_ ? fmt::format("TK_TARGET == {}", target_->Number()) : ""; }

void EmitDispatch(std::span<const ir::Module> modules, const ir::Entry& entry, CodeWriter& out) {
  const ir::Module& first = modules.front();
  const std::string arguments = Arguments(first, entry);
  out.Open("extern \"C\" " + WorkspaceHead(first, entry));
  EmitChoice(
      modules, entry, "0",
      [&](const ir::Module& module) { return fmt::format("{}({})", WorkspaceFunction(SameEntry(module, entry)), arguments); }, out);
  out.Close();
  out.Blank();
  out.Open("extern \"C\" " + EntryHead(first, entry));
  EmitChoice(
      modules, entry, "status",
      [&](const ir::Module& module) {
        return fmt::format("{}({}{}workspace, workspace_bytes, stream)", EntryFunction(SameEntry(module, entry)), arguments,
                           arguments.empty() ? "" : ", ");
      },
      out);
  out.Close();
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
#include "compiler/driver/pass_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "compiler/ir/print.h"
#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

bool Names(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

bool PassRunner::operator()(std::string_view name, Pass pass) {
  return Run(name, [&](ir::Kernel& kernel) { return pass(kernel, target_, session_.diagnostics); });
}

bool PassRunner::operator()(std::string_view name, TargetFreePass pass) {
  return Run(name, [&](ir::Kernel& kernel) { return pass(kernel, session_.diagnostics); });
}

bool PassRunner::Run(std::string_view name, const std::function<Result<void>(ir::Kernel&)>& pass) {
  names_ += fmt::format("{}`{}`", names_.empty() ? "" : ", ", name);
  const Options& options = session_.options;
  if (!options.run_passes.empty() && !Names(options.run_passes, name)) return true;
  SetCrashPass(name);
  bool ok = true;
  for (ir::Kernel& kernel : module_.kernels) {
    const size_t reported = session_.diagnostics.All().size();
    ok = static_cast<bool>(pass(kernel)) && ok;
    session_.diagnostics.EndCompilation(reported,
                                        kernel.schedule.empty() ? "" : fmt::format("in schedule set `{}`", kernel.schedule));
  }
  if (!ok || session_.diagnostics.HasErrors()) return false;
  if (Names(options.dump_after, name) || Names(options.dump_after, "all")) {
    fmt::print(stderr, "// after {}\n{}\n", name, ir::Print(module_));
  }
  Verify();
  return true;
}

void PassRunner::Verify() const {
  for (const ir::Kernel& kernel : module_.kernels) {
    const std::vector<ir::Fault> faults = ir::Verify(kernel, level_, level_ == ir::Level::kSchedule ? &target_ : nullptr);
    if (!faults.empty()) InternalError(fmt::format("the IR is broken: {}", faults[0].message), faults[0].span);
  }
}

bool PassRunner::Enter(ir::Level level) {
  level_ = level;
  // One pass alone leaves the IR where it is.
  if (!session_.options.run_passes.empty()) return true;
  for (ir::Kernel& kernel : module_.kernels) kernel.is_schedule = level == ir::Level::kSchedule;
  Verify();
  return true;
}

bool PassRunner::VerifyInput() {
  const bool is_text = !session_.options.from.empty();
  if (!is_text) {
    SetCrashPass("from_ast");
    Verify();
    return true;
  }
  for (const ir::Kernel& kernel : module_.kernels) {
    // Text between two passes is neither pure tile level nor whole schedule level.
    const ir::Level level = session_.options.run_passes.empty() ? level_ : ir::Level::kLowering;
    for (const ir::Fault& fault : ir::Verify(kernel, level)) {
      session_.diagnostics.Error(DiagnosticKind::kMalformedIr, fault.span, fault.message);
    }
  }
  if (!session_.options.run_passes.empty()) level_ = ir::Level::kLowering;
  return !session_.diagnostics.HasErrors();
}

void PassRunner::CheckNames() {
  for (const auto* list : {&session_.options.run_passes, &session_.options.dump_after}) {
    for (const std::string& name : *list) {
      if (name == "all" || names_.find(fmt::format("`{}`", name)) != std::string::npos) continue;
      session_.diagnostics.Error(DiagnosticKind::kUnknownPass, kNoSpan, fmt::format("no pass is called `{}`", name))
          .Note(fmt::format("in order, they are {}", names_));
    }
  }
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/driver/pass_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/ir/print.h"
#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

bool Names(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// After each pass, which takes a tenth of a compile; else in a few places, and where one finds a fault all passes run again to find
// theirs.
#ifdef NDEBUG
constexpr bool kVerifiesEach = false;
#else
constexpr bool kVerifiesEach = true;
#endif

class PassRunner {
 public:
  PassRunner(const Options& options, ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics)
      : options_(options),
        kernel_(kernel),
        target_(target),
        diagnostics_(diagnostics),
        verifies_each_(kVerifiesEach || !RunsAll() || !options.dump_after.empty()) {}

  bool Run(std::span<const Pass> all) {
    if (!VerifyInput()) return false;
    if (verifies_each_) return RunOver(all);
    const ir::Kernel start = kernel_;
    const ir::Level level = level_;
    const bool is_done = RunOver(all);
    if (is_sound_) return is_done;
    kernel_ = start;
    level_ = level;
    verifies_each_ = true;
    RunOver(all);
    InternalError("the IR is broken, but not when the passes run again", kernel_.span);
  }

 private:
  bool RunOver(std::span<const Pass> all) {
    for (const Pass& pass : all) {
      if (Runs(pass) && !(FindsAllEstablished(all, pass) && FindsOpen(pass) && Run(pass))) return false;
      if (pass.enters && !Enter(*pass.enters)) return false;
    }
    return true;
  }

  bool RunsAll() const { return options_.run_passes.empty(); }

  bool Runs(const Pass& pass) const { return RunsAll() || Names(options_.run_passes, pass.name); }

  /// Alone, a pass is given text: what is missing there is the user's fault.
  bool FindsAllEstablished(std::span<const Pass> all, const Pass& pass) {
    if (RunsAll()) return true;
    for (const Pass* before = all.data(); before != &pass; ++before) {
      if (!before->establishes) continue;
      const std::optional<passes::Sign> lack = passes::LackOf(kernel_, *before->establishes);
      if (!lack) continue;
      diagnostics_.Error(DiagnosticKind::kMalformedIr, lack->span, fmt::format("{} when `{}` begins", lack->what, pass.name))
          .Help(fmt::format("`{}` has to run first: `--run-pass={}`", before->name, before->name));
      return false;
    }
    return true;
  }

  bool FindsOpen(const Pass& pass) {
    if (RunsAll() || !pass.establishes) return true;
    const std::optional<passes::Sign> done = passes::DoneIn(kernel_, *pass.establishes);
    if (!done) return true;
    diagnostics_.Error(DiagnosticKind::kMalformedIr, done->span, fmt::format("{} when `{}` begins", done->what, pass.name))
        .Help(fmt::format("leave out `--run-pass={}`: it has run before, and can't run twice", pass.name));
    return false;
  }

  bool Run(const Pass& pass) {
    SetCrashPass(pass.name);
    const auto* for_target = std::get_if<Pass::ForTarget>(&pass.run);
    const Result<void> result =
        for_target ? (*for_target)(kernel_, target_, diagnostics_) : std::get<Pass::ForAnyTarget>(pass.run)(kernel_, diagnostics_);
    if (!result || diagnostics_.HasErrors()) return false;
    if (Names(options_.dump_after, pass.name) || Names(options_.dump_after, "all"))
      fmt::print(stderr, "// after {}\n{}\n", pass.name, ir::Print(kernel_));
    return (!verifies_each_ && !pass.establishes) || Verify();
  }

  /// False: it is not sound, and which pass broke it is not known yet.
  bool Verify() {
    const std::vector<ir::Fault> faults = ir::Verify(kernel_, level_, level_ == ir::Level::kSchedule ? &target_ : nullptr);
    if (!faults.empty() && verifies_each_) InternalError(fmt::format("the IR is broken: {}", faults[0].message), faults[0].span);
    return is_sound_ = faults.empty();
  }

  bool Enter(ir::Level level) {
    level_ = level;
    if (!RunsAll()) return true;  // one pass alone leaves the IR where it is
    kernel_.is_schedule = level == ir::Level::kSchedule;
    return Verify();
  }

  /// Before the first pass: in the text of --from a fault is the user's.
  bool VerifyInput() {
    if (options_.from == From::kSource) {
      SetCrashPass("from_ast");
      if (!Verify()) InternalError("the IR is broken before the first pass", kernel_.span);
      return true;
    }
    // Text between two passes is neither pure tile level nor whole schedule level.
    if (!RunsAll()) level_ = ir::Level::kLowering;
    for (const ir::Fault& fault : ir::Verify(kernel_, level_)) {
      diagnostics_.Error(DiagnosticKind::kMalformedIr, fault.span, fault.message);
    }
    return !diagnostics_.HasErrors();
  }

  const Options& options_;
  ir::Kernel& kernel_;
  const Target& target_;
  Diagnostics& diagnostics_;
  ir::Level level_ = ir::Level::kTile;
  bool verifies_each_;
  bool is_sound_ = true;
};

}  // namespace

bool RunPasses(std::span<const Pass> passes, const Options& options, ir::Kernel& kernel, const Target& target,
               Diagnostics& diagnostics) {
  return PassRunner(options, kernel, target, diagnostics).Run(passes);
}

void CheckPassNames(std::span<const Pass> passes, const Options& options, Diagnostics& diagnostics) {
  std::string names;
  for (const Pass& pass : passes) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", pass.name);
  for (const auto* list : {&options.run_passes, &options.dump_after}) {
    for (const std::string& name : *list) {
      if ((name == "all" && list == &options.dump_after) || names.find(fmt::format("`{}`", name)) != std::string::npos) continue;
      diagnostics.Error(DiagnosticKind::kUnknownPass, kNoSpan, fmt::format("no pass is called `{}`", name))
          .Note(fmt::format("in order, they are {}", names));
    }
  }
}

}  // namespace tkc

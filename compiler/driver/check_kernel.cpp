// SPDX-License-Identifier: MIT
#include "compiler/driver/check_kernel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "compiler/driver/check_run.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/outputs.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/render.h"

namespace tkc {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What is said of one entry.
struct Report {
  std::string entry, target;
  bool names_target = false;  // it is one of several
  int shapes = 0, runs = 0, exact = 0, planned = 0;
  double seconds = 0;
  bool gpu = false;
  std::map<std::string, int> schedules;  // runs of each
  std::string problem, repeat;           // of a failure
  std::optional<CheckCase> failing;
  std::unique_ptr<Diagnostics> diagnostics;
};

/// The cases of all seeds, first all shapes with the first seed: what time cuts off are seeds, not shapes.
std::vector<CheckCase> AllCases(const typed::Entry& entry, const CheckCommand& command, int& shapes) {
  const std::vector<CheckCase> cases = MakeCases(entry, command.shapes, command.seed);
  shapes = static_cast<int>(cases.size());
  std::vector<CheckCase> all;
  for (int i = 0; i < command.seeds; ++i) {
    for (CheckCase c : cases) {
      c.seed = command.seed + static_cast<uint64_t>(i);
      // Integers show every wrong bit; other numbers show what integers hide, such as a rounding too many.
      c.fill = i % 2 == 0 ? interp::FillKind::kSmall : interp::FillKind::kNormal;
      all.push_back(std::move(c));
    }
  }
  return all;
}

class Checker {
 public:
  Checker(const CheckTarget& target, const CheckCommand& command, Report& report)
      : target_(target), command_(command), report_(report), shows_(!command.json && isatty(2)) {}

  void Run() {
    cases_ = AllCases(target_.entry, command_, report_.shapes);
    report_.planned = static_cast<int>(cases_.size());
    for (const typed::Kernel& kernel : target_.entry.kernels) report_.schedules[kernel.schedule];
    const unsigned workers = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < workers; ++i) threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    if (failed_) ShrinkFailure();
    if (shows_) fmt::print(stderr, "\r{:<60}\r", "");
    report_.seconds = Since(start_);
  }

 private:
  /// A run that does not end within this time is a failure of its own.
  double Limit() const { return std::max(60.0, command_.seconds); }

  void Work() {
    while (true) {
      const size_t i = next_++;
      if (i >= cases_.size() || stop_ || (i > 0 && Since(start_) > command_.seconds)) return;
      CheckOutcome outcome = RunCase(target_, cases_[i], Limit());
      const std::lock_guard lock(mutex_);
      ++report_.runs;
      ++report_.schedules[cases_[i].schedule];
      report_.exact += outcome.exact;
      if (shows_) fmt::print(stderr, "\r{}: {} of {} runs, {:.0f} s ", report_.entry, report_.runs, cases_.size(), Since(start_));
      // Of several failures the first in the list, so that the same command says the same.
      if (!outcome.problem.empty() && (!failed_ || i < *failed_)) {
        failed_ = i;
        failure_ = std::move(outcome);
        stop_ = true;
      }
    }
  }

  void ShrinkFailure() {
    const std::string problem = failure_.problem;
    const auto shrink_start = Clock::now();
    const auto fails = [&](const CheckCase& smaller) {
      if (Since(shrink_start) > std::max(20.0, command_.seconds / 2)) return false;
      if (shows_) fmt::print(stderr, "\rshrinking: {:<48}", CommandOptions(target_.entry, smaller).substr(0, 48));
      CheckOutcome outcome = RunCase(target_, smaller, Limit());
      if (outcome.problem != problem) return false;
      failure_ = std::move(outcome);
      return true;
    };
    report_.failing = Shrink(target_.entry, cases_[*failed_], fails, 80);
    report_.problem = problem;
    report_.diagnostics = std::move(failure_.diagnostics);
  }

  const CheckTarget& target_;
  const CheckCommand& command_;
  Report& report_;
  const bool shows_;
  const Clock::time_point start_ = Clock::now();
  std::vector<CheckCase> cases_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::optional<size_t> failed_;
  CheckOutcome failure_;
};

std::string RepeatCommand(const Options& options, const Target& target, const typed::Program& program, const typed::Entry& entry,
                          const CheckCase& c) {
  std::string command = "tkc run " + options.input;
  if (target.name != Options().target) command += fmt::format(" --target {}", target.name);
  for (const std::string& define : options.defines) command += " -D " + define;
  for (const std::string& dir : options.include_dirs) command += " -I " + dir;
  if (program.entries.size() > 1) command += " --kernel " + entry.name;
  return command + CommandOptions(entry, c) + " --compare";
}

/// The kernel without a set has no name.
std::string SetName(const std::string& schedule) { return schedule.empty() ? "(the kernel's own)" : schedule; }

std::string SchedulesText(const Report& report) {
  if (report.schedules.size() == 1) return {};
  std::string text;
  for (const auto& [name, runs] : report.schedules)
    text += fmt::format("{}{} {}", text.empty() ? "; sets: " : ", ", SetName(name), runs);
  return text;
}

/// Why there was no run.
const char* WhyNone(const Report& report) {
  return report.shapes == 0 ? "no shape was found that the `require`s admit" : "no run ended within `--time`";
}

void PrintText(const Report& report) {
  const std::string entry = report.names_target ? fmt::format("{} for {}", report.entry, report.target) : report.entry;
  const char* who = report.gpu ? "simulator and GPU agree" : "simulator agrees";
  if (report.failing) {
    fmt::print("{}: {} after {} runs\n", entry, report.problem, report.runs);
    return;
  }
  if (report.runs == 0) {
    fmt::print("{}: {}: nothing was compared; `tkc run --dims .. --compare` takes a shape of your choice\n", entry,
               WhyNone(report));
    return;
  }
  const int shapes = std::min(report.shapes, report.runs);  // all of them have a run before one has its second
  fmt::print("{}: {} with the reference in {} runs of {} shapes, {} bit for bit{}; {:.1f} s\n", entry, who, report.runs, shapes,
             report.exact, SchedulesText(report), report.seconds);
  if (report.runs < report.planned)
    fmt::print("{}: {} runs were left out for want of time; --time gives more\n", entry, report.planned - report.runs);
  for (const auto& [name, runs] : report.schedules) {
    if (runs > 0) continue;
    const std::string how =
        name.empty() ? "" : fmt::format("; `tkc run --schedule {} --dims ..` does where its condition holds", name);
    fmt::print("{}: no run came to the set `{}`{}\n", entry, SetName(name), how);
  }
}

void PrintJson(const Report& report, const SourceManager& sources) {
  std::string schedules, diagnostics;
  for (const auto& [name, runs] : report.schedules)
    schedules += fmt::format("{}{}:{}", schedules.empty() ? "" : ",", JsonString(name), runs);
  std::string failure = "null";
  if (report.failing) {
    const std::string lines = RenderJson(*report.diagnostics, sources);
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = std::min(lines.find('\n', begin), lines.size());
      if (end > begin) diagnostics += (diagnostics.empty() ? "" : ",") + lines.substr(begin, end - begin);
      begin = end + 1;
    }
    failure = fmt::format("{{\"problem\":{},\"repeat\":{},\"diagnostics\":[{}]}}", JsonString(report.problem),
                          JsonString(report.repeat), diagnostics);
  } else if (report.runs == 0) {
    failure = fmt::format("{{\"problem\":{},\"repeat\":null,\"diagnostics\":[]}}", JsonString(WhyNone(report)));
  }
  fmt::print(
      "{{\"kernel\":{},\"target\":{},\"shapes\":{},\"runs\":{},\"planned\":{},\"exact\":{},\"gpu\":{},\"seconds\":{:.3f},"
      "\"schedules\":{{{}}},"
      "\"failure\":{}}}\n",
      JsonString(report.entry), JsonString(report.target), report.shapes, report.runs, report.planned, report.exact, report.gpu,
      report.seconds, schedules, failure);
}

/// One entry; false if it failed, or was not run.
bool CheckEntry(Session& session, const typed::Program& program, const Generated& code, const typed::Entry& entry,
                const CheckCommand& command) {
  Result<SimulatedKernel> simulated = PrepareSimulation(session, code, entry);
  if (!simulated) return false;
  std::optional<GpuKernel> gpu;
  std::string why;
  if (command.gpu && HasGpu(*code.target, why)) {
    Result<GpuKernel> prepared = PrepareGpu(session, code, entry);
    if (!prepared) return false;
    gpu.emplace(prepared.Take());
  }
  Report report;
  report.entry = entry.name;
  report.target = code.target->name;
  report.names_target = session.options.target.find(',') != std::string::npos;
  report.gpu = gpu.has_value();
  const CheckTarget target{entry, *simulated, gpu ? &*gpu : nullptr, session.sources, ArithmeticOf(entry.kernels.front())};
  Checker(target, command, report).Run();
  if (report.failing) report.repeat = RepeatCommand(session.options, *code.target, program, entry, *report.failing);
  if (command.json) {
    PrintJson(report, session.sources);
  } else {
    PrintText(report);
    std::fflush(stdout);
    if (report.failing)
      fmt::print(stderr, "{}help: to repeat it, `{}`\n", RenderText(*report.diagnostics, session.sources), report.repeat);
  }
  return !report.failing && report.runs > 0;  // who asks for a check is told by the status that there was none
}

/// All entries of one part; false if one failed.
bool CheckPart(Session& session, const typed::Program& program, const Generated& code, const CheckCommand& command) {
  bool ok = true;
  for (const typed::Entry& entry : program.entries) {
    if (!command.kernel.empty() && entry.name != command.kernel) continue;
    ok = CheckEntry(session, program, code, entry, command) && ok;
    if (session.diagnostics.HasErrors()) break;
  }
  return ok;
}

}  // namespace

int CheckKernel(const Options& options, const CheckCommand& command) {
  Session session(options);
  const std::vector<const Target*> targets = RequireTargets(session, /*for_one_file=*/false);
  if (targets.empty()) return session.Finish();
  Result<std::vector<typed::Program>> programs = CheckFile(session, targets);
  if (!programs) return session.Finish();
  interp::RunOptions wanted;
  wanted.kernel = command.kernel;
  if (!command.kernel.empty() && !interp::FindEntry(programs->front(), wanted, session.diagnostics)) return session.Finish();
  bool ok = true;
  for (const bool is_hip : {false, true}) {  // what is checked is what would be compiled: the targets of one vendor are one file
    std::vector<const Target*> of_vendor;
    std::vector<typed::Program> theirs;
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i]->is_hip != is_hip) continue;
      of_vendor.push_back(targets[i]);
      theirs.push_back(std::move((*programs)[i]));
    }
    if (of_vendor.empty()) continue;
    Result<std::vector<Generated>> parts = GenerateParts(session, theirs, of_vendor);
    if (!parts) return session.Finish();
    SetCrashPass("check");
    for (size_t i = 0; i < theirs.size() && !session.diagnostics.HasErrors(); ++i)
      ok = CheckPart(session, theirs[i], (*parts)[i], command) && ok;
  }
  const int status = session.Finish();
  return ok ? status : kExitUser;
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/driver/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/driver/outputs.h"

namespace tkc {
namespace {

/// What the engine calls its findings (runtime/sim/README.md), and what they are called here.
constexpr struct {
  std::string_view word;
  ErrorKind kind;
} kFindings[] = {{"race", DiagnosticKind::kRace},
                 {"read-of-poison", DiagnosticKind::kReadOfPoison},
                 {"out-of-bounds", DiagnosticKind::kOutOfBounds},
                 {"misaligned", DiagnosticKind::kMisaligned},
                 {"deadlock", DiagnosticKind::kDeadlock},
                 {"barrier-misuse", DiagnosticKind::kBarrierMisuse},
                 {"stale-phase", DiagnosticKind::kStalePhase},
                 {"register-pool", DiagnosticKind::kRegisterPool},
                 {"divergence", DiagnosticKind::kDivergence},
                 {"accumulator-touched", DiagnosticKind::kAccumulatorTouched},
                 {"exited-with-pending", DiagnosticKind::kExitedWithPending}};

ErrorKind KindOf(const std::string& word) {
  for (const auto& finding : kFindings) {
    if (finding.word == word) return finding.kind;
  }
  return DiagnosticKind::kRunFailed;
}

/// The line without its indentation.
Span LineSpan(const SourceManager& sources, uint32_t file, int line) {
  if (line < 1 || static_cast<uint32_t>(line) > sources.LineCount(file)) return kNoSpan;
  const std::string_view text = sources.LineText(file, static_cast<uint32_t>(line));
  const size_t first = text.find_first_not_of(' ');
  const uint32_t start = sources.LineStart(file, static_cast<uint32_t>(line));
  if (first == std::string_view::npos) return {file, start, start};
  return {file, start + static_cast<uint32_t>(first), start + static_cast<uint32_t>(text.size())};
}

/// "lanes 0..31 of block 2, address 0x440, 3 times"
std::string Circumstances(const Finding& finding) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!finding.lanes.empty()) add("lanes " + finding.lanes);
  if (finding.block >= 0) add(fmt::format("block {}", finding.block));
  if (!finding.address.empty()) add("address " + finding.address);
  if (finding.times > 1) add(fmt::format("{} times", finding.times));
  return text;
}

}  // namespace

Span OriginOf(const SimulatedKernel& kernel, int line) {
  const auto after = std::upper_bound(kernel.origins.begin(), kernel.origins.end(), line,
                                      [](int wanted, const codegen::LineOrigin& origin) { return wanted < origin.line; });
  return after == kernel.origins.begin() ? kNoSpan : std::prev(after)->span;
}

const Frame* GeneratedFrame(const SimulatedKernel& kernel, const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (BaseName(frame.file) == kernel.source_name) return &frame;
  }
  return nullptr;
}

void ReportFindings(const SimulatedKernel& kernel, const std::vector<Finding>& findings, const SourceManager& sources,
                    Diagnostics& diagnostics) {
  for (const Finding& finding : findings) {
    struct Place {
      Span source, generated;
      std::string role, runtime;
    };
    std::vector<Place> places;
    for (const FindingSite& site : finding.sites) {
      Place place{kNoSpan, kNoSpan, site.role, {}};
      if (const Frame* frame = GeneratedFrame(kernel, site.frames)) {
        place.source = OriginOf(kernel, frame->line);
        place.generated = LineSpan(sources, kernel.generated, frame->line);
      } else if (!site.frames.empty()) {
        place.runtime = fmt::format("`{}`, {}:{}", site.frames[0].function, BaseName(site.frames[0].file), site.frames[0].line);
      }
      places.push_back(std::move(place));
    }
    const auto first = std::find_if(places.begin(), places.end(), [](const Place& p) { return p.source.file != kNoFile; });
    const Span span = first == places.end() ? kNoSpan : first->source;
    const ErrorKind kind = KindOf(finding.kind);
    const bool known = kind != DiagnosticKind::kRunFailed;
    DiagnosticBuilder error = diagnostics.Error(kind, span, known ? finding.text : finding.kind + ": " + finding.text);
    for (const Place& place : places) {
      if (place.source.file != kNoFile) error.Label(place.source, place.role);
    }
    for (const Place& place : places) {
      if (place.generated.file != kNoFile)
        error.Note(place.generated, fmt::format("{} by the generated line", place.role.empty() ? "done" : place.role));
      else if (!place.runtime.empty())
        error.Note(fmt::format("{} by the runtime: {}", place.role.empty() ? "done" : place.role, place.runtime));
    }
    const std::string circumstances = Circumstances(finding);
    if (!circumstances.empty()) error.Note(circumstances);
  }
}

bool ReportNoOutputs(const Simulation& simulation, const std::string& entry, Diagnostics& diagnostics) {
  if (!simulation.crash.empty()) {
    const size_t end = simulation.crash.find('\n');
    DiagnosticBuilder error = diagnostics.Error(DiagnosticKind::kRunFailed, kNoSpan, simulation.crash.substr(0, end));
    for (size_t begin = end; begin != std::string::npos && begin < simulation.crash.size();) {
      const size_t next = std::min(simulation.crash.find('\n', begin + 1), simulation.crash.size());
      error.Note(simulation.crash.substr(begin + 1, next - begin - 1));
      begin = next;
    }
    return true;
  }
  if (simulation.result.code == 0) return false;
  diagnostics.Error(DiagnosticKind::kLaunchRefused, kNoSpan,
                    fmt::format("`{}` refused to run, status {}: {}", entry, simulation.result.code, simulation.result.message));
  return true;
}

std::string CounterTable(const SimulatedKernel& kernel, const std::vector<AccessCounter>& counters, const SourceManager& sources) {
  struct Sum {
    int64_t accesses = 0, wavefronts = 0, ideal = 0, sectors = 0;
  };
  using Key = std::tuple<uint32_t, uint32_t, std::string>;  // file, line, kind of access
  std::map<Key, Sum> sums;
  std::map<Key, Span> spans;
  for (const AccessCounter& counter : counters) {
    const Frame* frame = GeneratedFrame(kernel, counter.frames);
    const Span span = frame ? OriginOf(kernel, frame->line) : kNoSpan;
    const Key key{span.file, span.file == kNoFile ? 0 : sources.Line(span), counter.kind};
    Sum& sum = sums[key];
    sum.accesses += counter.accesses;
    sum.wavefronts += counter.wavefronts;
    sum.ideal += counter.ideal;
    sum.sectors += counter.sectors;
    spans.emplace(key, span);
  }
  std::string text =
      fmt::format("{:<44}{:<14}{:>10}{:>12}{:>10}{:>12}\n", "statement", "access", "warps", "wavefronts", "least", "sectors");
  for (const auto& [key, sum] : sums) {
    const auto& [file, line, kind] = key;
    std::string place = "the runtime's own launches";
    if (file != kNoFile) {
      const std::string_view source = sources.LineText(file, line);
      const size_t first = std::min(source.find_first_not_of(" \t"), source.size());
      place = fmt::format("{}:{} {}", BaseName(sources.Path(file)), line, source.substr(first));
      if (place.size() > 42) place = place.substr(0, 39) + "...";
    }
    const auto number = [](int64_t n) { return n ? fmt::format("{}", n) : std::string("-"); };
    text += fmt::format("{:<44}{:<14}{:>10}{:>12}{:>10}{:>12}\n", place, kind, sum.accesses, number(sum.wavefronts),
                        number(sum.ideal), number(sum.sectors));
  }
  return text;
}

}  // namespace tkc

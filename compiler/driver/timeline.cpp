// SPDX-License-Identifier: MIT
#include "compiler/driver/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/driver/findings.h"
#include "compiler/driver/outputs.h"
#include "compiler/support/render.h"

namespace tkc {
namespace {

bool IsWait(std::string_view what) {
  for (const std::string_view word : {"wait", "sync", "barrier", "bar."}) {
    if (what.find(word) != std::string_view::npos) return !what.starts_with("shfl") && !what.starts_with("elect");
  }
  return false;
}

TimeKind KindOfSpan(const TraceSpan& span) {
  if (span.track == "loads") return TimeKind::kLoad;
  if (span.track == "stores") return TimeKind::kStore;
  if (span.track == "tensor core") return TimeKind::kMatrix;
  return IsWait(span.what) ? TimeKind::kWait : TimeKind::kWork;
}

class Builder {
 public:
  Builder(const SimTrace& trace, const SimulatedKernel& kernel, const ir::Module& module, const SourceManager& sources)
      : trace_(trace), kernel_(kernel), module_(module), sources_(sources) {}

  Timeline Run() {
    std::set<int> launches;
    for (const TraceSpan& span : trace_.spans) launches.insert(span.launch);
    std::vector<std::pair<int, const ir::Kernel*>> own;
    for (const int launch : launches) {
      if (const ir::Kernel* kernel = FindKernel(launch)) own.emplace_back(launch, kernel);
    }
    if (own.empty() && !launches.empty()) own.emplace_back(*launches.rbegin(), nullptr);
    int64_t first = trace_.cycles;
    for (const TraceSpan& span : trace_.spans) {
      if (!own.empty() && span.launch >= own.front().first) first = std::min(first, span.begin);
    }
    Timeline timeline;
    for (const auto& [launch, kernel] : own) {
      ran_ = kernel;
      grid_ = own.size() > 1 ? GridOf(kernel) : 0;
      if (timeline.title.empty() && ran_) timeline.title = grid_ > 0 ? ran_->entry : ran_->name;
      for (const TraceSpan& span : trace_.spans) {
        if (span.launch == launch) Add(span, first);
      }
    }
    for (auto& [key, row] : rows_) {
      AssignLanes(row);
      for (const TimeSpan& span : row.spans) timeline.cycles = std::max(timeline.cycles, span.end);
      timeline.rows.push_back(std::move(row));
    }
    return timeline;
  }

 private:
  /// The kernel that ran in the launch: the one whose function stands in the generated file's frames.
  const ir::Kernel* FindKernel(int launch) const {
    const ir::Kernel* found = nullptr;
    for (const TraceSpan& span : trace_.spans) {
      const Frame* frame = span.launch == launch ? GeneratedFrame(kernel_, trace_.places[span.place]) : nullptr;
      if (!frame) continue;
      for (const ir::Kernel& kernel : module_.kernels) {
        const std::string name = codegen::KernelFunction(kernel);
        const size_t at = frame->function.find(name);
        if (at == std::string::npos) continue;
        if (!found || name.size() > codegen::KernelFunction(*found).size()) found = &kernel;
      }
      if (found) return found;
    }
    return nullptr;
  }

  /// Its place among the launches of its schedule, from 1.
  int GridOf(const ir::Kernel* kernel) const {
    for (const ir::Entry& entry : module_.entries) {
      for (const std::vector<int>& alternative : entry.alternatives) {
        for (size_t i = 0; i < alternative.size(); ++i) {
          if (&module_.kernels[static_cast<size_t>(alternative[i])] == kernel) return static_cast<int>(i) + 1;
        }
      }
    }
    return 0;
  }

  /// "compute[1]" for the first warp of its second warpgroup; empty for a warp without a role.
  std::string WorkerOf(int warp, bool& first) const {
    if (!ran_) return fmt::format("warp {}", warp);
    for (const ir::Worker& role : ran_->workers) {
      const bool computes = role.Computes();
      if (warp < role.first_warp || warp >= role.first_warp + role.Warps()) continue;
      first = !computes || (warp - role.first_warp) % ir::kWarpsOfInstance == 0;
      const int instance = (warp - role.first_warp) / ir::kWarpsOfInstance;
      return computes && role.instances > 1 ? fmt::format("{}[{}]", role.name, instance) : role.SourceName();
    }
    return {};
  }

  void Add(const TraceSpan& span, int64_t first_cycle) {
    const TimeKind kind = KindOfSpan(span);
    bool first = true;
    std::string name;
    int order = 0;
    if (span.track == "warp") {
      const std::string worker = WorkerOf(span.number, first);
      if (worker.empty()) return;
      name = fmt::format("{}, warp {}", worker, span.number);
    } else if (span.track == "tensor core") {
      bool ignored = true;
      const std::string worker = WorkerOf(span.number * ir::kWarpsOfInstance, ignored);
      name = fmt::format("tensor core, {}", worker.empty() ? fmt::format("warpgroup {}", span.number) : worker);
      order = 2;
    } else {
      name = span.track == "loads" ? "copies in" : "copies out";
      order = span.track == "loads" ? 1 : 3;
    }
    TimeRow& row = rows_[{grid_, span.block, order, span.number}];
    row.grid = grid_;
    row.block = span.block;
    row.name = name;
    row.is_worker = order == 0;
    row.is_first_warp = first;
    TimeSpan out{kind, 0, span.begin - first_cycle, span.end - first_cycle, span.what, {}, {}, span.bytes};
    if (const Frame* frame = GeneratedFrame(kernel_, trace_.places[span.place])) {
      const Span origin = OriginOf(kernel_, frame->line);
      if (origin.file != kNoFile) {
        out.source = std::string(sources_.Text(origin));
        const std::string& path = sources_.Path(origin.file);
        out.place = fmt::format("{}:{}", BaseName(path), sources_.Line(origin));
      }
    }
    if (!row.spans.empty() && GoesOn(row.spans.back(), out))
      row.spans.back().end = out.end;
    else
      row.spans.push_back(std::move(out));
  }

  /// Whether a thread does more of the same: a statement has many loads, one behind the other.
  static bool GoesOn(const TimeSpan& last, const TimeSpan& next) {
    return next.kind == TimeKind::kWork && last.kind == next.kind && last.what == next.what && last.source == next.source &&
           last.place == next.place && last.end == next.begin;
  }

  static void AssignLanes(TimeRow& row) {
    std::stable_sort(row.spans.begin(), row.spans.end(), [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
    std::vector<int64_t> free_at;
    for (TimeSpan& span : row.spans) {
      size_t lane = 0;
      while (lane < free_at.size() && free_at[lane] > span.begin) ++lane;
      if (lane == free_at.size()) free_at.push_back(0);
      free_at[lane] = span.end;
      span.lane = static_cast<int>(lane);
    }
    row.lanes = std::max<int>(1, static_cast<int>(free_at.size()));
  }

  const SimTrace& trace_;
  const SimulatedKernel& kernel_;
  const ir::Module& module_;
  const SourceManager& sources_;
  const ir::Kernel* ran_ = nullptr;                         // of the launch at hand
  int grid_ = 0;                                            // and which of several it is
  std::map<std::tuple<int, int, int, int>, TimeRow> rows_;  // grid section, block, kind of row, number
};

std::string_view CategoryOf(TimeKind kind) {
  switch (kind) {
    case TimeKind::kWork: return "instruction";
    case TimeKind::kWait: return "wait";
    case TimeKind::kLoad: return "copy in";
    case TimeKind::kMatrix: return "matrix";
    case TimeKind::kStore: return "copy out";
  }
  return "";
}

}  // namespace

Timeline MakeTimeline(const SimTrace& trace, const SimulatedKernel& kernel, const ir::Module& module,
                      const SourceManager& sources) {
  return Builder(trace, kernel, module, sources).Run();
}

std::string TimelineJson(const Timeline& timeline) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  int grid = 0, block = -1, thread = 0, process = -1;
  std::string events;
  const auto meta = [&](const char* kind, int pid, int tid, const std::string& name) {
    events += fmt::format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},\n", kind, pid, tid,
                          JsonString(name));
  };
  for (const TimeRow& row : timeline.rows) {
    if (row.block != block || row.grid != grid) {
      process = row.grid == 0 ? row.block : process + 1;
      grid = row.grid;
      block = row.block;
      thread = 0;
      meta("process_name", process, 0, grid == 0 ? fmt::format("block {}", block) : fmt::format("grid {}, block {}", grid, block));
    }
    for (int lane = 0; lane < row.lanes; ++lane) {
      ++thread;
      meta("thread_name", process, thread, row.lanes > 1 ? fmt::format("{} {}", row.name, lane) : row.name);
      events +=
          fmt::format("{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}},\n",
                      process, thread, thread);
      for (const TimeSpan& span : row.spans) {
        if (span.lane != lane) continue;
        const std::string& name = span.source.empty() ? span.what : span.source;
        events += fmt::format(
            "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{"
            "\"instruction\":{},\"place\":{},\"cycles\":{}{}}}}},\n",
            JsonString(name), CategoryOf(span.kind), process, thread, static_cast<double>(span.begin) / 1000,
            static_cast<double>(span.end - span.begin) / 1000, JsonString(span.what), JsonString(span.place), span.end - span.begin,
            span.bytes ? fmt::format(",\"bytes\":{}", span.bytes) : "");
      }
    }
  }
  if (events.size() >= 2) events.erase(events.size() - 2, 1);  // the last comma
  return text + events + "]}\n";
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The simulated timeline in rows that a person can read: workers by name, copies under way, the tensor core, stores. From it come
// a file for Perfetto and a picture.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/simulate.h"
#include "compiler/ir/ir.h"

namespace tkc {

enum class TimeKind { kWork, kWait, kLoad, kMatrix, kStore };

struct TimeSpan {
  TimeKind kind = TimeKind::kWork;
  int lane = 0;  // spans of one lane do not overlap
  int64_t begin = 0, end = 0;
  std::string what;    // the instruction
  std::string source;  // the statement that it comes from: "acc += a.rows(w) @ b"
  std::string place;   // "gemm.tk:14"
  int64_t bytes = 0;
};

struct TimeRow {
  int grid = 0;  // which of several grid sections, from 1; 0 where there is one
  int block = 0;
  std::string name;  // "compute[0], warp 4"; "copies"
  bool is_worker = false;
  bool is_first_warp = true;  // of its worker instance: a picture shows only these
  int lanes = 1;
  std::vector<TimeSpan> spans;  // by begin
};

struct Timeline {
  std::string title;
  int64_t cycles = 0;
  std::vector<TimeRow> rows;  // by grid section and block, then workers in order, copies, tensor core, stores
};

/// The kernel's own launches, which are the last of the entry's (tensors may be packed and preset before).
Timeline MakeTimeline(const SimTrace& trace, const SimulatedKernel& kernel, const ir::Module& module, const SourceManager& sources);

/// Trace Event JSON: what chrome://tracing and Perfetto open. A cycle is a nanosecond.
std::string TimelineJson(const Timeline& timeline);

/// A picture, complete in itself: at most `blocks` blocks.
std::string TimelineSvg(const Timeline& timeline, int blocks);

}  // namespace tkc

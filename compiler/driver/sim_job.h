// SPDX-License-Identifier: MIT
// What tkc tells the simulator (tkc-sim) and what it hears: a job and a result, both JSON files. runtime/sim reads and writes the
// other ends. Everything that knows nlohmann_json on this side is in sim_job.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/dtype.h"

namespace tkc {

struct JobTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> extents, strides;  // strides in elements
  int64_t bytes = 0;                      // of the memory image
  int64_t offset = 0;                     // of element 0 in it, in bytes
  std::string initial;                    // file with the image before; empty: nothing is written yet
  std::string final_image;                // where the image goes; empty: nowhere
  bool written = false;
};

struct JobScalar {
  std::string name;
  DType dtype;
  uint64_t bits = 0;
};

/// The order of arguments is that of the parameters in the source, tensors and scalars mixed.
struct JobArgument {
  std::optional<JobTensor> tensor;
  std::optional<JobScalar> scalar;
};

struct SimJob {
  std::string library, entry, workspace_query;
  std::vector<JobArgument> arguments;
  uint64_t seed = 1;  // of the timing; 0: nominal
  int64_t sms = 132;
  int64_t shared_bytes = 0;  // that the simulated GPU gives a block
  std::string trace;         // where the timeline goes; empty: nowhere
  int max_findings = 20;
  std::string result;
};

std::string ToJson(const SimJob& job);

struct Frame {
  std::string file;
  int line = 0;
  std::string function;
};

/// A place in the program that had a part in a finding, innermost frame first.
struct FindingSite {
  std::string role;
  std::vector<Frame> frames;
};

struct Finding {
  std::string kind;  // race, read-of-poison, ..: the code of a diagnostic
  std::string text;
  int64_t times = 1;
  std::vector<FindingSite> sites;
  std::string lanes, address;
  int64_t block = -1;
};

/// Accesses of one place: to shared memory (wavefronts against the least possible) or global memory (sectors).
struct AccessCounter {
  std::vector<Frame> frames;
  std::string kind;
  int64_t accesses = 0, wavefronts = 0, ideal = 0, sectors = 0;
};

struct SimResult {
  int32_t code = 0;  // tk_code of the entry's status
  std::string message;
  int64_t blocks = 0, lanes = 0, cycles = 0;
  double seconds = 0;
  std::vector<Finding> findings;
  std::vector<AccessCounter> counters;
};

/// Nothing, and why, if the text is no result.
std::optional<SimResult> ParseSimResult(const std::string& text, std::string& error);

/// A stretch of simulated time: a warp inside an instruction, or a copy, store or product under way.
struct TraceSpan {
  std::string track;  // warp, loads, stores, tensor core
  int launch = 0, block = 0;
  int number = 0;  // of the warp, or of the warpgroup for the tensor core
  std::string what;
  int64_t begin = 0, end = 0;  // cycles
  size_t place = 0;            // index into SimTrace::places
  int64_t bytes = 0;
};

struct SimTrace {
  int64_t cycles = 0;
  std::vector<std::vector<Frame>> places;
  std::vector<TraceSpan> spans;
};

std::optional<SimTrace> ParseSimTrace(const std::string& text, std::string& error);

/// The number of an element type in tk/host/abi.h.
int AbiCode(DType dtype);

}  // namespace tkc

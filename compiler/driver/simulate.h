// SPDX-License-Identifier: MIT
// Executes generated code on the simulator: images of the arguments, a job, the program tkc-sim, its result, the outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/driver/build_cache.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/placement.h"
#include "compiler/driver/sim_job.h"
#include "compiler/interp/launch.h"

namespace tkc {

/// A kernel that tkc-sim can load, and what its messages need.
struct SimulatedKernel {
  Build build;
  std::string simulator;                     // path of tkc-sim
  std::string function, workspace_query;     // names of the entry's C functions
  std::string source_name;                   // of the generated file
  uint32_t generated = kNoFile;              // its text in the session's sources
  std::vector<codegen::LineOrigin> origins;  // of its lines
  int64_t shared_bytes = 0;                  // that the GPU it is for gives a block
};

/// Names of the C functions of `entry`.
void NameFunctions(const Generated& code, const typed::Entry& entry, std::string& function, std::string& workspace_query);

/// Compiles for the simulator, or takes it from the cache.
Result<SimulatedKernel> PrepareSimulation(Session& session, const Generated& code, const typed::Entry& entry);

struct SimulationOptions {
  Placement placement;
  uint64_t seed = 1;
  bool trace = false;
  double seconds = 0;  // limit; 0: none
};

struct Simulation {
  SimResult result;
  std::string crash;                              // why there is no result: what ended the simulated program
  std::map<std::string, interp::Tensor> outputs;  // dense; of `out` and `inout` tensors; none if anything was found
  std::string trace;                              // the timeline as tkc-sim wrote it
  double wall = 0;                                // seconds
};

/// Runs once. A failure is one of the machine (a file, memory); what the kernel does wrong is in the Simulation.
Result<Simulation> Simulate(const SimulatedKernel& kernel, const typed::Kernel& parameters, const interp::Arguments& arguments,
                            const SimulationOptions& options, Diagnostics& diagnostics);

/// The arguments of an entry in the order of its C function, tensors placed; writes the images into `folder`. Shared with the GPU.
/// `placed` gets the tensors as they lie before the call.
Result<std::vector<JobArgument>> WriteImages(const typed::Kernel& parameters, const interp::Arguments& arguments,
                                             const Placement& placement, const std::string& folder,
                                             std::map<std::string, interp::Tensor>& placed, Diagnostics& diagnostics);

/// Reads back what a run has left in the image of each written tensor; false and reported if one is missing.
bool ReadImages(const std::vector<JobArgument>& job, const std::map<std::string, interp::Tensor>& placed,
                std::map<std::string, interp::Tensor>& outputs, int64_t& trespassed, Diagnostics& diagnostics);

}  // namespace tkc

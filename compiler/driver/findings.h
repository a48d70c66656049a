// SPDX-License-Identifier: MIT
// What the simulator has found, as diagnostics: the lines of the .tk file and of the generated one, who, and where in memory.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/simulate.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/source_manager.h"

namespace tkc {

/// Where line `line` of the generated file comes from: a statement of the .tk source, or kNoSpan.
Span OriginOf(const SimulatedKernel& kernel, int line);

/// The innermost frame in the generated file, or null: the runtime's own launches.
const Frame* GeneratedFrame(const SimulatedKernel& kernel, const std::vector<Frame>& frames);

/// One error each.
void ReportFindings(const SimulatedKernel& kernel, const std::vector<Finding>& findings, const SourceManager& sources,
                    Diagnostics& diagnostics);

/// A simulation without outputs: it crashed, or the entry refused its arguments. True if it reported something.
bool ReportNoOutputs(const Simulation& simulation, const std::string& entry, Diagnostics& diagnostics);

/// Bank conflicts and sectors for each statement, as a table.
std::string CounterTable(const SimulatedKernel& kernel, const std::vector<AccessCounter>& counters, const SourceManager& sources);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The words for what agents do: the trace of .tk lines under a finding.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/certify/machine.h"

namespace tkc::certify {

/// `waits for a full slot of `ab``
std::string Doing(const ir::Kernel& kernel, const ir::Op& op);
/// How far the agents are, and what they did last, oldest first.
std::vector<std::pair<Span, std::string>> SceneNotes(const Program& program, const State& state);

}  // namespace tkc::certify

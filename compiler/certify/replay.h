// SPDX-License-Identifier: MIT
// All replays of a kernel: one for each way in which loops can run and conditions can go, until nothing new comes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

struct ReplayResult {
  std::optional<Finding> finding;
  int64_t states = 0;  // different ones in which something was decided
  int64_t steps = 0;
  int64_t choices = 0;               // answers that were tried
  std::set<const ir::Op*> filled{};  // each commit_copies that ever closed a group with a copy in it
  std::set<const ir::Op*> early{};   // each view of a slot of which the thread's own copies may be unfinished
};

ReplayResult Replay(const Program& program);

/// Whether a proof is found as well if this wait_copies lets one more stay unfinished: then it waits for more than is needed.
/// `replay`: of the program itself, without a finding.
bool HoldsLoosened(const Program& program, const ir::Op* wait, const ReplayResult& replay);

}  // namespace tkc::certify

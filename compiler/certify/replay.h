// SPDX-License-Identifier: MIT
// All replays of a kernel: one for each way in which loops can run and conditions can go, until nothing new comes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

struct Loosened;

struct ReplayResult {
  std::optional<Finding> finding;
  Remembers remembers = Remembers::kLittle;
  int64_t states = 0;  // different ones in which something was decided
  int64_t steps = 0;
  int64_t choices = 0;               // answers that were tried
  std::set<const ir::Op*> filled{};  // each commit_copies that ever closed a group with a copy in it
  std::set<const ir::Op*> early{};   // each view of a slot of which the thread's own copies may be unfinished
};

/// The replays of a kernel: of what remembers least first. What closes so is proved; what does not is replayed again with more that
/// is known.
class Replays {
 public:
  /// `program`: of the kernel, with what remembers least, which CheckRings has seen.
  Replays(const Program& program, const Target& target) : program_(program), target_(target) {}

  ReplayResult Run(const Loosened* loosened = nullptr);
  /// Whether a proof is found as well if this wait_copies lets one more stay unfinished: then it waits for more than is needed.
  /// `replay`: of the program itself, without a finding.
  bool HoldsLoosened(const ir::Op* wait, const ReplayResult& replay);

  /// What is replayed; nothing where it can't be made.
  const Program* Of(Remembers remembers);

 private:
  const Program& program_;
  const Target& target_;
  std::map<Remembers, Program> programs_{};
};

}  // namespace tkc::certify

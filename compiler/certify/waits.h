// SPDX-License-Identifier: MIT
// Counted waits are not for more than is needed. A wait that is makes a kernel slow, not wrong: the proof is made where the
// certificate is asked for.
#pragma once

#include <optional>
#include <vector>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"
#include "compiler/certify/replay.h"

namespace tkc::certify {

/// Every wait_copies of the program, once.
std::vector<const ir::Op*> WaitsForCopies(const Program& program);

/// For each of them the proof must fail if it lets one more copy stay unfinished (a slot is complete where it is received, not only
/// where it is read), and no group of copies is empty in every execution. `replay`: of the program itself, without a finding.
std::optional<Finding> CheckWaits(const Program& program, Replays& replays, const ReplayResult& replay);

}  // namespace tkc::certify

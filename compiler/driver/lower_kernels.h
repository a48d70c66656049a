// SPDX-License-Identifier: MIT
// The kernels of a module, side by side on all cores: through the passes, and through the proof of what these made.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/driver/pass_runner.h"
#include "compiler/driver/session.h"
#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc {

/// How far a module goes.
enum class Until { kSchedule, kProved };

/// All kernels of `module` from tile level to schedule level, or to its proof; text of the schedule level passes no pass. All that
/// is reported for any of them is in `session`, once; false if there was an error. The proofs' text is added to `certificate`,
/// which may be null, as may `failed`, the kernels that errors were
/// found in.
bool LowerKernels(std::span<const Pass> passes, Session& session, ir::Module& module, const Target& target, Until until,
                  std::string* certificate, std::vector<const ir::Kernel*>* failed = nullptr);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Runs one pass after the other over a kernel: verifies the IR, names the pass in internal errors, honours --run-pass and
// --dump-after. Verified is before the first pass and behind each; in release builds, behind those that establish something or
// enter a level, and only if one of these finds a fault behind each, to name the pass that made it. Which passes there are, and in
// which order, is compile.cpp's business.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "compiler/driver/options.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/established.h"
#include "compiler/support/diagnostic.h"
#include "compiler/target/target.h"

namespace tkc {

struct Pass {
  using ForTarget = Result<void> (*)(ir::Kernel&, const Target&, Diagnostics&);
  using ForAnyTarget = Result<void> (*)(ir::Kernel&, Diagnostics&);

  std::string_view name;
  std::variant<ForTarget, ForAnyTarget> run;
  std::optional<ir::Level> enters = {};                 // from here on the IR satisfies this level
  std::optional<passes::Established> establishes = {};  // from here on this holds
};

/// Runs `passes`, or those of them that --run-pass names; false: one reported an error, and none behind it ran. Several threads may
/// do so at the same time, of different kernels.
bool RunPasses(std::span<const Pass> passes, const Options& options, ir::Kernel& kernel, const Target& target,
               Diagnostics& diagnostics);

/// Reports names of --run-pass and --dump-after that no pass has.
void CheckPassNames(std::span<const Pass> passes, const Options& options, Diagnostics& diagnostics);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Pipes that are one for each instance of a worker (`pipe p per scan`). Where workers that only load fill them in loops over the
// instances, one program serves all of these: each indexes slots and barriers by its number, and the rings of all turn together.
// Otherwise, and where copies are folded into those who receive, each becomes a pipe by itself, and each instance a worker of its
// own. Of one instance it is a pipe as any other. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Whether one program can serve all instances that have the pipe.
bool ServesAll(const ir::Kernel& kernel, const ir::Pipe& pipe);

/// Of a pipe that only one instance has: it is one as any other.
void JoinOnlyRing(ir::Kernel& kernel, ir::Pipe& pipe);

Result<void> SeparateRings(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

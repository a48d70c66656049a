// SPDX-License-Identifier: MIT
// For targets that fold copies: instances of a worker whose traffic differs become workers of their own. Where all instances do the
// same they share copies and meet at one barrier; where one receives a loaded slot, or runs a loop over slots, that others do not,
// or holds something of its own branch while it exchanges tiles, each has a program of its own, in which conditions on the instance
// are decided.
#pragma once

#include <functional>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Loading workers have their role already.
void SplitInstances(ir::Kernel& kernel);

/// Each instance of such a worker gets a program of its own.
void SplitWorkers(ir::Kernel& kernel, const std::function<bool(const ir::Worker&)>& is_to_be);

}  // namespace tkc::passes

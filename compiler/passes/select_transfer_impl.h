// SPDX-License-Identifier: MIT
// The two halves of select_transfer: what a worker takes from memory, and what it stores.
#pragma once

#include "compiler/passes/copy_engine.h"

namespace tkc::passes {

/// In a worker that copies: reads that feed sends become the copies that fill the slots.
void SelectLoads(CopyEngine& engine, ir::Worker& worker);

/// In a worker that computes: how each store gets from registers to memory.
void SelectStores(CopyEngine& engine, ir::Worker& worker);

}  // namespace tkc::passes

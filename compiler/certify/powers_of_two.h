// SPDX-License-Identifier: MIT
// Most boxes of the copy engine begin where blocks, steps of loops and numbers in the text put them: multiples of powers of two,
// which neither sums nor integers that wrap around take away. Seen so, no bound of any name need be known.
#pragma once

#include "compiler/ir/ir.h"

namespace tkc::certify {

/// Whether each box that the worker has the engine move is shown in this way to begin at a multiple of `bytes`, a power of two, of
/// a row. False also where that follows from other things, which MarkProof looks at.
bool BoxesBeginAt(int64_t bytes, const ir::Kernel& kernel, const ir::Worker& worker);

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Which reads can be copied into slots in whole pieces, by instructions that ask nothing at run time. The launcher packs tensors
// whose rows are no whole pieces.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/passes/index_facts.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// A whole tile of rows of a tensor, which starts at a piece, inside the tensor. Where waits count copy instructions they are as
/// many as the tile takes, always; elsewhere it pays for operands of products.
bool GoesInPieces(const ir::Kernel& kernel, const IndexFacts& facts, const Target& target, const ir::Op& read, int64_t threads,
                  bool is_operand);

/// An operand on a target whose copies go through registers, if one worker computes: the threads of the block share its tile in
/// pieces of 16 bytes, or, where it lies turned, in patches of four columns and eight or four rows (tk/hip/staged_copy.h). `tile`:
/// as it lies in the slot.
bool GoesThroughRegisters(const ir::Kernel& kernel, const IndexFacts& facts, const Target& target, const ir::Op& read,
                          const ir::Type& tile, bool is_turned);

}  // namespace tkc::passes

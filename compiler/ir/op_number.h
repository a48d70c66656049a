// SPDX-License-Identifier: MIT
// What Op::number says where it is a choice and no count: an enumeration for each operation that has one, by the meaning of which
// op.def speaks. op_format.cpp has their words in the text, in the same order.
#pragma once

#include <cstdint>

namespace tkc::ir {

/// kLet: a scalar that stays; one that others of its name change; such a change.
enum ScalarLet : int64_t { kStays = 0, kMayChange = 1, kChanges = 2 };

/// kReceive: the ring goes on behind it; or another receive brings the same slot, and the ring goes on behind that (load_ahead); or
/// the slot is kept when the ring goes on, at the end of the region; or it is that kept slot, which goes back (overlap_products).
enum ReceiveOf : int64_t { kLastReceive = 0, kEarlyReceive = 1, kKeptReceive = 2, kPreviousReceive = 3 };

/// kSend: all fields of the slot. Else the number is that of a field.
inline constexpr int64_t kAllFields = -1;

/// kVar with an initial value: registers that the host compiler may share with that value; or registers of its own (keep_operands).
enum VarCopy : int64_t { kMayShare = 0, kOwnRegisters = 1 };

/// kConvert: may be the result of an earlier conversion of the same tile; or is none, so that the narrower tile (the tile, where
/// types are equal) is what is kept.
enum Conversion : int64_t { kConvertOnce = 0, kConvertAnew = 1 };

/// kReshape: each element stays in its register; or all go through shared memory, and become a tile of the worker's layout.
enum Reshaping : int64_t { kStaysInRegisters = 0, kThroughShared = 1 };

/// kAccumulate, kMma, kMultiply: acc += a b; acc -= a b; acc = a b (not of kAccumulate).
enum ProductInto : int64_t { kAdds = 0, kSubtracts = 1, kSets = 2 };

/// kIfElected, kSyncRole: of which threads.
enum Threads : int64_t { kOfWarpgroup = 0, kOfWarp = 1 };

/// kDrawTile: this thread alone; one of the warp; one of the warpgroup.
enum Drawer : int64_t { kDrawnByThread = 0, kDrawnByWarp = 1, kDrawnByWarpgroup = 2 };

/// kCopyToShared: who copies.
enum Copier : int64_t { kByWarpgroup = 0, kByWarp = 1, kByBlock = 2 };

/// kCopyAsync: any block; in whole pieces of the target's copy instruction; to be fetched into registers and put down.
enum AsyncCopy : int64_t { kAnyBlock = 0, kInPieces = 1, kThroughRegisters = 2 };

/// kArrive: once for each warp; this thread alone; for each warp, at the barrier of every block of the cluster.
enum Arrival : int64_t { kPerWarp = 0, kThisThread = 1, kInAllBlocks = 2 };

/// kAlternate: from kApart to kTogether the second instance of the worker is a meeting behind the first one; kProducts and kLoads
/// begin the part of an iteration that multiplies, and the one that loads.
enum Alternation : int64_t { kApart = 0, kProducts = 1, kLoads = 2, kTogether = 3 };

}  // namespace tkc::ir

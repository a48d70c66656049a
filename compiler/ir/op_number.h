// SPDX-License-Identifier: MIT
// What Op::raw_number is: a choice, of one of these enumerations (or of typed::Op or typed::StoreOp), or a count. op.def names one
// of these types beside each operation. op_format.cpp lists the words of the choices in the IR's text, in the same order.
#pragma once

#include <cstdint>

namespace tkc::ir {

/// kLet: defines a scalar that never changes; defines one that later lets of this name change; is such a change.
enum ScalarLet : int64_t { kStays = 0, kMayChange = 1, kChanges = 2 };

/// kReceive, by what becomes of the slot:
/// kLastReceive: the ring advances behind it. kEarlyReceive: a later receive brings the same slot, and the ring advances behind
/// that one (load_ahead). kKeptReceive: the slot is still held when the ring advances, at the end of the region. kPreviousReceive:
/// the slot that the iteration before kept; it is released now (overlap_products).
enum ReceiveOf : int64_t { kLastReceive = 0, kEarlyReceive = 1, kKeptReceive = 2, kPreviousReceive = 3 };

/// kVar with an initial value: whether the output's compiler may let both share registers, or must not (keep_operands).
enum VarCopy : int64_t { kMayShare = 0, kOwnRegisters = 1 };

/// kConvert: kConvertOnce may reuse the result of an earlier conversion of the same tile. kConvertAnew must not, so that only the
/// narrow tile stays in registers.
enum Conversion : int64_t { kConvertOnce = 0, kConvertAnew = 1 };

/// kReshape: each element stays in its register, or all go through shared memory and take the worker's layout.
enum Reshaping : int64_t { kStaysInRegisters = 0, kThroughShared = 1 };

/// kAccumulate, kMma, kMultiply: acc += a b; acc -= a b; acc = a b (not of kAccumulate).
enum ProductInto : int64_t { kAdds = 0, kSubtracts = 1, kSets = 2 };

/// kIfElected, kSyncRole: of which threads. All of the block elect one in the frame around the roles only.
enum Threads : int64_t { kOfWarpgroup = 0, kOfWarp = 1, kOfBlock = 2 };

/// kDrawTile: this thread alone; one of the warp; one of the warpgroup.
enum Drawer : int64_t { kDrawnByThread = 0, kDrawnByWarp = 1, kDrawnByWarpgroup = 2 };

/// kCopyToShared: who copies.
enum Copier : int64_t { kByWarpgroup = 0, kByWarp = 1, kByBlock = 2 };

/// kCopyAsync: a block of any shape; one in whole pieces of the target's copy instruction; one that is fetched into registers and
/// put into shared memory later.
enum AsyncCopy : int64_t { kAnyBlock = 0, kInPieces = 1, kThroughRegisters = 2 };

/// kArrive: one arrival a warp; one of this thread; one a warp at the barrier of every block of the cluster.
enum Arrival : int64_t { kPerWarp = 0, kThisThread = 1, kInAllBlocks = 2 };

/// kAlternate: between kApart and kTogether the worker's second instance runs one meeting behind the first. kProducts and kLoads
/// begin the parts of an iteration that multiply and that load.
enum Alternation : int64_t { kApart = 0, kProducts = 1, kLoads = 2, kTogether = 3 };

// Counts. These types only name what is counted.
struct NoNumber;
struct StepSize;         // kFor: from one value of the variable to the next
struct TripCount;        // kUnroll
struct InstanceCount;    // kForTiles: those that take turns; 0: none do
struct GroupSize;        // kTilePosition: rows of blocks that are walked together
struct FieldNumber;      // kSend: the one field that is sent, or kAllFields
struct UnfinishedCount;  // of waits: how many groups may be unfinished behind it
struct BlockCount;       // of the cluster
struct SlotCount;        // kRing
struct ByteCount;        // kExpect
struct BarrierNumber;    // of copies of the engine: an index in Kernel::barriers
struct ThreadCount;      // of named barriers: those that meet
struct PriorityLevel;    // kPriority

/// kSend: the operands are all fields of the slot.
inline constexpr int64_t kAllFields = -1;

}  // namespace tkc::ir

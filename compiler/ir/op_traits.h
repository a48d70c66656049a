// SPDX-License-Identifier: MIT
// Kinds of operations, each named once: what passes, the certificate and the printer ask of a code alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "compiler/ir/ir.h"

namespace tkc::ir {

std::string_view OpText(OpCode code);
bool InTileLevel(OpCode code);
bool InScheduleLevel(OpCode code);
/// Reads or writes global memory itself, whatever its scalars are.
bool AccessesGlobal(OpCode code);
/// Shows, reads or writes shared memory, orders, or ends later than it returns: what it does has a place among other operations.
bool IsReplayed(OpCode code);

// ---- control flow and scalars

constexpr bool IsLoop(OpCode code) { return code == OpCode::kFor || code == OpCode::kForTiles || code == OpCode::kUnroll; }
/// Makes, or changes, the scalar Op::symbol.
constexpr bool DefinesScalar(OpCode code) { return code == OpCode::kLet || code == OpCode::kTest || code == OpCode::kDrawTile; }

/// Of a loop over tiles, in its body: whether this one is the first that the block takes.
inline Scalar IsFirstTile(const Op& tiles) {
  return symbolic::Make(symbolic::Kind::kEq, DType::kBool, {symbolic::Name(tiles.symbol), tiles.scalars[0]});
}

// ---- computing on tiles

/// Each element of the result comes from the same element of the operands, of which columns, rows and numbers are spread.
constexpr bool IsElementwise(OpCode code) {
  return code == OpCode::kUnary || code == OpCode::kBinary || code == OpCode::kSelect || code == OpCode::kConvert;
}
/// The tile is made of scalars and of where its elements lie.
constexpr bool IsMadeOfScalars(OpCode code) { return code == OpCode::kFill || code == OpCode::kPositions; }
/// Any part of the result can be had alone, of the same part of the operands and without memory.
constexpr bool ComputesElements(OpCode code) { return IsElementwise(code) || IsMadeOfScalars(code); }
/// Changes a variable, or a part of it, to a value.
constexpr bool Assigns(OpCode code) { return code == OpCode::kAssign || code == OpCode::kAssignPart; }
/// Those that hold parts of a line of a tile exchange what they have found, warps through a scratch buffer (Op::symbol).
constexpr bool ReducesOrScans(OpCode code) { return code == OpCode::kReduce || code == OpCode::kCumsum; }
/// Of a view, another: part of it, or the same turned. Of a tile in registers, the same of the tile.
constexpr bool IsPartOrTranspose(OpCode code) { return code == OpCode::kPart || code == OpCode::kTranspose; }
/// Adds a product to a sum, or sets it to one.
constexpr bool AddsProduct(OpCode code) { return code == OpCode::kAccumulate || code == OpCode::kMma || code == OpCode::kMultiply; }
/// Matrix products at either level.
constexpr bool IsProduct(OpCode code) { return code == OpCode::kMatmul || AddsProduct(code); }
/// What a product adds to, or gives.
inline ValueId SumOf(const Op& product) { return AddsProduct(product.code) ? product.operands[0] : product.results[0]; }
/// Computes on tiles of the worker itself: memory is as it was, and so is every scalar.
constexpr bool OnlyComputes(OpCode code) {
  return ComputesElements(code) || Assigns(code) || ReducesOrScans(code) || IsPartOrTranspose(code) || code == OpCode::kVar ||
         code == OpCode::kMatmul || code == OpCode::kAccumulate || code == OpCode::kAligned || code == OpCode::kReshape ||
         code == OpCode::kCat;
}

// ---- memory

/// A gather of rows: columns of numbers choose them, and an axis is kept along them. Without such an axis it is one of elements.
inline bool GathersRows(const Op& op) {
  return op.code == OpCode::kGather &&
         std::any_of(op.axes.begin(), op.axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
}
/// A block of a tensor, or rows of one, into registers.
inline bool LoadsTile(const Op& op) { return op.code == OpCode::kRead || GathersRows(op); }

/// Copies of the engine into the same place of several blocks of the cluster.
constexpr bool IsMulticast(OpCode code) { return code == OpCode::kLoadMulticast || code == OpCode::kLoadRowsMulticast; }
/// Copies of the engine that leave out rows that do not exist.
constexpr bool LoadsRows(OpCode code) { return code == OpCode::kLoadRows || code == OpCode::kLoadRowsMulticast; }
/// Copies of the engine into shared memory, which complete on a barrier.
constexpr bool IsEngineLoad(OpCode code) { return code == OpCode::kLoadAsync || LoadsRows(code) || IsMulticast(code); }
/// Copies of the engine, in either direction.
constexpr bool IsEngineCopy(OpCode code) { return IsEngineLoad(code) || code == OpCode::kStoreAsync; }
/// How many rows exist of what such a copy brings.
inline const Scalar& ExistingRows(const Op& load) { return load.scalars[load.scalars.size() - (IsMulticast(load.code) ? 2 : 1)]; }
/// The innermost of the coordinates of such a copy's box, and the bytes of its element.
std::pair<Scalar, int64_t> ColumnOfBox(const Kernel& kernel, const Op& copy);
/// Stores into shared memory of other blocks of the cluster, whose barriers count the bytes.
constexpr bool StoresToBlocks(OpCode code) {
  return code == OpCode::kStoreCluster || code == OpCode::kPutTileCluster || code == OpCode::kSplitSend;
}
constexpr bool LoadsFragments(OpCode code) { return code == OpCode::kLoadLeft || code == OpCode::kLoadRight; }

}  // namespace tkc::ir

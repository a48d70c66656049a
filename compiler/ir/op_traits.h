// SPDX-License-Identifier: MIT
// Classes of operations, each defined once: questions that an operation's code alone answers.
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
/// Whether its order among other operations matters to the certificate: it shows, reads or writes shared memory, synchronizes, or
/// completes after it returns.
bool IsReplayed(OpCode code);
/// Stands in the frame around the roles, in none of them.
bool IsOfFrame(OpCode code);
/// Writes through the view of shared memory that is its first operand.
bool FillsShared(OpCode code);
/// Reads the views of shared memory that are operands.
bool ReadsViews(OpCode code);
/// Meets others, or starts something that ends later: what the trace under a finding tells.
bool IsEvent(OpCode code);

/// Which threads of a role execute an operation.
enum class Executors : uint8_t {
  kAnyThreads,  // whoever comes: it concerns each thread alone, or a barrier counts them
  kOneThread,
  kWarpgroup,  // all threads of one
  kRole,       // all threads of the role alike
  kByNumber,   // Op::raw_number, a choice, says so
};
Executors ExecutorsOf(OpCode code);

// ---- control flow and scalars

constexpr bool IsLoop(OpCode code) { return code == OpCode::kFor || code == OpCode::kForTiles || code == OpCode::kUnroll; }
/// Makes or changes scalars, which have their values from there to the end of the region. (Those of loops hold inside.)
constexpr bool DefinesScalars(OpCode code) {
  return code == OpCode::kLet || code == OpCode::kTest || code == OpCode::kDrawTile || code == OpCode::kTilePosition;
}
/// Calls `visit` with the name of each scalar that it so makes or changes.
template <typename Visit>
void ForEachScalarDefined(const Op& op, const Visit& visit) {
  if (!DefinesScalars(op.code)) return;
  if (op.code != OpCode::kTilePosition) return visit(op.symbol);
  const auto [row, column] = NamesOfPosition(op);
  visit(row);
  visit(column);
}

/// True in the first iteration of a loop over tiles: a condition for use in its body.
inline Scalar IsFirstTile(const Op& tiles) {
  return symbolic::Make(symbolic::Kind::kEq, DType::kBool, {symbolic::Name(tiles.symbol), tiles.scalars[0]});
}

// ---- computing on tiles

/// Each element of the result is computed from the same element of each operand; columns, rows and numbers are broadcast.
constexpr bool IsElementwise(OpCode code) {
  return code == OpCode::kUnary || code == OpCode::kBinary || code == OpCode::kSelect || code == OpCode::kConvert;
}
/// The result depends on scalars and on the positions of its elements, and on no other tile.
constexpr bool IsMadeOfScalars(OpCode code) { return code == OpCode::kFill || code == OpCode::kPositions; }
/// Any part of the result can be computed alone, from the same part of the operands, without memory.
constexpr bool ComputesElements(OpCode code) { return IsElementwise(code) || IsMadeOfScalars(code); }
/// Changes a variable, or a part of it, to a value.
constexpr bool Assigns(OpCode code) { return code == OpCode::kAssign || code == OpCode::kAssignPart; }
/// Threads that hold parts of one row or column exchange partial results; warps do so through a scratch buffer (Op::symbol).
constexpr bool ReducesOrScans(OpCode code) {
  return code == OpCode::kReduce || code == OpCode::kReduceThreads || code == OpCode::kCumsum;
}
/// Whether the warps of such a layout do so.
inline bool SpansWarps(const Op& reduction, const RegisterLayout& layout) {
  return reduction.IsOfRows() ? layout.RowSpansWarps() : layout.ColumnSpansWarps();
}
/// Makes a part, or the transpose, of a view of shared memory or of a tile in registers.
constexpr bool IsPartOrTranspose(OpCode code) { return code == OpCode::kPart || code == OpCode::kTranspose; }
/// Adds a product to a sum, or sets it to one.
constexpr bool AddsProduct(OpCode code) { return code == OpCode::kAccumulate || code == OpCode::kMma || code == OpCode::kMultiply; }
/// Matrix products at either level.
constexpr bool IsProduct(OpCode code) { return code == OpCode::kMatmul || AddsProduct(code); }
/// The value that a product adds to, or its result where it makes a new one.
inline ValueId SumOf(const Op& product) { return AddsProduct(product.code) ? product.operands[0] : product.results[0]; }
/// Computes on the worker's own tiles and changes neither memory nor scalars.
constexpr bool OnlyComputes(OpCode code) {
  return ComputesElements(code) || Assigns(code) || ReducesOrScans(code) || IsPartOrTranspose(code) || code == OpCode::kVar ||
         code == OpCode::kReduceOwn || code == OpCode::kMatmul || code == OpCode::kAccumulate || code == OpCode::kAligned ||
         code == OpCode::kReshape || code == OpCode::kCat;
}

// ---- memory

/// A gather whose numbers choose whole rows: one axis of the tensor is kept. Without such an axis it gathers single elements.
inline bool GathersRows(const Op& op) {
  return op.code == OpCode::kGather &&
         std::any_of(op.axes.begin(), op.axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
}
/// Loads a block of a tensor, or gathered rows of it, into registers.
inline bool LoadsTile(const Op& op) { return op.code == OpCode::kRead || GathersRows(op); }

/// Copies of the engine into the same place of several blocks of the cluster.
constexpr bool IsMulticast(OpCode code) { return code == OpCode::kLoadMulticast || code == OpCode::kLoadRowsMulticast; }
/// Copies of the engine that leave out rows that do not exist.
constexpr bool LoadsRows(OpCode code) { return code == OpCode::kLoadRows || code == OpCode::kLoadRowsMulticast; }
/// Copies of the engine into shared memory, which complete on a barrier.
constexpr bool IsEngineLoad(OpCode code) { return code == OpCode::kLoadAsync || LoadsRows(code) || IsMulticast(code); }
/// Copies of the engine, in either direction.
constexpr bool IsEngineCopy(OpCode code) { return IsEngineLoad(code) || code == OpCode::kStoreAsync; }
/// How many of the rows that such a copy brings exist.
inline const Scalar& ExistingRows(const Op& load) { return load.scalars[load.scalars.size() - (IsMulticast(load.code) ? 2 : 1)]; }
/// The innermost coordinate of the box that the engine copies, and the bytes of one element.
std::pair<Scalar, int64_t> ColumnOfBox(const Kernel& kernel, const Op& copy);
/// Stores into shared memory of other blocks of the cluster, whose barriers count the bytes.
constexpr bool StoresToBlocks(OpCode code) {
  return code == OpCode::kStoreCluster || code == OpCode::kPutTileCluster || code == OpCode::kSplitSend;
}
constexpr bool LoadsFragments(OpCode code) { return code == OpCode::kLoadLeft || code == OpCode::kLoadRight; }

}  // namespace tkc::ir

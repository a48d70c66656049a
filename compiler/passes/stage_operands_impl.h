// SPDX-License-Identifier: MIT
// The staging of one worker: stage_operands.cpp walks its program and says what lies in registers and what in shared memory,
// stage_products.cpp writes its products.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "compiler/ir/ir.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/matrix_unit.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/reshaped_layouts.h"
#include "compiler/support/diagnostic.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// The first column of a part of a tile in shared memory, and the shape of the tile.
struct StagedPart {
  symbolic::Scalar col;
  ir::Type whole;
};

/// What a buffer holds in which variables are exchanged.
struct ExchangedVariable {
  ir::ValueId variable = ir::kNone, view = ir::kNone;
  bool operator==(const ExchangedVariable&) const = default;
};

class Staging {
 public:
  Staging(ir::Kernel& kernel, ir::Worker& worker, const Target& target, Diagnostics& diagnostics)
      : kernel_(kernel),
        worker_(worker),
        reshaped_(kernel, worker),
        target_(target),
        by_warps_(!target.has_matrix_group),
        unit_(UnitOf(target, worker.layout)),
        registers_(ShareRegisters(kernel, target).for_tiles),
        diagnostics_(diagnostics) {
    ForEachOp(worker.body, [&](const ir::Op& op) {
      multiplies_ |= ir::IsProduct(op.code);
      const bool rearranges = op.code == ir::OpCode::kTranspose || (op.code == ir::OpCode::kPart && !StaysWithThreads(op));
      if (rearranges || ir::IsProduct(op.code) || op.code == ir::OpCode::kSend)
        movable_.insert(op.operands.begin(), op.operands.end());
    });
    NoteOperands();
  }

  ir::Region Rewrite(const ir::Region& region) {
    ir::Region out;
    for (size_t i = 0; i < region.size(); ++i) {
      if (i + 1 == region.size() || !IsTurnedStore(region[i], region[i + 1])) {
        RewriteOp(region[i], out);
        continue;
      }
      // It is stored as it is held, to the elements of the block turned around.
      ir::Op store = region[i + 1];
      store.operands = region[i].operands;
      store.SetTurned(true);
      RewriteOp(store, out);
      ++i;
    }
    return out;
  }

 private:
  bool IsShared(ir::ValueId value) { return kernel_.TypeOf(value).space == ir::Space::kShared; }
  ir::ValueId Current(ir::ValueId value) {
    const auto place = replaced_.find(value);
    return place == replaced_.end() ? value : place->second;
  }

  /// `turn` turns a tile for the store behind it alone, which may do that itself: of a row or column, or of a tile in the registers
  /// of fragments, of which the lanes that hold a column store 32 bytes that follow each other.
  bool IsTurnedStore(const ir::Op& turn, const ir::Op& store);

  /// Fills in operands_.
  void NoteOperands();
  /// Whether what `op` rearranges of a variable, as it is now, comes to other threads at once and is in registers again: of each
  /// such operation a buffer of its own would hold the variable.
  bool Exchanges(const ir::Op& op, ir::ValueId source);
  void RewriteOp(const ir::Op& source, ir::Region& out);
  /// Emits the pending reads that the regions of `op` use, so that they happen once and their values are in scope after it.
  void PlaceBefore(const ir::Op& op, ir::Region& out);
  /// Notes a row or column that is read or counted.
  void NoteVector(const ir::Op& op);
  /// Whether the vector has not been made yet, or is the same when it is made once more.
  bool MayMakeAgain(const ir::Op& op) const;
  /// Such an operation the other way round, as `result`.
  void MakeTurned(ir::Op op, ir::ValueId result, ir::Region& out, Span span);
  void RewriteTranspose(const ir::Op& op, ir::Region& out);
  void RewritePart(ir::Op op, ir::Region& out);
  /// A part of a variable, or the variable turned, whose elements come to other threads.
  void RewriteExchange(ir::Op op, ir::ValueId source, ir::Region& out);
  /// Notes where a part in shared memory begins in the tile it is taken from.
  void NotePart(const ir::Op& part);
  /// Whether the matrix unit, or the loads of its operands, can begin where this tile in shared memory does.
  bool BeginsWell(ir::ValueId shared);
  /// A tile in shared memory, copied to a place of its own if it begins where no operand can.
  ir::ValueId WhereItBeginsWell(ir::ValueId shared, ir::Region& out, Span span);
  void RewriteProduct(const ir::Op& op, ir::Region& out);
  /// The product term by term, each of one instruction's depth, from fragments in registers.
  void ProductSteps(const ir::Op& op, ir::ValueId acc, ir::ValueId a, ir::ValueId b, ir::Region& out);
  /// What a left operand in registers that is used but here was converted from, if that is narrower: the steps convert their parts
  /// of it, and the whole is not kept. Else the operand.
  ir::ValueId NarrowOf(const ir::Op& product, ir::ValueId left, ir::Region& out);
  /// A tile in registers, in that type.
  ir::ValueId Converted(ir::ValueId tile, DType dtype, ir::Region& out, Span span);
  /// The part of an operand that step `step` multiplies: a fragment loaded from shared memory, or columns of a register tile.
  ir::ValueId Fragment(ir::ValueId operand, bool is_left, int64_t step, ir::Region& out, Span span);
  void RewriteReduce(ir::Op op, ir::Region& out);
  /// The scratch of a reduction or scan over warps: one for all copies that unrolling made of a statement. These meet before they
  /// write to it and before they read from it, so that sharing asks for no further barrier.
  const std::string& Scratch(const ir::Op& op, int64_t lines);
  /// Blocks of the layout along a column (a row) of the tile: of each a warp has a stretch, whose sum a scan needs.
  int64_t Stretches(ir::ValueId tile, bool is_column) const;
  /// A reduction along an axis too short for the layout, of a tile in shared memory: its columns (rows) are taken one by one.
  void ReduceByParts(const ir::Op& op, ir::Region& out);
  /// Whether the tile's layout holds its shape: that of a worker that multiplies holds whole fragments only.
  bool FitsRows(ir::ValueId value) { return LayoutOf(value).HoldsRows(kernel_.TypeOf(value).rows); }
  bool FitsCols(ir::ValueId value) { return LayoutOf(value).HoldsCols(kernel_.TypeOf(value).cols); }
  const ir::RegisterLayout& LayoutOf(ir::ValueId value) const {
    const ir::RegisterLayout* const reshaped = reshaped_.Find(value);
    return reshaped ? *reshaped : worker_.layout;
  }
  /// Whether a part of a register tile is registers of the same threads: whole blocks of the layout at a static place.
  bool StaysWithThreads(ir::ValueId whole, ir::ValueId part, const std::vector<ir::Scalar>& place) const;
  bool StaysWithThreads(const ir::Op& part) const { return StaysWithThreads(part.operands[0], part.results[0], part.scalars); }
  void RewriteReshape(ir::Op op, ir::Region& out);
  /// Tiles side by side: those that begin or end inside a block of the layout go to other threads.
  void RewriteCat(ir::Op op, ir::Region& out);
  void RewriteAssignPart(ir::Op op, ir::Region& out);
  /// Stores to a part of a tile in shared memory.
  void StorePart(ir::ValueId view, ir::ValueId value, const std::vector<ir::Scalar>& place, ir::Region& out, Span span);
  void CheckProduct(const ir::Op& op);

  /// The value in registers: itself, or loaded from its slot. One load per use; the compiler of the output merges nothing here.
  ir::ValueId InRegisters(ir::ValueId value, ir::Region& out, Span span);
  /// The registers that hold what is seen through `view`, if nothing but loads and conversions was done since: `x * rowsum(x * x)`
  /// of a received `x` loads it once. What is used again further below is loaded again, which keeps no registers meanwhile.
  static std::optional<ir::ValueId> JustLoaded(ir::ValueId view, const ir::Region& out);
  /// The value in shared memory: itself, or stored into a staging buffer.
  ir::ValueId InShared(ir::ValueId value, ir::Region& out, Span span);
  /// The tile in shared memory the other way round; `type`: of that.
  ir::ValueId NewTransposed(ir::ValueId view, ir::Type type, ir::Region& out, Span span);
  /// A register value in the buffer, as its view.
  ir::ValueId StoreTo(const std::string& buffer, ir::ValueId value, ir::Region& out, Span span);
  /// The buffer of this shape for what is loaded again at once. That of tiles that are loaded in other rows has no swizzle.
  const std::string& Exchange(const ir::Type& type, bool is_reshaped);
  /// The view of a variable as it is now in its buffer, where it is stored unless it is there.
  ir::ValueId Exchanged(ir::ValueId variable, ir::Region& out, Span span);
  /// The variable is no longer what a buffer holds.
  void ForgetExchanged(ir::ValueId variable);
  /// Rewrites the regions of a loop or branch, and says what is known behind it.
  void RewriteRegions(ir::Op& op, ir::Region& out);
  /// What a loop has staged that is the same in each iteration is staged in front of it.
  void HoistStagings(ir::Op& loop, const std::map<ir::ValueId, ir::ValueId>& before, ir::Region& out);
  /// What a view shows, in registers as `result`.
  ir::ValueId Load(ir::ValueId view, ir::ValueId result, ir::Region& out, Span span);
  ir::ValueId NewView(const std::string& buffer, const std::string& name, ir::Type type, ir::Region& out, Span span);
  std::string NewBuffer(const std::string& name, DType dtype, int64_t rows, int64_t cols, const std::string& purpose);

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  const ReshapedLayouts reshaped_;  // of the program as it was
  const Target& target_;
  const bool by_warps_;  // each warp multiplies for itself, with operands in registers
  bool multiplies_ = false;
  const ProductUnit unit_;
  const int64_t registers_;  // of a thread, for tiles
  Diagnostics& diagnostics_;
  std::map<ir::ValueId, ir::ValueId> replaced_;      // value -> the one that stands for it now
  std::map<ir::ValueId, ir::ValueId> staged_;        // register value -> the view of its copy in shared memory
  std::map<ir::ValueId, ir::ValueId> transpose_of_;  // shared transposed view -> the view under it
  std::map<ir::ValueId, StagedPart> place_of_;       // part in shared memory -> where it begins
  std::set<ir::ValueId> operands_;                   // what a product or a send takes, as it is, turned or in parts
  std::map<std::tuple<int, int64_t, int64_t, bool>, std::string> exchanges_;
  std::map<std::string, ExchangedVariable> exchanged_;                                            // of these buffers, by name
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, int, int, int64_t>, std::string> scratches_;  // by statement and shape
  std::set<ir::ValueId> movable_;              // what is turned, taken in parts, multiplied or sent: shared memory may be its place
  std::map<ir::ValueId, ir::Op> vectors_;      // as NoteVector says, with what makes them
  std::map<ir::ValueId, ir::ValueId> turned_;  // of these, the same the other way round
  std::map<ir::ValueId, ir::Op> pending_;      // read or positions not emitted yet: their place depends on the use
};

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/share_reads.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/reshaped_layouts.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;
using SharedReads = std::map<ValueId, ValueId>;  // what is read again, and the tile that it is

/// Whether both of two equal reads around it would be under way together in any case.
bool LetsReadsPass(const Op& op) {
  return op.code == OpCode::kRead || op.code == OpCode::kLet || (ir::OnlyComputes(op.code) && !KeepsTiles(op));
}

class RepeatedReads {
 public:
  RepeatedReads(const ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), reshaped_(kernel, worker) {}

  /// Outside of loops not beside long functions, where a block would save one read: ptxas spills 40 bytes of a sine and a cosine of
  /// one tile.
  void Find(const Region& region, bool is_in_loop = false) {
    std::vector<const Op*> there;  // whose tiles a read would bring now
    for (const Op& op : region) {
      for (const Region& inner : op.regions) Find(inner, is_in_loop || ir::IsLoop(op.code));
      if (!LetsReadsPass(op) || (!is_in_loop && IsLongFunction(kernel_, op))) there.clear();
      if (op.code == OpCode::kLet) std::erase_if(there, [&](const Op* read) { return NamesScalar(*read, {op.symbol}); });
      if (IsOfKept(op)) Note(op, there);
    }
  }

  const SharedReads& found() const { return found_; }

 private:
  /// A number out of a tensor, which may change, is no known place.
  bool IsOfKept(const Op& op) const {
    const auto is_known = [](const ir::Scalar& scalar) { return !symbolic::MentionsElement(scalar); };
    return op.code == OpCode::kRead && KeepsTensor(kernel_, op.symbol) &&
           kernel_.TypeOf(op.results[0]).space == ir::Space::kRegister &&
           std::all_of(op.scalars.begin(), op.scalars.end(), is_known) &&
           std::all_of(op.axes.begin(), op.axes.end(),
                       [&](const ir::AxisRange& axis) { return is_known(axis.start) && is_known(axis.lo) && is_known(axis.hi); });
  }

  void Note(const Op& op, std::vector<const Op*>& there) {
    const auto first = std::find_if(there.begin(), there.end(), [&](const Op* read) {
      const ValueId one = read->results[0], other = op.results[0];
      return kernel_.TypeOf(one) == kernel_.TypeOf(other) && reshaped_.AreDealtAlike(one, other) && BringSame(*read, op);
    });
    if (first == there.end())
      there.push_back(&op);
    else
      found_[op.results[0]] = (*first)->results[0];
  }

  const ir::Kernel& kernel_;
  const ReshapedLayouts reshaped_;
  SharedReads found_;
};

void Share(Region& region, const SharedReads& shared) {
  std::erase_if(region, [&](const Op& op) { return op.code == OpCode::kRead && shared.contains(op.results[0]); });
  for (Op& op : region) {
    for (Region& inner : op.regions) Share(inner, shared);
    ReplaceOperands(op, shared);
  }
}

/// All that repeat one tile are shared, or none.
void ShareWithin(const ir::Kernel& kernel, ir::Worker& worker, const SharedReads& found) {
  std::map<ValueId, SharedReads> by_tile;
  for (const auto& [again, tile] : found) by_tile[tile].emplace(again, tile);
  for (const auto& [tile, shared] : by_tile) {
    const int64_t before = MostKeptTiles(kernel, worker).registers;
    Region body = worker.body;
    Share(worker.body, shared);
    if (MostKeptTiles(kernel, worker).registers > before) worker.body = std::move(body);
  }
}

}  // namespace

Result<void> ShareReads(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) continue;
    RepeatedReads repeated(kernel, worker);
    repeated.Find(worker.body);
    if (!repeated.found().empty()) ShareWithin(kernel, worker, repeated.found());
  }
  return {};
}

}  // namespace tkc::passes

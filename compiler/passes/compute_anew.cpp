// SPDX-License-Identifier: MIT
#include "compiler/passes/compute_anew.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/kernel_state.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/register_shares.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// Makes what is in use at once fit.
class Computations {
 public:
  Computations(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker) {}

  void FitInto(int64_t registers) {
    LiveTiles most = MostBesideReductions(kernel_, worker_);
    while (most.registers > registers) {
      const KernelState before(kernel_, worker_.body);
      std::optional<KernelState> best;
      int64_t least = most.registers;
      for (const ValueId tile : most.in_use) {
        if (!Forget(tile, most)) continue;
        if (const int64_t left = MostBesideReductions(kernel_, worker_).registers; left < least) {
          least = left;
          best.emplace(kernel_, worker_.body);
        }
        before.Restore(kernel_, worker_.body);
      }
      if (!best) return;
      best->Restore(kernel_, worker_.body);
      most = MostBesideReductions(kernel_, worker_);
    }
  }

 private:
  /// Whether the value was computed element by element, as a tile and not as a column of one.
  bool IsComputed(ValueId value) const {
    const auto place = makers_.find(value);
    return place != makers_.end() && ir::IsElementwise(place->second.code) && kernel_.TypeOf(value).rows > 1 &&
           kernel_.TypeOf(value).cols > 1;
  }

  /// The tile is kept no longer, if it can be had again from the others in use there.
  bool Forget(ValueId tile, const LiveTiles& there) {
    makers_.clear();
    ForEachOp(worker_.body, [&](const Op& op) {
      for (const ValueId result : op.results) makers_.emplace(result, op);
    });
    others_ = {there.in_use.begin(), there.in_use.end()};
    others_.erase(tile);
    if (kernel_.values[static_cast<size_t>(tile)].is_mutable || !IsComputed(tile)) return false;
    std::set<ValueId> sources;
    FindSources(tile, sources);
    Region* region = RegionOf(tile, worker_.body);
    if (!region || Change(*region, tile, sources)) return false;
    tile_ = tile;
    Repeat(*region);
    return true;
  }

  /// What the tile is computed anew from.
  void FindSources(ValueId tile, std::set<ValueId>& sources) const {
    for (const ValueId operand : makers_.at(tile).operands) {
      if (others_.contains(operand) || !IsComputed(operand))
        sources.insert(operand);
      else
        FindSources(operand, sources);
    }
  }

  static Region* RegionOf(ValueId tile, Region& region) {
    for (Op& op : region) {
      if (std::find(op.results.begin(), op.results.end(), tile) != op.results.end()) return &region;
      for (Region& inner : op.regions) {
        if (Region* found = RegionOf(tile, inner)) return found;
      }
    }
    return nullptr;
  }

  /// Whether one of these is another between where the tile is computed and where it is used for the last time.
  static bool Change(const Region& region, ValueId tile, const std::set<ValueId>& sources) {
    const auto makes = [&](const Op& op) { return std::find(op.results.begin(), op.results.end(), tile) != op.results.end(); };
    const auto first = std::find_if(region.begin(), region.end(), makes);
    const auto last = std::find_if(region.rbegin(), region.rend(), [&](const Op& op) { return Uses(op, tile); }).base();
    bool found = false;
    if (first < last) {
      const Region between(first, last);
      ForEachOp(between, [&](const Op& op) {
        found |= std::any_of(sources.begin(), sources.end(), [&](ValueId source) { return Writes(op, source); });
      });
    }
    return found;
  }

  /// Each use behind an operation that keeps tiles has a tile of its own. Loops that take parts of it have it in front.
  void Repeat(Region& region) {
    Region out;
    ValueId present = ir::kNone;
    std::map<ValueId, ValueId> anew;  // of its sources and what is computed of them
    for (Op& op : region) {
      if (!op.results.empty() && op.results[0] == tile_) present = tile_;
      const bool has_inside = op.code == OpCode::kFor || op.code == OpCode::kIf;
      const bool uses =
          has_inside ? std::find(op.operands.begin(), op.operands.end(), tile_) != op.operands.end() : Uses(op, tile_);
      if (uses && present == ir::kNone) {
        present = Anew(tile_, op.span, anew, out);
      }
      if (has_inside) {
        for (Region& inner : op.regions) Repeat(inner);
      } else if (present != tile_ && present != ir::kNone) {
        Replace(op, present);
      }
      if (ir::IsElementwise(op.code)) ReplaceOperands(op, anew);  // with what is there anyway
      if (KeepsTiles(op) || !op.regions.empty()) {
        present = ir::kNone;
        anew.clear();
      }
      out.push_back(std::move(op));
    }
    region = std::move(out);
  }

  void Replace(Op& op, ValueId instead) const {
    std::replace(op.operands.begin(), op.operands.end(), tile_, instead);
    for (Region& inner : op.regions) {
      for (Op& each : inner) Replace(each, instead);
    }
  }

  /// The tile once more, from its sources. Those of its own shape are taken for others than they are, or the compiler of the output
  /// would keep what it has computed of them before.
  ValueId Anew(ValueId tile, const Span& span, std::map<ValueId, ValueId>& anew, Region& out) {
    if (const auto place = anew.find(tile); place != anew.end()) return place->second;
    Op op = makers_.at(tile);
    for (ValueId& operand : op.operands) {
      const ir::Type type = kernel_.TypeOf(operand);
      const bool is_source = others_.contains(operand) || !IsComputed(operand);
      if (!is_source) {
        operand = Anew(operand, span, anew, out);
      } else if (ir::HaveOneShape(type, kernel_.TypeOf(tile))) {
        const auto [place, is_new] = anew.try_emplace(operand, ir::kNone);
        if (is_new) {
          place->second = kernel_.AddValueAfter(operand, "_anew", type);
          Op same{OpCode::kConvert, {place->second}, {operand}};
          same.Set(ir::kConvertAnew);
          same.span = span;
          out.push_back(std::move(same));
        }
        operand = anew.at(operand);
      }
    }
    op.results = {kernel_.AddValueAfter(tile, "", kernel_.TypeOf(tile))};
    op.span = span;
    anew[tile] = op.results[0];
    out.push_back(std::move(op));
    return anew[tile];
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  std::map<ValueId, Op> makers_;  // of every value
  std::set<ValueId> others_;      // in use beside the tile
  ValueId tile_ = ir::kNone;      // computed anew
};

}  // namespace

Result<void> ComputeAnew(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const RegisterShares shares = ShareRegisters(kernel, target);
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Computations(kernel, worker).FitInto(ForStatement(shares, kernel, worker));
  }
  return {};
}

}  // namespace tkc::passes

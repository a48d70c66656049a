// SPDX-License-Identifier: MIT
#include "compiler/passes/advance_reads.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/convert_anew.h"
#include "compiler/passes/kernel_state.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/store_parts.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;
using Renamed = std::map<ValueId, ValueId>;

Region Slice(const Region& region, size_t begin, size_t end) {
  return {region.begin() + static_cast<std::ptrdiff_t>(begin), region.begin() + static_cast<std::ptrdiff_t>(end)};
}

bool IsTransfer(const Op& op) { return op.code == OpCode::kSend || op.code == OpCode::kReceive; }

/// Whether the read can't stand in front of the operation, or would not be the later one of two loads.
bool StopsRead(const Op& op, const Op& read) {
  if (op.code == OpCode::kRead || op.code == OpCode::kReadParts || !op.regions.empty()) return true;
  return DefinesScalarOf(op, read);
}

class AdvancingReads {
 public:
  AdvancingReads(ir::Kernel& kernel, ir::Worker& worker, const Target& target)
      : kernel_(kernel), worker_(worker), target_(target), parts_(kernel, worker) {}

  void Run() {
    std::vector<ValueId> stored;
    for (const Op& op : worker_.body) {
      if (op.code == OpCode::kStore) stored.push_back(op.operands[0]);
    }
    for (const ValueId tile : stored) {
      const auto stores = [&](const Op& op) { return op.code == OpCode::kStore && op.operands[0] == tile; };
      const auto store = std::find_if(worker_.body.begin(), worker_.body.end(), stores);
      if (store != worker_.body.end()) Advance(static_cast<size_t>(store - worker_.body.begin()));
    }
  }

 private:
  /// The fewest parts that fit; if none do, all stays as it is. Two, one ahead of the other, take what the whole does.
  void Advance(size_t store) {
    const StoreStatement statement = parts_.Find(worker_.body, store);
    const StoreParts::Operations operations = parts_.Split(worker_.body, statement);
    const std::optional<size_t> place = PlaceOf(operations.loads, statement.begin);
    const bool is_cut = parts_.Kept(worker_.body, statement.begin, store) > ShareRegisters(kernel_, target_).for_tiles;
    if (!place || !is_cut) return;
    const int64_t registers = RegistersForTiles();
    const KernelState before(kernel_, worker_.body);
    const Region& body = before.region();
    const int64_t columns = kernel_.TypeOf(body[store].operands[0]).cols, most_parts = parts_.MostParts(body, statement);
    for (int64_t parts = 3; parts <= most_parts; ++parts) {
      if (most_parts % parts != 0) continue;
      early_.clear();
      parts_.Forget();
      parts_.Narrow(operations, columns / parts);
      worker_.body = InParts(body, statement, operations, *place, parts, columns / parts);
      ConvertAnewWithin(kernel_, worker_, registers);
      if (Fits(registers)) return;
      before.Restore(kernel_, worker_.body);
    }
  }

  /// Where the loads may stand, if instances meet between there and the statement.
  std::optional<size_t> PlaceOf(const Region& loads, size_t begin) const {
    const auto is_gather = [](const Op& load) { return load.code == OpCode::kGather; };  // which waits for its numbers
    if (loads.empty() || std::any_of(loads.begin(), loads.end(), is_gather)) return std::nullopt;
    size_t place = begin;
    const auto stops = [&](const Op& read) {
      return !KeepsTensor(kernel_, read.symbol) || StopsRead(worker_.body[place - 1], read);
    };
    while (place > 0 && std::none_of(loads.begin(), loads.end(), stops)) --place;
    const Region between = Slice(worker_.body, place, begin);
    return std::any_of(between.begin(), between.end(), IsTransfer) ? std::optional(place) : std::nullopt;
  }

  /// Of a thread, beside those for addresses. Blocks of a cluster need more of these: where each other's memory is.
  int64_t RegistersForTiles() const {
    return RegistersOfResident(kernel_, target_) -
           (kernel_.Spread() > 1 ? target_.beside_tiles.for_addresses : target_.beside_tiles.for_addresses_ahead);
  }

  /// Wherever what is loaded early is in use.
  bool Fits(int64_t registers) const {
    const std::set<ValueId> in_use = KeptBeside(kernel_, worker_, registers);
    return std::none_of(early_.begin(), early_.end(), [&](ValueId tile) { return in_use.contains(tile); });
  }

  Region InParts(const Region& body, const StoreStatement& statement, const StoreParts::Operations& operations, size_t place,
                 int64_t parts, int64_t columns) {
    const Op& store = body[statement.store];
    Region before = Slice(body, place, statement.begin);
    for (size_t i = statement.begin; i < statement.store; ++i) {
      if (!statement.own.contains(i)) before.push_back(body[i]);
    }
    Region out = Slice(body, 0, place);
    out.push_back(Explain("The first columns of what the statement reads are on their way before the instances meet.", store.span));
    Renamed first;  // what is loaded early, by the names in the statement
    for (const Op& load : parts_.Part(operations.loads, operations, symbolic::Int(0), columns)) {
      first[load.results[0]] = Early(load, out);
    }
    Append(out, before);
    const std::string counter = kernel_.UsedNames().Free(store.symbol + "_chunk");
    out.push_back(Unroll(counter, parts - 1, Turn(operations, first, symbolic::Name(counter), columns), store.span));
    const ir::Scalar rest = symbolic::Int((parts - 1) * columns);
    Append(out, Anew(parts_.Part(operations.others, operations, rest, columns), first));
    Append(out, Slice(body, statement.store + 1, body.size()));
    return out;
  }

  /// The load of the first columns, into a variable for those of each part in turn. Returns that.
  ValueId Early(Op load, Region& out) {
    const ValueId tile = load.results[0];
    const ir::Type type = kernel_.TypeOf(tile);
    const ValueId loaded = kernel_.AddValueAfter(tile, "", type), held = kernel_.AddValueAfter(tile, "_ahead", type, true);
    load.results = {loaded};
    out.push_back(load);
    out.push_back({OpCode::kVar, {held}, {loaded}});
    out.back().span = load.span;
    early_.insert(held);
    return held;
  }

  /// The statement for a part of `columns`, by its number, behind the loads of the part that follows.
  Region Turn(const StoreParts::Operations& operations, const Renamed& ahead, const ir::Scalar& part, int64_t columns) {
    Region out;
    out.push_back(Explain("The next columns are on their way while these are stored.", operations.others.back().span));
    Renamed present;
    for (const auto& [tile, held] : ahead) {
      present[tile] = kernel_.AddValueAfter(tile, "_present", kernel_.TypeOf(tile), true);
      out.push_back({OpCode::kVar, {present[tile]}, {held}});
      out.back().span = operations.others.back().span;
    }
    const ir::Scalar first = symbolic::Mul(part, symbolic::Int(columns)),
                     next = symbolic::Mul(symbolic::Add(part, symbolic::Int(1)), symbolic::Int(columns));
    const Region loads = parts_.Part(operations.loads, operations, next, columns), anew = Anew(loads, {});
    for (size_t i = 0; i < loads.size(); ++i) {
      out.push_back(anew[i]);
      out.push_back({OpCode::kAssign, {}, {ahead.at(loads[i].results[0]), anew[i].results[0]}});
      out.back().span = anew[i].span;
    }
    Append(out, With(parts_.Part(operations.others, operations, first, columns), present));
    return out;
  }

  static Region With(Region operations, const Renamed& names) {
    for (Op& op : operations) ReplaceOperands(op, names);
    return operations;
  }

  /// The operations once more: their results are other values.
  Region Anew(Region operations, Renamed names) {
    for (Op& op : operations) {
      op = With({op}, names)[0];
      for (ValueId& result : op.results) {
        names[result] = kernel_.AddValueAfter(result, "", kernel_.TypeOf(result));
        result = names[result];
      }
    }
    return operations;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  const Target& target_;
  StoreParts parts_;
  std::set<ValueId> early_;  // tiles that hold what is loaded early
};

}  // namespace

Result<void> AdvanceReads(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (kernel.resident == 0) return {};
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.Computes() || worker.layout.IsFragment()) continue;
    AdvancingReads(kernel, worker, target).Run();
  }
  return {};
}

}  // namespace tkc::passes

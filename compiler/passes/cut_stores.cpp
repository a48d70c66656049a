// SPDX-License-Identifier: MIT
#include "compiler/passes/cut_stores.h"

#include "compiler/ir/rewrite.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/store_parts.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

/// Cuts stores into parts of one kind.
class Cutting {
 public:
  Cutting(ir::Kernel& kernel, const ir::Worker& worker, PartsOf which) : parts_(kernel, worker, which) {}

  struct Choice {
    int64_t parts = 1;
    int64_t kept = 0;   // registers
    int64_t whole = 0;  // registers in one part
    bool Suffices(int64_t registers) const { return kept <= registers; }
    bool IsOf(int64_t registers) const { return whole > registers && parts > 1; }
  };

  /// As few parts as registers allow; if they never suffice, as few as take the least.
  Choice Choose(Region& region, size_t store, int64_t registers) {
    const StoreStatement statement = parts_.Find(region, store);
    parts_.Forget();
    Choice best;
    best.kept = best.whole = parts_.Kept(region, statement.begin, store);
    const int64_t most_parts = parts_.MostParts(region, statement);
    if (best.kept <= registers || most_parts == 1) return best;
    const Region whole = region;
    const int64_t extent = parts_.ExtentOf(region[store].operands[0]);
    const size_t loop = store - statement.own.size();
    // One part is the statement with its loads in front, where the compiler of the output puts them by itself.
    for (int64_t parts = 1; parts <= most_parts && best.kept > registers; ++parts) {
      if (most_parts % parts != 0) continue;
      Cut(region, store, parts);
      const int64_t kept = parts_.Kept(region, loop, loop + 1);
      region = whole;
      parts_.Narrow(parts_.Split(region, statement), extent);
      if (kept < best.kept) best = {parts, kept, best.whole};
    }
    return best;
  }

  /// Behind a choice for this store. Returns where the store stands then.
  size_t Cut(Region& region, size_t store, int64_t parts) {
    const StoreStatement statement = parts_.Find(region, store);
    const int64_t extent = parts_.ExtentOf(region[store].operands[0]);
    const StoreParts::Operations operations = parts_.Split(region, statement);
    region = InParts(region, statement, operations, extent, extent / parts);
    parts_.Narrow(operations, extent / parts);
    return store - statement.own.size();
  }

 private:
  /// The region with the store in a loop over parts of `extent` of `whole` columns or rows. Loads stand in front, so that all are
  /// under way before the first is used.
  Region InParts(const Region& region, const StoreStatement& statement, const StoreParts::Operations& operations, int64_t whole,
                 int64_t extent) {
    const Op& store = region[statement.store];
    Region out;
    for (size_t i = 0; i < statement.store; ++i) {
      if (!statement.own.contains(i)) out.push_back(region[i]);
    }
    Region all = operations.loads;
    Append(all, operations.others);
    const std::string counter = parts_.kernel().UsedNames().Free(store.symbol + "_chunk");
    const ir::Scalar first = symbolic::Mul(symbolic::Name(counter), symbolic::Int(extent));
    out.push_back(Unroll(counter, whole / extent, parts_.Part(all, operations, first, extent), store.span));
    out.insert(out.end(), region.begin() + static_cast<std::ptrdiff_t>(statement.store) + 1, region.end());
    return out;
  }

  StoreParts parts_;
};

void FitInto(int64_t registers, Region& region, Cutting& by_columns, Cutting& by_rows) {
  for (size_t i = 0; i < region.size(); ++i) {
    for (Region& inner : region[i].regions) FitInto(registers, inner, by_columns, by_rows);
    if (region[i].code != OpCode::kStore) continue;
    const Cutting::Choice columns = by_columns.Choose(region, i, registers);
    const bool suffices = columns.IsOf(registers) && columns.Suffices(registers);
    // Parts of rows are large loads: the compiler of the output begins those of the next part before it has done with one.
    const Cutting::Choice rows = suffices ? Cutting::Choice{} : by_rows.Choose(region, i, registers / 2);
    if (rows.IsOf(registers) && rows.Suffices(registers))
      i = by_rows.Cut(region, i, rows.parts);
    else if (columns.IsOf(registers))
      i = by_columns.Cut(region, i, columns.parts);
  }
}

}  // namespace

Result<void> CutStores(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const int64_t registers = ShareRegisters(kernel, target).for_tiles;
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.Computes() || worker.layout.IsFragment()) continue;
    if (MostKeptTiles(kernel, worker).registers <= registers) continue;
    Cutting by_columns(kernel, worker, PartsOf::kColumns), by_rows(kernel, worker, PartsOf::kRows);
    FitInto(registers, worker.body, by_columns, by_rows);
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/cut_stores.h"

#include <utility>

#include "compiler/passes/live_tiles.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/store_parts.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

class Cutting {
 public:
  Cutting(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker), parts_(kernel, worker) {}

  void FitInto(int64_t registers) {
    if (!worker_.layout.IsFragment() && MostKeptTiles(kernel_, worker_).registers > registers) Visit(worker_.body, registers);
  }

 private:
  void Visit(Region& region, int64_t registers) {
    for (size_t i = 0; i < region.size(); ++i) {
      for (Region& inner : region[i].regions) Visit(inner, registers);
      if (region[i].code == OpCode::kStore) i = Cut(region, parts_.Find(region, i), registers);
    }
  }

  /// Into as few parts as registers allow; if they never suffice, into as few as take the least. Returns where the store stands
  /// then.
  size_t Cut(Region& region, const StoreStatement& statement, int64_t registers) {
    const int64_t columns = kernel_.values[region[statement.store].operands[0]].type.cols;
    const int64_t most_parts = parts_.MostParts(region, statement);
    int64_t least = parts_.Kept(region, statement.begin, statement.store), best = 1;
    if (least <= registers || most_parts == 1) return statement.store;
    const Region whole = region;
    const StoreParts::Operations operations = parts_.Split(whole, statement);
    parts_.Forget();
    const size_t loop = statement.store - statement.own.size();
    const auto cut_into = [&](int64_t parts) {
      region = InParts(whole, statement, operations, columns, columns / parts);
      parts_.Narrow(operations, columns / parts);
    };
    // One part is the statement with its loads in front, where the compiler of the output puts them by itself.
    for (int64_t parts = 1; parts <= most_parts && least > registers; ++parts) {
      if (most_parts % parts != 0) continue;
      cut_into(parts);
      const int64_t kept = parts_.Kept(region, loop, loop + 1);
      if (kept >= least) continue;
      least = kept;
      best = parts;
    }
    cut_into(best);
    if (best == 1) region = whole;
    return best == 1 ? statement.store : loop;
  }

  /// The region with the store in a loop over parts of `columns` of `whole` columns. Loads stand in front, so that all are under
  /// way before the first is used.
  Region InParts(const Region& region, const StoreStatement& statement, const StoreParts::Operations& operations, int64_t whole,
                 int64_t columns) {
    const Op& store = region[statement.store];
    Region out;
    for (size_t i = 0; i < statement.store; ++i) {
      if (!statement.own.contains(i)) out.push_back(region[i]);
    }
    Op loop{OpCode::kUnroll};
    loop.symbol = ir::FreeName(kernel_.UsedNames(), store.symbol + "_chunk");
    loop.number = whole / columns;
    loop.span = store.span;
    Region all = operations.loads;
    all.insert(all.end(), operations.others.begin(), operations.others.end());
    const ir::Scalar first = symbolic::Mul(symbolic::Name(loop.symbol), symbolic::Int(columns));
    loop.regions = {parts_.Part(all, operations, first, columns)};
    out.push_back(std::move(loop));
    out.insert(out.end(), region.begin() + static_cast<std::ptrdiff_t>(statement.store) + 1, region.end());
    return out;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  StoreParts parts_;
};

}  // namespace

Result<void> CutStores(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const int64_t registers = ShareRegisters(kernel, target).for_tiles;
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCompute) Cutting(kernel, worker).FitInto(registers);
  }
  return {};
}

}  // namespace tkc::passes

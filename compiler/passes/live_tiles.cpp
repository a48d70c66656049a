// SPDX-License-Identifier: MIT
#include "compiler/passes/live_tiles.h"

#include <algorithm>
#include <set>

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;
using Values = std::set<ValueId>;

/// A walk from the end to the beginning: what is in use behind an operation decides what is before it.
class Liveness {
 public:
  explicit Liveness(const ir::Kernel& kernel) : kernel_(kernel) {}

  Values Before(const Region& region, Values live) {
    for (auto op = region.rbegin(); op != region.rend(); ++op) live = Before(*op, std::move(live));
    return live;
  }

  LiveTiles most;

 private:
  Values Before(const Op& op, Values live) {
    Note(op, live);
    for (const ValueId result : op.results) live.erase(result);
    const bool overwrites = op.code == OpCode::kAssign || (op.code == OpCode::kMma && op.number == 2);
    if (overwrites) live.erase(op.operands[0]);
    if (op.code == OpCode::kIf) {
      Values either = live;  // also of a branch that is not there
      for (const Region& region : op.regions) either.merge(Before(region, live));
      live = std::move(either);
    } else {
      for (const Region& region : op.regions) {
        Values around = Before(region, live);
        around.insert(live.begin(), live.end());
        live.merge(Before(region, around));  // what the next iteration reads is in use at the end of this one
      }
    }
    live.insert(op.operands.begin() + (overwrites ? 1 : 0), op.operands.end());
    Note(op, live);
    return live;
  }

  void Note(const Op& op, const Values& live) {
    int64_t registers = 0;
    for (const ValueId value : live) registers += RegistersOf(kernel_.values[value].type);
    if (registers < most.registers || registers == 0) return;
    most = {registers, &op, {live.begin(), live.end()}};
  }

  const ir::Kernel& kernel_;
};

}  // namespace

int64_t RegistersOf(const ir::Type& type) {
  if (type.space != ir::Space::kRegister) return 0;
  const int64_t bytes = std::max(Bytes(type.dtype), 1);
  const int64_t elements = type.rows == 1 ? type.cols / 4 : type.cols == 1 ? type.rows / 32 : type.rows * type.cols / 128;
  return std::max<int64_t>(1, elements * bytes / 4);
}

LiveTiles MostLiveTiles(const ir::Kernel& kernel, const Region& body) {
  Liveness liveness(kernel);
  liveness.Before(body, {});
  std::vector<ValueId>& in_use = liveness.most.in_use;
  std::erase_if(in_use, [&](ValueId value) { return RegistersOf(kernel.values[value].type) == 0; });
  std::sort(in_use.begin(), in_use.end(), [&](ValueId a, ValueId b) {
    const int64_t of_a = RegistersOf(kernel.values[a].type), of_b = RegistersOf(kernel.values[b].type);
    return of_a != of_b ? of_a > of_b : a < b;
  });
  return std::move(liveness.most);
}

}  // namespace tkc::passes

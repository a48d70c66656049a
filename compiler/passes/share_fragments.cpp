// SPDX-License-Identifier: MIT
#include "compiler/passes/share_fragments.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/operand_moves.h"
#include "compiler/passes/register_shares.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// Loads of what another load has brought, in program order: the fragment, and the one that it is.
using Repeated = std::vector<std::pair<ValueId, ValueId>>;

/// Finds them among the operations of one region, of slots that are received there: these stay as they are until something is
/// written into shared memory.
class RepeatedLoads {
 public:
  RepeatedLoads(const ir::Kernel& kernel, const ir::Worker& worker)
      : kernel_(kernel), beside_registers_(RightsBesideRegisters(kernel, worker)) {}

  Repeated Find(const Region& region) {
    for (const Op& op : region) {
      if (op.code == OpCode::kReceive) {
        for (const ValueId view : op.results) views_[view] = std::to_string(view);
      } else if (ir::IsPartOrTranspose(op.code) && views_.contains(op.operands[0])) {
        views_[op.results[0]] = Text(op);
      } else if (ir::LoadsFragments(op.code) && views_.contains(op.operands[0])) {
        const auto [first, is_new] = loaded_.try_emplace(Text(op), op.results[0]);
        if (!is_new) repeated_.emplace_back(op.results[0], first->second);
      } else if (!op.regions.empty() || ir::FillsShared(op.code) || ir::DefinesScalars(op.code)) {
        views_.clear();
        loaded_.clear();
      }
    }
    return std::move(repeated_);
  }

 private:
  /// What it makes of the view, in a text that two operations share if they make the same.
  std::string Text(const Op& op) const {
    std::string text = views_.at(op.operands[0]) + " " + std::string(ir::OpText(op.code));
    for (const ir::Scalar& scalar : op.scalars) text += " " + symbolic::ToString(scalar);
    const ir::Type& type = kernel_.TypeOf(op.results[0]);
    // A right operand is dealt to the lanes in the order in which the left one is.
    if (beside_registers_.contains(op.results[0])) text += " beside registers";
    return text + " " + std::to_string(type.rows) + " " + std::to_string(type.cols);
  }

  const ir::Kernel& kernel_;
  const std::set<ValueId> beside_registers_;  // right operands
  std::map<ValueId, std::string> views_;
  std::map<std::string, ValueId> loaded_;
  Repeated repeated_;
};

/// The first load's fragment in place of the second's, whose load goes, and the parts that nothing is loaded from any more.
void Share(Region& region, ValueId again, ValueId fragment) {
  ReplaceOperands(region, {{again, fragment}});
  ValueId unused = again;
  for (size_t i = region.size(); i-- > 0;) {
    const Op& op = region[i];
    const bool goes = ir::LoadsFragments(op.code) || (ir::IsPartOrTranspose(op.code) && CountUses(region, unused) == 0);
    if (op.results.empty() || op.results[0] != unused || !goes) continue;
    unused = op.operands[0];
    region.erase(region.begin() + static_cast<ptrdiff_t>(i));
  }
}

void ShareWithin(const ir::Kernel& kernel, const ir::Worker& worker, const RegisterShares& shares, const Target& target,
                 Region& region) {
  for (Op& op : region) {
    for (Region& inner : op.regions) ShareWithin(kernel, worker, shares, target, inner);
  }
  for (const auto& [again, fragment] : RepeatedLoads(kernel, worker).Find(region)) {
    Region before = region;
    Share(region, again, fragment);
    if (MostLiveRegisters(kernel, worker) > ForProducts(shares, target, region)) region = std::move(before);
  }
}

}  // namespace

Result<void> ShareFragments(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const RegisterShares shares = ShareRegisters(kernel, target);
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) ShareWithin(kernel, worker, shares, target, worker.body);
  }
  return {};
}

}  // namespace tkc::passes

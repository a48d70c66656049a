// SPDX-License-Identifier: MIT
// Pipes of one slot that no ring counts.
#include <set>

#include "compiler/certify/program.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;

class Finder {
 public:
  Finder(const ir::Kernel& kernel, const ir::Worker& worker) {
    std::set<std::string> rings;
    ir::ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kRing) rings.insert(op.symbol);
    });
    ir::ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kView && !op.Slot().empty() && rings.count(ir::RingOf(op.Slot())) == 0 &&
          ir::FindBuffer(kernel, op.symbol).count == 1)
        buffers_.insert(op.symbol);
    });
    Walk(worker.body, nullptr);
  }

  std::map<std::string, std::set<const Op*>> Found() {
    for (const auto& [buffer, loops] : filled_) {
      for (const Op* loop : loops) {
        // Filled in a loop and around it, too: what an iteration reads may come from before.
        if (loop == nullptr && loops.size() > 1) unsure_.insert(buffer);
        if (loop == nullptr) continue;
        ir::ForEachOp(loop->regions[0], [&](const Op& op) {
          if (loops.count(&op) != 0) unsure_.insert(buffer);
        });
      }
    }
    for (const std::string& buffer : unsure_) filled_.erase(buffer);
    return filled_;
  }

 private:
  void Walk(const ir::Region& region, const Op* loop) {
    for (const Op& op : region) {
      if (op.code == OpCode::kView && buffers_.count(op.symbol) != 0) views_[op.results[0]] = op.symbol;
      for (const ir::ValueId value : op.operands) {
        const auto view = views_.find(value);
        if (view == views_.end()) continue;
        const std::string buffer = view->second;
        if (ir::IsPartOrTranspose(op.code)) views_[op.results[0]] = buffer;
        if (ir::FillsShared(op.code)) filled_[buffer].insert(loop);
        // Read before it is filled: it may hold what an earlier iteration left.
        if (ir::ReadsViews(op.code) && filled_.count(buffer) == 0) unsure_.insert(buffer);
      }
      const bool is_loop = op.code == OpCode::kFor || op.code == OpCode::kForTiles;
      for (const ir::Region& inner : op.regions) Walk(inner, is_loop ? &op : loop);
    }
  }

  std::set<std::string> buffers_, unsure_;
  std::map<ir::ValueId, std::string> views_;
  std::map<std::string, std::set<const Op*>> filled_;
};

}  // namespace

std::map<std::string, std::set<const Op*>> Slotless(const ir::Kernel& kernel, const ir::Worker& worker) {
  return Finder(kernel, worker).Found();
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/passes/join_parts.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

struct PartAccess {
  int64_t number = 0, count = 0;  // of so many
};

/// Whether two accesses differ in nothing but the part.
bool Agree(const Op& a, const Op& b) {
  return a.code == b.code && a.symbol == b.symbol && a.raw_slot == b.raw_slot && a.axes.size() == b.axes.size() &&
         std::equal(a.axes.begin(), a.axes.end() - 1, b.axes.begin(), ir::SameRange) &&
         std::equal(a.scalars.begin(), a.scalars.end(), b.scalars.begin(), b.scalars.end(), ir::SameScalar);
}

class Joining {
 public:
  Joining(const ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel) {
    Turn(worker.body, worker.body);
    ForEachOp(worker.body, [&](const Op& op) {
      const bool moves = ir::IsPartOrTranspose(op.code) || op.code == OpCode::kSend || ir::IsProduct(op.code);
      if (moves) moved_.insert(op.operands.begin(), op.operands.end());
      if (op.code == OpCode::kTranspose) moved_.insert(op.results[0]);
    });
  }

  void Rewrite(Region& region) {
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
    }
    for (size_t first = 0; first < region.size();) {
      const std::optional<PartAccess> part = PartOf(region[first]);
      const std::vector<size_t> group = part ? Group(region, first, *part) : std::vector<size_t>{};
      if (group.empty())
        ++first;
      else
        Join(region, group);
    }
  }

 private:
  /// Columns of parts that are only used as rows are read as rows.
  void Turn(const Region& body, Region& region) const {
    for (Op& op : region) {
      for (Region& inner : op.regions) Turn(body, inner);
    }
    for (size_t i = 0; i < region.size(); ++i) {
      if (region[i].code != OpCode::kTranspose) continue;
      const ValueId column = region[i].operands[0];
      const auto read = std::find_if(region.begin(), region.end(), [&](const Op& op) {
        return op.code == OpCode::kRead && op.results[0] == column && !op.IsTurned() && PartOf(op);
      });
      if (read == region.end() || kernel_.TypeOf(column).cols != 1 || CountUses(body, column) != 1) continue;
      read->results = region[i].results;
      read->SetTurned(true);
      region.erase(region.begin() + static_cast<Region::difference_type>(i--));
    }
  }

  /// Which part of its tensor's structures an access is about, if it can be joined with others. Tiles that go through shared memory
  /// are copied there instead.
  std::optional<PartAccess> PartOf(const Op& op) const {
    const bool is_store = op.code == OpCode::kStore;
    if ((!is_store && op.code != OpCode::kRead) || (is_store && op.IsTurned())) return std::nullopt;
    if (is_store && !op.Is(typed::StoreOp::kSet)) return std::nullopt;
    const ir::TensorParam& tensor = FindTensor(kernel_, op.symbol);
    const ValueId tile = is_store ? op.operands[0] : op.results[0];
    if (moved_.contains(tile) || kernel_.TypeOf(tile).dtype != tensor.dtype) return std::nullopt;
    const bool is_tile = std::any_of(op.axes.begin(), op.axes.end(), [](const ir::AxisRange& axis) { return !axis.dropped; });
    const ir::AxisRange& last = op.axes.back();
    PartAccess part;
    if (!is_tile || !last.dropped || last.lo || last.hi || !symbolic::IsInt(last.start, &part.number)) return std::nullopt;
    part.count = ir::StructureParts(tensor);
    if (part.count == 1 || part.number < 0 || part.number >= part.count) return std::nullopt;
    return part;
  }

  /// The accesses to all parts, by part, the first of which stands at `first`; empty: there are not all of them.
  std::vector<size_t> Group(const Region& region, size_t first, const PartAccess& part) const {
    const Op& access = region[first];
    const bool is_store = access.code == OpCode::kStore;
    std::vector<size_t> group(static_cast<size_t>(part.count), region.size());
    group[static_cast<size_t>(part.number)] = first;
    int64_t missing = part.count - 1;
    for (size_t i = first + 1; i < region.size(); ++i) {
      const Op& op = region[i];
      const std::optional<PartAccess> other = Agree(access, op) ? PartOf(op) : std::nullopt;
      if (other && group[static_cast<size_t>(other->number)] == region.size()) {
        group[static_cast<size_t>(other->number)] = i;
        if (--missing == 0) return group;
        continue;
      }
      if (is_store ? !StoresPass(region, group, access, op) : !ReadsPass(op)) return {};
    }
    return {};
  }

  /// Whether a read below may as well stand above.
  static bool ReadsPass(const Op& op) {
    return op.code == OpCode::kRead || (op.code == OpCode::kLet && op.Is(ir::kStays)) || ir::OnlyComputes(op.code);
  }

  /// Whether the stores of the group so far, of which `access` is one, may as well stand below. A tensor that is written shares no
  /// memory with another.
  static bool StoresPass(const Region& region, const std::vector<size_t>& group, const Op& access, const Op& op) {
    const auto changes = [&](size_t i) { return i < region.size() && Writes(op, region[i].operands[0]); };
    if (std::any_of(group.begin(), group.end(), changes)) return false;
    if (op.code == OpCode::kRead || op.code == OpCode::kStore) return op.symbol != access.symbol;
    return ir::OnlyComputes(op.code);
  }

  void Join(Region& region, const std::vector<size_t>& group) const {
    const auto [first, last] = std::minmax_element(group.begin(), group.end());
    const bool is_store = region[*first].code == OpCode::kStore;
    const size_t place = is_store ? *last : *first;
    Op joined = region[place];
    joined.code = is_store ? OpCode::kStoreParts : OpCode::kReadParts;
    joined.results.clear();
    joined.operands.clear();
    for (const size_t i : group) {
      joined.results.insert(joined.results.end(), region[i].results.begin(), region[i].results.end());
      joined.operands.insert(joined.operands.end(), region[i].operands.begin(), region[i].operands.end());
      if (i != place) joined.joined.push_back(region[i].span);
    }
    joined.axes.back().start = symbolic::Int(0);
    joined.axes.back().extent = static_cast<int64_t>(group.size());
    region[place] = std::move(joined);
    std::vector<size_t> gone = group;
    std::sort(gone.begin(), gone.end(), std::greater<>());
    for (const size_t i : gone) {
      if (i != place) region.erase(region.begin() + static_cast<Region::difference_type>(i));
    }
  }

  const ir::Kernel& kernel_;
  std::set<ValueId> moved_;  // tiles that pass through shared memory
};

}  // namespace

Result<void> JoinParts(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Joining(kernel, worker).Rewrite(worker.body);
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/separate_rings.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/assign_roles.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/separate_pipes.h"
#include "compiler/passes/split_instances.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

/// Which ring the operation names, or null.
const Scalar* RingOf(const Op& op) {
  if (op.code == OpCode::kReceive && !op.scalars.empty()) return &op.scalars[0];
  if (op.code == OpCode::kSend && op.scalars.size() > kRingOfSend) return &op.scalars[kRingOfSend];
  return nullptr;
}
bool IsName(const Scalar& scalar, const std::string& name) { return scalar->kind == symbolic::Kind::kName && scalar->name == name; }

/// Whether all sends into the pipe are in loops over its rings, and each turn of those fills one slot.
bool FillsAll(const Region& region, const ir::Pipe& pipe, const Op* loop) {
  int64_t lo = 1, hi = 0;
  const bool is_over_rings = loop && loop->code == OpCode::kFor && loop->Step() == 1 && symbolic::IsInt(loop->scalars[0], &lo) &&
                             symbolic::IsInt(loop->scalars[1], &hi) && lo == 0 && hi == pipe.rings;
  bool has_opened = false;
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    if (std::any_of(op.regions.begin(), op.regions.end(), [&](const Region& inner) { return !FillsAll(inner, pipe, &op); }))
      return false;
    if (op.code != OpCode::kSend || op.symbol != pipe.name) continue;
    if (!is_over_rings || !IsName(op.scalars[kRingOfSend], loop->symbol)) return false;
    if (OpensSlot(region, i) && std::exchange(has_opened, true)) return false;
  }
  return true;
}

/// Loops that say which of these pipes' rings is meant are written out.
Region Unrolled(ir::Kernel& kernel, Region region, const std::set<std::string>& pipes) {
  Region out;
  for (Op& op : region) {
    int64_t lo = 0, hi = 0;
    bool chooses = false;
    for (Region& inside : op.regions) {
      ForEachOp(inside, [&](Op& inner) {
        const Scalar* ring = RingOf(inner);
        chooses |= ring && pipes.contains(inner.symbol) && symbolic::Mentions(*ring, op.symbol);
      });
    }
    const bool counts = op.code == OpCode::kFor && symbolic::IsInt(op.scalars[0], &lo) && symbolic::IsInt(op.scalars[1], &hi);
    if (!chooses || !counts) {
      for (Region& inner : op.regions) inner = Unrolled(kernel, std::move(inner), pipes);
      out.push_back(std::move(op));
      continue;
    }
    for (int64_t i = lo; i < hi; i += op.Step()) {
      Region turn = Copied(kernel, op.regions[0]);
      Substitute(turn, op.symbol, symbolic::Int(i));
      for (Op& each : Unrolled(kernel, std::move(turn), pipes)) out.push_back(std::move(each));
    }
  }
  return out;
}

class RingSeparation {
 public:
  RingSeparation(ir::Kernel& kernel, Diagnostics& diagnostics) : kernel_(kernel), diagnostics_(diagnostics) {}

  /// All pipes of the worker's instances.
  Result<void> Run(const std::string& worker) {
    std::set<std::string> pipes;
    for (const ir::Pipe& pipe : kernel_.pipes) {
      if (pipe.per_worker == worker) pipes.insert(pipe.name);
    }
    SplitWorkers(kernel_, [&](const ir::Worker& each) { return each.name == worker || IsChosenBy(each, pipes); });
    for (ir::Worker& each : kernel_.workers) each.body = Unrolled(kernel_, std::move(each.body), pipes);
    ir::TakenNames used = kernel_.UsedNames();
    for (const std::string& pipe : pipes) {
      const auto place =
          std::find_if(kernel_.pipes.begin(), kernel_.pipes.end(), [&](const ir::Pipe& p) { return p.name == pipe; });
      std::vector<ir::Pipe> rings = RingsOf(*place, used);
      if (!Rename(pipe, rings)) return Failure{};
      std::erase_if(rings, [&](const ir::Pipe& ring) { return !IsUsed(ring.name); });
      kernel_.pipes.insert(kernel_.pipes.erase(place), rings.begin(), rings.end());
    }
    return {};
  }

 private:
  /// Whether the number of an instance says which ring of these pipes is meant.
  static bool IsChosenBy(const ir::Worker& worker, const std::set<std::string>& pipes) {
    bool chooses = false;
    ForEachOp(worker.body, [&](const Op& op) {
      const Scalar* ring = RingOf(op);
      chooses |= ring && pipes.contains(op.symbol) && symbolic::Mentions(*ring, worker.instance_name);
    });
    return chooses;
  }
  static std::vector<ir::Pipe> RingsOf(const ir::Pipe& pipe, ir::TakenNames& used) {
    std::vector<ir::Pipe> rings(static_cast<size_t>(pipe.rings), pipe);
    for (size_t i = 0; i < rings.size(); ++i) {
      rings[i].name = used.TakeFree(fmt::format("{}_{}", pipe.name, i));
      rings[i].ring_of = pipe.name;
      rings[i].per_worker = "";
      rings[i].rings = 1;
    }
    return rings;
  }

  bool Rename(const std::string& pipe, const std::vector<ir::Pipe>& rings) {
    const size_t errors = diagnostics_.ErrorCount();
    for (ir::Worker& worker : kernel_.workers) {
      ForEachOp(worker.body, [&](Op& op) {
        const Scalar* ring = op.symbol == pipe ? RingOf(op) : nullptr;
        if (!ring) return;
        int64_t number = -1;
        if (!symbolic::IsInt(*ring, &number) || number < 0 || number >= static_cast<int64_t>(rings.size())) {
          diagnostics_.Error(DiagnosticKind::kMalformedIr, op.span, fmt::format("it can't be told which `{}` is meant", pipe));
          return;
        }
        op.scalars.pop_back();  // the ring
        op.symbol = rings[static_cast<size_t>(number)].name;
      });
    }
    return diagnostics_.ErrorCount() == errors;
  }

  bool IsUsed(const std::string& pipe) const {
    bool is_used = false;
    for (const ir::Worker& worker : kernel_.workers) ForEachOp(worker.body, [&](const Op& op) { is_used |= op.symbol == pipe; });
    return is_used;
  }

  ir::Kernel& kernel_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool ServesAll(const ir::Kernel& kernel, const ir::Pipe& pipe) {
  return std::all_of(kernel.workers.begin(), kernel.workers.end(), [&](const ir::Worker& worker) {
    bool sends = false, has_own = true;
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.symbol != pipe.name) return;
      sends |= op.code == OpCode::kSend;
      if (op.code == OpCode::kReceive) has_own &= worker.name == pipe.per_worker && IsName(op.scalars[0], worker.instance_name);
    });
    if (worker.name == pipe.per_worker) return !sends && has_own && !HoldsSeveral(kernel, worker, pipe.name);
    return has_own && (!sends || (OnlyCopies(worker) && FillsAll(worker.body, pipe, nullptr)));
  });
}

void JoinOnlyRing(ir::Kernel& kernel, ir::Pipe& pipe) {
  for (ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](Op& op) {
      if (op.symbol == pipe.name && RingOf(op)) op.scalars.pop_back();
    });
  }
  pipe.per_worker = "";
}

Result<void> SeparateRings(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  for (ir::Pipe& pipe : kernel.pipes) {
    if (pipe.rings == 1 && !pipe.per_worker.empty()) JoinOnlyRing(kernel, pipe);
  }
  const auto is_apart = [&](const ir::Pipe& pipe) {
    if (pipe.per_worker.empty() || (!target.folds_copies && ServesAll(kernel, pipe))) return false;
    // What is spread stays together: spread_instances says why it can't be.
    return !target.UsesClusters() || std::none_of(kernel.workers.begin(), kernel.workers.end(), [&](const ir::Worker& worker) {
      return worker.name == pipe.per_worker && worker.spread > 1;
    });
  };
  // What is written out for the pipes of one worker may have been a loop over those of another.
  while (true) {
    const auto pipe = std::find_if(kernel.pipes.begin(), kernel.pipes.end(), is_apart);
    if (pipe == kernel.pipes.end()) return {};
    if (!RingSeparation(kernel, diagnostics).Run(std::string(pipe->per_worker))) return Failure{};
  }
}

}  // namespace tkc::passes

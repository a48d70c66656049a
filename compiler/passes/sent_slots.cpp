// SPDX-License-Identifier: MIT
#include "compiler/passes/sent_slots.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/queries.h"
#include "compiler/passes/expand_workers.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

bool IsWhole(const Op& send) { return send.SendsAllFields(); }
bool IsTraffic(const Op& op, const std::string& pipe) {
  return (op.code == OpCode::kSend || op.code == OpCode::kReceive) && op.symbol == pipe;
}

/// Of one pipe. A field without a place is all of it.
bool IsSamePart(const Op& a, const Op& b) {
  if (a.Field() != b.Field()) return false;
  for (size_t i = 0; i < 2 && i < a.scalars.size() && i < b.scalars.size(); ++i) {
    if (!symbolic::Equal(a.scalars[i], b.scalars[i])) return false;
  }
  return true;
}

/// Each send is received by the operation of this pipe that follows in its region, and each receive is of such a send.
bool IsAnsweredAtOnce(const Region& region, const std::string& pipe) {
  bool is_open = false;  // sent, not yet received
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    for (const Region& inner : op.regions) {
      if (op.code != OpCode::kSend && !IsAnsweredAtOnce(inner, pipe)) return false;
    }
    if (!IsTraffic(op, pipe)) continue;
    const bool is_send = op.code == OpCode::kSend;
    if (is_send ? is_open && OpensSlot(region, i) : !is_open) return false;
    is_open = is_send;
  }
  return !is_open;
}

/// The most parts that one slot has in the instance's program.
int64_t MostParts(const Region& region, const ir::Worker& worker, int64_t instance, const std::string& pipe) {
  int64_t most = 0, parts = 0;
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    if (op.code == OpCode::kSend) {
      if (op.symbol != pipe) continue;
      parts = OpensSlot(region, i) ? 1 : parts + 1;
      most = std::max(most, parts);
      continue;
    }
    for (size_t side = 0; side < op.regions.size(); ++side) {
      if (Takes(op, side, worker, instance)) most = std::max(most, MostParts(op.regions[side], worker, instance, pipe));
    }
  }
  return most;
}

/// The parts of one slot, or of several in branches that exclude each other, that the operation sends for the instance.
void CollectParts(const Op& op, const ir::Worker& worker, int64_t instance, const std::string& pipe,
                  std::vector<const Op*>& parts) {
  if (op.code == OpCode::kSend && op.symbol == pipe && !IsWhole(op)) parts.push_back(&op);
  for (size_t side = 0; op.code == OpCode::kIf && side < op.regions.size(); ++side) {
    if (!Takes(op, side, worker, instance)) continue;
    for (const Op& inner : op.regions[side]) CollectParts(inner, worker, instance, pipe, parts);
  }
}

const Op* ScatteredPart(const Region& region, const ir::Worker& worker, int64_t instance, const std::string& pipe) {
  std::vector<const Op*> filled;
  bool has_branch = false;
  for (const Op& op : region) {
    std::vector<const Op*> parts;
    CollectParts(op, worker, instance, pipe, parts);
    const auto is_again = [&](const Op* part) {
      return std::any_of(filled.begin(), filled.end(), [&](const Op* other) { return IsSamePart(*part, *other); });
    };
    const bool is_whole = op.code == OpCode::kSend && op.symbol == pipe && IsWhole(op);
    if (is_whole || std::any_of(parts.begin(), parts.end(), is_again)) filled.clear(), has_branch = false;
    has_branch |= !parts.empty() && op.code == OpCode::kIf;
    if (has_branch && !parts.empty() && !filled.empty()) return parts.front();
    filled.insert(filled.end(), parts.begin(), parts.end());
    for (size_t side = 0; op.code != OpCode::kSend && side < op.regions.size(); ++side) {
      if (!Takes(op, side, worker, instance)) continue;
      if (const Op* found = ScatteredPart(op.regions[side], worker, instance, pipe)) return found;
    }
  }
  return nullptr;
}

/// How many slots of the pipe a worker receives; kLoops: there is traffic in a loop.
constexpr int64_t kLoops = -1;
int64_t Receives(const Region& region, const std::string& pipe, bool in_loop) {
  int64_t count = 0;
  for (const Op& op : region) {
    const bool receives = op.code == OpCode::kReceive && op.symbol == pipe, sends = op.code == OpCode::kSend && op.symbol == pipe;
    if (in_loop && (receives || sends)) return kLoops;
    count += receives;
    const bool is_loop =
        (op.code == OpCode::kFor && !IsOverInstances(op)) || op.code == OpCode::kForTiles || op.code == OpCode::kUnroll;
    for (const Region& inner : op.regions) {
      const int64_t inside = Receives(inner, pipe, in_loop || is_loop);
      if (inside == kLoops) return kLoops;
      count += inside;
    }
  }
  return count;
}

}  // namespace

bool IsOverInstances(const Op& loop) {
  if (loop.code != OpCode::kFor) return false;
  bool says_whose = false;
  ForEachOp(loop.regions[0], [&](const Op& op) {
    says_whose |=
        op.code == OpCode::kSend && op.scalars.size() > kRingOfSend && symbolic::Mentions(op.scalars[kRingOfSend], loop.symbol);
  });
  return says_whose;
}

bool OpensSlot(const Region& region, size_t index) {
  if (IsWhole(region[index])) return true;
  std::vector<const Op*> filled;  // parts of the slot at hand
  bool opens = true;
  for (size_t i = 0; i <= index; ++i) {
    const Op& op = region[i];
    if (op.code != OpCode::kSend || op.symbol != region[index].symbol) continue;
    opens = IsWhole(op) || filled.empty() ||
            std::any_of(filled.begin(), filled.end(), [&](const Op* part) { return IsSamePart(*part, op); });
    if (opens) filled.clear();
    if (!IsWhole(op)) filled.push_back(&op);
  }
  return opens;
}

bool ClosesSlot(const Region& region, size_t index) {
  for (size_t i = index + 1; i < region.size(); ++i) {
    if (region[i].code == OpCode::kSend && region[i].symbol == region[index].symbol) return OpensSlot(region, i);
  }
  return true;
}

bool IsReceivedNext(const Region& region, size_t index) {
  for (size_t i = index + 1; i < region.size(); ++i) {
    if (IsTraffic(region[i], region[index].symbol)) return region[i].code == OpCode::kReceive;
  }
  return false;
}

int64_t PartsSent(const ir::Worker& worker, const std::string& pipe) {
  // Instances in turn fill slots of their own.
  const int64_t instances = worker.InstancesOfTile();
  int64_t parts = 0;
  for (int64_t i = 0; i < instances; ++i) parts += MostParts(worker.body, worker, i, pipe);
  return parts;
}

const Op* PartInAnotherBranch(const ir::Worker& worker, const std::string& pipe) {
  for (int64_t i = 0; i < worker.instances; ++i) {
    if (const Op* found = ScatteredPart(worker.body, worker, i, pipe)) return found;
  }
  return nullptr;
}

bool IsFilledOnce(const ir::Kernel& kernel, const ir::Pipe& pipe) {
  return std::all_of(kernel.workers.begin(), kernel.workers.end(), [&](const ir::Worker& worker) {
    const int64_t slots = Receives(worker.body, pipe.name, false);
    return slots != kLoops && slots <= pipe.slots;
  });
}

std::map<std::string, std::string> SendRings(const ir::Kernel& kernel, const ir::Worker& worker, ir::TakenNames& used) {
  std::map<std::string, std::string> rings;
  for (const ir::Pipe& pipe : kernel.pipes) {
    bool does_both = false;
    for (int64_t i = 0; i < worker.instances && !does_both; ++i) {
      const Endpoints ends = EndpointsOf(worker, i);
      does_both = ends.sent.count(pipe.name) > 0 && ends.received.count(pipe.name) > 0;
    }
    if (does_both && !IsAnsweredAtOnce(worker.body, pipe.name)) rings[pipe.name] = used.TakeFree(pipe.name + "_sent");
  }
  return rings;
}

}  // namespace tkc::passes

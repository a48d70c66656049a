// SPDX-License-Identifier: MIT
#include "compiler/passes/meetings.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;

constexpr int64_t kFirstOfWorkers = 9;  // named barriers: 0 is the block's, a warpgroup has the one behind its number

/// What the reduction over warps does, twice.
bool Meets(const ir::Worker& worker, const Op& op) {
  const bool is_own = op.code == OpCode::kSyncRole && op.Is(ir::kOfWarpgroup);
  return is_own || (ir::ReducesOrScans(op.code) && !op.symbol.empty() && SpansWarps(op, worker.layout));
}

class Divergence {
 public:
  using Visit = std::function<void(const Op& op, int branches, int loops)>;
  Divergence(const ir::Worker& worker, const Visit& visit) : visit_(visit) { differs_.insert(worker.instance_name); }

  void Walk(const ir::Region& region, int branches, int loops) {
    for (const Op& op : region) {
      const bool is_inside = branches + loops > 0;
      const bool differs = is_inside || ir::MentionsAny(op.scalars, differs_);
      if (op.code == OpCode::kTest || (op.code == OpCode::kLet && differs)) differs_.insert(op.symbol);
      const bool is_loop = op.code == OpCode::kFor || op.code == OpCode::kForTiles;
      const int inner_branches = branches + (op.code == OpCode::kIf && differs), inner_loops = loops + (is_loop && differs);
      visit_(op, inner_branches, inner_loops);
      for (const ir::Region& inner : op.regions) Walk(inner, inner_branches, inner_loops);
    }
  }

 private:
  const Visit& visit_;
  std::set<std::string> differs_;  // scalars that are not the same in all instances
};

}  // namespace

void ForEachApart(const ir::Worker& worker, const std::function<void(const Op& op, int branches, int loops)>& visit) {
  if (worker.instances < 2 || worker.instance_name.empty()) return;
  Divergence(worker, visit).Walk(worker.body, 0, 0);
}

bool StagesApart(const ir::Kernel& kernel, const ir::Worker& worker) {
  bool stages = false;
  ForEachApart(worker, [&](const Op& op, int branches, int loops) {
    if (branches + loops > 0 && op.code == OpCode::kView) stages |= FindBuffer(kernel, op.symbol).instances > 1;
  });
  return stages;
}

const ir::Worker* FillerOf(const ir::Kernel& kernel, const std::string& pipe) {
  std::vector<const ir::Worker*> receiving;
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.Computes() && ir::ReceivesFrom(worker.body, pipe)) receiving.push_back(&worker);
  }
  if (receiving.size() < 2) return receiving.empty() ? nullptr : receiving.front();
  // Who says that a slot is full says so when he comes to it: others wait for that, and he had better not wait for them.
  const auto waits = [&](const ir::Worker* worker) {
    std::set<std::string> sent;  // by the others
    for (const ir::Worker* other : receiving) {
      if (other == worker) continue;
      ForEachOp(other->body, [&](const Op& op) {
        if (op.code == OpCode::kSend) sent.insert(op.symbol);
      });
    }
    return ir::Holds(worker->body, [&](const Op& op) { return op.code == OpCode::kReceive && sent.contains(op.symbol); });
  };
  const auto free = std::find_if_not(receiving.begin(), receiving.end(), waits);
  return free != receiving.end() ? *free : receiving.front();
}

std::set<std::string> Channels(const ir::Kernel& kernel) {
  std::set<std::string> channels;
  for (const ir::Pipe& pipe : kernel.pipes) {
    const auto touches = [&](const ir::Worker& worker) {
      return worker.Computes() && (ir::ReceivesFrom(worker.body, pipe.name) || ir::SendsInto(worker.body, pipe.name));
    };
    if (std::count_if(kernel.workers.begin(), kernel.workers.end(), touches) > 1) channels.insert(pipe.name);
  }
  return channels;
}

int64_t ThreadsOf(const ir::Worker& worker, const Target& target) { return worker.instances * ir::kWarpsOfInstance * target.lanes; }

bool IsWholeBlock(const ir::Kernel& kernel, const ir::Worker& worker) {
  return std::none_of(kernel.workers.begin(), kernel.workers.end(),
                      [&](const ir::Worker& other) { return &other != &worker && other.Computes(); });
}

int64_t WorkerBarrier(const ir::Kernel& kernel, const ir::Worker& worker) {
  int64_t number = kFirstOfWorkers;
  for (const ir::Worker& other : kernel.workers) {
    if (&other == &worker) break;
    number += other.instances > 1;
  }
  return number;
}

void PlaceMeetings(ir::Kernel& kernel, const Target& target) {
  if (target.named_barriers > 0) return;
  ir::TakenNames used = kernel.UsedNames();
  for (const ir::Buffer& buffer : kernel.buffers) used.Take(buffer.name);
  for (ir::Worker& worker : kernel.workers) {
    worker.warps_meet = worker.all_meet = "";
    if (IsWholeBlock(kernel, worker) && worker.instances == 1) continue;
    bool by_warps = false, by_all = false;
    ForEachOp(worker.body, [&](const Op& op) {
      by_warps |= Meets(worker, op);
      by_all |= op.code == OpCode::kNamedSync;
    });
    if (by_warps) {
      worker.warps_meet = used.Free(worker.name + "_warps");
      const std::string who = worker.instances > 1 ? fmt::format("an instance of {}", worker.name) : worker.SourceName();
      kernel.barriers.push_back(
          {worker.warps_meet, worker.instances, ir::kWarpsOfInstance, fmt::format("the warps of {} meet", who)});
    }
    if (by_all) {
      worker.all_meet = used.Free(worker.name + "_all");
      kernel.barriers.push_back(
          {worker.all_meet, 1, ir::kWarpsOfInstance * worker.instances, fmt::format("all warps of {} meet", worker.SourceName())});
    }
  }
}

int64_t BarrierBytes(const ir::Kernel& kernel, const Target& target) {
  int64_t barriers = 0;
  const std::set<std::string> channels = Channels(kernel);
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (channels.count(pipe.name) > 0 || pipe.name == kernel.next_tile)
      barriers += 2 * (pipe.slots == 0 ? target.most_slots : pipe.slots) * pipe.rings;
  }
  for (const ir::Worker& worker : kernel.workers) {
    if (!worker.Computes() || target.named_barriers > 0) continue;
    // Instances of the only worker meet at the block's barrier, but for reductions and where they go apart.
    bool reduces = StagesApart(kernel, worker);
    ForEachOp(worker.body, [&](const Op& op) { reduces |= Meets(worker, op); });
    if (!IsWholeBlock(kernel, worker))
      barriers += worker.instances + 1;
    else if (worker.instances > 1 && reduces)
      barriers += worker.instances;
  }
  return barriers * ir::kBarrierBytes;
}

}  // namespace tkc::passes

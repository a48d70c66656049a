// SPDX-License-Identifier: MIT
#include "compiler/passes/share_room.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/load_early.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/shared_room.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// Until when a matrix unit that works beside the warps keeps the operands of a product: it is waited for in front of what is
/// written over them. Until the next one is issued: the warps fill other tiles meanwhile.
enum class Kept { kUntilIssued, kUntilNextIsIssued };

/// Which buffers of a worker hold something at once. A walk from the end to the beginning: a buffer is live where what it holds is
/// still read further on.
class Lives {
 public:
  Lives(const ir::Kernel& kernel, const ir::Worker& worker, Kept operands)
      : kernel_(kernel), views_(BuffersOfViews(kernel, worker.body)), operands_(operands) {
    Before(worker.body, {});
  }

  bool Meet(const std::string& a, const std::string& b) const { return at_once_.contains(std::minmax(a, b)); }

 private:
  std::set<std::string> Before(const Region& region, std::set<std::string> live) {
    const auto is_product = [](const Op& op) { return op.code == OpCode::kMma; };
    for (auto op = region.rbegin(); op != region.rend(); ++op) {
      live = Before(*op, std::move(live));
      if (operands_ == Kept::kUntilIssued || !is_product(*op)) continue;
      const auto previous = std::find_if(op + 1, region.rend(), is_product);
      if (previous != region.rend()) Access(*previous, live);
    }
    return live;
  }

  std::set<std::string> Before(const Op& op, std::set<std::string> live) {
    if (op.code == OpCode::kIf) {
      std::set<std::string> either = live;  // also of a branch that is not there
      for (const Region& region : op.regions) either.merge(Before(region, live));
      return either;
    }
    if (op.code == OpCode::kSend && !op.regions.empty()) return Before(op.regions[0], std::move(live));
    for (const Region& region : op.regions) {
      std::set<std::string> around = Before(region, live);
      around.insert(live.begin(), live.end());
      live.merge(Before(region, around));  // what the next iteration reads is live at the end of this one
    }
    if (!ir::IsPartOrTranspose(op.code)) Access(op, live);
    return live;
  }

  void Access(const Op& op, std::set<std::string>& live) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const auto buffer = views_.find(op.operands[i]);
      if (buffer == views_.end()) continue;
      const std::string& name = buffer->second;
      for (const std::string& other : live) at_once_.insert(std::minmax(name, other));
      const bool fills = i == 0 && FillsShared(op.code);
      if (fills && HasShapeOf(kernel_.TypeOf(op.operands[i]), FindBuffer(kernel_, name)))
        live.erase(name);
      else
        live.insert(name);
    }
  }

  const ir::Kernel& kernel_;
  const std::map<ValueId, std::string> views_;
  const Kept operands_;
  std::set<std::pair<std::string, std::string>> at_once_;
};

/// Of a worker: the buffers that only it uses, and that hold one tile (of each instance). `instances_meet`: those that all
/// instances use alike. The copy engine stores from some when the program has gone on: these keep their room.
std::set<std::string> OwnTiles(const ir::Kernel& kernel, const ir::Worker& worker, bool instances_meet) {
  std::set<std::string> own, others;
  for (const ir::Worker& each : kernel.workers) {
    const auto views = BuffersOfViews(kernel, each.body);
    for (const auto& [view, buffer] : views) (&each == &worker ? own : others).insert(buffer);
    const auto keep_room = [&](const Op& op) {
      for (const ValueId operand : op.operands) {
        if (const auto view = views.find(operand); view != views.end()) others.insert(view->second);
      }
    };
    ForEachOp(each.body, [&](const Op& op) {
      if (op.code == OpCode::kStoreAsync) keep_room(op);
    });
    ForEachApart(each, [&](const Op& op, int branches, int loops) {
      if (instances_meet && branches + loops > 0) keep_room(op);
    });
  }
  const std::set<std::string> channels = Channels(kernel);
  for (const ir::Pipe& pipe : kernel.pipes) {
    const bool is_sent = std::any_of(kernel.workers.begin(), kernel.workers.end(), [&](const ir::Worker& each) {
      bool sends = false;
      ForEachOp(each.body,
                [&](const Op& op) { sends |= op.code == OpCode::kSend && op.symbol == pipe.name && op.regions.empty(); });
      return sends;
    });
    if (pipe.slots == 1 && pipe.rings == 1 && !is_sent && !channels.contains(pipe.name)) continue;
    for (size_t i = 0; i < pipe.fields.size(); ++i) others.insert(FieldBuffer(pipe, i));
  }
  std::erase_if(own, [&](const std::string& name) {
    const ir::Buffer& buffer = FindBuffer(kernel, name);
    if (!instances_meet && buffer.instances != worker.instances) return true;
    return others.contains(name) || buffer.count > 1 || buffer.is_scratch || buffer.is_fragments;
  });
  return own;
}

/// Which buffers may lie over each other.
class RoomSharing {
 public:
  RoomSharing(const ir::Kernel& kernel, const Target& target, Kept operands) : instances_meet_(target.folds_copies) {
    for (const ir::Worker& worker : kernel.workers) {
      if (!worker.Computes() || (instances_meet_ && (worker.in_turn || worker.alternates))) continue;
      const std::set<std::string> own = OwnTiles(kernel, worker, instances_meet_);
      const Lives lives(kernel, worker, operands);
      for (const std::string& a : own) {
        for (const std::string& b : own) {
          if (a < b && !lives.Meet(a, b)) pairs_.insert({a, b});
        }
      }
    }
    // Fields of a slot come at once.
    for (const ir::Pipe& pipe : kernel.pipes) {
      for (size_t i = 0; i < pipe.fields.size(); ++i) {
        for (size_t j = 0; j < i; ++j) pairs_.erase(std::minmax(FieldBuffer(pipe, i), FieldBuffer(pipe, j)));
      }
    }
  }

  bool MayShare(const ir::Buffer& a, const ir::Buffer& b) const {
    // Each instance meets itself alone, and so writes over nothing but its own.
    const bool are_apart = !instances_meet_ && std::max(a.instances, b.instances) > 1;
    const bool is_each_its_own = a.instances == b.instances && a.offset == b.offset && a.PlacedBytes() == b.PlacedBytes();
    return (!are_apart || is_each_its_own) && pairs_.contains(std::minmax(a.name, b.name));
  }
  bool MayShare(const ir::Buffer& a) const {
    return std::any_of(pairs_.begin(), pairs_.end(),
                       [&](const auto& pair) { return pair.first == a.name || pair.second == a.name; });
  }

 private:
  const bool instances_meet_;
  std::set<std::pair<std::string, std::string>> pairs_;
};

/// Each buffer, in this order, at the first place where it meets none that it can't share room with. Those that may share begin
/// where any of them can: `alignment`. Returns where the last ends.
int64_t Place(std::vector<ir::Buffer>& buffers, const RoomSharing& sharing, int64_t alignment) {
  int64_t end = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    ir::Buffer& buffer = buffers[i];
    const int64_t unit = sharing.MayShare(buffer) ? alignment : buffer.Alignment();
    buffer.offset = 0;
    const auto is_in_the_way = [&](const ir::Buffer& other) {
      return buffer.offset < other.End() && other.offset < buffer.End() && !sharing.MayShare(buffer, other);
    };
    const auto placed = buffers.begin() + static_cast<ptrdiff_t>(i);
    for (auto other = buffers.begin(); (other = std::find_if(buffers.begin(), placed, is_in_the_way)) != placed;)
      buffer.offset = RoundUp(other->End(), unit);
    end = std::max(end, buffer.End());
  }
  return end;
}

/// In the order of their places, marked where they share room.
void Mark(std::vector<ir::Buffer>& buffers) {
  std::stable_sort(buffers.begin(), buffers.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  for (ir::Buffer& buffer : buffers) {
    buffer.shares_room = std::any_of(buffers.begin(), buffers.end(), [&](const ir::Buffer& other) {
      return &other != &buffer && other.offset < buffer.End() && buffer.offset < other.End();
    });
  }
}

/// Buffers that stage tiles of one thing, of one shape at one place, are one that is filled again.
void JoinAlike(ir::Kernel& kernel) {
  std::map<std::string, std::string> joined;
  std::vector<ir::Buffer> buffers;
  for (const ir::Buffer& buffer : kernel.buffers) {
    const auto is_alike = [&](const ir::Buffer& other) {
      return other.offset == buffer.offset && other.stages == buffer.stages && other.dtype == buffer.dtype &&
             other.rows == buffer.rows && other.cols == buffer.cols && other.swizzle == buffer.swizzle &&
             other.count == buffer.count && other.instances == buffer.instances;
    };
    const auto same = buffer.stages.empty() ? buffers.end() : std::find_if(buffers.begin(), buffers.end(), is_alike);
    if (same == buffers.end())
      buffers.push_back(buffer);
    else
      joined[buffer.name] = same->name;
  }
  kernel.buffers = std::move(buffers);
  for (ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](Op& op) {
      const auto buffer = op.code == OpCode::kView ? joined.find(op.symbol) : joined.end();
      if (buffer != joined.end()) op.symbol = buffer->second;
    });
  }
}

struct RoomPlan {
  std::vector<ir::Buffer> buffers{};
  int64_t bytes = 0;
};

/// Large buffers first: small ones find gaps.
RoomPlan PlanOf(const ir::Kernel& kernel, const Target& target, Kept operands) {
  const int64_t alignment = MostAlignment(kernel);
  RoomPlan plan{kernel.buffers};
  std::stable_sort(plan.buffers.begin(), plan.buffers.end(),
                   [](const ir::Buffer& a, const ir::Buffer& b) { return a.PlacedBytes() > b.PlacedBytes(); });
  const int64_t end = Place(plan.buffers, RoomSharing(kernel, target, operands), alignment);
  plan.bytes = RoundUp(end + BytesOfBarriers(kernel, target), alignment);
  return plan;
}

RoomPlan PlanOf(const ir::Kernel& kernel, const Target& target) {
  if (!target.folds_copies) {
    RoomPlan plan = PlanOf(kernel, target, Kept::kUntilNextIsIssued);
    if (plan.bytes <= SharedLimit(kernel, target)) return plan;
  }
  return PlanOf(kernel, target, Kept::kUntilIssued);
}

/// The choices among slots whose loads may stand early, those of few first.
std::vector<std::set<std::string>> Choices(const std::set<std::string>& slots) {
  constexpr size_t kMostSlots = 6;  // choices double with each
  const std::vector<std::string> names(slots.begin(), slots.end());
  std::vector<std::set<std::string>> choices;
  for (uint32_t bits = 0; bits < 1U << std::min(names.size(), kMostSlots); ++bits) {
    std::set<std::string>& choice = choices.emplace_back();
    for (size_t i = 0; i < names.size() && i < kMostSlots; ++i) {
      if ((bits >> i & 1U) != 0) choice.insert(names[i]);
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const std::set<std::string>& a, const std::set<std::string>& b) { return a.size() < b.size(); });
  return choices;
}

/// Loads tiles into registers as soon as they are there, as few as will do, so that their slots are free. False: nothing will do.
bool MakeRoom(ir::Kernel& kernel, const Target& target) {
  const int64_t limit = SharedLimit(kernel, target), registers = ShareRegisters(kernel, target).for_tiles;
  if (!target.folds_copies) return PlanOf(kernel, target).bytes <= limit;  // slots have barriers, and rooms of their own
  for (size_t i = 0; i < kernel.workers.size(); ++i) {
    for (const std::set<std::string>& slots : Choices(LoadableEarly(kernel, kernel.workers[i]))) {
      ir::Kernel early = kernel;
      LoadEarly(kernel, early.workers[i], slots);
      if (PlanOf(early, target).bytes > limit) continue;
      if (!slots.empty() && MostLiveRegisters(early, early.workers[i]) > registers) continue;
      kernel = std::move(early);
      return true;
    }
  }
  return false;
}

}  // namespace

int64_t BytesAtOnce(const ir::Kernel& kernel, const Target& target) { return PlanOf(kernel, target).bytes; }

int64_t BytesSaved(const ir::Kernel& kernel, const Target& target) {
  if (target.folds_copies || BytesBesideBuffers(kernel, SharedLimit(kernel, target)) >= 0) return 0;
  int64_t bytes = BytesOfBarriers(kernel, target);
  for (const ir::Buffer& buffer : kernel.buffers) bytes += buffer.PlacedBytes();
  return std::max<int64_t>(0, bytes - BytesAtOnce(kernel, target));
}

Result<void> ShareRoom(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (!LacksRoom(kernel, target)) return {};
  if (!MakeRoom(kernel, target)) {
    return ReportOverflow(kernel, target, FixedBytes(kernel, target), BytesAtOnce(kernel, target), diagnostics);
  }
  RoomPlan plan = PlanOf(kernel, target);
  kernel.buffers = std::move(plan.buffers);
  JoinAlike(kernel);
  Mark(kernel.buffers);
  kernel.shared_bytes = plan.bytes;
  return {};
}

}  // namespace tkc::passes

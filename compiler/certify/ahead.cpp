// SPDX-License-Identifier: MIT
// A loop that turns a ring `turns` times in an iteration fills, with a copy that is `lead` turns ahead, the turn lead + i * turns
// in iteration i, counted from where the ring stands before the loop. Turns that no iteration from 0 on fills that way are those of
// i = -1, -2, ..: the prologue's. What is held in registers over the back edge (blocks on their way, operands of the next
// product, the place of a block's pieces) is in iteration i what the iteration before left there, and before the first what the
// same would have been in iteration -1.
#include "compiler/certify/ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/certify/tensor_block.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

/// One copy into a slot.
struct Copy {
  TensorBlock block;
  std::string buffer, ring, part;  // of the slot
  int64_t turn = 0;                // that it fills, counted from the start of the region (of the iteration)
};

/// One step of an operand, in registers, and where it was loaded from: the turn counted as a copy's.
struct Fragment {
  const Op* op = nullptr;
  std::string buffer, ring, part;
  int64_t turn = 0;
};

/// The copies of a region outside loops and conditions, in order, and the turns of its rings.
struct Straight {
  std::vector<Copy> copies{};
  std::map<std::string, int64_t> turns{};
  std::set<std::string> unsure{};  // rings that turn under a condition
};

class AheadProof {
 public:
  AheadProof(const Program& program, const Agent& agent) : kernel_(*program.kernel), agent_(agent), scope_(program, agent) {}

  std::optional<Finding> Run() {
    ir::ForEachOp(agent_.worker->body, [&](const Op& op) {
      if (op.code == OpCode::kAdvance) turned_.insert(op.symbol);
    });
    Straight straight;
    Walk(agent_.worker->body, straight, true);
    return std::move(finding_);
  }

 private:
  struct View {
    std::string buffer, ring, part;
    int64_t ahead = 0;
    int64_t turn = 0;  // that it shows, counted from the start of the region
  };

  void Fail(const Op& op, ErrorKind kind, std::string headline, const Op* other = nullptr) {
    if (finding_) return;
    finding_ = Finding{kind, op.span, std::move(headline)};
    const bool loads = other && ir::LoadsFragments(other->code);
    if (other) finding_->notes.emplace_back(other->span, loads ? "it is loaded here" : "in the loop, it is copied here");
  }

  /// 0: the role has no such ring.
  int64_t SlotsOf(const std::string& ring) const {
    for (const AgentRing& known : agent_.rings) {
      if (known.symbol == ring) return known.slots;
    }
    return 0;
  }

  /// `proves`: loops in the region are looked into; else only what the region itself copies is gathered.
  void Walk(const Region& region, Straight& straight, bool proves) {
    for (const Op& op : region) {
      if (finding_) return;
      switch (op.code) {
        case OpCode::kLet:
        case OpCode::kTest:
        case OpCode::kTilePosition: scope_.BindOp(op); break;
        case OpCode::kView: Bind(op, straight); break;
        case OpCode::kPart:
        case OpCode::kTranspose:
          if (const auto base = views_.find(op.operands[0]); base != views_.end()) {
            View view = base->second;
            for (const Scalar& scalar : op.scalars) view.part += symbolic::CanonicalText(scope_.Resolve(scalar)) + ",";
            views_[op.results[0]] = view;
          }
          break;
        case OpCode::kAdvance: straight.turns[op.symbol] += 1; break;
        case OpCode::kCopyAsync:
          if (op.operands.size() == 2) CheckHeld(op);
          Gather(op, straight);
          break;
        case OpCode::kCopyToShared:
          if (op.operands.size() == 2) CheckHeld(op);
          if (op.Is(ir::kByBlock)) Gather(op, straight);
          break;
        case OpCode::kPieces:
        case OpCode::kFetch: held_[op.results[0]] = TensorBlock::Of(op, scope_); break;
        case OpCode::kMovePieces: Move(op); break;
        case OpCode::kLoadLeft:
        case OpCode::kLoadRight: Load(op); break;
        case OpCode::kVar:
        case OpCode::kAssign:
          Hold(op, held_);
          Hold(op, fragments_);
          break;
        case OpCode::kUnroll:
          for (int64_t i = 0; i < op.Trips(); ++i) {
            scope_.Bind(op.symbol, symbolic::Int(i));
            Walk(op.regions[0], straight, proves);
          }
          break;
        case OpCode::kFor:
        case OpCode::kForTiles: Loop(op, straight, proves); break;
        case OpCode::kIf:
          // What depends on the instance alone is decided here.
          if (const std::optional<int64_t> taken = Constant(scope_.Resolve(op.scalars[0]))) {
            const size_t which = *taken != 0 ? 0 : 1;
            if (which < op.regions.size()) Walk(op.regions[which], straight, proves);
            break;
          }
          for (const Region& inner : op.regions) Condition(inner, straight, proves);
          break;
        default: break;
      }
    }
  }

  void Bind(const Op& op, const Straight& straight) {
    const ir::SlotPlace place = ir::PlaceOfSlot(op.Slot());
    View view{op.symbol, place.ring, "", 0, 0};
    view.ahead = place.where == ir::SlotPlace::Where::kPrevious ? SlotsOf(view.ring) - 1
                 : place.ahead_name.empty() ? place.ahead
                                            : Constant(scope_.Resolve(symbolic::Name(place.ahead_name))).value_or(0);
    const auto turns = straight.turns.find(view.ring);
    view.turn = view.ahead + (turns == straight.turns.end() ? 0 : turns->second);
    views_[op.results[0]] = view;
  }

  void Load(const Op& op) {
    const auto view = views_.find(op.operands[0]);
    if (view == views_.end()) return;
    fragments_[op.results[0]] = {&op, view->second.buffer, view->second.ring, view->second.part, view->second.turn};
  }

  void Gather(const Op& op, Straight& straight) {
    const auto view = views_.find(op.operands[0]);
    if (view == views_.end() || SlotsOf(view->second.ring) == 0) return;  // filled and read in one iteration
    const auto& [buffer, ring, part, ahead, turn] = view->second;
    straight.copies.push_back({TensorBlock::Of(op, scope_), buffer, ring, part, straight.turns[ring] + ahead});
  }

  /// What is in registers: blocks on their way into slots, fragments on their way into products.
  template <typename What>
  static void Hold(const Op& op, std::map<ir::ValueId, What>& held) {
    const bool assigns = op.code == OpCode::kAssign;
    if (op.operands.size() != (assigns ? 2 : 1)) return;
    const auto source = held.find(op.operands[assigns]);
    const ir::ValueId target = assigns ? op.operands[0] : op.results[0];
    if (source == held.end())
      held.erase(target);
    else
      held[target] = What(source->second);
  }

  void Move(const Op& op) {
    const auto held = held_.find(op.operands[0]);
    if (held == held_.end()) return;
    std::vector<Scalar> by;
    for (const Scalar& scalar : op.scalars) by.push_back(scope_.Resolve(scalar));
    held->second.Shift(by);
    auto [moved, is_first] = moved_.try_emplace(op.operands[0], by);
    for (size_t i = 0; !is_first && i < by.size(); ++i) moved->second[i] = symbolic::Add(moved->second[i], by[i]);
  }

  /// What a region changes is not known any more: behind a loop, or where somebody might not have gone through it.
  void Forget(const Region& region) {
    ir::ForEachOp(region, [&](const Op& op) {
      if (op.code != OpCode::kAssign && op.code != OpCode::kMovePieces) return;
      held_.erase(op.operands[0]);
      fragments_.erase(op.operands[0]);
    });
  }

  /// A slot is filled with the block that its operation names.
  void CheckHeld(const Op& op) {
    const auto held = held_.find(op.operands[1]);
    const TensorBlock named = TensorBlock::Of(op, scope_);
    if (!checks_held_ || (held != held_.end() && named.IsSame(held->second, scope_))) return;
    Fail(op, DiagnosticKind::kCertificateCoverage,
         op.code == OpCode::kCopyAsync ? fmt::format("`{}` is copied into, from pieces of another block of `{}`",
                                                     kernel_.values[op.operands[0]].name, op.symbol)
                                       : fmt::format("`{}` is filled with another block of `{}` than was fetched",
                                                     kernel_.values[op.operands[0]].name, op.symbol),
         held == held_.end() ? nullptr : held->second.op);
  }

  /// What registers hold when an iteration begins: what the one before left there. Of the first that is what stands before the
  /// loop.
  void HoldAcross(const Op& loop, int depth) {
    const auto entry = held_;
    if (entry.empty()) return;
    const bool checks = std::exchange(checks_held_, false);
    const auto fragments = fragments_;
    moved_.clear();
    Straight unused;
    Walk(loop.regions[0], unused, false);
    checks_held_ = checks;
    fragments_ = fragments;
    const auto moved = std::move(moved_);
    moved_.clear();
    const std::string ordinal = OrdinalName(depth);
    auto begin = entry;
    for (const auto& [value, before] : entry) {
      const auto left = held_.find(value);
      if (left == held_.end()) {
        begin.erase(value);
      } else if (const auto step = moved.find(value); step != moved.end()) {
        // Iteration i begins i steps on, if all that changes it is to be moved.
        TensorBlock next = before;
        next.Shift(step->second);
        std::vector<Scalar> so_far;
        for (const Scalar& by : step->second) so_far.push_back(symbolic::Mul(symbolic::Name(ordinal), by));
        if (next.IsSame(left->second, scope_))
          begin[value].Shift(so_far);
        else
          begin.erase(value);
      } else if (!before.IsSame(left->second, scope_)) {
        if (checks && !before.IsSame(left->second.In(ordinal, symbolic::Int(-1)), scope_))
          Fail(*before.op, DiagnosticKind::kCertificateCoverage,
               fmt::format("another block of `{}` is fetched before the loop than the loop would fetch", before.op->symbol),
               left->second.op);
        begin[value] = left->second.In(ordinal, symbolic::Sub(symbolic::Name(ordinal), symbolic::Int(1)));
      }
    }
    held_ = std::move(begin);
  }

  /// Under a condition nothing may be copied ahead: nobody says here whether it will be read. What fills the only turn that a ring
  /// ever has is not ahead of anything.
  void Condition(const Region& region, Straight& around, bool proves) {
    Straight inner;
    Walk(region, inner, proves);
    Forget(region);
    for (const Copy& copy : inner.copies) {
      if (copy.turn >= inner.turns[copy.ring] && (copy.turn > 0 || turned_.contains(copy.ring)))
        Fail(*copy.block.op, DiagnosticKind::kCertificateUnknown, "a copy under a condition is ahead of what is read under it");
    }
    for (const auto& [ring, turns] : inner.turns) {
      if (turns != 0) around.unsure.insert(ring);
    }
    around.unsure.insert(inner.unsure.begin(), inner.unsure.end());
  }

  /// An operand that is held over the back edge is of the turn that the iteration behind it begins with, or as far on, as what was
  /// loaded before the loop is of the loop's first.
  void CheckOperands(const Op& loop, const std::map<ir::ValueId, Fragment>& entry, const Straight& before, const Straight& body) {
    const auto turns_of = [](const Straight& straight, const std::string& ring) {
      const auto turns = straight.turns.find(ring);
      return turns == straight.turns.end() ? 0 : turns->second;
    };
    for (const auto& [value, first] : entry) {
      if (!kernel_.values[value].is_mutable || turns_of(body, first.ring) == 0) continue;
      bool is_used = false;
      ir::ForEachOp(loop.regions[0], [&, v = value](const Op& op) { is_used |= ir::Uses(op, v); });
      const auto found = fragments_.find(value);
      if (!is_used || found == fragments_.end()) continue;
      const Fragment& next = found->second;
      const bool is_same = next.buffer == first.buffer && next.ring == first.ring && next.part == first.part;
      if (next.op != first.op && is_same && next.turn - turns_of(body, next.ring) == first.turn - turns_of(before, first.ring))
        continue;
      const std::string& name = kernel_.values[value].name;
      return Fail(*first.op, DiagnosticKind::kCertificateCoverage,
                  next.op == first.op
                      ? fmt::format("`{}` is loaded before a loop that turns `{}`, and never again", name, first.ring)
                      : fmt::format("`{}` is loaded before the loop from another place than for its next iterations", name),
                  next.op);
    }
  }

  void Loop(const Op& op, Straight& before, bool proves) {
    if (!proves) return Forget(op.regions[0]);
    const auto entry = fragments_;
    const Scope saved = scope_;
    const int depth = depth_++;
    scope_.BindLoop(op, depth);
    HoldAcross(op, depth);
    Straight body;
    Walk(op.regions[0], body, true);
    CheckOperands(op, entry, before, body);
    Forget(op.regions[0]);
    scope_ = saved;
    --depth_;
    if (op.code == OpCode::kFor) {
      for (const Copy& copy : body.copies) {
        const int64_t turns = body.turns[copy.ring];
        if (copy.turn > 0 && turns == 0 && body.unsure.count(copy.ring) == 0)
          return Fail(
              *copy.block.op, DiagnosticKind::kCertificateCoverage,
              fmt::format("`{}` is filled {} turns ahead in a loop that does not turn `{}`", copy.buffer, copy.turn, copy.ring));
        if (copy.turn > 0 && body.unsure.count(copy.ring) != 0)
          return Fail(*copy.block.op, DiagnosticKind::kCertificateUnknown,
                      "a copy is ahead in a ring that turns under a condition");
        for (int64_t i = 1; turns > 0 && copy.turn - i * turns >= 0; ++i) Prologue(depth, i, copy, copy.turn - i * turns, before);
      }
    }
    // What was copied before the loop has had its turn.
    for (const auto& [ring, turns] : body.turns) {
      if (turns != 0) std::erase_if(before.copies, [&](const Copy& copy) { return copy.ring == ring; });
    }
  }

  /// What fills the turn `turn` behind the start of the loop is what `copy` would be in iteration -i.
  void Prologue(int depth, int64_t i, const Copy& copy, int64_t turn, const Straight& before) {
    Scope scope = scope_;
    scope.Bind(OrdinalName(depth), symbolic::Int(-i));
    const auto place = before.turns.find(copy.ring);
    const int64_t from = place == before.turns.end() ? 0 : place->second;
    for (const Copy& other : before.copies) {
      if (other.buffer != copy.buffer || other.part != copy.part || other.turn - from != turn) continue;
      if (other.block.LiesAt(copy.block, scope)) return;
      return Fail(*other.block.op, DiagnosticKind::kCertificateCoverage,
                  fmt::format("`{}` is filled before the loop with another block of `{}` than the loop would copy", copy.buffer,
                              copy.block.op->symbol),
                  copy.block.op);
    }
    Fail(*copy.block.op, DiagnosticKind::kCertificateCoverage,
         fmt::format("`{}` is filled {} turns ahead, and nothing fills turn {} before the loop", copy.buffer, copy.turn, turn));
  }

  const ir::Kernel& kernel_;
  const Agent& agent_;
  Scope scope_;
  std::set<std::string> turned_;  // rings that turn at all
  std::map<ir::ValueId, View> views_;
  std::map<ir::ValueId, TensorBlock> held_;           // blocks in registers, and those that pieces are of
  std::map<ir::ValueId, std::vector<Scalar>> moved_;  // pieces, since the loop's body began
  std::map<ir::ValueId, Fragment> fragments_;
  bool checks_held_ = true;
  int depth_ = 0;
  std::optional<Finding> finding_;
};

}  // namespace

std::optional<Finding> CheckAhead(const Program& program) {
  for (const Agent& agent : program.agents) {
    const bool copies = std::any_of(agent.steps.begin(), agent.steps.end(), [](const Step& step) {
      return step.kind == StepKind::kOp && (step.op->code == OpCode::kCopyAsync || step.op->code == OpCode::kCopyToShared);
    });
    if (!copies) continue;
    if (auto found = AheadProof(program, agent).Run()) return found;
  }
  return std::nullopt;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Control flow, conditions and rings.
#include "compiler/certify/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/scene.h"
#include "compiler/ir/op_traits.h"
#include "compiler/support/floor_div.h"

namespace tkc::certify {

using ir::Op;
using ir::OpCode;

int Machine::BarrierElement(int block, int barrier, int64_t element) const {
  return element_base_[static_cast<size_t>(block) * kernel_.barriers.size() + static_cast<size_t>(barrier)] +
         static_cast<int>(element);
}

Machine::ShareList Machine::Shares(const Context& c) const {
  const int first = c.agent.first_warp;
  if (!c.agent.computes) {
    return {{{{first, c.agent.IsOneThreadAt(c.step) ? 1 : program_.lanes, 1}}}, 1};
  }
  if (c.step.is_elected) return {{{{first, 1, 1}}}, 1};
  const int64_t lanes = program_.lanes;
  return {{{{first, lanes, 1}, {first + 1, lanes, 1}, {first + 2, 2 * lanes, 2}}}, 3};
}

int64_t Machine::Position(const Context& c) const { return c.self.rings[static_cast<size_t>(c.step.ring)] + c.step.offset; }

int Machine::ElementOfStep(const Context& c, int block) const {
  return BarrierElement(block, c.step.barrier, c.step.ring >= 0 ? SlotOf(c) : c.step.element);
}

Outcome Machine::Run(State& state, int number, Question& question) {
  AgentState& self = state.agents[static_cast<size_t>(number)];
  const Agent& agent = program_.agents[static_cast<size_t>(number)];
  const Step& step = agent.steps[static_cast<size_t>(self.at)];
  static const Op kNothing{OpCode::kComment};
  Context c{state, number, agent, self, step, step.op ? *step.op : kNothing};
  bool value = false;
  switch (step.kind) {
    case StepKind::kEnd:
      if (!EndAgent(c)) return Outcome::kFailed;
      self.is_done = true;
      return Outcome::kRan;
    case StepKind::kJump: self.at = step.target; return Outcome::kRan;
    case StepKind::kBranch: {
      const Outcome outcome = Test(c, agent.conditions[static_cast<size_t>(step.condition)], question, &value);
      if (outcome == Outcome::kRan) self.at = value ? self.at + 1 : step.target;
      return outcome;
    }
    case StepKind::kEnter: {
      const Loop& loop = agent.loops[static_cast<size_t>(step.loop)];
      int64_t ordinal = 0;
      const int around = Around(c, loop.depth, &ordinal);
      self.frames.push_back({step.loop, state.oracle.Find(program_, loop.family, around, ordinal), 0});
      self.loose.clear();  // no compiler moves a write into a loop
      ++self.at;
      return Outcome::kRan;
    }
    case StepKind::kTest: {
      const Loop& loop = agent.loops[static_cast<size_t>(step.loop)];
      if (const Outcome outcome = Test(c, loop.goes_on, question, &value); outcome != Outcome::kRan) return outcome;
      if (value) {
        ++self.at;
        return Outcome::kRan;
      }
      EndIteration(c, loop, true);
      state.oracle.Leave(self.frames.back().fact, number);
      self.frames.pop_back();
      self.at = step.target;
      return Outcome::kRan;
    }
    case StepKind::kNext:
      EndIteration(c, agent.loops[static_cast<size_t>(step.loop)], false);
      ++self.frames.back().iteration;
      self.at = step.target;
      return Outcome::kRan;
    case StepKind::kOp: break;
  }
  const Outcome outcome = Execute(c);
  if (outcome == Outcome::kRan) {
    if (ir::IsEvent(c.op.code)) state.trail.Add(number, step.op);
    ++self.at;
  }
  return outcome;
}

/// Nothing of its own may be under way.
bool Machine::EndAgent(Context& c) {
  if (!c.self.groups.empty() || !c.self.open.accumulators.empty())
    return Fail(c, DiagnosticKind::kCertificateAccumulator, fmt::format("`{}` ends while a product is in flight", c.agent.name));
  if (!c.self.stores.empty() || !c.self.open_stores.empty())
    return Fail(c, DiagnosticKind::kCertificateHazard,
                fmt::format("`{}` ends while the copy engine may still read what it stores", c.agent.name));
  return EndCopies(c);
}

/// The fact and the iteration of the loop that the first `depth` loops around end with.
int Machine::Around(const Context& c, int depth, int64_t* ordinal) const {
  if (depth == 0) return -1;
  const Frame& frame = c.self.frames[static_cast<size_t>(depth) - 1];
  *ordinal = OrdinalOf(c.agent, frame);
  return frame.fact;
}

Outcome Machine::Test(Context& c, const Condition& condition, Question& question, bool* value) {
  const Truth truth = Truth3(c, condition, question);
  *value = truth == Truth::kTrue;
  if (truth == Truth::kNever) return Outcome::kNever;
  return truth == Truth::kUnknown ? Outcome::kAsks : Outcome::kRan;
}

Truth Machine::Truth3(Context& c, const Condition& condition, Question& question) {
  const auto of = [](bool value) { return value ? Truth::kTrue : Truth::kFalse; };
  switch (condition.kind) {
    case Condition::Kind::kConstant: return of(condition.value);
    case Condition::Kind::kTurn: {
      int64_t tile = 0;
      Around(c, condition.context, &tile);
      return of(tile % condition.of == condition.which);
    }
    case Condition::Kind::kNot: {
      const Truth truth = Truth3(c, condition.parts[0], question);
      return truth == Truth::kUnknown || truth == Truth::kNever ? truth : of(truth == Truth::kFalse);
    }
    case Condition::Kind::kAnd:
    case Condition::Kind::kOr: {
      const Truth decides = of(condition.kind == Condition::Kind::kOr);
      for (const Condition& part : condition.parts) {
        const Truth truth = Truth3(c, part, question);
        if (truth == decides || truth == Truth::kUnknown || truth == Truth::kNever) return truth;
      }
      return of(condition.kind == Condition::Kind::kAnd);
    }
    case Condition::Kind::kPositive: break;
  }
  const Truth truth = IsPositive(c, condition, question);
  if (condition.parts.empty()) return truth;
  // What is known under the one name is known under the other.
  Question named;
  const Truth as_named = Truth3(c, condition.parts[0], named);
  if (truth == as_named) return truth;
  if (truth != Truth::kUnknown && as_named != Truth::kUnknown) return Truth::kNever;
  if (truth == Truth::kUnknown) {
    c.state.oracle.Decide(question.fact, question.number, as_named == Truth::kTrue);
    return as_named;
  }
  const bool is_negated = condition.parts[0].kind == Condition::Kind::kNot;
  c.state.oracle.Decide(named.fact, named.number, (truth == Truth::kTrue) != is_negated);
  return truth;
}

Truth Machine::IsPositive(Context& c, const Condition& condition, Question& question) {
  int64_t number = condition.linear.constant;
  for (size_t d = 0; d < condition.linear.of_loop.size(); ++d) {
    if (condition.linear.of_loop[d] == 0) continue;
    number += condition.linear.of_loop[d] * OrdinalOf(c.agent, c.self.frames[d]);
  }
  if (condition.linear.rest.empty()) return number > 0 ? Truth::kTrue : Truth::kFalse;
  int64_t ordinal = 0;
  const int around = Around(c, condition.context, &ordinal);
  question.fact = c.state.oracle.Find(program_, condition.family, around, ordinal);
  question.number = -number;
  const Family& family = program_.families[static_cast<size_t>(condition.family)];
  if (family.kept >= 0) {
    const Truth truth = c.state.oracle.Known(family.kept, question.number);
    if (truth != Truth::kUnknown) return truth;
  }
  return c.state.oracle.IsAbove(question.fact, question.number);
}

Outcome Machine::Execute(Context& c) {
  const auto ran = [](bool ok) { return ok ? Outcome::kRan : Outcome::kFailed; };
  if (!ir::IsReplayed(c.op.code)) return ran(Touch(c));
  switch (c.op.code) {
    case OpCode::kWaitFull:
    case OpCode::kWaitEmpty: return WaitForSlot(c);
    case OpCode::kSplitWait: return Wait(c, 1, ElementOfStep(c, c.agent.block));
    case OpCode::kExpect: return ran(AnnounceBytes(c));
    case OpCode::kArrive: return ran(ArriveAtAll(c));
    case OpCode::kAdvance: AdvanceRing(c); return Outcome::kRan;
    case OpCode::kLoadAsync:
    case OpCode::kLoadRows:
    case OpCode::kLoadMulticast:
    case OpCode::kLoadRowsMulticast: return ran(Load(c));
    case OpCode::kPutTileCluster:
    case OpCode::kStoreCluster: return ran(Touch(c) && StoreCluster(c));
    case OpCode::kSyncRole: return ran(c.op.Is(ir::kOfWarp) || SyncGroup(c));  // lanes of one warp are together
    case OpCode::kSyncBlock:
    case OpCode::kNamedSync:
    case OpCode::kNamedArrive:
    case OpCode::kClusterSync: return NamedBarrier(c);
    case OpCode::kFenceAsync: Fence(c); return Outcome::kRan;
    case OpCode::kView: return ran(View(c));
    case OpCode::kCopyAsync: return ran(CopyAsync(c));
    case OpCode::kCommitCopies: CommitCopies(c); return Outcome::kRan;
    case OpCode::kWaitCopies: WaitCopies(c); return Outcome::kRan;
    case OpCode::kLoadLeft:
    case OpCode::kLoadRight:
    case OpCode::kLoadShared:
    case OpCode::kTakeTile:
    case OpCode::kCopyToGlobal: return ran(Touch(c) && AccessView(c, {c.step.accesses[0], false, false, Shares(c)}));
    case OpCode::kCopyToShared:
      if (c.op.Is(ir::kByBlock)) return ran(CopyTogether(c));
      [[fallthrough]];
    case OpCode::kPutTile:
    case OpCode::kStoreShared: return ran(Touch(c) && AccessView(c, {c.step.accesses[0], true, false, Shares(c)}));
    case OpCode::kMmaFence: FenceProducts(c); return Outcome::kRan;
    case OpCode::kMma: return ran(Product(c));
    case OpCode::kMmaCommit:
      c.self.groups.push_back(std::move(c.self.open));
      c.self.open = {};
      return Outcome::kRan;
    case OpCode::kMmaWait: WaitProducts(c); return Outcome::kRan;
    case OpCode::kStoreAsync: return ran(StoreAsync(c));
    case OpCode::kCommitStores:
      c.self.stores.push_back(std::move(c.self.open_stores));
      c.self.open_stores.clear();
      return Outcome::kRan;
    case OpCode::kWaitStores: WaitStores(c); return Outcome::kRan;
    case OpCode::kReduce:
    case OpCode::kReduceThreads:
    case OpCode::kCumsum: return ran(Touch(c) && Reduce(c));
    case OpCode::kSplitSend: return ran(Touch(c) && SendShares(c));
    case OpCode::kSplitCollect: return ran(Touch(c) && Collect(c));
    default:
      return ran(Fail(c, DiagnosticKind::kCertificateUnknown,
                      fmt::format("the certificate cannot tell what `{}` does", ir::OpText(c.op.code))));
  }
}

// ---- rings -----------------------------------------------------------------------------------------------------------

int64_t Machine::SlotOf(const Context& c) const {
  const int64_t slots = c.agent.rings[static_cast<size_t>(c.step.ring)].slots;
  return Position(c) - FloorDiv(Position(c), slots) * slots;
}

void Machine::AdvanceRing(Context& c) const { c.self.rings[static_cast<size_t>(c.step.ring)] += c.step.amount; }

/// Binds the view to the tile that it shows now.
bool Machine::View(Context& c) {
  const ir::Buffer& buffer = kernel_.buffers[static_cast<size_t>(c.step.buffer)];
  const bool is_slot = c.step.ring >= 0;
  const int64_t index = is_slot ? SlotOf(c) : c.step.element;
  if (index < 0 || index >= buffer.count)
    return Fail(c, DiagnosticKind::kCertificateHazard,
                fmt::format("`{}` uses tile {} of `{}`, which has {}", c.agent.name, index, buffer.name, buffer.count));
  const auto root = static_cast<size_t>(c.step.root);
  c.self.roots[root] = PlaceOf(c, c.agent.block, c.step.buffer, index);
  if (!IsReceived(c)) return false;
  if (is_slot) c.self.turns[root] = {Position(c), c.self.loops[static_cast<size_t>(c.step.ring)]};
  return true;
}

}  // namespace tkc::certify

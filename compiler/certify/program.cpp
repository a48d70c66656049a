// SPDX-License-Identifier: MIT
#include "compiler/certify/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/certify/places.h"
#include "compiler/passes/walk.h"
#include "compiler/symbolic/condition.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Kind;

constexpr int kModelledWarps = 3;      // of a warpgroup: the elected one, and two that stand for any pair of the others
constexpr int64_t kWrittenOut = 16;    // constant trip counts up to this are not left to the oracle,
constexpr int64_t kMostTurns = 512;    // unless those of loops in each other make more turns than this;
constexpr int64_t kPassedOver = 2048;  // where others pass over the slots of a loop, by its number of turns, it makes just these

int64_t RingsIn(const Agent& agent) {
  return std::count_if(agent.worker->body.begin(), agent.worker->body.end(), [](const Op& op) { return op.code == OpCode::kRing; });
}

class Builder {
 public:
  Builder(Program& program, Agent& agent, std::map<std::string, int>& families)
      : program_(program),
        kernel_(*program.kernel),
        agent_(agent),
        families_(families),
        scope_(kernel_, *agent.worker, agent.instance, agent.block, program.long_terms),
        places_(program, agent, scope_),
        slotless_(Slotless(kernel_, *agent.worker)) {}

  void Run() {
    for (const auto& [buffer, loops] : slotless_) agent_.rings.push_back({"@" + buffer, 1, "@" + buffer});
    Emit(agent_.worker->body);
    agent_.steps.push_back({StepKind::kEnd});
    DropUnusedRings(agent_);
    FindLastUses(agent_);
  }

 private:
  struct Ended {
    std::string rest;  // the integer it asked about
    int family = -1;
    bool turns_ring = false;
  };
  struct Around {
    std::string path;  // which iteration of which loops, as text
    std::vector<int> loops;
    std::vector<std::string> rests;  // the integer each asks about
    std::vector<Ended> behind;       // loops that stand before, here
    int64_t turns = 1;               // that the loops make whose trips are written out
  };

  void Unknown(const Op& op, std::string what) { program_.unknowns.push_back({op.span, std::move(what)}); }

  Step& Push(StepKind kind, const Op* op) {
    agent_.steps.push_back({kind, op});
    agent_.steps.back().is_elected = elected_ > 0;
    return agent_.steps.back();
  }

  int Here() const { return static_cast<int>(agent_.steps.size()); }
  int Depth() const { return static_cast<int>(around_.loops.size()); }

  int FamilyOf(const std::string& text, int64_t step) {
    const auto [place, is_new] = families_.try_emplace(text, static_cast<int>(program_.families.size()));
    if (is_new) program_.families.push_back({text, step});
    Family& family = program_.families[static_cast<size_t>(place->second)];
    family.members |= uint64_t{1} << (&agent_ - program_.agents.data());
    return place->second;
  }

  void RaiseThreshold(int family, int64_t ordinal) {
    int64_t& threshold = program_.families[static_cast<size_t>(family)].threshold;
    threshold = std::max(threshold, ordinal);
  }

  void Emit(const Region& region) {
    const size_t behind = around_.behind.size();
    for (const Op& op : region) EmitOp(op);
    around_.behind.resize(behind);
  }

  void EmitOp(const Op& op) {
    switch (op.code) {
      case OpCode::kComment: return;
      case OpCode::kLet:
      case OpCode::kTilePosition: return scope_.BindOp(op);
      case OpCode::kFor:
      case OpCode::kForTiles: return EmitLoop(op);
      case OpCode::kUnroll:
        for (int64_t i = 0; i < op.number; ++i) {
          scope_.Bind(op.symbol, symbolic::Int(i));
          Emit(op.regions[0]);
        }
        return;
      case OpCode::kIf: return EmitIf(op);
      case OpCode::kIfElected:
        ++elected_;
        Emit(op.regions[0]);
        --elected_;
        return;
      case OpCode::kRing: agent_.rings.push_back({op.slot.empty() ? op.symbol : op.slot, op.number, op.symbol}); return;
      case OpCode::kPart:
      case OpCode::kTranspose:
        if (kernel_.values[op.results[0]].type.space == ir::Space::kShared) return places_.Derive(op);
        break;
      default: break;
    }
    places_.Fill(op, Push(StepKind::kOp, &op));
  }

  void EmitLoop(const Op& op) {
    Loop loop;
    loop.op = &op;
    loop.depth = Depth();
    loop.is_tiles = op.code == OpCode::kForTiles;
    const std::string saved_path = around_.path;
    std::string rest;
    int64_t turns = around_.turns;
    const bool ok = loop.is_tiles ? Tiles(op, loop, rest) : Range(op, loop, rest, turns);
    if (!ok) return;
    const int index = static_cast<int>(agent_.loops.size());
    for (const std::string& ring : RingsOf(op)) {
      for (size_t i = 0; i < agent_.rings.size(); ++i) {
        if (agent_.rings[i].symbol == ring) loop.rings.push_back(static_cast<int>(i));
      }
    }
    for (size_t i = 0; i < agent_.rings.size(); ++i) {
      const auto place = slotless_.find(agent_.rings[i].name.substr(1));
      if (place == slotless_.end() || place->second.count(&op) == 0 || agent_.rings[i].name[0] != '@') continue;
      loop.counters.push_back(static_cast<int>(i));
    }
    loop.first_root = agent_.roots;
    agent_.loops.push_back(loop);
    program_.families[static_cast<size_t>(loop.family)].loopers |= uint64_t{1} << (&agent_ - program_.agents.data());
    Push(StepKind::kEnter, &op).loop = index;
    const int head = Here();
    Push(StepKind::kTest, &op).loop = index;
    scope_.BindLoop(op, loop.depth);
    around_.path += fmt::format("/{}", loop.family);
    around_.loops.push_back(index);
    around_.rests.push_back(rest);
    const int64_t saved_turns = std::exchange(around_.turns, turns);
    std::vector<Ended> behind;
    std::swap(behind, around_.behind);
    Emit(op.regions[0]);
    std::swap(behind, around_.behind);
    around_.turns = saved_turns;
    around_.rests.pop_back();
    around_.loops.pop_back();
    around_.path = saved_path;
    Step& next = Push(StepKind::kNext, &op);
    next.loop = index;
    next.target = head;
    agent_.steps[static_cast<size_t>(head)].target = Here();
    agent_.loops[static_cast<size_t>(index)].end_root = agent_.roots;
    around_.behind.push_back({rest, loop.family, !RingsOf(op).empty()});
  }

  /// for name = lo to hi step n. `turns`: of the loops around, and then of this one, too, where it is written out.
  bool Range(const Op& op, Loop& loop, std::string& rest, int64_t& turns) {
    const Scalar extent = symbolic::Sub(scope_.Resolve(op.scalars[1]), scope_.Resolve(op.scalars[0]));
    std::optional<Linear> linear = Split(extent, Depth());
    if (!linear) return Unknown(op, "the range of this loop"), false;
    loop.step = op.number;
    const bool is_constant =
        linear->rest.empty() && std::all_of(linear->of_loop.begin(), linear->of_loop.end(), [](int64_t c) { return c == 0; });
    std::optional<int64_t> above;
    const int64_t trips = (linear->constant + op.number - 1) / op.number;
    const int64_t most = program_.skips ? kPassedOver : kMostTurns;
    const bool is_counted = trips <= kWrittenOut || program_.skips || program_.small_lengths == SmallLengths::kOnce;
    if (is_constant && trips > 0 && is_counted && turns * trips <= most) {
      turns *= trips;
    } else if (is_constant && trips > 0) {
      // As long as any other loop that makes so many turns: nothing below depends on its exact length. What behind it depends on
      // its last turns, as many as may be under way, has been decided already.
      int64_t under_way = 1;
      for (const AgentRing& ring : agent_.rings) under_way = std::max(under_way, ring.slots);
      above = std::min(trips - 1, under_way) * op.number;
      linear->rest = fmt::format("constant {}", linear->constant);
      linear->constant = 0;
    }
    // What depends on loops around is another integer in each of their iterations.
    Fold(*linear, Depth());
    rest = linear->rest;
    if (Changes(op)) return Unknown(op, "how often this loop runs: its range changes in its body"), false;
    loop.family =
        FamilyOf(LoopFamily(op, fmt::format("{}{:+}", rest, linear->constant), rest.empty()), rest.empty() ? 0 : op.number);
    linear->of_loop.push_back(-op.number);
    loop.goes_on = Condition{Condition::Kind::kPositive, true, *linear, loop.family, Depth(), {}};
    loop.parameter = ParameterOf(symbolic::Cdiv(extent, symbolic::Int(op.number)));
    if (loop.parameter < 0) {  // of a range that may go backwards
      const Scalar not_negative = symbolic::Make(Kind::kMax, DType::kI64, {extent, symbolic::Int(0)});
      loop.parameter = ParameterOf(symbolic::Cdiv(not_negative, symbolic::Int(op.number)));
    }
    Family& family = program_.families[static_cast<size_t>(loop.family)];
    family.parameter = loop.parameter;
    family.constant = linear->constant;
    if (above) family.above = std::max(*above, family.above.value_or(*above));
    if (program_.small_lengths == SmallLengths::kOnce && !rest.empty() && IsOfLaunch(rest)) {
      const int launch = FamilyOf(
          fmt::format("launch|the turns of loops over {} by {}, while few", symbolic::CanonicalText(extent), op.number), 0);
      program_.families[static_cast<size_t>(loop.family)].launch = launch;
      RaiseThreshold(loop.family, program_.most_slots + 1);
    }
    return true;
  }

  /// for_tiles: the ordinal counts the block's tiles; an instance that takes turns starts at its own and skips those of others.
  bool Tiles(const Op& op, Loop& loop, std::string& rest) {
    const std::string unit = kernel_.cluster > 1 ? "cluster" : "block";
    const Scalar index = symbolic::Call(unit + "::index", DType::kI32, {});
    const Scalar count = symbolic::Call(unit + "::count", DType::kI32, {});
    const auto polynomial = [&](const Scalar& scalar) {
      return symbolic::ToPolynomial(scope_.Resolve(scalar)).value_or(symbolic::Polynomial{});
    };
    const std::string index_key = symbolic::ToPolynomial(index)->begin()->first;
    const std::string count_key = symbolic::ToPolynomial(count)->begin()->first;
    const auto take = [](symbolic::Polynomial& terms, const std::string& key) {
      const auto place = terms.find(key);
      if (place == terms.end()) return int64_t{0};
      const int64_t coefficient = place->second;
      terms.erase(place);
      return coefficient;
    };
    symbolic::Polynomial first = polynomial(op.scalars[0]), stride = polynomial(op.scalars[2]);
    const int64_t from_index = take(first, index_key);
    loop.first = take(first, count_key);
    loop.stride = take(stride, count_key);
    if (from_index != 1 || !first.empty() || !stride.empty() || loop.stride < 1 || loop.first < 0) {
      return Unknown(op, "which tiles this loop takes"), false;
    }
    rest = "tiles of the block: " + symbolic::CanonicalText(scope_.Resolve(op.scalars[1]));
    loop.family = FamilyOf(around_.path + "|" + rest, 1);
    Linear linear;
    linear.rest = rest;
    linear.of_loop.assign(static_cast<size_t>(Depth()), 0);
    linear.of_loop.push_back(-1);
    loop.goes_on = Condition{Condition::Kind::kPositive, true, linear, loop.family, Depth(), {}};
    return true;
  }

  /// Loops of different roles are one family when they have the same range, stand in the same iteration of the same loops and turn
  /// a ring together the same number of times before, or turn none and come as the n-th of that range.
  std::string LoopFamily(const Op& op, const std::string& extent, bool is_constant) {
    const std::string range = fmt::format("{}|{}/{}", around_.path, extent, op.number);
    std::set<std::string> rings;
    for (const std::string& ring : RingsOf(op)) {
      const auto own = std::find_if(agent_.rings.begin(), agent_.rings.end(), [&](const AgentRing& r) { return r.symbol == ring; });
      rings.insert(own == agent_.rings.end() ? ring : own->name);
    }
    if (rings.empty()) return fmt::format("{}|alone {}", range, turns_[range]++);
    std::string name;
    std::vector<std::string> keys;
    for (const std::string& ring : rings) {
      keys.push_back(fmt::format("{}|{} {}", range, ring, turns_[range + ring]++));
      const auto known = families_.find(keys.back());
      if (known != families_.end()) name = program_.families[static_cast<size_t>(known->second)].text;
    }
    if (name.empty()) name = keys.front();
    const int family = FamilyOf(name, is_constant ? 0 : op.number);
    for (const std::string& key : keys) families_.try_emplace(key, family);
    return name;
  }

  int ParameterOf(const Scalar& trips) const {
    const std::string text = symbolic::CanonicalText(trips);
    for (size_t i = 0; i < program_.parameters.size(); ++i) {
      if (program_.parameters[i] == text) return static_cast<int>(i);
    }
    return -1;
  }

  void EmitIf(const Op& op) {
    const Scalar resolved = scope_.Resolve(op.scalars[0]);
    Condition condition = Read(resolved, op);
    // What this instance never comes to is no part of its program, nor of what it has in common with others.
    if (condition.kind == Condition::Kind::kConstant) {
      if (condition.value) return Emit(op.regions[0]);
      if (op.regions.size() > 1) Emit(op.regions[1]);
      return;
    }
    const int index = static_cast<int>(agent_.conditions.size());
    agent_.conditions.push_back(std::move(condition));
    const int branch = Here();
    Push(StepKind::kBranch, &op).condition = index;
    Emit(op.regions[0]);
    if (op.regions.size() > 1 && !op.regions[1].empty()) {
      const int jump = Here();
      Push(StepKind::kJump, &op);
      agent_.steps[static_cast<size_t>(branch)].target = Here();
      Emit(op.regions[1]);
      agent_.steps[static_cast<size_t>(jump)].target = Here();
    } else {
      agent_.steps[static_cast<size_t>(branch)].target = Here();
    }
  }

  Condition Read(const Scalar& scalar, const Op& op) {
    if (const std::optional<int64_t> value = Constant(scalar))
      return Condition{Condition::Kind::kConstant, *value != 0, {}, -1, 0, {}};
    const auto parts = [&](Condition::Kind kind) {
      Condition condition;
      condition.kind = kind;
      for (const Scalar& arg : scalar->args) condition.parts.push_back(Read(arg, op));
      return condition;
    };
    const auto positive = [&](const Scalar& a, const Scalar& b, int64_t plus) {  // a - b + plus > 0
      return Positive(symbolic::Add(symbolic::Sub(a, b), symbolic::Int(plus)), op);
    };
    const bool is_integer =
        scalar->args.size() == 2 && scalar->args[0]->dtype != DType::kF32 && scalar->args[0]->dtype != DType::kBool;
    switch (scalar->kind) {
      case Kind::kAnd: return parts(Condition::Kind::kAnd);
      case Kind::kOr: return parts(Condition::Kind::kOr);
      case Kind::kNot: return parts(Condition::Kind::kNot);
      case Kind::kGt:
        if (is_integer) return positive(scalar->args[0], scalar->args[1], 0);
        break;
      case Kind::kLt:
        if (is_integer) return positive(scalar->args[1], scalar->args[0], 0);
        break;
      case Kind::kGe:
        if (is_integer) return positive(scalar->args[0], scalar->args[1], 1);
        break;
      case Kind::kLe:
        if (is_integer) return positive(scalar->args[1], scalar->args[0], 1);
        break;
      default: break;
    }
    const symbolic::Condition condition = symbolic::ConditionOf(scalar);
    return condition.is_negated ? Not(Opaque(condition.text)) : Opaque(condition.text);
  }

  static Condition Not(Condition condition) {
    Condition negation;
    negation.kind = Condition::Kind::kNot;
    negation.parts.push_back(std::move(condition));
    return negation;
  }

  /// A truth value known by its text: the same for all who ask in the same iteration.
  Condition Opaque(const std::string& text) {
    Condition condition;
    condition.kind = Condition::Kind::kPositive;
    condition.linear.rest = text;
    Choose(condition, "if " + text);
    return condition;
  }

  static bool IsOfLaunch(const std::string& text) {
    return text.find('@') == std::string::npos && text.find("::") == std::string::npos && text.find('#') == std::string::npos &&
           text.find('[') == std::string::npos;
  }

  /// What is known at the launch (dimensions, whether a map may be used) is one value for the whole kernel.
  void Choose(Condition& condition, const std::string& text) {
    const bool is_of_launch = IsOfLaunch(text);
    condition.context = is_of_launch ? 0 : Depth();
    condition.family = FamilyOf(is_of_launch ? "launch|" + text : around_.path + "|" + text, 0);
  }

  Condition Positive(const Scalar& value, const Op& op) {
    std::optional<Linear> linear = Split(value, Depth());
    if (!linear) return Opaque(symbolic::CanonicalText(value));
    Condition condition;
    condition.kind = Condition::Kind::kPositive;
    condition.linear = *linear;
    if (linear->rest.empty()) {
      OrdinalThreshold(*linear, op);
      return condition;
    }
    // About the integer that a loop before ran to, or that one around runs to? Loops of one integer in each other ask about two:
    // what stands behind the inner one and has to do with its slots is about that.
    const auto ask = [&](Linear about, int depth, const std::string& rest, int family) {
      Fold(about, depth);
      if (about.rest != rest) return false;
      condition.linear = std::move(about);
      condition.family = family;
      condition.context = depth;
      const int64_t step = std::max<int64_t>(1, program_.families[static_cast<size_t>(family)].step);
      RaiseThreshold(family, std::abs(condition.linear.constant) / step + 1);
      FamilyOf(program_.families[static_cast<size_t>(family)].text, step);
      return true;
    };
    const auto ask_behind = [&](bool turns_ring) {
      return std::any_of(around_.behind.rbegin(), around_.behind.rend(), [&](const Ended& loop) {
        return loop.turns_ring == turns_ring && ask(*linear, Depth(), loop.rest, loop.family);
      });
    };
    if (ask_behind(true)) return condition;
    for (int d = Depth(); d-- > 0;) {
      const Loop& loop = agent_.loops[static_cast<size_t>(around_.loops[static_cast<size_t>(d)])];
      if (!loop.is_tiles && ask(*linear, d, around_.rests[static_cast<size_t>(d)], loop.family)) return condition;
    }
    if (ask_behind(false)) return condition;
    // One integer, whichever side of the comparison it stands on.
    if (linear->rest[0] == '-') return Not(Positive(symbolic::Sub(symbolic::Int(1), value), op));
    Fold(condition.linear, Depth());
    Choose(condition, condition.linear.rest);
    return condition;
  }

  /// The ordinals of the loops outside `depth` become part of the integer's name.
  static void Fold(Linear& linear, int depth) {
    for (int d = 0; d < depth && d < static_cast<int>(linear.of_loop.size()); ++d) {
      int64_t& coefficient = linear.of_loop[static_cast<size_t>(d)];
      if (coefficient != 0) linear.rest += fmt::format("{:+}*{}", coefficient, OrdinalName(d));
      coefficient = 0;
    }
  }

  /// A condition on ordinals alone: from some iteration on it does not change any more.
  void OrdinalThreshold(const Linear& linear, const Op& op) {
    int used = -1;
    for (int d = 0; d < static_cast<int>(linear.of_loop.size()); ++d) {
      if (linear.of_loop[static_cast<size_t>(d)] == 0) continue;
      if (used >= 0) return Unknown(op, "a condition on the iterations of two loops");
      used = d;
    }
    if (used < 0) return;
    const Loop& loop = agent_.loops[static_cast<size_t>(around_.loops[static_cast<size_t>(used)])];
    const int64_t coefficient = std::abs(linear.of_loop[static_cast<size_t>(used)]);
    RaiseThreshold(loop.family, std::abs(linear.constant) / coefficient + 1);
  }

  Program& program_;
  const ir::Kernel& kernel_;
  Agent& agent_;
  std::map<std::string, int>& families_;
  Scope scope_;
  Places places_;
  std::map<std::string, std::set<const Op*>> slotless_;
  Around around_{};
  std::map<std::string, int> turns_;
  int elected_ = 0;
};

}  // namespace

Program BuildProgram(const ir::Kernel& kernel, const Target& target, SmallLengths small_lengths) {
  Program program;
  program.kernel = &kernel;
  program.small_lengths = small_lengths;
  program.lanes = target.lanes;
  program.counts_instructions = target.counts_copy_instructions;
  program.copy_bytes = target.copy_bytes;
  program.blocks = static_cast<int>(std::max<int64_t>(1, kernel.cluster));
  for (int block = 0; block < program.blocks; ++block) {
    // Those that compute first: the replay then lets consumers go ahead, and less is under way at a time.
    for (size_t i = kernel.workers.size(); i-- > 0;) {
      const ir::Worker& worker = kernel.workers[i];
      for (int64_t instance = 0; instance < worker.instances; ++instance) {
        Agent agent;
        agent.worker = &worker;
        agent.name = worker.instances > 1 ? fmt::format("{}[{}]", worker.name, instance) : worker.name;
        agent.instance = instance;
        agent.block = block;
        agent.computes = worker.kind == ir::RoleKind::kCompute;
        agent.warps = agent.computes ? kModelledWarps : 1;
        agent.first_warp = program.warps;
        program.warps += agent.warps;
        program.agents.push_back(std::move(agent));
      }
    }
  }
  for (const ir::Worker& worker : kernel.workers) {
    for (const Op& op : worker.body) {
      if (op.code == OpCode::kRing) program.most_slots = std::max(program.most_slots, op.number);
    }
  }
  program.skips = Skips(kernel);
  if (program.skips) {
    for (const Agent& agent : program.agents) FindParameters(program, agent);
  }
  // Who turns the most rings first: loops of others that have one ring each of a loop's are then known to be that loop.
  std::vector<Agent*> agents;
  for (Agent& agent : program.agents) agents.push_back(&agent);
  std::stable_sort(agents.begin(), agents.end(), [](const Agent* a, const Agent* b) { return RingsIn(*a) > RingsIn(*b); });
  std::map<std::string, int> families;
  for (Agent* agent : agents) Builder(program, *agent, families).Run();
  for (Agent& agent : program.agents) FindLastAsked(program, agent);
  return program;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// What the machine takes no notice of: work on registers that no product concerns, and loops and branches in which there is nothing
// else. How often such a loop turns makes no difference to anybody, so no replay needs to ask.
#include <algorithm>
#include <set>

#include "compiler/certify/program.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::certify {

using ir::OpCode;

std::vector<bool> ProductValues(const ir::Kernel& kernel) {
  std::vector<bool> values(kernel.values.size());
  for (const ir::Worker& worker : kernel.workers) {
    ir::ForEachOp(worker.body, [&](const ir::Op& op) {
      if (op.code == OpCode::kVar && op.operands.empty()) values[static_cast<size_t>(op.results[0])] = true;
      if (op.code != OpCode::kMma) return;
      values[static_cast<size_t>(op.operands[0])] = values[static_cast<size_t>(op.operands[1])] = true;
    });
  }
  return values;
}

namespace {

class Silencer {
 public:
  Silencer(Agent& agent, const std::vector<bool>& product_values)
      : agent_(agent), product_values_(product_values), is_live_(agent.steps.size() + 1, true), body_(agent.loops.size(), -1) {}

  void Run() {
    for (size_t i = 0; i < agent_.steps.size(); ++i) {
      const Step& step = agent_.steps[i];
      if (step.kind == StepKind::kTest) body_[static_cast<size_t>(step.loop)] = static_cast<int>(i) + 1;
      if (step.kind == StepKind::kOp && IsSilent(step)) is_live_[i] = false;
    }
    // What is inside comes to lie behind what is around it: from the end, one turn is enough for branches, another for their ends.
    for (bool changes = true; changes;) {
      changes = false;
      for (size_t i = agent_.steps.size(); i-- > 0;) changes |= is_live_[i] && DropEmpty(static_cast<int>(i));
    }
    Compact();
  }

 private:
  bool IsSilent(const Step& step) const {
    const bool has_effect = ir::ReducesOrScans(step.op->code)
                                ? step.buffer >= 0 && ir::SpansWarps(*step.op, agent_.worker->layout)  // whose warps then meet
                                : ir::IsReplayed(step.op->code);
    if (!step.accesses.empty() || has_effect) return false;
    const auto is_of_product = [&](ir::ValueId value) { return product_values_[static_cast<size_t>(value)]; };
    return std::none_of(step.op->operands.begin(), step.op->operands.end(), is_of_product) &&
           std::none_of(step.op->results.begin(), step.op->results.end(), is_of_product);
  }

  int NextLive(int step) const {
    while (!is_live_[static_cast<size_t>(step)]) ++step;
    return step;
  }

  bool DropEmpty(int at) {
    const Step& step = agent_.steps[static_cast<size_t>(at)];
    switch (step.kind) {
      case StepKind::kJump:
      case StepKind::kBranch:
        if (NextLive(at + 1) != NextLive(step.target)) return false;
        break;
      case StepKind::kNext: {
        const Loop& loop = agent_.loops[static_cast<size_t>(step.loop)];
        const int body = body_[static_cast<size_t>(step.loop)];
        if (NextLive(body) != at || !loop.rings.empty() || !loop.counters.empty()) return false;
        is_live_[static_cast<size_t>(body) - 1] = is_live_[static_cast<size_t>(body) - 2] = false;
        break;
      }
      default: return false;
    }
    is_live_[static_cast<size_t>(at)] = false;
    return true;
  }

  void Compact() {
    std::vector<int> number(agent_.steps.size() + 1);
    int next = 0;
    for (size_t i = 0; i < number.size(); ++i) {
      number[i] = next;
      next += is_live_[i];
    }
    std::vector<Step> live;
    for (size_t i = 0; i < agent_.steps.size(); ++i) {
      if (!is_live_[i]) continue;
      live.push_back(std::move(agent_.steps[i]));
      int& target = live.back().target;
      if (target >= 0) target = number[static_cast<size_t>(target)];
    }
    agent_.steps = std::move(live);
  }

  Agent& agent_;
  const std::vector<bool>& product_values_;
  std::vector<bool> is_live_;
  std::vector<int> body_;  // of each loop: its first step
};

/// An integer that has a name beside that of a loop needs it only where agents ask about it under different names: else what they
/// are told under the one is the same for all, and less is to be remembered.
class NameDropper {
 public:
  explicit NameDropper(Program& program) : program_(program), askers_(program.families.size()) {}

  void Run() {
    ForEachCondition([&](int agent, Condition& condition) {
      const int name = NameOf(condition);
      if (name < 0) return;
      askers_[static_cast<size_t>(name)].agents.insert(agent);
      askers_[static_cast<size_t>(name)].names.insert(condition.family);
    });
    ForEachCondition([&](int, Condition& condition) {
      if (condition.parts.empty()) return;
      const Askers& askers = askers_[static_cast<size_t>(NameOf(condition))];
      if (askers.agents.size() == 1 || askers.names.size() == 1) condition.parts.clear();
    });
  }

 private:
  struct Askers {
    std::set<int> agents{}, names{};
  };

  static int NameOf(const Condition& condition) {
    if (condition.parts.empty()) return condition.family;
    const Condition& named = condition.parts[0];
    return named.kind == Condition::Kind::kNot ? named.parts[0].family : named.family;
  }
  template <typename Use>
  void ForEachCondition(const Use& use) {
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      Agent& agent = program_.agents[i];
      for (const Step& step : agent.steps) {
        if (step.kind == StepKind::kBranch)
          ForEach(static_cast<int>(i), agent.conditions[static_cast<size_t>(step.condition)], use);
      }
    }
  }
  template <typename Use>
  static void ForEach(int agent, Condition& condition, const Use& use) {
    if (condition.kind == Condition::Kind::kPositive) return use(agent, condition);
    for (Condition& part : condition.parts) ForEach(agent, part, use);
  }

  Program& program_;
  std::vector<Askers> askers_;  // of each family
};

}  // namespace

Program WithoutSilent(Program program) {
  const std::vector<bool> product_values = ProductValues(*program.kernel);
  for (Family& family : program.families) family.members = family.loopers = 0;
  for (Agent& agent : program.agents) Silencer(agent, product_values).Run();
  NameDropper(program).Run();
  for (size_t i = 0; i < program.agents.size(); ++i) {
    Agent& agent = program.agents[i];
    FindLastUses(agent);
    FindLastAsked(program, agent);
    for (size_t family = 0; family < program.families.size(); ++family)
      program.families[family].members |= uint64_t{agent.last_asked[family] >= 0} << i;
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kEnter) continue;
      program.families[static_cast<size_t>(agent.loops[static_cast<size_t>(step.loop)].family)].loopers |= uint64_t{1} << i;
    }
  }
  OrderLoops(program);
  return program;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// The machine is confluent: whoever runs first, the same operations happen in the same order for each agent, with the same
// knowledge. So one schedule per sequence of answers is enough. This one lets the agent that is furthest behind go first.
#include "compiler/certify/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "compiler/certify/machine.h"
#include "compiler/certify/normal_form.h"

namespace tkc::certify {
namespace {

constexpr int64_t kMostSteps = 1'500'000;
constexpr int64_t kMostStates = 8'000;

class Replayer {
 public:
  /// `merges`: a state in a place that has been is followed with no more knowledge than was there before.
  Replayer(const Program& program, bool merges, const Loosened* loosened, ReplayResult& result)
      : program_(program), machine_(program, loosened), merges_(merges), result_(result) {}

  void Run() {
    std::vector<State> open;
    open.push_back(machine_.Start());
    while (!open.empty()) {
      State state = std::move(open.back());
      open.pop_back();
      if (!Follow(std::move(state), open)) {
        result_.finding = machine_.finding;
        return;
      }
    }
    result_.filled.merge(machine_.filled);
    result_.early.merge(machine_.early);
  }

 private:
  /// To the end, or to a state that has been there. Other answers are left in `open`.
  bool Follow(State state, std::vector<State>& open) {
    while (true) {
      Question question;
      int agent = -1;
      switch (Next(state, question, agent)) {
        case Outcome::kFailed: return false;
        case Outcome::kRan: return machine_.Finish(state);
        case Outcome::kBlocked: machine_.ReportDeadlock(state); return false;
        case Outcome::kAsks: break;
      }
      Simplify(machine_, state);
      if (!IsNew(NormalFormOf(machine_, state), state)) return true;
      ++result_.states;
      result_.choices += 2;
      if (result_.states > kMostStates) return TooMany();
      machine_.Run(state, agent, question);  // the fact has another number now
      State other = state;
      other.oracle.Decide(question.fact, question.number, false);
      open.push_back(std::move(other));
      state.oracle.Decide(question.fact, question.number, true);
    }
  }

  /// Remembers the state if it is new, then perhaps with less knowledge than it had.
  bool IsNew(NormalForm form, State& state) {
    std::vector<NormalForm>& there = seen_[form.place];
    if (std::any_of(there.begin(), there.end(), [&](const NormalForm& seen) { return seen.Covers(form); })) return false;
    if (merges_) {
      for (const NormalForm& seen : there) form.Merge(seen, state);
    }
    std::erase_if(there, [&](const NormalForm& seen) { return form.Covers(seen); });
    form.place.clear();
    there.push_back(std::move(form));
    return true;
  }

  /// Runs until somebody asks, something fails, or nobody can go on: kRan when all are done, kBlocked when not.
  Outcome Next(State& state, Question& question, int& asking) {
    asking = -1;  // anybody may have moved
    while (true) {
      Order(state, asking);
      bool ran = false, waits = false;
      for (const int agent : order_) {
        if (state.agents[static_cast<size_t>(agent)].is_done) continue;
        if (++result_.steps > kMostSteps) return TooMany() ? Outcome::kRan : Outcome::kFailed;
        const Outcome outcome = machine_.Run(state, agent, question);
        asking = agent;
        if (outcome == Outcome::kFailed || outcome == Outcome::kAsks) return outcome;
        ran = outcome == Outcome::kRan;
        if (ran) break;
        waits = true;
      }
      if (!ran) return waits ? Outcome::kBlocked : Outcome::kRan;
    }
  }

  /// Earlier iterations first; then in the order of the program: consumers before their producers.
  /// `moved`: who has run since the last time; -1: anybody.
  void Order(const State& state, int moved) {
    if (order_.empty()) {
      for (size_t i = 0; i < program_.agents.size(); ++i) order_.push_back(static_cast<int>(i));
      place_.resize(order_.size());
    }
    bool changes = false;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (moved >= 0 && static_cast<int>(i) != moved) continue;
      const AgentState& self = state.agents[i];
      std::vector<int64_t>& place = place_[i];
      changes |= place.size() != self.frames.size();
      place.resize(self.frames.size());
      for (size_t d = 0; d < place.size(); ++d) {
        const Loop& loop = program_.agents[i].loops[static_cast<size_t>(self.frames[d].loop)];
        const int64_t ordinal = loop.first + self.frames[d].iteration * loop.stride;
        changes |= place[d] != ordinal;
        place[d] = ordinal;
      }
    }
    if (!changes) return;
    const auto before = [&](int a, int b) {
      const auto &x = place_[static_cast<size_t>(a)], &y = place_[static_cast<size_t>(b)];
      return x != y ? x < y : a < b;
    };
    // Nearly sorted already.
    for (size_t i = 1; i < order_.size(); ++i) {
      for (size_t j = i; j > 0 && before(order_[j], order_[j - 1]); --j) std::swap(order_[j], order_[j - 1]);
    }
  }

  bool TooMany() {
    machine_.finding = Finding{DiagnosticKind::kCertificateUnknown, program_.kernel->span,
                               fmt::format("`{}` was replayed in {} states and {} steps, and still came into new ones",
                                           program_.kernel->name, result_.states, result_.steps)};
    return false;
  }

  const Program& program_;
  Machine machine_;
  bool merges_;
  ReplayResult& result_;
  std::unordered_map<std::string, std::vector<NormalForm>> seen_;  // by place
  std::vector<int> order_;
  std::vector<std::vector<int64_t>> place_;  // the iteration of each loop around
};

ReplayResult ReplayAll(const Program& program, bool merges, const Loosened* loosened) {
  ReplayResult result;
  Replayer(program, merges, loosened, result).Run();
  return result;
}

/// With less knowledge fewer runs are right, never more. So a proof over merged states is one; a violation there may be for want of
/// what was taken away, and is looked for again in the states as they are.
ReplayResult ReplayWith(const Program& program, const Loosened* loosened) {
  ReplayResult result = ReplayAll(program, true, loosened);
  return result.finding ? ReplayAll(program, false, loosened) : result;
}

}  // namespace

ReplayResult Replay(const Program& program) { return ReplayWith(program, nullptr); }

bool HoldsLoosened(const Program& program, const ir::Op* wait, const ReplayResult& replay) {
  const Loosened loosened{wait, &replay.early};
  return !ReplayWith(program, &loosened).finding;
}

}  // namespace tkc::certify

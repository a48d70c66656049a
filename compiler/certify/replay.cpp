// SPDX-License-Identifier: MIT
// The machine is confluent: whoever runs first, the same operations happen in the same order for each agent, with the same
// knowledge. So one schedule per sequence of answers is enough. This one lets the agent that is furthest behind go first
// (order.cpp): what agents are ahead of each other is what tells states apart, and must not grow.
#include "compiler/certify/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/certify/machine.h"
#include "compiler/certify/normal_form.h"
#include "compiler/certify/structure.h"

namespace tkc::certify {
namespace {

constexpr int64_t kMostSteps = 1'500'000;
constexpr int64_t kMostStates = 24'000;
// States may grow without an end: what all of them are compared by, and what is under way in one.
constexpr size_t kMostWords = 64'000'000, kMostEvents = 8'192;

class Replayer {
 public:
  /// `merges`: a state in a place that has been is followed with no more knowledge than was there before.
  Replayer(const Program& program, bool merges, const Loosened* loosened, ReplayResult& result)
      : program_(program), machine_(program, loosened), merges_(merges), result_(result) {}

  void Run() {
    bool holds = Follow(machine_.Start());
    while (holds && !open_.empty()) holds = AnswerFirst();
    if (!holds) {
      result_.finding = machine_.finding;
      return;
    }
    result_.filled.merge(machine_.filled);
    result_.early.merge(machine_.early);
  }

 private:
  struct Asked {
    State state;
    int agent = -1;
    Question question{};
    bool answer = true;  // that is tried next
  };
  struct Place {
    int64_t number = 0;  // in the order in which they were come to
    std::vector<NormalForm> seen{};
  };

  /// Of the place that was come to first: what is behind it is followed when nothing new comes into it any more. So what follows
  /// from the second answer is left to the state that the first one may come back with: the one after the last round of a loop is
  /// enough.
  bool AnswerFirst() {
    Asked& asked = open_.begin()->second;
    if (!asked.answer) return FollowAnswer(std::move(open_.extract(open_.begin()).mapped()));
    // The fact has another number since the state was simplified. Or what has been remembered there answers it.
    const Outcome outcome = machine_.Run(asked.state, asked.agent, asked.question);
    if (outcome == Outcome::kFailed) return false;
    if (outcome == Outcome::kAsks) {
      Asked first = asked;
      asked.answer = false;
      return FollowAnswer(std::move(first));
    }
    State state = std::move(open_.extract(open_.begin()).mapped().state);
    return outcome == Outcome::kNever || Follow(std::move(state));
  }

  bool FollowAnswer(Asked asked) {
    ++result_.choices;
    asked.state.oracle.Decide(asked.question.fact, asked.question.number, asked.answer);
    return Follow(std::move(asked.state));
  }

  /// To the end, or to a question: then it is left in `open_`, unless the state has been there.
  bool Follow(State state) {
    Asked asked{std::move(state)};
    switch (Next(asked.state, asked.question, asked.agent)) {
      case Outcome::kFailed: return false;
      case Outcome::kRan: return machine_.Finish(asked.state);
      case Outcome::kBlocked: machine_.ReportDeadlock(asked.state); return false;
      case Outcome::kNever: return true;
      case Outcome::kAsks: break;
    }
    Simplify(machine_, asked.state);
    NormalForm form = NormalFormOf(machine_, asked.state);
    words_ += form.place.size() / sizeof(uint64_t) + form.known.size();
    if (words_ > kMostWords || form.events.size() > kMostEvents) return TooMany();
    const auto [place, is_new] = places_.try_emplace(form.place);
    if (is_new) place->second.number = static_cast<int64_t>(places_.size());
    if (!IsNew(place->second.seen, std::move(form), asked.state)) return true;
    ++result_.states;
    if (result_.states > kMostStates) return TooMany();
    // Once a state is merged with those before, it stands for one of the same place that waits to be followed. Else one run is
    // followed to its end: the latest comes first.
    open_.insert_or_assign(merges_ ? place->second.number : -result_.states, std::move(asked));
    return true;
  }

  /// Remembers the state if it is new, then perhaps with less knowledge than it had.
  bool IsNew(std::vector<NormalForm>& there, NormalForm form, State& state) const {
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
        if (outcome == Outcome::kFailed || outcome == Outcome::kAsks || outcome == Outcome::kNever) return outcome;
        ran = outcome == Outcome::kRan;
        if (ran) break;
        waits = true;
      }
      if (!ran) return waits ? Outcome::kBlocked : Outcome::kRan;
    }
  }

  /// Who is furthest behind first: in an earlier loop (OrderLoops), an earlier iteration; then in the order of the program:
  /// consumers before their producers. `moved`: who has run since the last time; -1: anybody.
  void Order(const State& state, int moved) {
    if (order_.empty()) {
      for (size_t i = 0; i < program_.agents.size(); ++i) order_.push_back(static_cast<int>(i));
      place_.resize(order_.size());
    }
    bool changes = false;
    const size_t first = moved < 0 ? 0 : static_cast<size_t>(moved), end = moved < 0 ? order_.size() : first + 1;
    for (size_t i = first; i < end; ++i) {
      const AgentState& self = state.agents[i];
      std::vector<int64_t>& place = place_[i];
      if (place.size() != 2 * self.frames.size() + 1) {
        place.resize(2 * self.frames.size() + 1);
        changes = true;
      }
      const auto put = [&](size_t at, int64_t number) {
        changes |= place[at] != number;
        place[at] = number;
      };
      for (size_t d = 0; d < self.frames.size(); ++d) {
        put(2 * d, program_.agents[i].loops[static_cast<size_t>(self.frames[d].loop)].rank);
        put(2 * d + 1, OrdinalOf(program_.agents[i], self.frames[d]));
      }
      put(2 * self.frames.size(), program_.agents[i].next_rank[static_cast<size_t>(self.at)]);
    }
    if (!changes) return;
    const auto before = [&](int a, int b) {
      const auto order = place_[static_cast<size_t>(a)] <=> place_[static_cast<size_t>(b)];
      return order != 0 ? order < 0 : a < b;
    };
    // Nearly sorted already.
    for (size_t i = 1; i < order_.size(); ++i) {
      for (size_t j = i; j > 0 && before(order_[j], order_[j - 1]); --j) std::swap(order_[j], order_[j - 1]);
    }
  }

  bool TooMany() {
    machine_.finding =
        Finding{DiagnosticKind::kCertificateUnknown,
                program_.kernel->span,
                fmt::format("`{}` was replayed in {} states and {} steps, and still came into new ones", program_.kernel->name,
                            result_.states, result_.steps),
                {},
                "fewer slots in its pipes, fewer workers and instances in turn, or fewer loops behind each other leave "
                "fewer states; `--no-certificate` compiles without the proof"};
    return false;
  }

  const Program& program_;
  Machine machine_;
  bool merges_;
  ReplayResult& result_;
  size_t words_ = 0;
  std::unordered_map<std::string, Place> places_;  // by what NormalForm says of them
  std::map<int64_t, Asked> open_;                  // what has come to a question, what is followed first in front
  std::vector<int> order_;
  std::vector<std::vector<int64_t>> place_;  // the iteration of each loop around
};

bool IsUnknown(const ReplayResult& result) { return result.finding && result.finding->kind == DiagnosticKind::kCertificateUnknown; }

}  // namespace

const Program* Replays::Of(Remembers remembers) {
  const auto known = programs_.find(remembers);
  if (known != programs_.end()) return &known->second;
  const bool is_given = remembers == program_.remembers;
  Program program = is_given ? program_ : BuildProgram(*program_.kernel, target_, remembers);
  if (!is_given && (!program.unknowns.empty() || CheckRings(program))) return nullptr;
  return &programs_.emplace(remembers, WithoutSilent(std::move(program))).first->second;
}

/// With less knowledge fewer runs are right, never more. So a proof over merged states is one, as is a proof over what remembers
/// nothing; a violation there may be for want of what was taken away, and is looked for again in the states as they are.
ReplayResult Replays::Run(const Loosened* loosened) {
  const auto replayed = [&](Remembers remembers, bool merges) {
    ReplayResult result;
    result.remembers = remembers;
    if (const Program* program = Of(remembers))
      Replayer(*program, merges, loosened, result).Run();
    else
      result.finding =
          Finding{DiagnosticKind::kCertificateUnknown, program_.kernel->span, "the certificate cannot tell what is to be replayed"};
    return result;
  };
  ReplayResult result = replayed(Remembers::kLittle, true);
  if (!result.finding) return result;
  result = replayed(Remembers::kConditions, true);
  if (!result.finding) return result;
  return IsUnknown(result) ? result : replayed(Remembers::kConditions, false);
}

bool Replays::HoldsLoosened(const ir::Op* wait, const ReplayResult& replay) {
  const Loosened loosened{wait, &replay.early};
  return !Run(&loosened).finding;
}

}  // namespace tkc::certify

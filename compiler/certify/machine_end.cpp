// SPDX-License-Identifier: MIT
// What must hold when all agents have ended, and what is said when they cannot.
#include "compiler/certify/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/certify/scene.h"

namespace tkc::certify {

bool Machine::Fail(const Context& c, ErrorKind kind, std::string headline, std::vector<std::pair<Span, std::string>> notes) {
  if (finding) return false;
  const Span span = c.step.op ? c.step.op->span : c.agent.worker->span;
  finding = Finding{kind, span, std::move(headline), std::move(notes)};
  AddScene(c.state, *finding);
  return false;
}

void Machine::AddScene(const State& state, Finding& found) const {
  for (auto& note : SceneNotes(program_, state)) found.notes.push_back(std::move(note));
}

/// At the end every phase that has begun is over, and as often as slots were filled they were read and given back.
bool Machine::FinishPhases(State& state) {
  const auto fail = [&](ErrorKind kind, Span span, std::string headline) {
    finding = Finding{kind, span, std::move(headline)};
    AddScene(state, *finding);
    return false;
  };
  std::map<std::pair<int, std::string>, std::pair<const Agent*, int64_t>> ends;  // where each ring stands
  for (size_t i = 0; i < program_.agents.size(); ++i) {
    const Agent& agent = program_.agents[i];
    for (size_t ring = 0; ring < agent.rings.size(); ++ring) {
      if (agent.rings[ring].name[0] == '@') continue;
      const int64_t position = state.agents[i].rings[ring];
      const auto [place, is_new] = ends.try_emplace({agent.block, agent.rings[ring].name}, &agent, position);
      // An instance may have no part in a pipe of its worker.
      if (is_new || position == 0 || place->second.second == position) continue;
      if (place->second.second == 0) {
        place->second = {&agent, position};
        continue;
      }
      return fail(DiagnosticKind::kCertificatePhase, agent.worker->span,
                  fmt::format("`{}` ends {} slots of `{}` in, `{}` {}", agent.name, position, agent.rings[ring].name,
                              place->second.first->name, place->second.second));
    }
  }
  std::map<std::tuple<int, std::string, int64_t>, int> first;  // an element of a barrier of each ring
  for (int number = 0; number < Elements(); ++number) {
    const ElementOf& e = Element(number);
    const BarrierState& barrier = state.barriers[static_cast<size_t>(number)];
    const ir::Barrier& declared = kernel_.barriers[static_cast<size_t>(e.barrier)];
    if (barrier.pending != 0 || barrier.expected != barrier.issued) {
      return fail(DiagnosticKind::kCertificateArrivals, kernel_.span,
                  fmt::format("the last phase of `{}` is never over: {} of {} arrivals come", declared.name, barrier.pending,
                              declared.arrivals));
    }
    const std::string& ring = program_.ring_of_barrier[static_cast<size_t>(e.barrier)];
    if (ring.empty() || UsersOfElement(number) == 0) continue;  // slots of this block are given back in another one
    const auto [place, is_new] = first.try_emplace({e.block, ring, e.element}, number);
    const int64_t others = state.barriers[static_cast<size_t>(place->second)].completed;
    if (is_new || others == barrier.completed) continue;
    const std::string& other = kernel_.barriers[static_cast<size_t>(Element(place->second).barrier)].name;
    return fail(DiagnosticKind::kCertificateArrivals, kernel_.span,
                fmt::format("`{}` has {} phases in all and `{}` {}: not every slot that is filled is given back", other, others,
                            declared.name, barrier.completed));
  }
  return true;
}

bool Machine::IsAwaited(const State& state, const Record& record) const {
  if (!record.writes || !record.is_async) return true;
  bool is_known = false;
  for (const Agent& agent : program_.agents) {
    // A block that may end before the others must know by itself that nothing comes any more.
    if (!kernel_.EndsTogether() && agent.block != places_[static_cast<size_t>(record.place)].block) continue;
    for (int warp = agent.first_warp; warp < agent.first_warp + agent.warps; ++warp)
      is_known |= state.knowledge.Knows(warp, record.event);
  }
  return is_known;
}

bool Machine::Finish(State& state) {
  if (!FinishPhases(state)) return false;
  for (const std::vector<Record>& there : state.records.OfPlaces()) {
    const auto left = std::ranges::find_if(there, [&](const Record& record) { return !IsAwaited(state, record); });
    if (left == there.end()) continue;
    finding = Finding{DiagnosticKind::kCertificateHazard, left->op->span,
                      fmt::format("`{}` may end while this copy is still under way: nobody waits for it", kernel_.name)};
    AddScene(state, *finding);
    return false;
  }
  return true;
}

void Machine::ReportDeadlock(const State& state) {
  Finding found{DiagnosticKind::kCertificateDeadlock, kernel_.span,
                fmt::format("the workers of `{}` wait for each other", kernel_.name)};
  bool has_place = false;
  for (size_t i = 0; i < program_.agents.size(); ++i) {
    const Agent& agent = program_.agents[i];
    const AgentState& self = state.agents[i];
    if (self.is_done) continue;
    const Step& step = agent.steps[static_cast<size_t>(self.at)];
    if (!has_place) found.span = step.op->span;
    has_place = true;
    std::string text = fmt::format("`{}` {}", agent.name, Doing(kernel_, *step.op));
    if (step.barrier >= 0) {
      State copy = state;
      Context c{copy, static_cast<int>(i), agent, copy.agents[i], step, *step.op};
      const BarrierState& barrier = state.barriers[static_cast<size_t>(ElementOfStep(c, agent.block))];
      const ir::Barrier& declared = kernel_.barriers[static_cast<size_t>(step.barrier)];
      text += fmt::format(": {} of {} arrivals have come", barrier.pending, declared.arrivals);
      if (barrier.expected != barrier.issued) text += fmt::format(", {} of {} bytes", barrier.issued, barrier.expected);
      if (barrier.pending == declared.arrivals && barrier.expected != barrier.issued &&
          found.kind == DiagnosticKind::kCertificateDeadlock) {
        found.kind = DiagnosticKind::kCertificateBytes;
        found.span = step.op->span;
        found.headline =
            fmt::format("a phase of `{}` expects {} bytes and copies bring {}", declared.name, barrier.expected, barrier.issued);
      }
    }
    found.notes.emplace_back(step.op->span, std::move(text));
  }
  finding = std::move(found);
  AddScene(state, *finding);
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/interp/block.h"

#include <fmt/format.h>

#include <boost/context/fiber.hpp>
#include <memory>
#include <utility>

#include "compiler/interp/endpoints.h"
#include "compiler/interp/execute.h"
#include "compiler/interp/ring.h"
#include "compiler/support/internal_error.h"

namespace tkc::interp {
namespace {

using boost::context::fiber;
using typed::Section;
using typed::Stmt;
using typed::StmtKind;

class BlockRun;

/// A worker instance: a fiber, its variables, and what it waits for.
class Instance final : public Traffic {
 public:
  Instance(BlockRun& block, const SectionPlan::Instance& plan, std::vector<Value> vars)
      : block_(block), plan_(plan), vars_(std::move(vars)) {}

  void Start(StackPool& stacks);
  void Resume() { own_ = std::move(own_).resume(); }
  void Send(const Stmt& stmt, int64_t ring, const std::vector<RingPart>& parts) override;
  void Receive(const Stmt& stmt, int64_t ring, std::vector<Value>& fields) override;

  const SectionPlan::Instance& plan() const { return plan_; }
  bool finished() const { return finished_; }
  /// The statement at which the instance waits, and its ring; null while it can go on.
  const Stmt* waits_at() const { return waits_at_; }
  int64_t waits_ring() const { return waits_ring_; }

 private:
  /// Retries `attempt` until it succeeds; false once the run has failed.
  template <typename F>
  bool Wait(const Stmt& stmt, int64_t ring, F attempt);

  BlockRun& block_;
  const SectionPlan::Instance& plan_;
  std::vector<Value> vars_;
  fiber own_;        // this instance while it is suspended
  fiber scheduler_;  // the scheduler while this instance runs
  bool finished_ = false;
  const Stmt* waits_at_ = nullptr;
  int64_t waits_ring_ = 0;
};

class BlockRun {
 public:
  BlockRun(Launch& launch, const Section& section, const SectionPlan& plan, Faults& faults)
      : launch_(launch), section_(section), faults_(faults) {
    for (size_t pipe = 0; pipe < section.pipes.size(); ++pipe) {
      std::vector<Ring>& rings = rings_.emplace_back();
      for (const int64_t consumers : plan.consumers[pipe]) rings.emplace_back(section.pipes[pipe], consumers);
    }
  }

  void Run(const SectionPlan& plan, const std::vector<Value>& vars, const std::string& place, StackPool& stacks);

  Launch& launch() { return launch_; }
  const Section& section() const { return section_; }
  Faults& faults() { return faults_; }
  Ring& ring(typed::PipeId pipe, int64_t ring) { return rings_[static_cast<size_t>(pipe)][static_cast<size_t>(ring)]; }
  void NoteProgress() { progressed_ = true; }

 private:
  void Schedule();
  void ReportDeadlock(const std::string& place);
  std::string WhyWaiting(const Instance& instance);
  void CheckEmpty(const std::string& place);

  Launch& launch_;
  const Section& section_;
  Faults& faults_;
  std::vector<std::vector<Ring>> rings_;
  std::vector<std::unique_ptr<Instance>> instances_;
  bool progressed_ = false;
};

void Instance::Start(StackPool& stacks) {
  own_ = fiber(std::allocator_arg, StackPool::Allocator(stacks), [this](fiber&& scheduler) {
    scheduler_ = std::move(scheduler);
    const typed::Worker& worker = block_.section().workers[plan_.worker];
    Executor(block_.launch(), &block_.section(), vars_, this, block_.faults()).Execute(worker.body);
    finished_ = true;
    block_.NoteProgress();
    return std::move(scheduler_);
  });
}

template <typename F>
bool Instance::Wait(const Stmt& stmt, int64_t ring, F attempt) {
  waits_at_ = &stmt;
  waits_ring_ = ring;
  while (!attempt()) {
    scheduler_ = std::move(scheduler_).resume();
    if (block_.faults().failed()) return false;
  }
  waits_at_ = nullptr;
  block_.NoteProgress();
  return true;
}

void Instance::Send(const Stmt& stmt, int64_t ring, const std::vector<RingPart>& parts) {
  Wait(stmt, ring, [&] { return block_.ring(stmt.pipe, ring).TrySend(parts); });
}

void Instance::Receive(const Stmt& stmt, int64_t ring, std::vector<Value>& fields) {
  const int64_t consumer = plan_.consumer[static_cast<size_t>(stmt.pipe)][static_cast<size_t>(ring)];
  Ensure(consumer >= 0, "a receive of an instance that is not a consumer", stmt.span);
  Wait(stmt, ring, [&] { return block_.ring(stmt.pipe, ring).TryReceive(consumer, fields); });
}

void BlockRun::Run(const SectionPlan& plan, const std::vector<Value>& vars, const std::string& place, StackPool& stacks) {
  for (const SectionPlan::Instance& instance : plan.instances) {
    std::vector<Value> own = vars;
    const typed::Worker& worker = section_.workers[instance.worker];
    if (worker.instance_var != typed::kNone) {
      const auto var = static_cast<size_t>(worker.instance_var);
      own[var] = Value::Integer(launch_.kernel->vars[var].type.dtype, instance.number);
    }
    instances_.push_back(std::make_unique<Instance>(*this, instance, std::move(own)));
    instances_.back()->Start(stacks);
  }
  Schedule();
  if (!faults_.failed()) {
    ReportDeadlock(place);
    if (!faults_.failed()) CheckEmpty(place);
  }
  // After a fault every waiting fiber is let run to its end, where it winds down in the ordinary way.
  for (const auto& instance : instances_) {
    while (!instance->finished()) instance->Resume();
  }
}

void BlockRun::Schedule() {
  do {
    progressed_ = false;
    for (const auto& instance : instances_) {
      if (!instance->finished()) instance->Resume();
      if (faults_.failed()) return;
    }
  } while (progressed_);
}

std::string BlockRun::WhyWaiting(const Instance& instance) {
  const Stmt& stmt = *instance.waits_at();
  const typed::Pipe& pipe = section_.pipes[static_cast<size_t>(stmt.pipe)];
  const Ring& ring = this->ring(stmt.pipe, instance.waits_ring());
  const std::string name = pipe.rings > 1 ? fmt::format("{}[{}]", pipe.name, instance.waits_ring()) : pipe.name;
  const auto consumer_of = [&](const Instance& other) {
    return other.plan().consumer[static_cast<size_t>(stmt.pipe)][static_cast<size_t>(instance.waits_ring())];
  };
  if (stmt.kind == StmtKind::kReceive) {
    const bool partly = ring.IsPartlyFilled(consumer_of(instance));
    return fmt::format("`{}` waits to receive from `{}`, {}", instance.plan().name, name,
                       partly ? "whose next slot lacks a part" : "which is empty");
  }
  std::string missing;
  for (const auto& other : instances_) {
    if (consumer_of(*other) < 0 || !ring.WaitsFor(consumer_of(*other))) continue;
    missing += fmt::format("{}`{}`", missing.empty() ? "" : ", ", other->plan().name);
  }
  return fmt::format("`{}` waits to send to `{}`: {} of {} slots are taken, {}", instance.plan().name, name, ring.held(),
                     ring.slot_limit(),
                     missing.empty() ? "and no worker receives from it" : "the oldest is to be received by " + missing);
}

void BlockRun::ReportDeadlock(const std::string& place) {
  std::vector<const Instance*> waiting;
  for (const auto& instance : instances_) {
    if (!instance->finished()) waiting.push_back(instance.get());
  }
  if (waiting.empty()) return;
  const Span first = waiting.front()->waits_at()->span;
  DiagnosticBuilder report =
      faults_.Open().Error(DiagnosticKind::kDeadlock, first,
                           fmt::format("deadlock{}: {} of {} workers wait and none can go on", place.empty() ? "" : " at " + place,
                                       waiting.size(), instances_.size()));
  report.Label(first, WhyWaiting(*waiting.front()));
  for (size_t i = 1; i < waiting.size(); ++i) report.Note(waiting[i]->waits_at()->span, WhyWaiting(*waiting[i]));
  for (const auto& instance : instances_) {
    if (instance->finished()) report.Note(fmt::format("`{}` has finished the tile", instance->plan().name));
  }
}

void BlockRun::CheckEmpty(const std::string& place) {
  for (size_t pipe = 0; pipe < rings_.size(); ++pipe) {
    for (const Ring& ring : rings_[pipe]) {
      if (ring.IsEmpty()) continue;
      faults_.Report(DiagnosticKind::kPipeNotEmpty, section_.pipes[pipe].span,
                     fmt::format("pipe `{}` holds {} slot{} at the end of the tile{}", section_.pipes[pipe].name, ring.held(),
                                 ring.held() == 1 ? "" : "s", place.empty() ? "" : " at " + place));
      return;
    }
  }
}

}  // namespace

SectionPlan PlanSection(const Launch& launch, const Section& section) {
  SectionPlan plan;
  for (const typed::Pipe& pipe : section.pipes) plan.consumers.emplace_back(static_cast<size_t>(pipe.rings), 0);
  for (size_t w = 0; w < section.workers.size(); ++w) {
    const typed::Worker& worker = section.workers[w];
    const int64_t count = worker.InstancesOfTile();
    for (int64_t number = 0; number < count; ++number) {
      SectionPlan::Instance instance{w, number, count > 1 ? fmt::format("{}[{}]", worker.name, number) : worker.name, {}};
      const std::vector<std::vector<bool>> received = ReceivedRings(launch, section, worker, number);
      for (size_t pipe = 0; pipe < received.size(); ++pipe) {
        std::vector<int64_t>& rings = instance.consumer.emplace_back();
        for (size_t ring = 0; ring < received[pipe].size(); ++ring) {
          rings.push_back(received[pipe][ring] ? plan.consumers[pipe][ring]++ : -1);
        }
      }
      plan.instances.push_back(std::move(instance));
    }
  }
  return plan;
}

void RunBlock(Launch& launch, const Section& section, const SectionPlan& plan, const std::vector<Value>& vars,
              const std::string& place, StackPool& stacks, Faults& faults) {
  launch.terms.sent.assign(section.pipes.size(), 0);
  BlockRun(launch, section, plan, faults).Run(plan, vars, place, stacks);
}

}  // namespace tkc::interp

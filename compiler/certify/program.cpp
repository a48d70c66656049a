// SPDX-License-Identifier: MIT
#include "compiler/certify/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/step_builder.h"
#include "compiler/ir/op_traits.h"

namespace tkc::certify {

using ir::Op;
using ir::OpCode;
using ir::Region;

namespace {

constexpr int kModelledWarps = 3;  // of a warpgroup: the elected one, and two that stand for any pair of the others

/// Those that compute first: the replay then lets consumers go ahead, and less is under way at a time.
void AddAgents(Program& program) {
  for (int block = 0; block < program.blocks; ++block) {
    for (size_t i = program.kernel->workers.size(); i-- > 0;) {
      const ir::Worker& worker = program.kernel->workers[i];
      for (int64_t instance = 0; instance < worker.instances; ++instance) {
        Agent agent;
        agent.worker = &worker;
        agent.name = worker.instances > 1 ? fmt::format("{}[{}]", worker.SourceName(), instance) : worker.SourceName();
        agent.instance = instance;
        agent.block = block;
        agent.computes = worker.Computes();
        agent.warps = agent.computes ? kModelledWarps : 1;
        agent.first_warp = program.warps;
        program.warps += agent.warps;
        program.agents.push_back(std::move(agent));
      }
    }
  }
}

/// Whether sets of agents, tensors and rectangles of tiles fit the numbers that states are compared by.
bool Fits(Program& program) {
  constexpr size_t kMostAgents = 64;
  constexpr int64_t kMostExtent = (1 << 16) - 1;
  constexpr size_t kMostTensors = (1 << 16) - 1;
  const ir::Kernel& kernel = *program.kernel;
  if (program.agents.size() > kMostAgents)
    program.unknowns.push_back({kernel.span, fmt::format("{} warpgroups apart; {} at most", program.agents.size(), kMostAgents)});
  if (kernel.tensors.size() > kMostTensors)
    program.unknowns.push_back({kernel.span, fmt::format("{} tensors; {} at most", kernel.tensors.size(), kMostTensors)});
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.rows > kMostExtent || buffer.cols > kMostExtent)
      program.unknowns.push_back({kernel.span, fmt::format("the parts of a tile as long as those of `{}`", buffer.name)});
  }
  return program.unknowns.empty();
}

}  // namespace

void StepBuilder::Run() {
  for (const auto& [buffer, loops] : slotless_) agent_.rings.push_back({"@" + buffer, 1, "@" + buffer});
  Emit(agent_.worker->body);
  agent_.steps.push_back({StepKind::kEnd});
  DropUnusedRings(agent_);
  FindLastUses(agent_);
}

Step& StepBuilder::Push(StepKind kind, const Op* op) {
  agent_.steps.push_back({kind, op});
  if (kind == StepKind::kOp && !kept_.empty()) program_.kept_for[op].insert(kept_.begin(), kept_.end());
  agent_.steps.back().is_elected = elected_ > 0;
  return agent_.steps.back();
}

int StepBuilder::FamilyOf(const std::string& text, int64_t step) {
  const auto [place, is_new] = families_.try_emplace(text, static_cast<int>(program_.families.size()));
  if (is_new) program_.families.push_back({text, step});
  Family& family = program_.families[static_cast<size_t>(place->second)];
  family.members |= uint64_t{1} << (&agent_ - program_.agents.data());
  return place->second;
}

void StepBuilder::RaiseThreshold(int family, int64_t ordinal) {
  int64_t& threshold = program_.families[static_cast<size_t>(family)].threshold;
  threshold = std::max(threshold, ordinal);
}

void StepBuilder::Emit(const Region& region) {
  const size_t behind = around_.behind.size();
  const std::span<const Op> rest_around = around_.rest_of_region;
  for (size_t i = 0; i < region.size(); ++i) {
    around_.rest_of_region = std::span(region).subspan(i + 1);
    EmitOp(region[i]);
  }
  around_.rest_of_region = rest_around;
  around_.behind.resize(behind);
}

void StepBuilder::EmitOp(const Op& op) {
  if (passes_over_ && !ir::DefinesScalars(op.code) && op.code != OpCode::kAdvance && !Turns(op)) return;
  switch (op.code) {
    case OpCode::kComment: return;
    case OpCode::kLet:
    case OpCode::kTilePosition: return scope_.BindOp(op);
    case OpCode::kTest: scope_.BindOp(op); break;
    case OpCode::kFor:
    case OpCode::kForTiles: return EmitLoop(op);
    case OpCode::kUnroll:
      for (int64_t i = 0; i < op.Trips(); ++i) {
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
    case OpCode::kRing: agent_.rings.push_back({op.PipeOfRing(), op.Slots(), op.symbol}); return;
    case OpCode::kPart:
    case OpCode::kTranspose:
      if (kernel_.TypeOf(op.results[0]).space == ir::Space::kShared) return places_.Derive(op);
      break;
    default: break;
  }
  places_.Fill(op, Push(StepKind::kOp, &op));
}

void StepBuilder::EmitIf(const Op& op) {
  const ir::Scalar resolved = scope_.Resolve(op.scalars[0]);
  if (const std::optional<WhoseTurn> turn = TurnOf(resolved)) return EmitTurn(op, resolved, *turn);
  Condition condition = Read(resolved, op);
  // What this instance never comes to is no part of its program, nor of what it has in common with others.
  if (condition.kind == Condition::Kind::kConstant) {
    if (condition.value) return Emit(op.regions[0]);
    if (op.regions.size() > 1) Emit(op.regions[1]);
    return;
  }
  const bool has_other = op.regions.size() > 1 && !op.regions[1].empty();
  EmitBranches(op, resolved, std::move(condition), has_other ? std::function<void()>([&] { Emit(op.regions[1]); }) : nullptr);
}

void StepBuilder::EmitBranches(const Op& op, const ir::Scalar& resolved, Condition condition,
                               const std::function<void()>& otherwise) {
  const int index = static_cast<int>(agent_.conditions.size());
  const size_t kept = kept_.size();
  Keep(condition);
  agent_.conditions.push_back(std::move(condition));
  const int branch = Here();
  Push(StepKind::kBranch, &op).condition = index;
  const std::string branches = scope_.Branches();
  scope_.EnterBranch(resolved, true);
  Emit(op.regions[0]);
  scope_.LeaveBranches(branches);
  const int jump = Here();
  if (otherwise) Push(StepKind::kJump, &op);
  agent_.steps[static_cast<size_t>(branch)].target = Here();
  if (otherwise) {
    scope_.EnterBranch(resolved, false);
    otherwise();
    scope_.LeaveBranches(branches);
    agent_.steps[static_cast<size_t>(jump)].target = Here();
  }
  kept_.resize(kept);
}

void StepBuilder::Keep(const Condition& condition) {
  const int kept = condition.family < 0 ? -1 : program_.families[static_cast<size_t>(condition.family)].kept;
  if (kept >= 0) kept_.push_back(kept);
  for (const Condition& part : condition.parts) Keep(part);
}

void StepBuilder::EmitTurn(const Op& op, const ir::Scalar& resolved, const WhoseTurn& turn) {
  if (turn.which != agent_.instance || turn.of != agent_.worker->instances) return Unknown(op, "which instance takes which tiles");
  if (!PassesOver(kernel_, scope_, op)) return Unknown(op, "whether an instance passes over the slots that others take");
  Condition condition;
  condition.kind = Condition::Kind::kTurn;
  condition.context = turn.depth + 1;
  condition.which = turn.which;
  condition.of = turn.of;
  std::map<std::string, int> turns = turns_;
  EmitBranches(op, resolved, std::move(condition), [&] {
    std::swap(turns_, turns);  // these are the same loops
    passes_over_ = true;
    Emit(op.regions[0]);
    passes_over_ = false;
  });
}

namespace {

Program BuildNamed(const ir::Kernel& kernel, const Target& target, Remembers remembers, LoopNames& names) {
  Program program;
  program.kernel = &kernel;
  program.remembers = remembers;
  program.lanes = target.lanes;
  program.counts_instructions = target.counts_copy_instructions;
  program.copy_bytes = target.copy_bytes;
  program.blocks = static_cast<int>(std::max<int64_t>(1, kernel.cluster));
  AddAgents(program);
  if (!Fits(program)) return program;
  std::map<std::string, int> families;
  for (Agent& agent : program.agents) StepBuilder(program, agent, families, names).Run();
  for (Agent& agent : program.agents) FindLastAsked(program, agent);
  return program;
}

}  // namespace

Program BuildProgram(const ir::Kernel& kernel, const Target& target, Remembers remembers) {
  // A loop that turns the rings of two loops says that these are one, and loops inside are named by those around.
  LoopNames names;
  while (true) {
    names.Start();
    Program program = BuildNamed(kernel, target, remembers, names);
    if (!names.HasChanged()) return program;
  }
}

}  // namespace tkc::certify

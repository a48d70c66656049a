// SPDX-License-Identifier: MIT
// What the machine knows of a program before it runs: its tiles and barriers, element by element, and who uses which.
#include <algorithm>

#include "compiler/certify/machine.h"
#include "compiler/certify/sets_apart.h"
#include "compiler/ir/op_traits.h"

namespace tkc::certify {
using ir::OpCode;

namespace {

/// What the copy engine, the matrix unit or another block reads or writes.
std::vector<bool> AsyncBuffers(const Program& program) {
  std::vector<bool> async(program.kernel->buffers.size());
  for (const Agent& agent : program.agents) {
    std::vector<int> buffer_of_root(static_cast<size_t>(agent.roots), -1);
    for (const Step& step : agent.steps) {
      if (step.root >= 0) buffer_of_root[static_cast<size_t>(step.root)] = step.buffer;
      if (step.kind != StepKind::kOp) continue;
      const OpCode code = step.op->code;
      const bool is_async =
          code == OpCode::kMma || ir::IsEngineLoad(code) || code == OpCode::kStoreAsync || ir::StoresToBlocks(code);
      if (!is_async) continue;
      if (step.buffer >= 0) async[static_cast<size_t>(step.buffer)] = true;  // of no view
      for (const Access& access : step.accesses)
        async[static_cast<size_t>(buffer_of_root[static_cast<size_t>(access.root)])] = true;
    }
  }
  return async;
}

}  // namespace

Machine::Machine(const Program& program, const Loosened* loosened)
    : program_(program),
      kernel_(*program.kernel),
      loosened_(loosened),
      async_buffers_(AsyncBuffers(program)),
      product_values_(ProductValues(*program.kernel)) {
  for (const std::string& ring : program.ring_of_buffer) {
    const auto& others = program.ring_of_barrier;
    counted_buffers_.push_back(!ring.empty() && std::find(others.begin(), others.end(), ring) == others.end());
  }
  for (size_t barrier = 0; barrier < kernel_.barriers.size(); ++barrier) {
    std::vector<int>& slots = buffers_of_barrier_.emplace_back();
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const bool is_same = program.ring_of_buffer[i] == program.ring_of_barrier[barrier] &&
                           SetOf(kernel_.buffers[i].name) == SetOf(kernel_.barriers[barrier].name);
      if (is_same) slots.push_back(static_cast<int>(i));
    }
  }
  for (const ir::Buffer& buffer : kernel_.buffers) {
    std::vector<int>& sharing = sharing_buffers_.emplace_back();
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      if (&kernel_.buffers[i] != &buffer && ir::OverlapInRoom(kernel_.buffers[i], buffer)) sharing.push_back(static_cast<int>(i));
    }
  }
  for (const Agent& agent : program.agents) {
    for (const Step& step : agent.steps) {
      const bool copies =
          step.kind == StepKind::kOp && (step.op->code == OpCode::kCopyAsync || step.op->code == OpCode::kCopyToShared);
      const auto known =
          copies ? std::find(copied_tensors_.begin(), copied_tensors_.end(), step.op->symbol) : copied_tensors_.end();
      if (copies && known == copied_tensors_.end()) copied_tensors_.push_back(step.op->symbol);
    }
  }
  FindUsers();
  for (int block = 0; block < program.blocks; ++block) {
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      place_base_.push_back(static_cast<int>(places_.size()));
      const ir::Buffer& buffer = kernel_.buffers[i];
      for (int64_t set = 0; set < buffer.instances; ++set) {
        for (int64_t index = 0; index < buffer.count; ++index) places_.push_back({block, static_cast<int>(i), set, index});
      }
    }
    for (size_t i = 0; i < kernel_.barriers.size(); ++i) {
      element_base_.push_back(Elements());
      for (int64_t element = 0; element < kernel_.barriers[i].count; ++element)
        element_of_.push_back({block, static_cast<int>(i), element});
    }
  }
}

void Machine::FindUsers() {
  const size_t buffers = kernel_.buffers.size(), barriers = kernel_.barriers.size(), blocks = static_cast<size_t>(program_.blocks);
  buffer_users_.assign(blocks * buffers, 0);
  barrier_users_.assign(blocks * barriers, 0);
  is_empty_barrier_.assign(barriers, false);
  is_waited_for_.assign(blocks * barriers, false);
  for (size_t i = 0; i < program_.agents.size(); ++i) {
    const Agent& agent = program_.agents[i];
    std::vector<int> buffer_of_root(static_cast<size_t>(agent.roots), -1);
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp) continue;
      if (step.root >= 0) buffer_of_root[static_cast<size_t>(step.root)] = step.buffer;
      const OpCode code = step.op->code;
      if (code == OpCode::kNamedSync || code == OpCode::kNamedArrive) named_ = std::max(named_, static_cast<int>(step.element) + 1);
      if (code == OpCode::kWaitEmpty) {
        is_empty_barrier_[static_cast<size_t>(step.barrier)] = true;
        is_waited_for_[static_cast<size_t>(agent.block) * barriers + static_cast<size_t>(step.barrier)] = true;
      }
      const bool reaches_out = ReachesOut(*step.op);
      for (size_t block = 0; block < blocks; ++block) {
        const int only = step.block >= 0 ? step.block : reaches_out ? static_cast<int>(block) : agent.block;
        if (static_cast<int>(block) != only) continue;
        if (step.barrier >= 0) barrier_users_[block * barriers + static_cast<size_t>(step.barrier)] |= uint64_t{1} << i;
        if (step.buffer >= 0) buffer_users_[block * buffers + static_cast<size_t>(step.buffer)] |= uint64_t{1} << i;
        for (const Access& access : step.accesses) {
          const int buffer = buffer_of_root[static_cast<size_t>(access.root)];
          buffer_users_[block * buffers + static_cast<size_t>(buffer)] |= uint64_t{1} << i;
        }
      }
    }
  }
  ShareUsers();
}

/// Who uses a buffer that lies over others uses their bytes.
void Machine::ShareUsers() {
  const std::vector<uint64_t> own = buffer_users_;
  const size_t buffers = kernel_.buffers.size();
  for (size_t i = 0; i < own.size(); ++i) {
    for (const int other : sharing_buffers_[i % buffers]) buffer_users_[i] |= own[i - i % buffers + static_cast<size_t>(other)];
  }
}

State Machine::Start() const {
  State state;
  state.knowledge = Knowledge(Holders());
  state.barriers.resize(element_of_.size());
  state.records = Records(places_.size());
  state.written.resize(places_.size());
  state.contents.resize(places_.size());
  state.joint.resize(static_cast<size_t>(program_.blocks) * kernel_.workers.size());
  state.named.resize(static_cast<size_t>(ClusterBarrier()) + 1);
  for (const Agent& agent : program_.agents) {
    AgentState self;
    self.rings.assign(agent.rings.size(), 0);
    self.loops.assign(agent.rings.size(), 0);
    self.roots.assign(static_cast<size_t>(agent.roots), -1);
    self.turns.resize(static_cast<size_t>(agent.roots));
    state.agents.push_back(std::move(self));
  }
  return state;
}

}  // namespace tkc::certify

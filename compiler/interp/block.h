// SPDX-License-Identifier: MIT
// One block of a grid section: its worker instances as a bounded Kahn network. Each instance is a fiber that runs until
// it has to wait for a pipe; whoever can go on goes on. Workers are deterministic and meet in pipes only, so the order in
// which they are resumed changes neither the values nor whether the block deadlocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/interp/faults.h"
#include "compiler/interp/launch.h"
#include "compiler/interp/stack_pool.h"
#include "compiler/sema/typed.h"

namespace tkc::interp {

/// What all blocks of a section share: computed once.
struct SectionPlan {
  struct Instance {
    size_t worker = 0;
    int64_t number = 0;
    std::string name;                            // `load`, `compute[1]`
    std::vector<std::vector<int64_t>> consumer;  // [pipe][ring]: this instance's number among the ring's consumers, or -1
  };
  std::vector<Instance> instances;
  std::vector<std::vector<int64_t>> consumers;  // [pipe][ring]: how many
};

SectionPlan PlanSection(const Launch& launch, const typed::Section& section);

/// Runs one tile. `vars` has the grid variables and the section's lets; `place` names the block in messages (`m = 0, n = 128`).
void RunBlock(Launch& launch, const typed::Section& section, const SectionPlan& plan, const std::vector<Value>& vars,
              const std::string& place, StackPool& stacks, Faults& faults);

}  // namespace tkc::interp

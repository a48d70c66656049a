// SPDX-License-Identifier: MIT
// All replays of a kernel: one for each way in which loops can run and conditions can go, until nothing new comes.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

struct ReplayResult {
  std::optional<Finding> finding;
  int64_t states = 0;  // different ones in which something was decided
  int64_t steps = 0;
  int64_t choices = 0;  // answers that were tried
};

ReplayResult Replay(const Program& program);

}  // namespace tkc::certify

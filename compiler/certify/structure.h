// SPDX-License-Identifier: MIT
// What holds or fails without a replay: which ring says which element of an array is meant, when others are reached into.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/frame.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

/// Every array of barriers or tiles is indexed by one ring, with as many slots in every role, and is long enough for it. Fills in
/// Program::ring_of_buffer and ring_of_barrier.
std::optional<Finding> CheckRings(Program& program);

/// No role uses a barrier before it knows that it stands. No block of a cluster is reached into before it has begun, or, where they
/// end each for itself, otherwise than by stores that it waits for.
std::optional<Finding> CheckCluster(const Program& program, const Setup& setup);

/// No role touches a tensor before it has waited for the end of the launches before, on a target where they may still be at work.
std::optional<Finding> CheckLaunch(const ir::Kernel& kernel, const Target& target);

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// The frame around the roles: what stands before the first of them, and after the last.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/ir/ir.h"

namespace tkc::certify {

/// What every thread of the block knows, or has done, when its role begins.
struct Setup {
  bool barriers_stand = false;  // the block's own are initialised
  bool cluster_stands = false;  // those of all blocks are, which have begun, then
  bool has_arrived = false;     // at the cluster's barrier, where the role has yet to wait
};

/// One thread initialises each barrier once and fences that before anybody meets, and then all do. Behind the roles nothing stands
/// but meetings. What it finds out goes into `setup`.
std::optional<Finding> CheckFrame(const ir::Kernel& kernel, Setup& setup);

}  // namespace tkc::certify

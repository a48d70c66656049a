// SPDX-License-Identifier: MIT
// Loads that stand right behind the receive of what they load: its slot is free from there on, and the registers are taken until
// they are read last. What share_room does where shared memory is short and registers are not.
#pragma once

#include <set>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Buffers of slots that are received once, and only loaded from: whole, or parts at places that are known there.
std::set<std::string> LoadableEarly(const ir::Kernel& kernel, const ir::Worker& worker);

/// Moves the loads from these.
void LoadEarly(const ir::Kernel& kernel, ir::Worker& worker, const std::set<std::string>& buffers);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Who receives from which ring, found before a block runs: an instance is a consumer of a ring if its body, specialised
// to the instance's number, contains a receive on it. `if w == 0 { .. }` is decided per instance; a condition that
// depends on more than constants and the instance leaves both branches in.
#pragma once

#include <vector>

#include "compiler/interp/launch.h"
#include "compiler/sema/typed.h"

namespace tkc::interp {

/// result[pipe][ring]: whether this instance receives from the ring.
std::vector<std::vector<bool>> ReceivedRings(const Launch& launch, const typed::Section& section, const typed::Worker& worker,
                                             int64_t instance);

}  // namespace tkc::interp

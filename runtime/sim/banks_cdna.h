// SPDX-License-Identifier: MIT
// Shared memory of CDNA: which lanes of a wave an instruction serves in one clock, and over how many banks of 4 bytes. Sources as
// tagged in the table of banks_cdna.cpp; nothing of it was measured by this project.
#pragma once

#include "runtime/sim/counters.h"

namespace tk::sim {

/// Clocks for the access: for each group of lanes the most distinct words in one bank.
int cdna_passes(chip on, counted kind, int bytes, const warp_access& access);
/// The same without conflicts: groups with an active lane.
int cdna_groups(chip on, counted kind, int bytes, const warp_access& access);

}  // namespace tk::sim

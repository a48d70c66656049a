// SPDX-License-Identifier: MIT
// What buffers take of a block's shared memory, and the report of what finds no room.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// All fields of a slot, of each ring, with what their alignment takes.
int64_t PlacedSlotBytes(const ir::Kernel& kernel, const ir::Pipe& pipe);

/// What the kernel's buffers want more than anything else: of the block's shared memory, which begins there.
int64_t MostAlignment(const ir::Kernel& kernel);

constexpr int64_t kBarriersOfSlot = 2;  // full, and empty where it is filled again

/// Whether a block comes to its slots again with another tile of the grid.
bool WalksOverTiles(const ir::Kernel& kernel);

/// Barriers of slots, and those at which threads or blocks meet.
int64_t BytesOfBarriers(const ir::Kernel& kernel, const Target& target);

/// All that is no slot.
int64_t FixedBytes(const ir::Kernel& kernel, const Target& target);

/// What a block may have.
int64_t SharedLimit(const ir::Kernel& kernel, const Target& target);

/// Whether all buffers side by side, as plan_shared has placed them, are more than that.
bool LacksRoom(const ir::Kernel& kernel, const Target& target);

/// Marks what takes most, the slots of a pipe or the staging of a statement, and says what the others take. `fixed`: bytes of what
/// is no slot. `at_once`: bytes that are needed where what can lies over each other.
DiagnosticBuilder ReportOverflow(const ir::Kernel& kernel, const Target& target, int64_t fixed, int64_t at_once,
                                 Diagnostics& diagnostics);

/// Refuses a pipe of which one slot is far beyond what a block may have, from its types: before tiles are cut into the steps of the
/// matrix unit, of which such a tile has a million. What is nearer the limit gets the whole account, with buffers in place.
Result<void> RequireRoomForASlot(const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

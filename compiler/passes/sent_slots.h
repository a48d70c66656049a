// SPDX-License-Identifier: MIT
// Which sends fill a slot together, what arrives for it, and which ring counts them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Which of a send's scalars says whose pipe it is, of one that is one for each instance.
inline constexpr size_t kRingOfSend = 2;

/// Whether the loop goes over the instances that have pipes of their own, and fills a slot of one in each turn.
bool IsOverInstances(const ir::Op& loop);

/// Whether the send at `index` of the region opens a slot, or closes one. Part sends in one region fill one slot together until a
/// part comes again.
bool OpensSlot(const ir::Region& region, size_t index);
bool ClosesSlot(const ir::Region& region, size_t index);
/// The instance receives the slot that this send closes before it sends the next one: its ring turns when the slot goes back.
bool IsReceivedNext(const ir::Region& region, size_t index);

/// Parts of one slot that the worker's instances send, all together: each instance sends as many for every slot, in whichever
/// branch of its own.
int64_t PartsSent(const ir::Worker& worker, const std::string& pipe);

/// A send of a part of a slot of which the same instance sends another part in another branch; null: there is none. Nobody knows
/// then where the slot is complete.
const ir::Op* PartInAnotherBranch(const ir::Worker& worker, const std::string& pipe);

/// Whether no slot of the pipe is filled a second time while the block lives: none has to be given back. Before lower_grid, the
/// same of a tile.
bool IsFilledOnce(const ir::Kernel& kernel, const ir::Pipe& pipe);

/// Pipes that have two rings in this worker, and the name of the second, which counts what is sent: those of which an instance both
/// sends and receives, but not the very slot that it has just sent. `used`: names that are taken; the new ones are added.
std::map<std::string, std::string> SendRings(const ir::Kernel& kernel, const ir::Worker& worker, ir::TakenNames& used);

}  // namespace tkc::passes

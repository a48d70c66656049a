// SPDX-License-Identifier: MIT
// Which sends fill a slot together, what arrives for it, and which ring counts them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Of a pipe that each instance has for itself: which of a send's scalars is the number of that instance.
inline constexpr size_t kRingOfSend = 2;

/// Whether the loop counts instances that have a pipe each, and each iteration fills a slot of one of these.
bool IsOverInstances(const ir::Op& loop);

/// Whether the send at `index` of the region is the first, or the last, that fills its slot. Sends of parts that stand in one
/// region fill one slot together, until a part is sent a second time.
bool OpensSlot(const ir::Region& region, size_t index);
bool ClosesSlot(const ir::Region& region, size_t index);
/// Whether the instance itself receives the slot that this send closes before it sends another: then the ring turns when that slot
/// is released.
bool IsReceivedNext(const ir::Region& region, size_t index);

/// In how many parts the worker's instances together fill one slot. Each instance sends the same number for every slot, whichever
/// branch it takes.
int64_t PartsSent(const ir::Worker& worker, const std::string& pipe);

/// A send of a part of a slot whose other parts the same instance sends in another branch, so that no place is known where the slot
/// is complete; null if there is none.
const ir::Op* PartInAnotherBranch(const ir::Worker& worker, const std::string& pipe);

/// Whether no slot of the pipe is filled a second time while the block lives, so that none has to be released. Before lower_grid:
/// while the block works on one tile.
bool IsFilledOnce(const ir::Kernel& kernel, const ir::Pipe& pipe);

/// Pipes that have a second ring in this worker, which counts what is sent, and the name of that ring: an instance both sends into
/// such a pipe and receives from it, but other slots than it has just sent. `used`: names that are taken; the new ones are added.
std::map<std::string, std::string> SendRings(const ir::Kernel& kernel, const ir::Worker& worker, ir::TakenNames& used);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// The parts of insert_sync, and what they share.
//
// Every wait that it inserts comes from a dependence between who fills a place and who reads it. How one waits differs in kind, and
// so there are two walks over the programs of the roles. SyncSeparateRoles is for copies with roles of their own, where engines
// copy and multiply: a slot goes back and forth between roles, by two barriers in shared memory that count bytes and arrivals. A
// role needs to know only which slots it holds, and which of its own products are still under way. SyncFoldedRoles is for threads
// that compute and issue the copies, too: who reads a slot waits until all but so many of its own newest copies are complete, and
// until all threads have met, since each knows only its own copies. That walk follows what is in flight, and who has read and
// written what since the last meeting, along every path through loops and branches.
//
// What goes from one computing worker to another has barriers in both cases: both share how slots are stored into, and the
// barriers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/make_op.h"
#include "compiler/support/diagnostic.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Arrivals that complete one phase of a pipe's full barrier, summed over its senders while their roles are rewritten.
using FullArrivals = std::map<std::string, int64_t>;

/// The arrivals that one role adds, slot by slot.
class SlotArrivals {
 public:
  explicit SlotArrivals(FullArrivals& all) : all_(all), of_others_(all) {}

  /// Counts the arrivals of a send that fills a slot or a part of it; `closes`: it is the last part. Sends in different branches
  /// fill different slots, and every slot sees the same number of arrivals (sema's cover rule).
  void Add(const std::string& pipe, int64_t arrivals, bool closes);

 private:
  FullArrivals& all_;
  FullArrivals of_others_;
  FullArrivals pending_;  // of the slot of each pipe that is being filled
};

std::string FullBarrier(const std::string& pipe);
std::string EmptyBarrier(const std::string& pipe);

/// The text of the present slot of the pipe that a receive or send names: `ab`, or `ab[w]` of a pipe that instance w has for
/// itself.
std::string PresentSlot(const ir::Op& traffic);

/// Whether blocks of the cluster fill each other's slots of this pipe: then a slot is empty when all of them have read it.
bool IsShared(const ir::Kernel& kernel, const std::string& pipe);

/// The stores of a send of computed tiles into `slot`: rounded to the field's type, each into its field or the part of it.
ir::Region StoresOf(ir::Kernel& kernel, const ir::Op& send, const std::string& slot);

/// The second rings of one worker (sent_slots).
using RingsOfSends = std::map<std::string, std::string>;
inline const std::string& RingOfSends(const RingsOfSends& rings, const std::string& pipe) {
  const auto own = rings.find(pipe);
  return own == rings.end() ? pipe : own->second;
}

/// For instances in turn: each receives the slots of its tile only when the instance before it has received all of its own.
/// Otherwise one might wait for a slot several laps ahead, and the parity of a barrier tells only neighbouring laps apart. `tiles`:
/// the worker's loop, `out`: what precedes it.
void TakeTurns(const ir::Kernel& kernel, const ir::Worker& worker, const RingsOfSends& rings, ir::Op& tiles, ir::Region& out);

/// Names of pipes by what happens to their slots, found while sends and receives still stand.
struct PipeTraffic {
  std::set<std::string> engine;       // the copy engine fills or stores them, or the matrix unit reads: ordinary stores are fenced
  std::set<std::string> refilled;     // the copy engine, or another block, fills their slots again: ordinary loads are fenced
  std::set<std::string> filled_once;  // while the block lives: no slot goes back
  std::set<std::string> exchanged;    // between instances that are spread over the blocks of a cluster

  /// Whether the ring goes on behind a slot: not where it has one, which is never filled again.
  bool GoesOn(const ir::Pipe& pipe) const { return pipe.slots > 1 || !filled_once.contains(pipe.name); }
};

/// A send of computed tiles, at `index` of the region: the wait for an empty slot, if it opens one that was full before; its
/// stores, with a fence if the copy engine or another role's matrix unit may read them; the arrival of its warps; and, if it closes
/// the slot, the turn of the ring.
void SendTiles(ir::Kernel& kernel, const ir::Region& region, size_t index, const PipeTraffic& traffic, const RingsOfSends& rings,
               ir::Region& out);

/// Reports a receive from a pipe of which the worker still holds a slot.
void ReportTwoHeld(const ir::Op& receive, Diagnostics& diagnostics);

/// The barriers of a pipe's slots, with how many arrivals complete a phase of each; `empty` 0: no slot goes back.
void AddSlotBarriers(ir::Kernel& kernel, const ir::Pipe& pipe, int64_t full, int64_t empty);

/// The stores of a send into the slots of all blocks.
void SendToCluster(ir::Kernel& kernel, const ir::Op& send, const std::string& ring, ir::Region& out);
/// Stands in front of a receive: the instance announces its share of the bytes that will come.
void AnnounceSlot(const ir::Pipe& pipe, const ir::Worker& worker, Span span, ir::Region& out);
void AddClusterBarriers(ir::Kernel& kernel, const ir::Pipe& pipe, bool is_filled_once);
/// Stands in front of the collection of a split sum: waits for what the other blocks send.
void AwaitShares(const ir::Kernel& kernel, const ir::Op& collect, ir::Region& out);
void AddSharesBarrier(ir::Kernel& kernel, const ir::Buffer& buffer);

/// What all threads of the block do before the roles, so that these find their barriers, and after them, so that no block is
/// reached into that has ended.
void AddFrame(ir::Kernel& kernel, const PipeTraffic& traffic);

/// Waits, in front of all accesses to tensors, for the end of the launches before this one. In a loop over tiles the wait stands in
/// the body, in the first iteration, behind the operations that say where the tile lies.
void WaitForLaunchesBefore(ir::Worker& worker);

/// Where tiles are drawn from a counter: one role (in a cluster, that of the first block) draws the next tile while it works on the
/// present one, and hands its number to all roles, itself among them.
void HandOnTiles(ir::Kernel& kernel);

/// Rewrite the sends and receives of all roles, and add the barriers of the pipes between them. `rings`: of each role.
void SyncSeparateRoles(ir::Kernel& kernel, const std::vector<RingsOfSends>& rings, const PipeTraffic& traffic,
                       Diagnostics& diagnostics);
void SyncFoldedRoles(ir::Kernel& kernel, const std::vector<RingsOfSends>& rings, const PipeTraffic& traffic, const Target& target,
                     Diagnostics& diagnostics);

/// In a folded program: rewrites the sends and receives of pipes between different workers, and adds their barriers.
void SyncChannels(ir::Kernel& kernel, const std::vector<RingsOfSends>& rings, const PipeTraffic& traffic, Diagnostics& diagnostics);

/// Rewrites the body of a role that copies; adds its arrivals.
void SyncCopyRole(ir::Kernel& kernel, ir::Worker& worker, const PipeTraffic& traffic, FullArrivals& arrivals);

/// Rewrites the body of a role that computes; adds its arrivals.
void SyncComputeRole(ir::Kernel& kernel, ir::Worker& worker, const PipeTraffic& traffic, const RingsOfSends& rings,
                     FullArrivals& arrivals, Diagnostics& diagnostics);

}  // namespace tkc::passes

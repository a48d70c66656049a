// SPDX-License-Identifier: MIT
// Synchronisation of a role that computes. The walk keeps two lists: the matrix groups in flight, and the slots held. An operation
// that touches what a group in flight writes (or overwrites what it reads) waits for it first; a slot is released behind the
// operation that reads it last, or behind the wait that covers that operation when it is a matrix product.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/passes/products_in_flight.h"
#include "compiler/passes/sync_roles.h"
#include "compiler/passes/sync_staging.h"

namespace tkc::passes::computing {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

struct Release {
  std::string pipe;
  Span span;
  bool is_fenced = false;    // ordinary code may have read the slot, and the copy engine fills it again
  bool is_previous = false;  // the slot before the one at hand: a kept one, or a loop's last, from which it has gone on
};

/// A loop that has left products in flight, if it ran at all.
struct LeftBehind {
  ir::Scalar lo, hi;
  Span product;  // its last one
};

/// Matrix products between two commits.
struct Group {
  ValueId acc = ir::kNone;
  ValueId left = ir::kNone;        // in registers, or kNone
  std::set<std::string> buffers;   // staging buffers it reads
  std::set<std::string> pipes;     // slots it reads
  std::vector<Release> releases;   // slots that are free when it is done
  std::optional<LeftBehind> loop;  // that it is the rest of
};

/// A received slot until its release.
struct Held {
  Release release;
  size_t last_use;  // index in the region
};

/// What its files share: sync_compute_role.cpp, and sync_products.cpp for the groups in flight.
class ComputeRoleSync {
 public:
  ComputeRoleSync(ir::Kernel& kernel, const ir::Worker& worker, const PipeTraffic& traffic, const RingsOfSends& rings,
                  Diagnostics& diagnostics);
  Region Run(const Region& body);

 private:
  Region Rewrite(const Region& region);
  void RewriteOp(Op op, const Region& region, size_t index, Region& out);
  void Receive(Op op, const Region& region, size_t index, Region& out);
  /// Views of what is received and used.
  void ViewSlot(const Op& receive, const std::string& slot, const Region& region, size_t index, Region& out);
  void Send(const Op& op, const Region& region, size_t index, Region& out);
  void Product(Op op, Region& out);
  void StoreShared(Op op, bool is_beside, Region& out);
  void Loop(Op op, Region& out);
  void RewriteLoop(Op& op);
  void RewriteBranches(Op& op);
  void FlyAround(Op op, const ProductsInFlight& flight, Region& out);

  Region ReleasePrevious(const std::vector<Release>& slots, Span span) const;

  /// Waits until at most `left` groups are in flight, and releases what they held.
  void WaitGroups(size_t left, Span span, Region& out);
  /// Waits for groups whose registers the operation touches.
  void WaitFor(const Op& op, Region& out);
  /// Waits until one group at most reads its left operand from registers, before those of another are written: that one keeps the
  /// matrix unit at work meanwhile, and more would take registers that no plan counts (ptxas then serialises all, C7511).
  void MakeRoomForLeft(Span span, Region& out);
  void ReleaseSlotsOf(const Group& done, Region& out);
  void ReleaseSlot(const Release& release, Region& out);
  /// An arrival may overtake loads of its own warp, and the copy engine then what they are to read. Of a slot that was kept it is
  /// not known by which receive it came.
  bool IsFenced(const Op& receive) const;

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const PipeTraffic& traffic_;
  const RingsOfSends& rings_;
  Diagnostics& diagnostics_;
  StagingSync staging_;
  SlotOfView slot_of_;
  std::map<ValueId, std::string> pipe_of_;       // received value -> its pipe
  std::map<std::string, int64_t> release_kind_;  // of each pipe: what kArrive's number says
  std::map<std::string, std::string> present_;   // of each pipe received: the text of its slot at hand
  std::set<ValueId> loaded_;                     // received values that ordinary code reads
  std::set<ValueId> assigned_;
  std::set<ValueId> lefts_;  // operands of products in registers
  std::deque<Group> in_flight_;
  std::vector<Held> held_;            // received in the region at hand
  std::vector<Op> kept_;              // receives of the region at hand whose slots do not go back there
  std::set<std::string> held_pipes_;  // received and not yet released, in any region
  bool flies_around_ = false;         // the product at hand stays in flight over the back edge of its loop
};

}  // namespace tkc::passes::computing

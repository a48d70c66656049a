// SPDX-License-Identifier: MIT
// The walk of insert_sync over a program that issues its own copies: what its parts share (sync_folded.cpp and those beside it).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/passes/sync_roles.h"

namespace tkc::passes {
namespace folded {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// A place in shared memory whose accesses must be ordered: a slot of a pipe, or a buffer that is no slot.
struct Place {
  std::string name;   // of the pipe, or of the buffer
  int64_t ahead = 0;  // of a slot: how many slots it lies ahead of the ring's present one
  /// Of a slot, the fields that nobody reads after receiving them. Their copies need not be complete before the slot is filled
  /// again, so they are followed apart from the other fields.
  bool is_unused = false;
  auto operator<=>(const Place&) const = default;
};
using Places = std::set<Place>;
/// Places, and how many times all threads must still meet until every thread knows what happened there. (While two instances
/// alternate, one is some meetings behind the other.)
using Unsettled = std::map<Place, int64_t>;

/// What is known at one point of the program; sync_folded.cpp says how it is used.
struct State {
  std::map<Place, int64_t> pending;  // copies under way, with the number of groups that have been committed since
  Unsettled arrived;                 // copies that are complete as far as the thread that issued them knows
  Unsettled written, read;           // by ordinary accesses
  Places own_written, own_read;      // buffers of which each instance has its own, since the instance's warps met
  std::map<ValueId, Place> views;    // the place that each view shows
  bool operator==(const State&) const = default;
};

/// What is known where two paths meet: only what holds on both.
State Join(State a, const State& b);

/// Rewrites the program of one role; the top of sync_folded.cpp explains how.
class FoldedSync {
 public:
  FoldedSync(ir::Kernel& kernel, const ir::Worker& worker, const RingsOfSends& rings, const Target& target,
             Diagnostics& diagnostics);
  Region Run(Region body);

 private:
  Region ExpandSends(const Region& region, std::map<std::string, int64_t>& ahead);
  static std::vector<std::set<std::string>> PipesOf(const Region& region);
  void PlaceAdvances(Region& region, bool repeats, const std::set<std::string>& elsewhere) const;
  Region Walk(const Region& region, State& state);
  void WalkOp(const Op& op, const Region& region, size_t index, State& state, Region& out);
  void Access(const Op& op, const Region& region, size_t index, State& state, Region& out);
  void Receive(const Region& region, size_t index, State& state, Region& out);
  void Copies(const Op& send, State& state, Region& out, bool is_checked);
  void Prologue(const Op& unroll, State& state, Region& out);
  void Write(const Place& place, Span span, State& state, Region& out);
  void Read(const Place& place, Span span, State& state, Region& out);
  /// Orders behind this point whatever was done to buffers that lie over this place (share_room), before it is written.
  void Vacate(const Place& place, Span span, State& state, Region& out);
  void Loop(Op op, State& state, Region& out);
  void Branch(Op op, State& state, Region& out);
  void Drain(const Op& loop, State& state, Region& out) const;
  void Advance(const std::string& pipe, State& state) const;

  /// Waits until at most `newest` groups, or instructions, are unfinished.
  void WaitFor(int64_t newest, Span span, State& state, Region& out) const;
  std::string DescribeWait(int64_t newest, const State& state) const;
  /// All threads of the worker meet: where it is the whole block, at the block's barrier.
  void SyncAll(Span span, State& state, Region& out);
  void SyncOwn(Span span, State& state, Region& out) const;
  /// Changes what is known by one more meeting of all threads.
  static void Meet(State& state);
  void Note(Unsettled& places, const Place& place) const;
  void Alternate(const Region& region, size_t index, State& state, Region& out);
  void GoApart(const Region& region, size_t index, State& state, Region& out);
  void BeginProducts(const Region& region, size_t index, State& state, Region& out);
  /// The instance alone meets the other.
  Op MeetAlone(int64_t instance, Span span) const;
  void AwaitSlots(const std::vector<std::string>& pipes, int64_t ahead, Span span, State& state, Region& out);
  void Refuse(Span span);
  Region SplitAtBarriers(const Op& branch);

  bool IsOwn(const Place& place) const { return own_.count(place.name) > 0; }
  /// Slots that barriers of their own guard.
  bool IsGuarded(const Place& place) const { return guarded_.count(place.name) > 0; }
  Place SlotPlace(const std::string& slot, int64_t stage = 0) const;
  Place PlaceOf(const Op& view, int64_t stage = 0) const;
  Place PlaceOf(ValueId view, const State& state) const;
  int64_t CostOf(const Op& copy, const std::map<ValueId, std::string>& buffers) const;
  void NoteCopies(const Op& send, State& state) const;
  void FindUnusedFields(const Region& body);
  bool Diverges(const Op& op) const;

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const Target& target_;
  Diagnostics& diagnostics_;
  const bool is_whole_block_;
  std::map<std::string, int64_t> slots_;
  std::map<std::string, std::string> pipe_of_buffer_;
  std::map<std::string, std::set<std::string>> sharing_;  // of each place's name, those that lie over it
  std::set<ValueId> used_;
  std::set<std::string>
      unused_;  // buffers of fields that nobody reads, where a slot need not be waited for before it is filled again
  std::set<std::string> copied_;    // pipes that copies fill
  std::set<std::string> refilled_;  // whose only slot holds another turn in another place: received in several, or filled ahead
  std::set<std::string> own_;       // buffers of each instance
  std::set<std::string> guarded_;   // pipes between workers
  std::set<std::string> differs_;   // scalars that differ between instances
  int divergent_ = 0;               // conditions around that do
  int divergent_loops_ = 0;         // and loops
  int64_t apart_ = 0;               // meetings that one instance is behind the other
  bool has_failed_ = false;
};

}  // namespace folded
}  // namespace tkc::passes

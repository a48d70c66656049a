// SPDX-License-Identifier: MIT
// The abstract machine: a block (or a cluster of blocks) whose agents execute the steps of program.h. It has barriers with phases
// and byte counts, named barriers, queues of matrix products and of stores by the copy engine, and for every tile of shared memory
// the accesses that a later one might have to be ordered behind. It has no data.
//
// A warpgroup runs in lockstep, as three warps: the one that elected code runs in, and two that stand for any pair of the others
// (the last counts twice). Each keeps its own knowledge, so an order that only some warps have is not taken for an order of all.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/certify/finding.h"
#include "compiler/certify/knowledge.h"
#include "compiler/certify/oracle.h"
#include "compiler/certify/program.h"
#include "compiler/certify/records.h"

namespace tkc::certify {

struct BarrierState {
  int64_t completed = 0;             // phases
  int64_t pending = 0;               // arrivals of the phase under way
  int64_t expected = 0, issued = 0;  // bytes
  int latest = -1, previous = -1;    // events: completion of the last two phases
};

/// A warp waited for a phase: the next one must not complete before.
struct WaitNote {
  int barrier = 0;
  int event = -1;
  int warp = 0, agent = 0;
  const ir::Op* op = nullptr;
};

struct NamedState {
  int64_t completed = 0, count = 0, wanted = 0;  // threads
  uint64_t came = 0;                             // agents that the count has
  int latest = -1;
};

/// Products between two commits.
struct ProductGroup {
  std::vector<ir::ValueId> accumulators{}, lefts{};
  std::vector<std::pair<int, int>> reads{};  // warp, event
};

/// Copies of an agent's threads between two commits.
struct CopyGroup {
  std::vector<std::pair<int, int>> writes{};  // warp, event
  int64_t instructions = 0;                   // of each thread, at least
};

/// What a slot is filled with, or wanted for: the turn of its ring, and how many loops that turn it have ended before.
struct Turn {
  int64_t position = 0, loops = 0;
  bool operator==(const Turn&) const = default;
};

struct Frame {
  int loop = -1;
  int fact = -1;
  int64_t iteration = 0;
};

/// Of the iteration that the agent is in.
inline int64_t OrdinalOf(const Agent& agent, const Frame& frame) {
  const Loop& loop = agent.loops[static_cast<size_t>(frame.loop)];
  return loop.first + frame.iteration * loop.stride;
}

struct AgentState {
  int at = 0;
  bool is_done = false;
  bool has_arrived = false;  // at the named barrier that it stands before
  int64_t named_phase = 0;
  std::vector<Frame> frames{};
  std::vector<int64_t> rings{};        // slots passed since the start
  std::vector<int64_t> loops{};        // that turned each ring and have ended
  std::vector<int> roots{};            // places that views are bound to
  std::vector<Turn> turns{};           // of the rings, when they were
  std::vector<ProductGroup> groups{};  // committed, oldest first
  ProductGroup open{};
  std::vector<ir::ValueId> touched{};  // by ordinary code since the last mma_fence
  std::vector<ir::ValueId> loose{};    // written by ordinary code that its compiler may move below a fence that does not name them
  std::vector<ir::ValueId> unset{};    // tiles in registers that hold nothing yet
  std::vector<ir::ValueId> unnamed{};  // accumulators that no wait has named since their last product
  std::vector<std::vector<int>> stores{};  // events of each group of engine stores, oldest first
  std::vector<int> open_stores{};
  std::vector<CopyGroup> copies{};  // committed, oldest first
  CopyGroup open_copies{};
  size_t together = 0;  // how many of the operations that all agents of the block execute together it has behind it
};

/// An operation that all agents of a block execute, each at its own time, and the tile it concerns.
struct Joint {
  const ir::Op* op = nullptr;
  int place = -1;
  bool operator==(const Joint&) const = default;
};

/// The latest operations that others may see, for the trace.
struct Trail {
  static constexpr size_t kLength = 12;
  std::array<std::pair<int, const ir::Op*>, kLength> entries{};
  size_t count = 0;
  void Add(int agent, const ir::Op* op) { entries[count++ % kLength] = {agent, op}; }
};

struct State {
  Oracle oracle{};
  Knowledge knowledge{};
  std::vector<AgentState> agents{};
  std::vector<BarrierState> barriers{};  // of all blocks, element by element
  std::vector<NamedState> named{};
  std::vector<WaitNote> notes{};
  Records records{};
  std::vector<std::vector<Rect>> written{};  // of each place, since the start
  std::vector<Turn> contents{};              // of each place that a ring without barriers indexes
  std::vector<std::vector<Joint>> joint{};   // of each block and worker: what not all instances have executed yet
  Trail trail{};
};

/// What the machine has to be told before it can go on.
struct Question {
  int fact = -1;
  int64_t number = 0;
};

/// kNever: what was answered fits no integer, so that no launch comes here.
enum class Outcome : uint8_t { kRan, kBlocked, kAsks, kFailed, kNever };

/// A wait_copies that lets one more stay unfinished than it says. Slots must then still be complete where they are received, but
/// for those that are not in the program itself, either.
struct Loosened {
  const ir::Op* wait = nullptr;
  const std::set<const ir::Op*>* early = nullptr;
};

class Machine {
 public:
  explicit Machine(const Program& program, const Loosened* loosened = nullptr);

  State Start() const;
  /// Executes one step of the agent.
  Outcome Run(State& state, int agent, Question& question);
  /// The end: nothing may be under way.
  bool Finish(State& state);
  /// Whether somebody, who may have ended since, has waited for what the record writes.
  bool IsAwaited(const State& state, const Record& record) const;
  /// All agents that are not done are blocked.
  void ReportDeadlock(const State& state);

  std::optional<Finding> finding;
  std::set<const ir::Op*> filled{};  // each commit_copies that ever closed a group with a copy in it
  std::set<const ir::Op*> early{};   // each view of a slot of which the thread's own copies may be unfinished

  // ---- places and holders, for the normal form -------------------------------------------------------------------------
  struct Place {
    int block, buffer;
    int64_t set, index;
  };
  const Program& program() const { return program_; }
  const std::vector<Place>& places() const { return places_; }
  int BarrierElement(int block, int barrier, int64_t element) const;
  int Elements() const { return static_cast<int>(element_of_.size()); }
  /// Block, barrier and element of an element number.
  struct ElementOf {
    int block, barrier;
    int64_t element;
  };
  const ElementOf& Element(int number) const { return element_of_[static_cast<size_t>(number)]; }
  int Arriving(int element) const { return program_.warps + 2 * element; }
  int Completed(int element) const { return program_.warps + 2 * element + 1; }
  int NamedArriving(int named) const { return program_.warps + 2 * Elements() + 2 * named; }
  int NamedCompleted(int named) const { return NamedArriving(named) + 1; }
  int Holders() const { return NamedArriving(ClusterBarrier() + 1); }
  /// Of the named barrier, or the barrier of a block or cluster, that the step is about.
  int NumberOfNamed(const Agent& agent, const Step& step) const {
    return step.op->code == ir::OpCode::kClusterSync ? ClusterBarrier() : agent.block * named_ + static_cast<int>(step.element);
  }
  /// Agents that may come to the place, or use the barrier.
  uint64_t UsersOfPlace(int place) const {
    const Place& p = places_[static_cast<size_t>(place)];
    return buffer_users_[static_cast<size_t>(p.block) * kernel_.buffers.size() + static_cast<size_t>(p.buffer)];
  }
  uint64_t UsersOfElement(int number) const {
    const ElementOf& e = Element(number);
    return barrier_users_[static_cast<size_t>(e.block) * kernel_.barriers.size() + static_cast<size_t>(e.barrier)];
  }
  bool IsUsedByEngine(int buffer) const { return async_buffers_[static_cast<size_t>(buffer)]; }
  /// Whether a ring says which tile is meant, and no barrier which turn it holds.
  bool IsCounted(int place) const { return counted_buffers_[static_cast<size_t>(places_[static_cast<size_t>(place)].buffer)]; }

 private:
  struct Context {
    State& state;
    int number;
    const Agent& agent;
    AgentState& self;
    const Step& step;
    const ir::Op& op;
  };
  /// Warps of the agent that execute the step, with the threads or arrivals that each stands for.
  struct Share {
    int warp;
    int64_t threads, warps;
  };
  struct ShareList {
    std::array<Share, 3> list;
    size_t count;
    const Share* begin() const { return list.data(); }
    const Share* end() const { return list.data() + count; }
    const Share& operator[](size_t i) const { return list[i]; }
  };
  ShareList Shares(const Context& c) const;
  int64_t Position(const Context& c) const;  // of the ring that the step names
  int64_t SlotOf(const Context& c) const;    // the same, as a place in the ring
  int ElementOfStep(const Context& c, int block) const;

  Outcome Execute(Context& c);
  bool EndAgent(Context& c);
  void AdvanceRing(Context& c) const;
  bool View(Context& c);
  Outcome Test(Context& c, const Condition& condition, Question& question, bool* value);
  Truth Truth3(Context& c, const Condition& condition, Question& question);
  Truth IsPositive(Context& c, const Condition& condition, Question& question);
  int Around(const Context& c, int depth, int64_t* ordinal) const;
  Outcome Wait(Context& c, int64_t need, int element);
  Outcome WaitForSlot(Context& c);
  bool AnnounceBytes(Context& c);
  bool ArriveAtAll(Context& c);
  void Fence(Context& c) const;
  bool Arrive(Context& c, int element, const Share& share, int64_t count, const char* what);
  bool MayRelease(Context& c);
  bool MayArrive(Context& c, int element, int warp, const char* what);
  void CompleteIfDone(Context& c, int element);
  void Empty(State& state, int number) const;
  bool Load(Context& c);
  bool StoreCluster(Context& c);
  void HandOnIssue(Context& c, int element, const ShareList& shares) const;
  bool Bring(Context& c, int64_t blocks, int64_t bytes, const ShareList& shares, const char* what);
  bool BringTo(Context& c, int block, int place, const Access& access, int64_t bytes, const ShareList& shares, const char* what);
  Outcome NamedBarrier(Context& c);
  bool SyncGroup(Context& c);

  // machine_memory.cpp
  /// How a step uses a tile of shared memory.
  struct Use {
    const Access& access;
    bool writes, is_async;
    const ShareList& shares;                             // the warps that do
    std::vector<std::pair<int, int>>* events = nullptr;  // gets each warp and its event
    int dealt = 0;                                       // Dealt, where threads do it piece by piece
    bool ByEngine() const { return is_async && dealt == 0; }
  };
  static bool IsApart(const Record& record, int place, const Use& use, int warp);
  bool AccessView(Context& c, const Use& use);
  bool AccessShared(Context& c, int place, const Use& use);
  /// What an access lacks to come behind an earlier one: a warp that takes part may not know it to be complete, or not through a
  /// fence where the engine comes next.
  enum class Gap : uint8_t { kNone, kMayBeUnderWay, kNotFenced };
  static Gap GapTo(const Context& c, int place, const Use& use, const Record& record);
  bool FailBy(Gap gap, const Context& c, int place, const Use& use, const Record& record);
  bool IsBehind(const Context& c, int place, const Use& use, const Record& record);  // if not, it is reported
  bool NoteWritten(Context& c, int place, const Use& use);
  void DropSuperseded(State& state, int place, const Use& use) const;
  bool IsWritten(const State& state, int place, const Rect& rect) const;
  bool HoldsTurn(const Context& c, const Access& access, bool writes, Turn* turn = nullptr) const;
  int PlaceOf(const Context& c, int block, int buffer, int64_t index) const;
  const ir::Buffer& BufferOf(int place) const {
    return kernel_.buffers[static_cast<size_t>(places_[static_cast<size_t>(place)].buffer)];
  }
  /// Whether the tile lies over tiles of other buffers.
  bool SharesRoom(int place) const;
  /// Of the tile's first byte in the block's shared memory.
  int64_t OffsetOf(const Place& place) const;
  /// Whether the two have bytes in common.
  bool OverlapInRoom(int place, int other) const;
  /// Tiles over which this one lies hold nothing any more.
  void Overwrite(State& state, int place) const;
  bool Reduce(Context& c);
  bool SendShares(Context& c);
  bool Collect(Context& c);

  // machine_queues.cpp
  bool Touch(Context& c);
  static void FenceProducts(Context& c);
  bool Product(Context& c);
  void WaitProducts(Context& c);
  bool StoreAsync(Context& c);
  void WaitStores(Context& c);

  // machine_copies.cpp
  bool Together(Context& c, int place);
  static bool IsTogether(const Agent& a, const Agent& b) { return a.block == b.block && a.worker == b.worker; }
  size_t JointOf(const Agent& agent) const {
    return static_cast<size_t>(agent.block) * kernel_.workers.size() + static_cast<size_t>(agent.worker - kernel_.workers.data());
  }
  int Dealt(const ir::Op& copy) const;
  bool CopyTogether(Context& c);
  bool CopyAsync(Context& c);
  void CommitCopies(Context& c);
  void WaitCopies(Context& c) const;
  bool IsReceived(Context& c);
  bool FillsAnew(Context& c, const Access& access);
  bool EndCopies(Context& c);
  void EndIteration(Context& c, const Loop& loop, bool is_last);

  bool FinishPhases(State& state);
  bool Fail(const Context& c, ErrorKind kind, std::string headline, std::vector<std::pair<Span, std::string>> notes = {});
  void AddScene(const State& state, Finding& finding) const;

  const Program& program_;
  const ir::Kernel& kernel_;
  const Loosened* loosened_;
  std::vector<std::string> copied_tensors_;  // by all threads of a block
  std::vector<Place> places_;
  std::vector<int> place_base_;    // by block and buffer
  std::vector<int> element_base_;  // by block and barrier
  std::vector<ElementOf> element_of_;
  void FindUsers();
  void ShareUsers();
  int ClusterBarrier() const { return program_.blocks * named_; }

  std::vector<std::vector<int>> sharing_buffers_;  // of each buffer, those over which it lies
  int named_ = 1;                                  // named barriers of a block, with the block's own
  std::vector<bool> async_buffers_, counted_buffers_;
  std::vector<std::vector<int>> buffers_of_barrier_;    // whose slots it says something about
  std::vector<bool> is_empty_barrier_;                  // waited at for a free slot
  std::vector<bool> is_waited_for_;                     // the same, by block: by agents of this block
  std::vector<uint64_t> buffer_users_, barrier_users_;  // by block
  std::vector<bool> product_values_;                    // tiles that products make or take from registers
};

}  // namespace tkc::certify

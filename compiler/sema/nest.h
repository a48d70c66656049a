// SPDX-License-Identifier: MIT
// The one hand that runs all instances of a section: see nest_run.cpp for the idea. Its reports are in nest_report.cpp.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/skeleton.h"
#include "compiler/symbolic/condition.h"

namespace tkc::sema {

/// The pieces into which the sends to a ring cut its slot, and who sends each.
struct Ring {
  int pipe = 0;
  std::vector<Rectangle> cells;
  std::vector<int> consumers;  // skeletons, in order
  std::vector<int> producers;
};

struct Counters {
  std::vector<std::vector<int64_t>> sent;      // [ring][cell]
  std::vector<std::vector<int64_t>> received;  // [ring][consumer]
  bool operator==(const Counters&) const = default;
};

/// By the number of a slot that somebody has yet to receive: the sends that may have filled it.
using Slots = std::map<int64_t, std::set<const typed::Stmt*>>;

/// One instance on its way through a list of items.
struct Cursor {
  int skeleton = 0;
  const std::vector<TrafficItem>* items = nullptr;
  size_t next = 0;
  bool AtEnd() const { return next == items->size(); }
  const TrafficItem& Head() const { return (*items)[next]; }
};

/// "rows 0 .. 64", "field `a`", "the slot".
std::string CellText(const typed::Pipe& pipe, const Rectangle& cell);
/// What goes with CellText: "is" or "are".
const char* CellVerb(const typed::Pipe& pipe, const Rectangle& cell);

class Nest {
  /// What a run changes, so that it can be taken back.
  struct State {
    Counters counters;
    std::vector<Slots> slots;
    std::vector<int64_t> limits;
    Steps steps;
    Diagnostics said;
  };

 public:
  Nest(const typed::Kernel& kernel, typed::Section& section, Diagnostics& diagnostics, Steps& steps)
      : kernel_(kernel),
        section_(section),
        diagnostics_(diagnostics),
        steps_(steps),
        skeletons_(BuildSkeletons(kernel, section, diagnostics)) {}

  void Check();

 private:
  void FindNest();
  void FindEndpoints();
  void VisitEndpoints(const std::vector<TrafficItem>& items, int skeleton);
  bool CutCells(int ring);
  const TrafficItem* FindSend(const std::vector<TrafficItem>& items, int ring, const Rectangle* cell) const;
  const TrafficItem* FindReceive(const std::vector<TrafficItem>& items, int ring) const;
  bool CheckEndpoints();

  bool Run(std::vector<Cursor> cursors);
  bool Step(std::vector<Cursor>& cursors);
  bool CanReceive(const Cursor& cursor) const;
  bool CanSend(const Cursor& cursor) const;
  void Receive(Cursor& cursor);
  void Send(Cursor& cursor);
  bool RaiseLimit(const std::vector<Cursor>& cursors);
  /// Of the branch at which it stands.
  symbolic::Condition ConditionAt(const Cursor& cursor);
  std::string Key(const Cursor& cursor);
  enum class Joint : uint8_t { kNone, kDone, kFailed };
  Joint RunJoint(std::vector<Cursor>& cursors);
  bool RunLoop(const std::vector<Cursor>& group);
  bool RunIf(const std::vector<Cursor>& group);
  /// Runs to the end with the condition of a branch that somebody stands at decided, once each way. False, and all is as it was:
  /// nobody stands at one, or somebody gets stuck.
  bool RunCases(const std::vector<Cursor>& cursors);
  /// Runs both from here, one where the condition's text holds and one where it does not; they have to leave the same slots
  /// behind.
  bool RunBoth(symbolic::Condition condition, const std::function<bool()>& first, const std::function<bool()>& second, Span span);
  /// Enters the branch at which it stands if its condition is decided.
  bool TakeDecided(Cursor& cursor);
  int64_t Full(int ring) const { return *std::min_element(counters_.sent[ring].begin(), counters_.sent[ring].end()); }
  int64_t& ReceivedBy(int ring, int skeleton);
  int64_t ReceivedBy(int ring, int skeleton) const { return const_cast<Nest*>(this)->ReceivedBy(ring, skeleton); }

  bool AreAtEqual(const Cursor& a, const Cursor& b);
  const Cursor* FindOther(const std::vector<Cursor>& cursors, const Cursor& stuck);
  void ReportStuck(const std::vector<Cursor>& cursors);
  /// Notes who stands at a loop over numbers that tkc knows.
  void NoteStuck(const std::vector<Cursor>& cursors);
  void ReportUnbalanced(const Counters& before, Span span, const char* where);
  void ReportPair(int a, Span a_span, std::string a_label, int b, Span b_span, std::string b_label);
  std::string HeadText(const Cursor& cursor) const;
  std::vector<int> Shared(int a, int b) const;

  State Now() const { return {counters_, slots_, limits_, steps_, said_}; }
  void GoBack(State state);

  const typed::Kernel& kernel_;
  typed::Section& section_;
  Diagnostics& diagnostics_;
  Diagnostics said_;  // of traffic; what a run says that is taken back is not
  Steps& steps_;
  std::vector<Skeleton> skeletons_;
  std::vector<Ring> rings_;
  std::vector<int64_t> limits_;  // of pipes: slots
  Counters counters_;
  std::vector<Slots> slots_;                      // [ring]
  int depth_ = 0;                                 // of joint loops
  std::map<std::string, int> loop_numbers_;       // by depth and range
  std::vector<symbolic::Condition> held_;         // conditions in the case or the branch that is run
  std::deque<std::vector<TrafficItem>> entered_;  // what lies before those who entered branches of theirs
  int cases_ = 0;
};

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Makes the steps of one agent. Its parts: program.cpp walks over the operations, program_loops.cpp finds which loops of several
// agents ask about one integer, program_conditions.cpp what a condition asks.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/certify/places.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

/// Names of loops: several of one loop where it turns several rings. What is found to be one loop stays so in later programs of the
/// same kernel.
class LoopNames {
 public:
  /// All these are names of one loop. Which of them stands for all.
  const std::string& Unite(const std::vector<std::string>& names);
  /// Whether loops that have been named before are one by now: what has been built with their names is not up to date.
  bool HasChanged() const { return has_changed_; }
  void Start() { has_changed_ = false; }
  /// A short name for a long one.
  size_t Number(const std::string& name);

 private:
  size_t Find(size_t number) const;
  std::map<std::string, size_t> numbers_{};
  std::vector<const std::string*> texts_{};
  std::vector<size_t> same_{};  // of each: an older one that is the same, or itself
  bool has_changed_ = false;
};

class StepBuilder {
 public:
  StepBuilder(Program& program, Agent& agent, std::map<std::string, int>& families, LoopNames& names)
      : program_(program),
        kernel_(*program.kernel),
        agent_(agent),
        families_(families),
        names_(names),
        scope_(program, agent),
        places_(program, agent, scope_),
        slotless_(Slotless(kernel_, *agent.worker)) {}

  void Run();

 private:
  struct Ended {
    std::string rest;  // the integer it asked about
    int family = -1;
    bool turns_ring = false;
  };
  struct Around {
    std::string path;  // which iteration of which loops, as text
    std::vector<int> loops;
    std::vector<std::string> rests;          // the integer each asks about
    std::vector<Ended> behind;               // loops that stand before, here
    std::span<const ir::Op> rest_of_region;  // what follows here
    int64_t turns = 1;                       // that the loops make whose trips are written out
  };

  void Unknown(const ir::Op& op, std::string what) { program_.unknowns.push_back({op.span, std::move(what)}); }
  Step& Push(StepKind kind, const ir::Op* op);
  int Here() const { return static_cast<int>(agent_.steps.size()); }
  int Depth() const { return static_cast<int>(around_.loops.size()); }
  int FamilyOf(const std::string& text, int64_t step);
  void RaiseThreshold(int family, int64_t ordinal);
  void Emit(const ir::Region& region);
  void EmitOp(const ir::Op& op);
  void EmitIf(const ir::Op& op);
  /// The first branch of `op` where the condition holds, `otherwise`, if there is one, where not.
  void EmitBranches(const ir::Op& op, const ir::Scalar& resolved, Condition condition, const std::function<void()>& otherwise);
  void Keep(const Condition& condition);
  /// In tiles of others an instance passes over their slots, as a sum, which is shown to be right, and executed as the loops that
  /// the others run: nobody is then further ahead than these are.
  void EmitTurn(const ir::Op& op, const ir::Scalar& resolved, const WhoseTurn& turn);

  void EmitLoop(const ir::Op& op);
  /// for name = lo to hi step n. `turns`: of the loops around, and then of this one, too, where it is written out.
  bool Range(const ir::Op& op, Loop& loop, std::string& rest, int64_t& turns);
  /// for_tiles: the ordinal counts the block's tiles.
  bool Tiles(const ir::Op& op, Loop& loop, std::string& rest);
  /// Loops of different roles are one family when they have the same range, but for whole steps, stand in the same iteration of the
  /// same loops and turn a ring together the same number of times before, or turn none and come as the n-th of that range.
  std::string LoopFamily(const ir::Op& op, const std::string& extent);
  /// The loop further on in the region that turns a ring that `branch` turns, too, if it asks about the integer `rest`: the branch
  /// is a part of its first iteration that stands in front of it (overlap_products).
  std::optional<Ended> LoopAhead(const ir::Op& branch, const std::string& rest);

  Condition Read(const ir::Scalar& scalar, const ir::Op& op);
  /// Whether it asks about an integer that has a name, or about the iteration of no more than one loop.
  bool IsOfOneLoop(const ir::Scalar& value) const;
  static Condition Not(Condition condition);
  /// A truth value known by its text: the same for all who ask in the same iteration.
  Condition Opaque(const std::string& text);
  static bool IsOfLaunch(const std::string& text);
  /// What is known at the launch (dimensions, whether a map may be used) is one value for the whole kernel.
  void Choose(Condition& condition, const std::string& text);
  Condition Positive(const ir::Scalar& value, const ir::Op& op);
  /// The same about the integer as whoever has no loop that runs to it knows it.
  Condition NamedAlike(const ir::Scalar& value);
  /// Between what the integer of the condition, a remainder in `value`, lies.
  void Bound(const Condition& condition, const ir::Scalar& value);
  /// Whether the integer of `linear` is one that a loop before, around or further on runs to: `condition` then asks about that.
  bool AskLoops(const Linear& linear, const ir::Op& op, Condition& condition);
  /// The ordinals of the loops outside `depth` become part of the integer's name.
  static void Fold(Linear& linear, int depth);
  /// A condition on ordinals alone: from some iteration on it does not change any more.
  void OrdinalThreshold(const Linear& linear, const ir::Op& op);

  Program& program_;
  const ir::Kernel& kernel_;
  Agent& agent_;
  std::map<std::string, int>& families_;
  LoopNames& names_;
  Scope scope_;
  Places places_;
  std::map<std::string, std::set<const ir::Op*>> slotless_;
  Around around_{};
  std::map<std::string, int> turns_;
  struct Planned {
    std::string extent, name;
  };
  std::map<const ir::Op*, Planned> planned_;  // families of loops that were asked about ahead
  std::vector<int> kept_{};                   // families (Family::kept) of the conditions around
  int elected_ = 0;
  bool passes_over_ = false;  // only rings turn
};

}  // namespace tkc::certify

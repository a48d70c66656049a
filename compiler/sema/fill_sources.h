// SPDX-License-Identifier: MIT
// Where elements of a tile may be missing: sources of fill taint (fill.h), each a bound that a range of positions may pass, and
// what the loops around a statement say about it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/fill.h"
#include "compiler/sema/symbolic_table.h"
#include "compiler/symbolic/int_range.h"
#include "compiler/symbolic/solved_names.h"

namespace tkc::sema {

/// A bound behind which elements of a tile may be missing. For a block that begins at `start` of an axis that ends at `bound`, the
/// elements at the positions i with start + i >= bound do not exist (`upper`); before a lower bound, those with start + i < bound
/// do not. A comparison of positions with a bound has a source as well, even if all elements exist there.
struct Source {
  /// A rearrangement that the tile has gone through: its rows were cut or joined, or it was put beside other tiles. It now has
  /// `count` positions of an axis, from `first` on.
  struct Change {
    std::string text{};
    int64_t first = 0, count = 0;
    bool operator==(const Change& other) const { return text == other.text; }
  };
  symbolic::Scalar difference;  // start - bound
  bool upper = true;
  int age = 0;                             // how many iterations ago the tile was read: 0 in this one
  bool is_read = false;                    // a read ends at the bound, not only a comparison
  std::vector<symbolic::Scalar> starts{};  // where the reads that end at the bound begin
  std::vector<Change> changes{};           // rearrangements since the read; the positions i are those before them
  std::vector<symbolic::Scalar> tested{};  // where the comparisons with the bound begin
};

/// Stands for a source that is no longer followed: of a loop that has ended, or of a tile that was rearranged too often.
inline constexpr const char* kOld = "old";

/// What an operation makes of the classes of its operands.
using OfElements = std::function<Fill(const std::vector<Fill>&)>;

/// The values of which `scalar` is the minimum (or maximum, by `kind`). A minimum inside a sum counts too: `min(a, b) - c` has the
/// values `a - c` and `b - c`. If there is none, `scalar` itself.
std::vector<symbolic::Scalar> ArgumentsOf(const symbolic::Scalar& scalar, symbolic::Kind kind);

class FillSources {
 public:
  FillSources(const typed::Kernel& kernel, const Steps& steps) : kernel_(kernel), steps_(steps) {}

  /// Call it before the code of a worker, which has `instances` instances, is walked. Sources that are known already stay.
  void Begin(SymbolicTable& table, typed::VarId instance, int64_t instances);
  /// A loop or an axis of the grid over `var`; Leave ends the innermost.
  void Enter(typed::VarId var, const typed::Expr& lo, const typed::Expr& hi, int64_t step);
  void Leave() { around_.pop_back(); }
  /// Adds the integer comparisons in the condition to the facts, as true or, without `holds`, as false. Forget(n) drops them again,
  /// if n is what Facts() said before.
  void Assume(const typed::Expr& condition, bool holds = true);
  size_t Facts() const { return facts_.size(); }
  void Forget(size_t facts) { facts_.resize(facts); }
  /// What an operation on tiles makes of elements that are missing at the source along `axis`. Where it is not known any more where
  /// that was, the tiles need not miss the same ones.
  Fill WhereMissing(const std::vector<const Taint*>& taints, int axis, int source, const OfElements& apply) const;
  /// The variables entered and not left, the outermost first.
  const std::vector<typed::VarId>& around() const { return around_; }
  /// The name of a variable in formulas; loops in step share one.
  std::string NameOf(typed::VarId var) const;

  const Source& At(int source) const { return sources_[source]; }
  int Intern(Source source);
  /// The source along `axis` of a tile that becomes one of another shape.
  int Reshaped(int source, int axis, const typed::Type& from, const typed::Type& to);
  struct AlongAxis {
    int source;
    int axis;
  };
  /// The source of which that along `axis` is, if the tile's rows were cut and are now joined as they were: into the same rows,
  /// where those are missing whole, or by way of a column, in which each element has a place of its own, and may have been
  /// repeated.
  std::optional<AlongAxis> ShapedBack(int source, int axis, const typed::Type& from, const typed::Type& to);
  /// The source along the columns of a tile that is put beside others: it has `count` from `first` on.
  int Beside(int source, int64_t first, int64_t count);
  /// What `Beside` made that source of, and which of the tiles of `count` columns beside each other it is of, if that was the last
  /// change.
  struct OfPiece {
    int source;
    int64_t piece;
  };
  std::optional<OfPiece> PieceOf(int source, int64_t count);
  /// Of a tile that changed so often that where elements are missing is not known any more.
  bool IsOftenChanged(int source) const;
  /// Elements at or past `bound`, or before it, of a tile whose first position is `start`.
  void AddSource(std::map<int, Fill>& axis, const symbolic::Scalar& start, const symbolic::Scalar& bound, bool upper, Fill fill,
                 bool is_read = false);
  /// The same of a read where `extent` positions from `start` on can pass the bound, else nothing.
  void AddEnd(std::map<int, Fill>& axis, const symbolic::Scalar& start, int64_t extent, const symbolic::Scalar& bound, Fill fill);
  void AddBegin(std::map<int, Fill>& axis, const symbolic::Scalar& start, const symbolic::Scalar& bound, Fill fill);
  /// The source, seen by a part that has `extent` positions from `offset` on; nothing if the part has none of its own.
  static std::optional<Source> Moved(Source source, const symbolic::Scalar& offset, int64_t extent);
  /// The source of a part that has its place in a tile from `offset` on, seen by the tile.
  int Within(int source, const symbolic::Scalar& offset);
  /// Whether `extent` positions can pass the bound, as far as the read is known.
  bool CanMiss(const Source& source, int64_t extent);
  /// Whether positions from `start` on are at `limit` or behind it (or before it) wherever elements of the source are missing.
  bool LiesBeyond(int source, const symbolic::Scalar& start, const symbolic::Scalar& limit, bool upper);
  /// The sources of a value, as the next iteration of `loop` sees them.
  Taint Older(const Taint& taint, const typed::Stmt& loop);
  /// A name that stands for several numbers.
  struct Numbers {
    std::string name{};
    int64_t first = 0, end = 1, step = 1;
  };
  /// Of the instance walked and the loops around, those that the formula mentions; none has a range that is not known.
  std::vector<Numbers> NumbersIn(const symbolic::Scalar& scalar) const;
  /// The source where the name has that number, and all sources of a value.
  int At(int source, const std::string& name, int64_t number);
  Taint At(const Taint& taint, const std::string& name, int64_t number);
  /// The source that the instance walked finds where instance `first` finds `source`, and the next one `next`, and so on, evenly
  /// apart.
  std::optional<int> OfInstances(int source, int next, int64_t first);
  /// The same as instance `number` sees it.
  int OfInstance(int source, int64_t number) { return At(source, table_->NameOf(instance_), number); }
  /// A value of which it is not known any more what `name` was, as of one that outlives the loop over it.
  Taint Forgotten(const Taint& taint, const std::string& name);
  bool IsOfInstance(const symbolic::Scalar& scalar) const {
    return instance_ != typed::kNone && symbolic::Mentions(scalar, table_->NameOf(instance_));
  }
  /// A value that other instances see, too: which of them it is from is not known there.
  Taint OfAnyInstance(const Taint& taint) {
    return instance_ == typed::kNone ? taint : Forgotten(taint, table_->NameOf(instance_));
  }
  /// Between which numbers an integer lies, of which extents and indices are made.
  symbolic::IntRange RangeOf(const symbolic::Scalar& scalar) const;
  /// Whether a range in sight begins or ends there.
  bool IsEndInSight(const symbolic::Scalar& scalar) const;
  /// a <= b, as far as minima, maxima and selections show it, and that extents and ordinals are not negative.
  bool IsAtMost(const symbolic::Scalar& a, const symbolic::Scalar& b, int depth = 0) const;
  /// The index in sight that runs along the source; null: none.
  const typed::Var* IndexOf(int source) const;
  /// The loop over blocks, ended in front of `place`, in which reads begin that end there: of such a source nothing is known any
  /// more but where those began. Null: none.
  const typed::Var* EndedLoopOf(int source, Span place) const;
  /// Else the index is a single number, and has no `pos` and no `valid`.
  bool RunsOverBlocks(const typed::Var& index) const;
  /// Whether comparisons that ask what lies there ask about elements of blocks of an index in sight, as `valid` does.
  bool AsksForBlocks(int source) const;
  /// Whether what is missing lies behind the range of an index in sight, as `valid` says.
  bool IsEndOfRange(int source) const { return AreOfBlocks(source, sources_[static_cast<size_t>(source)].starts); }
  /// `.rows(w)` or `[32 :+ 32]`: the part of its block that a tile of so many positions is, of which this is the end of the range.
  std::string PartText(int source, int64_t extent) const;
  /// Whether `source` is of reads that are shifted against the blocks of the index whose range ends at `end`, by less than a block:
  /// what they miss of such a block was padded.
  bool IsShifted(int source, int end) const;
  /// Whether reads that end at `source` begin where blocks of `index` do, or shifted by what the index does not change: the
  /// elements' numbers are then `pos(index)`, and that much more.
  bool BeginsWithBlocks(int source, const typed::Var& index) const;
  /// By how much the only read that ends there is shifted against the blocks of `index`: ` + 64`; empty where that is not known.
  std::string ShiftText(int source, const typed::Var& index) const;
  /// The dimension or number at which a tensor that was read ends; empty if it is neither.
  std::string BoundText(int source) const;
  /// Choosing by the end of its range asks for what a read of the index itself would, if its last block may be short.
  void TakeAsRead(int end);

 private:
  struct Range {
    symbolic::Scalar lo, hi;
    int64_t step = 1;
  };

  bool IsOfMutable(const typed::Expr& expr) const;
  /// The formula with dimensions in terms of others, as requirements of the launch say.
  symbolic::Scalar AsRequired(const symbolic::Scalar& scalar) const { return solved_ ? solved_->PutIn(scalar) : scalar; }
  void AssumeOfBlocks(const symbolic::Scalar& not_negative);
  bool IsMultiple(const symbolic::Scalar& scalar, int64_t divisor) const;
  /// a - b is at least so much, as far as a requirement or a condition around says.
  bool IsAbove(const symbolic::Scalar& a, const symbolic::Scalar& b, int64_t least) const;
  /// The same of a - b where minima, choices or quotients are in it, and the ranges in sight count, too.
  bool IsAboveInAllCases(const symbolic::Scalar& difference, int64_t least) const;
  /// The end of the range of an index in sight, as a part of its block sees it that begins `part` positions behind the block's
  /// first.
  struct RangeEnd {
    const std::string* index;
    symbolic::Scalar part;
  };
  std::optional<RangeEnd> RangeEndedAt(int source) const;
  /// Whether that is where the source lies, and the places those where the part begins.
  bool AreOfBlocks(int source, const std::vector<symbolic::Scalar>& places) const;
  /// Whether `part` is a position within a block of `step`, for each instance.
  bool IsInBlock(const symbolic::Scalar& part, int64_t step) const;
  std::vector<symbolic::Scalar> Extremes(const symbolic::Scalar& scalar, bool greatest) const;
  bool CanExceed(const symbolic::Scalar& start, int64_t extent, const symbolic::Scalar& bound);
  bool CanPrecede(const symbolic::Scalar& start, const symbolic::Scalar& bound);
  bool IsNonNegative(const symbolic::Scalar& scalar) const;
  /// Whether it is a name of a number that can't be negative: an extent, an ordinal, an index of a range that begins at such.
  bool IsCount(const symbolic::Scalar& atom, int depth = 0) const;
  template <typename Holds>
  bool OfEachInstance(const symbolic::Scalar& scalar, const Holds& holds) const;
  symbolic::Scalar WithInstance(const symbolic::Scalar& scalar, int64_t number) const;

  const typed::Kernel& kernel_;
  const Steps& steps_;
  SymbolicTable* table_ = nullptr;
  typed::VarId instance_ = typed::kNone;
  int64_t instances_ = 1;
  std::vector<Source> sources_;
  std::map<std::string, int> ids_;  // text to place in sources_
  std::map<std::string, Range> ranges_;
  std::vector<typed::VarId> around_;
  std::optional<symbolic::SolvedNames> solved_;
  /// On launches that are not refused, under the conditions around: `scalar` is not negative, or else a multiple of `divisor`.
  struct Fact {
    symbolic::Scalar scalar;  // AsRequired
    int64_t divisor = 0;
  };
  std::vector<Fact> facts_;
};

}  // namespace tkc::sema

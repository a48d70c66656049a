// SPDX-License-Identifier: MIT
// Fill taint (lang-spec, ti-11 to ti-13): an abstract run of all workers over the classes of fill.h.
//
// Loops run until their variables stand still, starting from what an earlier visit found; what a receive brings is the join of
// what the sends to its slot send (the master nest knows which those are), or of all sends to its pipe, found by running all
// workers until that stands still; where each instance has a pipe of its own, what lies evenly apart in these is one source, whose
// place depends on the instance; then once more, reporting. A value that is carried round a loop is older by one step: its
// sources are those of the iteration before. Statements are in check_fill_taint.cpp, expressions in fill_taint_expr.cpp,
// fill_taint_positions.cpp and fill_taint_rearranged.cpp, what is said in fill_taint_report.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/fill.h"
#include "compiler/sema/fill_sources.h"
#include "compiler/sema/symbolic_table.h"

namespace tkc::sema {

class FillTaint {
 public:
  FillTaint(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics);

  void Check();

 private:
  /// start + 0, 1, 2, .. along an axis: positions, shifted, transposed or a part.
  struct Positions {
    symbolic::Scalar start;
    int axis = 0;
    symbolic::IntRange range{};  // of all that the tile they are a part of holds
  };

  /// Keeps the launch scalar that the requirement says is above zero.
  void NotePositive(const typed::Expr& requirement);
  void RunAll();
  void Run(const typed::Block& block);
  void Run(const typed::Stmt& stmt);
  void RunLoop(const typed::Stmt& stmt);
  void RunIf(const typed::Stmt& stmt);
  void Send(const typed::Stmt& stmt);
  void Receive(const typed::Stmt& stmt);
  /// What is put in place of a part of a tile, as that sees it.
  Taint WithinTile(Taint part, const typed::Stmt& stmt);
  /// `differ`: whether its sends bring different sources.
  Taint FieldOf(const typed::Stmt& receive, size_t field, bool& differ);
  /// What one send brings: of each field, and where each instance has a pipe of its own, into whose, for each of the numbers that
  /// say so.
  struct Sent {
    std::vector<Taint> fields{};
    symbolic::Scalar ring{};
    std::vector<FillSources::Numbers> numbers{};
    bool operator==(const Sent& other) const { return fields == other.fields; }
  };
  /// Joins what goes into each instance's pipe, by its number, with `rings`; `numbers` of those of `sent` are chosen already.
  void JoinRings(const Sent& sent, const symbolic::Scalar& ring, const Taint& taint, size_t numbers,
                 std::map<int64_t, Taint>& rings);
  /// What the instance walked finds in its own.
  Taint OfOwnRing(std::map<int64_t, Taint> rings);
  /// Takes the source of the instance walked out of each ring, as its instance sees it, if all have it.
  bool TakeFrom(std::map<int64_t, Taint>& rings, int axis, int source, std::map<int, Fill>& own);
  /// What `stmt` assigns. A sum over the iterations of a loop around it, to which an iteration adds 0 where its elements are
  /// missing, is not missing anything there; nor is a maximum that -inf is put to.
  Taint Assign(const typed::Stmt& stmt);
  /// The fill that changes nothing if `expr` is a sum (a maximum, a minimum) of `var` once and of other terms, which are added to
  /// `terms`.
  std::optional<Fill> TermsBeside(typed::VarId var, const typed::Expr& expr, std::vector<Taint>& terms);
  /// Whether the source is of the index of a loop that `var` outlives.
  bool IsOfLoopOver(int source, typed::VarId var);
  /// Variables declared outside of `stmt` that it assigns.
  const std::vector<typed::VarId>& Assigned(const typed::Stmt& stmt);
  void CollectAssigned(const typed::Block& block, std::set<typed::VarId>& vars);
  std::vector<Taint> Get(const std::vector<typed::VarId>& vars) const;
  void Set(const std::vector<typed::VarId>& vars, const std::vector<Taint>& taints);

  Taint Eval(const typed::Expr& expr);
  Taint EvalKind(const typed::Expr& expr);
  /// What an operation makes of tiles, element by element.
  Taint Combine(const std::vector<const Taint*>& taints, const OfElements& apply) const;
  /// Argument `i`, without the sources of an axis along which it is repeated.
  Taint Operands(const typed::Expr& expr, size_t i);
  Taint Call(const typed::Expr& expr);
  Taint Convert(const typed::Expr& expr);
  Taint Binary(const typed::Expr& expr);
  /// Keeps a launch scalar in `factor` by which an infinity was multiplied, if nothing says of what sign it is.
  void NoteSign(const typed::Expr& factor);
  Taint Select(const typed::Expr& expr);
  /// A choice by the end of an index's range is about the elements of its blocks: these exist, also where a shifted read of them
  /// found nothing.
  void DropShifted(const std::map<int, Fill>& chosen_by, std::map<int, Fill>& axis);
  Taint Read(const typed::Expr& expr);
  /// What is missing of an access along the axes that it keeps, the first of which is the tile's axis `which`.
  void AddKept(const typed::Expr& access, int which, Fill fill, Taint& taint);
  Taint Gather(const typed::Expr& expr);
  Taint Part(const typed::Expr& expr);
  Taint Reshape(const typed::Expr& expr);
  /// Where the columns of `from` are missing, seen by the tile it becomes, if that is along columns: rows that are cut where tiles
  /// were put beside each other, each of which lacks the same ones, and rows that are put beside each other. Else nothing.
  std::optional<std::map<int, Fill>> ColumnsReshaped(const std::map<int, Fill>& columns, const typed::Type& from,
                                                     const typed::Type& to);
  bool MayMiss(const typed::Expr& operand, int axis, int source);
  /// What a name was bound to that is never assigned; null for all else.
  const typed::Expr* LetOf(const typed::Expr& expr) const;
  /// Whether no element is below zero (it may be a NaN), as far as type and outermost functions tell.
  bool IsNonNegative(const typed::Expr& expr) const;
  /// Whether the reduction is the same with and without elements of this class.
  bool IsNeutral(const typed::Expr& reduce, Fill fill) const;
  /// Whether it is what a read brings, perhaps converted or turned: the fill of the read is its fill.
  bool IsAsRead(const typed::Expr& expr) const;
  Taint Cumsum(const typed::Expr& expr);
  Taint Cat(const typed::Expr& expr);
  Taint Reduce(const typed::Expr& expr);
  Taint MatMul(const typed::Expr& expr);
  Taint OfPositions(const typed::Expr& expr);
  /// Nothing where they may wrap around.
  std::optional<Positions> PositionsOf(const typed::Expr& expr);
  std::optional<Positions> PositionsAsTheyAre(const typed::Expr& expr);
  /// The class of ordinary elements, else `fill`: numbers of elements are not below zero.
  Fill OfOrdinary(const typed::Expr& expr, Fill fill);
  /// An integer scalar whatever its width.
  std::optional<symbolic::Scalar> IntegerOf(const typed::Expr& expr);
  void AddLimits(std::map<int, Fill>& axis, const symbolic::Scalar& start, const symbolic::Scalar& limit, bool upper, Fill fill);
  /// `pos(n) < N` is false where elements past `N` stand, and true in front of it.
  bool Comparison(const typed::Expr& expr, Taint& taint);

  bool FirstReport(const typed::Expr& expr);
  /// The messages are of the first of the sources at which elements are `missing`; the others say what else has to be mended.
  void AddHelp(DiagnosticBuilder& report, const typed::Expr& operand, int axis, const std::vector<int>& missing,
               const std::string& neutral);
  void AddHelpBeyondTensor(DiagnosticBuilder& report, const typed::Var& index, int axis, const std::vector<int>& missing,
                           const std::string& neutral);
  static const typed::Expr& ReducedOperand(const typed::Expr& reduce);
  void ReportReduce(const typed::Expr& expr, const std::vector<int>& missing, Fill fill);
  void ReportAnyAll(const typed::Expr& expr, const std::vector<int>& missing, const char* along);
  void ReportSummed(const typed::Expr& expr, int axis, int source);
  void ReportMatMul(const typed::Expr& expr, const std::vector<int>& missing, Fill x, Fill y);
  void ReportInfinite(const typed::Expr& expr, const typed::Expr& operand);

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  const Steps& steps_;
  Diagnostics& diagnostics_;
  FillSources sources_;
  SymbolicTable* table_ = nullptr;
  bool reporting_ = false;
  std::vector<Taint> vars_;
  std::set<int> positive_;                                  // launch scalars that a `require` holds above zero
  std::map<typed::VarId, const typed::Expr*> lets_;         // what each was bound to last
  const typed::Expr* unsure_ = nullptr;                     // the launch scalar whose sign made something of an infinity unknown
  std::vector<const typed::Stmt*> loops_;                   // around the statement that runs, the outermost first
  std::map<uint32_t, const typed::Expr*> maxima_of_zeros_;  // by where they stand: those that 0 for what is missing suits
  std::map<typed::VarId, Positions> positions_;             // of variables that hold positions and are never assigned
  std::map<const typed::Stmt*, Sent> sent_;                 // by each send
  std::map<int, typed::PipeId> mixed_;                      // sources of what is received from a pipe whose sends differ in them
  std::map<const typed::Stmt*, std::vector<typed::VarId>> assigned_;
  std::map<const typed::Stmt*, std::vector<Taint>> heads_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> reported_;
};

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Elaborates one kernel under one instance and one schedule set. Its methods stand in the files that the comments among them name;
// what needs the finished tree (endpoints, grid map, fill taint) is a pass of its own.
//
// Expressions append to the block that is being filled: receives and the `let`s of inlined functions, in order of evaluation.
// A value of kind kError has been reported; nothing is reported about it again.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/check.h"
#include "compiler/sema/copy_budget.h"
#include "compiler/sema/handed_on.h"
#include "compiler/sema/scope.h"
#include "compiler/sema/symbolic_table.h"
#include "compiler/sema/typed.h"
#include "compiler/sema/unknown_names.h"
#include "compiler/sema/unrolled_loops.h"
#include "compiler/support/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace tkc::sema {

/// What the kernels of a run have in common.
struct Context {
  std::map<std::string, const ast::FnDecl*> fns;
  const CheckOptions* options = nullptr;
};

/// One kernel to elaborate.
struct Variant {
  const ast::KernelDecl* kernel = nullptr;
  const ast::InstanceDecl* instance = nullptr;  // may be null
  const ast::ScheduleDecl* schedule = nullptr;  // may be null
};

/// A feature used that is specified but not implemented; reported if nothing else is wrong.
struct Gate {
  Span span;
  std::string what;  // "`each`"
  std::string help;  // what to write instead, or nothing
};

struct RangeInfo {
  typed::ExprPtr lo, hi;
  typed::ExprPtr edge;  // where elements of its blocks end to exist; null: at `hi`
  int64_t step = 1;
  bool is_block = false;
  bool ok = false;
};

/// The target of `<-` or `+=` on a tensor: the elements written.
struct Access {
  typed::ParamId tensor = typed::kNone;
  std::vector<typed::AxisRange> axes;
  bool transposed = false;
  typed::Type type;  // of the tile stored, as seen after .T; a scalar when all axes are dropped
  bool ok = false;
};

/// Of a loop over numbers: turns that are written out where something needs to know them.
inline constexpr int64_t kMostUnrolled = 64;
inline constexpr int64_t kMostLoadedTogether = 8;  // turns of a loop that are written out for the sake of their loads

enum class Choice : uint8_t { kAtLaunch, kAlways, kNever };

class Elaborator {
 public:
  /// `written_out`: loops over numbers to write out, whatever their index is used for.
  Elaborator(const Context& context, const Variant& variant, const std::set<SourcePlace>& written_out, Diagnostics& diagnostics)
      : context_(context), variant_(variant), written_out_(written_out), diagnostics_(diagnostics), symbolic_(kernel_) {}

  typed::Kernel Run();
  /// Forms that a correct kernel uses and this tkc can't compile.
  const std::vector<Gate>& gates() const { return gates_; }
  /// Loops with many turns that load from tensors where their index says, which are not written out.
  const std::set<SourcePlace>& loops_of_loads() const { return loops_of_loads_; }
  /// Whether the condition of the schedule set is for the launcher, or compile-time parameters have decided it. A set that is never
  /// taken is elaborated no further than that.
  Choice choice() const { return choice_; }

 private:
  // check_decl.cpp
  void BindStaticParams();
  const ast::Expr* StaticParamSource(const ast::StaticParam& param);
  void DeclareParams();
  void DeclareParam(const ast::Param& param);
  void DeclareTensor(const ast::Param& param, typed::Param& tensor);
  void DeclareDims(const ast::Expr& extent);
  bool SetPreset(const ast::Expr& preset, typed::Param& param);
  void DeclareWork(const ast::WorkDecl& work);
  void CheckDims();
  void CheckRequires();
  /// Whether a launcher can compute it: without elements of tensors and functions that only GPUs have. False if reported; `what`
  /// names what it is computed for.
  bool IsOfLaunch(const typed::Expr& expr, std::string_view what);
  /// Of a tensor. Null if reported.
  typed::ExprPtr Extent(const ast::Expr& extent);
  void DeclareFixed(const ast::Name& name, Symbol symbol, std::string_view what);

  // check_schedule.cpp
  void ElaborateChoice();
  std::optional<typed::CostFormula> FormulaOf(const ast::CallExpr& call);
  typed::VarId DeclareOfLauncher(const std::string& name, DType dtype, Scope& scope);
  void ApplyScheduleItems(typed::Section& section);
  void ApplyScheduleItem(const ast::ScheduleItem& item, typed::Section& section);
  void ApplyDefines(typed::Section& section);
  /// What the schedule set says of a worker, or of all; null if it says nothing.
  const ast::ScheduleItem* ScheduleItemOf(ast::ScheduleItem::Kind kind, std::string_view worker = {}) const;
  void SetOrder(const ast::Expr& value, typed::Section& section);
  void SetCluster(const ast::Expr& value, typed::Section& section);
  int64_t ClusterSize(const ast::Expr& value);
  void SetSplit(const ast::Expr& value, typed::Section& section);
  void SetDepth(const ast::Expr& value, typed::Section& section);
  void CheckDynamic(const ast::GridSection& source, const typed::Section& section);
  void SetPersistent(const ast::Expr& value, typed::Section& section);
  void SetResident(const ast::Expr& value, typed::Section& section);
  void FitSchedules();

  // check_section.cpp
  void SetTurns(typed::Worker& worker);
  void SetSpread(typed::Worker& worker);
  void ElaborateSection(const ast::GridSection& source);
  void ReportData(const ast::Pattern& pattern, std::span<const typed::StmtPtr> lets);
  void DeclareAxis(const ast::GridAxis& axis, typed::Section& section);
  void DeclarePipe(const ast::PipeDecl& pipe, const ast::GridSection& source, typed::Section& section);
  bool AddPipeFields(const ast::TypeExpr& type, const ast::Name& name, typed::Pipe& pipe);
  void CheckAlternates(const ast::WorkerDecl& source, typed::Worker& worker);
  void ElaborateWorker(const ast::WorkerDecl& source, typed::Section& section, size_t index);

  // check_stmt.cpp
  void CheckStmts(const std::vector<ast::StmtPtr>& stmts);
  void CheckBlock(const ast::Block& block);
  void CheckStmt(const ast::Stmt& stmt);
  void CheckLet(const ast::LetStmt& stmt);
  void CheckVar(const ast::VarStmt& stmt);
  void CheckIf(const ast::IfStmt& stmt);
  void DeclareValue(const ast::Name& name, Value value);
  /// The fields of a tuple's type, those that are repeated as often; none if reported.
  std::vector<const ast::TypeExpr::Field*> FieldsOf(const ast::TypeExpr& tuple);
  /// `let name: (T, U) = value`: each value as its field says.
  Value CoerceTuple(Value value, const ast::TypeExpr& type, const ast::Name& name);
  void BindLet(const ast::Pattern& pattern, const ast::TypeExpr* type, Value value, bool is_mutable);
  void BindName(const ast::Name& name, Value value, const std::optional<typed::Type>& declared, bool is_mutable);
  void NameAnew(const Value& value, const std::string& name);
  Value BindNew(const std::string& name, Value value, Span span);
  typed::VarId AddVar(const std::string& name, typed::Type type, typed::VarKind kind, typed::Level level, Span span);
  typed::Stmt& Append(typed::StmtKind kind, Span span);

  // check_assign.cpp
  void CheckAssign(const ast::AssignStmt& stmt);
  void AssignName(const ast::AssignStmt& stmt, const ast::NameExpr& target, Value value);
  void WarnOfRounding(const ast::AssignStmt& stmt, const ast::NameExpr& target, const Symbol& symbol);
  Value Combined(const ast::AssignStmt& stmt, Value old, Value value);
  bool ReportGrowth(const ast::AssignStmt& stmt, const Value& old, const Value& value);
  void ReportTileForNumber(const ast::NameExpr& target, const Symbol& symbol, const Value& value);
  void AssignTuple(const ast::AssignStmt& stmt, const ast::TupleExpr& target, Value value);
  void AssignPart(const ast::AssignStmt& stmt, const ast::MethodExpr& target, Value value);
  const Symbol* AssignableVar(const ast::NameExpr& target, ast::AssignOp op);

  // check_loop.cpp
  void CheckFor(const ast::ForStmt& stmt);
  bool UnrollFor(const ast::ForStmt& stmt, const RangeInfo& range);
  RangeInfo CheckRange(const ast::Range& range);
  /// Whether a bound leaves room for the indices of a range; else an error.
  bool HasIndices(const typed::Expr& bound);
  /// What cuts the last block of a range that ends with the nearer of two bounds, where the other lies whole blocks away; or null.
  typed::ExprPtr EdgeOf(const typed::Expr& lo, const typed::Expr& hi, int64_t step);

  // check_traffic.cpp
  /// A target `x[..]` of a variable, not of a tensor.
  bool ReportSliceOfVariable(const ast::Expr& target);
  void CheckArrow(const ast::ArrowStmt& stmt);
  void CheckSend(const ast::ArrowStmt& stmt, typed::PipeId pipe);
  void CheckStore(const ast::Expr& target, const ast::Expr& value, typed::StoreOp op, bool negate, Span op_span, Span span);
  bool ParseSendTarget(const ast::Expr& target, typed::Stmt& send, const typed::Pipe& pipe, typed::Type& type);
  /// Whether an integer is made of numbers and of that of the worker's instance only.
  bool IsOfInstance(const typed::Expr& expr) const;
  /// The same with what names of such integers stand for.
  typed::ExprPtr WithoutNames(const typed::Expr& expr) const;
  bool IsRing(const Value& ring, const typed::Pipe& pipe);  // if not, it is reported
  bool SendToRing(const ast::IndexExpr& target, typed::Stmt& send, const typed::Pipe& pipe);
  bool SendToField(const ast::FieldExpr& target, typed::Stmt& send, const typed::Pipe& pipe, typed::Type& type);
  bool SendToPart(const ast::MethodExpr& target, typed::Stmt& send, const typed::Pipe& pipe, typed::Type& type);
  bool SlotValues(const ast::ArrowStmt& stmt, Value value, const typed::Pipe& pipe, typed::Stmt& send);
  bool CheckStoreMode(const Access& access, typed::StoreOp op, Span op_span);
  void CheckTrafficLevel(Span span, std::string_view what);
  void ReportWholeTensor(const ast::NameExpr& target);

  // check_expr.cpp
  Value Eval(const ast::Expr& expr);
  /// All of them, in order; false if one is an error.
  bool EvalAll(const std::vector<ast::ExprPtr>& exprs, std::vector<Value>& values);
  Value EvalChecked(const ast::Expr& expr);
  Value EvalName(const ast::NameExpr& expr);
  Value EvalIf(const ast::IfExpr& expr);
  Value EvalBranch(const ast::Block& block);
  Value EvalField(const ast::FieldExpr& expr);
  Value EvalBlockField(const BlockIndex& block, const ast::FieldExpr& expr);
  /// Reports that nothing in sight has the name. `index`: what runs over the axis that it is an index of, if it is one.
  void UnknownName(const std::string& name, Span span, NameUse use = NameUse::kValue, const std::string& index = "");

  // check_operators.cpp
  Value EvalUnary(const ast::UnaryExpr& expr);
  Value EvalBinary(const ast::BinaryExpr& expr);
  Value ShiftBlock(const BlockIndex& block, Value offset, bool negate, Span span);
  Value Arithmetic(typed::Op op, std::string_view spelling, Value a, Value b, Span span, Span op_span);
  Value MatMul(const ast::BinaryExpr& expr, Value a, Value b);
  Value Logic(typed::Op op, std::string_view spelling, Value a, Value b, Span span);

  // check_coerce.cpp
  void NoteDeclaration(const Value& value, DiagnosticBuilder& report) const;
  /// The common shape of two operands, or a report that labels both.
  std::optional<typed::Type> Broadcast(const Value& a, const Value& b, std::string_view spelling, Span span);
  /// Brings two numeric operands to one element type, `compute`: 16-bit floats to f32. False if reported.
  bool Unify(Value& a, Value& b, bool compute, std::string_view spelling, Span span);
  bool TakeType(Value& number, DType dtype, const Value& met);
  /// The value as `type`: scalars fill tiles; conversions only where `convert`. Null if reported; `what` names the place.
  /// `target`: the axes of what is stored to, if it is a tensor.
  typed::ExprPtr Coerce(Value value, typed::Type type, bool convert, std::string_view what, Span what_span,
                        const std::vector<typed::AxisRange>* target = nullptr);
  /// Where a value is as large as what one instance of the worker has of `target`, that part of it. False and nothing said if not.
  bool SuggestOwnPart(const typed::Type& part, const typed::Type& whole, Span target, DiagnosticBuilder& report) const;
  typed::ExprPtr IntegerScalar(Value value, std::string_view what);  // grid-level; null if reported
  static constexpr std::string_view kConstantHelp = "write a number or a compile-time parameter: `kernel k<BM = 128>(..)`";
  std::optional<int64_t> Constant(const ast::Expr& expr, std::string_view what, std::string_view help = kConstantHelp);
  std::optional<int64_t> ConstantOf(const Value& value, std::string_view what, std::string_view help = kConstantHelp);

  // check_part.cpp
  Value EvalMethod(const ast::MethodExpr& expr);
  const Symbol* ReceivedPipe(const ast::ReceiveExpr& expr);
  bool RingOfReceive(const ast::ReceiveExpr& expr, const typed::Pipe& pipe, typed::ExprPtr& ring);
  Value EvalReceive(const ast::ReceiveExpr& expr, const ast::Pattern* wish);
  /// Offset and size of part `index` of an axis of `extent` elements.
  struct PartOf {
    typed::ExprPtr offset;
    int64_t extent = 0;
  };
  std::optional<PartOf> PartIndex(const ast::MethodExpr& method, int64_t extent, Span base, std::string_view described);

  // check_call.cpp
  Value EvalCall(const ast::CallExpr& expr);
  Value CallBuiltin(const ast::CallExpr& expr);
  Value NoSuchFunction(const ast::CallExpr& expr);
  /// From `least` to `most` of them, all numbers or all block indices; false if reported.
  bool EvalArguments(const ast::CallExpr& expr, size_t least, size_t most, bool takes_block, std::vector<Value>& args);
  Value CallConversion(const ast::CallExpr& expr, DType dtype);

  // check_call_elements.cpp
  Value CallFloatFunction(const ast::CallExpr& expr, typed::Op op, Value x);
  Value CallPow(const ast::CallExpr& expr, std::vector<Value> args);
  Value CallAbs(const ast::CallExpr& expr, Value x);
  Value CallCdiv(const ast::CallExpr& expr, std::vector<Value> args);
  Value CallMinMax(const ast::CallExpr& expr, typed::Op op, std::vector<Value> args);
  Value MinMax(typed::Op op, std::string_view name, Value a, Value b, Span span);
  Value CallWhere(const ast::CallExpr& expr, std::vector<Value> args);
  Value Select(Value condition, Value a, Value b, std::string_view what, Span span);
  Value CallRandom(const ast::CallExpr& expr, std::vector<Value> args, bool uniform);

  // check_call_tile.cpp
  Value CallIota(const ast::CallExpr& expr, const Value& length);
  Value CallReduce(const ast::CallExpr& expr, typed::Op op, int axis, Value x);
  Value CallAnyAll(const ast::CallExpr& expr, typed::Op op, Value x);
  Value CallPositions(const ast::CallExpr& expr, bool valid, Value x);
  Value CallCat(const ast::CallExpr& expr, std::vector<Value> args);
  Value CallReshape(const ast::CallExpr& expr, std::vector<Value> args);
  Value CallCumsum(const ast::CallExpr& expr, std::vector<Value> args);

  // check_call_composed.cpp
  Value Named(const std::string& name, Value value);
  Value FloatTile(const ast::CallExpr& expr, Value x);
  Value AboveMinusInfinity(Value top, Span span);
  Value CallSoftmax(const ast::CallExpr& expr, Value x);
  Value CallOnline(const ast::CallExpr& expr, std::vector<Value> args);
  Value CallRowArgMax(const ast::CallExpr& expr, Value x);
  Value CallRepeat(const ast::CallExpr& expr, std::vector<Value> args);

  // check_fn_call.cpp
  Value CallFn(const ast::CallExpr& expr, const ast::FnDecl& fn);
  bool MatchFnType(const ast::TypeExpr& type, Value& value, const std::string& what, Span decl);
  bool MatchExtent(const ast::Expr& extent, int64_t actual, const Value& value, const std::string& what);

  // check_access.cpp
  /// Says that the name is declared anew in front of the access, if it was that of a block.
  void NoteHiddenBlock(const std::string& name, DiagnosticBuilder& report) const;
  Value EvalIndex(const ast::IndexExpr& expr);
  Value EvalRead(const ast::IndexExpr& expr, typed::ParamId tensor);
  Value EvalGather(const ast::IndexExpr& expr, Access access);
  /// Of an access with columns that choose: what is kept beside them is no row.
  bool ReportRowsNotChosen(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<typed::AxisRange>& axes);
  Value WithFill(typed::ExprPtr access, const ast::IndexExpr& expr);
  typed::ExprPtr FillOf(const ast::Expr& expr, DType dtype);
  Value EvalSlice(const ast::IndexExpr& expr, Value base);
  bool ResolveAxes(const ast::IndexExpr& expr, typed::ParamId tensor, bool is_store, Access& access);
  bool ResolveAxis(const ast::Index& index, const typed::Expr& extent, const typed::Param& param, int dim, bool is_store,
                   typed::AxisRange& axis);
  bool WholeAxis(const typed::Expr& extent, const typed::Param& param, int dim, Span span, typed::AxisRange& axis);
  void BlockAxis(const BlockIndex& block, const typed::Expr& extent, typed::AxisRange& axis);
  Access ResolveTarget(const ast::Expr& expr);
  const Symbol* TensorNamed(const ast::Expr& expr);

  // check_access_report.cpp
  /// Where an access has no two axes because an index stands for single elements, the range of that index and the way out. False
  /// and nothing said if there is none.
  bool SuggestBlocks(const std::vector<typed::AxisRange>& axes, DiagnosticBuilder& report) const;
  bool SuggestBlocks(const typed::Expr& expr, DiagnosticBuilder& report) const;
  /// `X[-1]`, which counts from the end in other languages and is an element that does not exist here.
  bool ReportIndexFromEnd(const ast::Index& index, const typed::Expr& extent, const typed::Param& param);
  /// An index that equals an extent known at launch only: `A[m, K]`.
  bool ReportEndAsElement(const ast::Index& index, const typed::Expr& start, const typed::Expr& extent, const typed::Param& param,
                          int axis);
  /// The index in sight that runs over all of such an axis; "" if none or several do.
  std::string IndexOver(const typed::Expr& extent);
  /// `S[:]`, `Y[m, n]`: an access to elements of a tensor, by the indices that run over its axes, else by a block of the axis'
  /// name.
  std::string ElementsText(const Symbol& tensor);
  /// Indices in front are missing where one that is given goes over the range of a later axis.
  bool SuggestLeadingIndex(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<typed::AxisRange>& axes,
                           DiagnosticBuilder& report);
  /// Whether the index `name` is one of the grid.
  bool IsOfGrid(const std::string& name);
  /// How to do without the whole of an axis.
  std::string HelpToLoop(const typed::Expr& extent);
  void ReportMissingIndex(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<typed::AxisRange>& axes);
  /// `A[m][k]`: an index in brackets of its own.
  bool ReportBracketsEach(const ast::IndexExpr& expr);
  void WarnOfExchange(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<typed::AxisRange>& axes);

  // check_type.cpp
  /// How often the field of a tuple stands there; nothing if reported.
  std::optional<int64_t> TimesOf(const ast::TypeExpr::Field& field);
  std::optional<typed::Type> DeclaredType(const ast::TypeExpr& type);
  /// Whether it has more elements than tiles may have, which is reported.
  bool ReportTooLarge(const typed::Type& tile, Span span);
  std::optional<DType> ElementType(const ast::TypeExpr& type);

  Value Error() { return {}; }
  void GateFeature(Span span, std::string what, std::string help = {}) {
    gates_.push_back({span, std::move(what), std::move(help)});
  }

  const Context& context_;
  const Variant variant_;
  const std::set<SourcePlace>& written_out_;
  Diagnostics& diagnostics_;
  typed::Kernel kernel_;
  SymbolicTable symbolic_;
  Scope kernel_scope_;
  Scope* scope_ = &kernel_scope_;
  typed::Block* block_ = nullptr;  // where statements go; null outside of sections
  typed::Section* section_ = nullptr;
  const ast::GridSection* source_section_ = nullptr;
  UnrolledLoops unrolled_loops_;  // of the section
  std::set<SourcePlace> loops_of_loads_;
  std::map<typed::VarId, const ast::Range*> ranges_;    // of indices of loops and of the grid
  std::map<typed::VarId, typed::ExprPtr> of_instance_;  // what names of integers made of the instance's number stand for
  HandedOn handed_on_;
  std::vector<Gate> gates_;
  Choice choice_ = Choice::kAlways;
  std::vector<const ast::FnDecl*> inlining_;
  const ast::WorkerDecl* worker_ = nullptr;  // around the statement; null outside of workers
  std::optional<Span> worker_control_;       // condition that only this worker knows, around the statement
  const char* no_receive_ = nullptr;         // why a receive may not stand here
  const ast::Expr* assigned_ = nullptr;      // what a variable of `assigned_type_` is set to or combined with
  std::optional<typed::Type> assigned_type_;
  Span exchanged_ = kNoSpan;  // the last access whose indices were said to be in the order of other axes
  bool is_reduced_ = false;   // the expression is what a function of whole rows or columns takes
  int depth_ = 0;
  typed::VarId first_var_of_let_ = std::numeric_limits<typed::VarId>::max();  // of those that its value gives rise to
  std::map<typed::VarId, int> loops_of_;                                      // around the declaration of a variable
  int loops_ = 0;                                                             // around the statement
  CopyBudget copies_;
};

/// "bf16[64, 1]", "f32", "integer".
std::string TypeText(const typed::Type& type);
/// What a value is, for messages: "`f32`", "a tuple of 2 values", "a block index".
std::string Describe(const Value& value);

/// What the index of a range stands for where it is `start`: a number, or a block of the range.
Value LoopValue(typed::ExprPtr start, const RangeInfo& range, Span span);
/// The index itself.
typed::ExprPtr LoopVariable(typed::VarId var, Span span);

/// A constant of the language: `inf`, `pi`.
std::optional<double> NamedNumber(const std::string& name);

/// Reports the error of a form that is specified but not implemented.
void ReportNotImplemented(Diagnostics& diagnostics, Span span, std::string_view what, std::string_view help = {});

}  // namespace tkc::sema

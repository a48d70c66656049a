// SPDX-License-Identifier: MIT
// Fill taint (lang-spec, ti-11 to ti-13): an abstract run of all workers over the classes of fill.h.
//
// Loops run until their variables stand still, starting from what an earlier visit found; what a pipe carries is the join
// of all that is sent, found by running all workers until that stands still; then once more, reporting. A value that is
// carried round a loop is older by one step: its sources are those of the iteration before.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/fill.h"
#include "compiler/sema/symbolic_table.h"

namespace tkc::sema {
namespace {

using symbolic::Scalar;
using typed::Block;
using typed::Expr;
using typed::ExprKind;
using typed::Op;
using typed::Stmt;
using typed::StmtKind;
using typed::VarId;

/// Positions i with `difference + i >= 0` (upper) or `< 0` do not exist.
struct Source {
  Scalar difference;  // start - bound
  bool upper = true;
  int age = 0;  // times carried round a loop
};

struct Range {
  Scalar lo, hi;
  int64_t step = 1;
};

constexpr int kMostRounds = 8;
constexpr int kOldest = 2;

class FillTaint {
 public:
  FillTaint(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics)
      : kernel_(kernel), section_(section), steps_(steps), diagnostics_(diagnostics), vars_(kernel.vars.size()) {
    for (const typed::Pipe& pipe : section.pipes) {
      Taint nothing;
      nothing.base = Fill::kNone;
      pipes_.emplace_back(pipe.fields.size(), nothing);
    }
  }

  void Check() {
    for (int round = 0; round < kMostRounds; ++round) {
      const auto before = pipes_;
      RunAll();
      if (before == pipes_) break;
    }
    reporting_ = true;
    RunAll();
  }

 private:
  void RunAll() {
    for (const typed::Worker& worker : section_.workers) {
      SymbolicTable table(kernel_);
      table_ = &table;
      for (const auto& [var, name] : steps_.names) table.Rename(var, name);
      DefineLets(kernel_, section_.lets, table);
      DefineLets(kernel_, worker.body, table);
      ranges_.clear();
      around_.clear();
      for (const typed::GridAxis& axis : section_.axes) Enter(axis.var, *axis.lo, *axis.hi, axis.step);
      instance_ = worker.instance_var;
      instances_ = worker.instances;
      Run(section_.lets);
      Run(worker.body);
    }
  }

  void Enter(VarId var, const Expr& lo, const Expr& hi, int64_t step) {
    ranges_[NameOf(var)] = {table_->Of(lo), table_->Of(hi), step};
    around_.push_back(var);
  }

  std::string NameOf(VarId var) const {
    const auto name = steps_.names.find(var);
    return name == steps_.names.end() ? table_->NameOf(var) : name->second;
  }

  // ---- statements

  void Run(const Block& block) {
    for (const typed::StmtPtr& stmt : block) Run(*stmt);
  }

  void Run(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kLet:
      case StmtKind::kAssign: vars_[stmt.var] = Eval(*stmt.expr); return;
      case StmtKind::kAssignPart: vars_[stmt.var] = Join(vars_[stmt.var], Eval(*stmt.expr)); return;
      case StmtKind::kFor: return RunLoop(stmt);
      case StmtKind::kIf: return RunIf(stmt);
      case StmtKind::kReceive:
        for (size_t i = 0; i < stmt.received.size(); ++i) {
          vars_[stmt.received[i]] = pipes_[stmt.pipe][i];
          if (steps_.lagging.count(stmt.pipe) == 0) continue;
          for (size_t loop = section_.axes.size(); loop < around_.size(); ++loop)
            vars_[stmt.received[i]] = Ended(vars_[stmt.received[i]], NameOf(around_[loop]));
        }
        return;
      case StmtKind::kSend:
        for (size_t i = 0; i < stmt.values.size(); ++i) {
          const Taint sent = Eval(*stmt.values[i]);
          Taint& field = pipes_[stmt.pipe][stmt.field == typed::kNone ? i : stmt.field];
          field = Join(field, sent);
        }
        return;
      case StmtKind::kStore: Eval(*stmt.expr); return;
    }
  }

  /// Variables declared outside of `block` that it assigns.
  const std::vector<VarId>& Assigned(const Stmt& stmt) {
    const auto [place, is_new] = assigned_.try_emplace(&stmt);
    if (is_new) {
      std::set<VarId> vars;
      CollectAssigned(stmt.body, vars);
      CollectAssigned(stmt.orelse, vars);
      place->second.assign(vars.begin(), vars.end());
    }
    return place->second;
  }

  void CollectAssigned(const Block& block, std::set<VarId>& vars) {
    for (const typed::StmtPtr& stmt : block) {
      if (stmt->kind == StmtKind::kAssign || stmt->kind == StmtKind::kAssignPart) vars.insert(stmt->var);
      if (!stmt->body.empty() || !stmt->orelse.empty()) {
        const std::vector<VarId>& inner = Assigned(*stmt);
        vars.insert(inner.begin(), inner.end());
      }
    }
  }

  std::vector<Taint> Get(const std::vector<VarId>& vars) const {
    std::vector<Taint> taints;
    for (const VarId var : vars) taints.push_back(vars_[var]);
    return taints;
  }

  void Set(const std::vector<VarId>& vars, const std::vector<Taint>& taints) {
    for (size_t i = 0; i < vars.size(); ++i) vars_[vars[i]] = taints[i];
  }

  void RunLoop(const Stmt& stmt) {
    Enter(stmt.var, *stmt.lo, *stmt.hi, stmt.step);
    const std::vector<VarId>& vars = Assigned(stmt);
    std::vector<Taint> head = Get(vars);
    const std::vector<Taint> before = head;
    if (const auto known = heads_.find(&stmt); known != heads_.end()) {
      for (size_t i = 0; i < vars.size(); ++i) head[i] = Join(head[i], known->second[i]);
    }
    const bool known = heads_.count(&stmt) > 0 && heads_[&stmt] == head;
    const bool report = reporting_;
    reporting_ = false;
    for (int round = 0; round < kMostRounds && !(known && report); ++round) {
      Set(vars, head);
      Run(stmt.body);
      std::vector<Taint> next = head;
      for (size_t i = 0; i < vars.size(); ++i) next[i] = Join(head[i], Older(vars_[vars[i]], stmt));
      if (next == head) break;
      head = std::move(next);
    }
    reporting_ = report;
    heads_[&stmt] = head;
    if (report) {
      Set(vars, head);
      Run(stmt.body);
    }
    // After no iteration, or after the last.
    const std::string name = NameOf(stmt.var);
    for (size_t i = 0; i < vars.size(); ++i) vars_[vars[i]] = Ended(Join(before[i], vars_[vars[i]]), name);
    around_.pop_back();
  }

  void RunIf(const Stmt& stmt) {
    Eval(*stmt.expr);
    const std::vector<VarId>& vars = Assigned(stmt);
    const std::vector<Taint> before = Get(vars);
    Run(stmt.body);
    const std::vector<Taint> after = Get(vars);
    Set(vars, before);
    Run(stmt.orelse);
    for (size_t i = 0; i < vars.size(); ++i) vars_[vars[i]] = Join(after[i], vars_[vars[i]]);
  }

  /// The sources of a value, as the next iteration of `loop` sees them.
  Taint Older(const Taint& taint, const Stmt& loop) {
    const std::string name = NameOf(loop.var);
    Taint older = taint;
    for (auto& axis : older.axis) {
      std::map<int, Fill> renamed;
      for (const auto& [id, fill] : axis) {
        const Source source = sources_[id];
        int place = id;
        if (symbolic::Mentions(source.difference, name)) {
          const Scalar before =
              source.age >= kOldest
                  ? symbolic::Name("old")
                  : symbolic::Substitute(source.difference, name, symbolic::Sub(symbolic::Name(name), symbolic::Int(loop.step)));
          place = Intern({before, source.upper, source.age + 1});
        }
        const auto [slot, is_new] = renamed.emplace(place, fill);
        if (!is_new) slot->second = Join(slot->second, fill);
      }
      axis = std::move(renamed);
    }
    return older;
  }

  /// A value that outlives the loop over `name`: its sources there are no longer those of any index in sight.
  Taint Ended(Taint taint, const std::string& name) {
    for (auto& axis : taint.axis) {
      std::map<int, Fill> kept;
      for (const auto& [id, fill] : axis) {
        const bool ends = symbolic::Mentions(sources_[id].difference, name);
        const int place = ends ? Intern({symbolic::Name("old"), sources_[id].upper, kOldest}) : id;
        const auto [slot, is_new] = kept.emplace(place, fill);
        if (!is_new) slot->second = Join(slot->second, fill);
      }
      axis = std::move(kept);
    }
    return taint;
  }

  // ---- sources

  int Intern(Source source) {
    const std::string key = symbolic::CanonicalText(source.difference) + (source.upper ? " u" : " l");
    const auto [place, is_new] = ids_.emplace(key, static_cast<int>(sources_.size()));
    if (is_new) sources_.push_back(std::move(source));
    return place->second;
  }

  /// Can `start + extent` exceed `bound`? The block index of a range that its step divides stays inside.
  bool CanExceed(const Scalar& start, int64_t extent, const Scalar& bound) {
    if (const auto room = symbolic::ConstantDifference(bound, start)) return *room < extent;
    for (const VarId var : around_) {
      const std::string name = NameOf(var);
      if (!symbolic::Mentions(start, name)) continue;
      const Range& range = ranges_.at(name);
      const Scalar length = symbolic::Sub(range.hi, range.lo);
      const bool divides = symbolic::KnownDivisor(length) % range.step == 0;
      // The largest value of the index, where its coefficient is one.
      const Scalar last = symbolic::Sub(range.hi, symbolic::Int(divides ? range.step : 1));
      const Scalar top = symbolic::Substitute(start, name, last);
      if (!symbolic::ConstantDifference(symbolic::Sub(start, symbolic::Name(name)),
                                        symbolic::Substitute(symbolic::Sub(start, symbolic::Name(name)), name, last)))
        continue;
      if (const auto room = symbolic::ConstantDifference(bound, WithInstance(top, instances_ - 1))) return *room < extent;
    }
    if (const auto room = symbolic::ConstantDifference(bound, WithInstance(start, instances_ - 1))) return *room < extent;
    return true;
  }

  bool CanPrecede(const Scalar& start, const Scalar& bound) {
    if (const auto room = symbolic::ConstantDifference(start, bound)) return *room < 0;
    for (const VarId var : around_) {
      const std::string name = NameOf(var);
      if (!symbolic::Mentions(start, name)) continue;
      const Scalar bottom = symbolic::Substitute(start, name, ranges_.at(name).lo);
      if (!symbolic::ConstantDifference(
              symbolic::Sub(start, symbolic::Name(name)),
              symbolic::Substitute(symbolic::Sub(start, symbolic::Name(name)), name, ranges_.at(name).lo)))
        continue;
      if (const auto room = symbolic::ConstantDifference(WithInstance(bottom, 0), bound)) return *room < 0;
    }
    if (const auto room = symbolic::ConstantDifference(WithInstance(start, 0), bound)) return *room < 0;
    return true;
  }

  Scalar WithInstance(const Scalar& scalar, int64_t number) const {
    return instance_ == typed::kNone ? scalar : symbolic::Substitute(scalar, table_->NameOf(instance_), symbolic::Int(number));
  }

  void AddSource(std::map<int, Fill>& axis, const Scalar& start, const Scalar& bound, bool upper, Fill fill) {
    axis[Intern({symbolic::Sub(start, bound), upper, 0})] = fill;
  }

  void AddEnd(std::map<int, Fill>& axis, const Scalar& start, int64_t extent, const Scalar& bound, Fill fill) {
    if (CanExceed(start, extent, bound)) AddSource(axis, start, bound, true, fill);
  }

  void AddBegin(std::map<int, Fill>& axis, const Scalar& start, const Scalar& bound, Fill fill) {
    if (CanPrecede(start, bound)) AddSource(axis, start, bound, false, fill);
  }

  /// a <= b, as far as minima, maxima and selections show it.
  static bool IsAtMost(const Scalar& a, const Scalar& b, int depth = 0) {
    using symbolic::Kind;
    if (const auto difference = symbolic::ConstantDifference(b, a)) return *difference >= 0;
    if (depth > 4) return false;
    const auto left = [&](int i) { return IsAtMost(a->args[i], b, depth + 1); };
    const auto right = [&](int i) { return IsAtMost(a, b->args[i], depth + 1); };
    if (a->kind == Kind::kMin && (left(0) || left(1))) return true;
    if (a->kind == Kind::kMax && left(0) && left(1)) return true;
    if (a->kind == Kind::kSelect && left(1) && left(2)) return true;
    if (b->kind == Kind::kMax && (right(0) || right(1))) return true;
    if (b->kind == Kind::kMin && right(0) && right(1)) return true;
    return b->kind == Kind::kSelect && right(1) && right(2);
  }

  // ---- expressions

  Taint Eval(const Expr& expr) {
    Taint taint = EvalKind(expr);
    if (!expr.type.is_tile) taint.axis[0].clear(), taint.axis[1].clear();
    if (taint.base == Fill::kAny) taint.base = Fill::kFinite;
    return taint;
  }

  Taint EvalKind(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kInt: return Constant(FillOf(static_cast<double>(expr.int_value)));
      case ExprKind::kFloat: return Constant(FillOf(expr.float_value));
      case ExprKind::kBool: return Constant(expr.int_value != 0 ? Fill::kPositive : Fill::kZero);
      case ExprKind::kDim:
      case ExprKind::kParam:
      case ExprKind::kElement:
      case ExprKind::kPositions: return Taint{};
      case ExprKind::kVar:
        return kernel_.vars[expr.id].kind == typed::VarKind::kGrid || kernel_.vars[expr.id].kind == typed::VarKind::kLoop ||
                       kernel_.vars[expr.id].kind == typed::VarKind::kInstance
                   ? Taint{}
                   : vars_[expr.id];
      case ExprKind::kRead: return Read(expr);
      case ExprKind::kConvert:
      case ExprKind::kSplat: return Eval(*expr.args[0]);
      case ExprKind::kUnary: return Unary(expr.op, Eval(*expr.args[0]));
      case ExprKind::kCall: return Call(expr);
      case ExprKind::kBinary: return Binary(expr);
      case ExprKind::kSelect: return Select(expr);
      case ExprKind::kReduce: return Reduce(expr);
      case ExprKind::kCumsum: return Cumsum(expr);
      case ExprKind::kTranspose: {
        Taint taint = Eval(*expr.args[0]);
        std::swap(taint.axis[0], taint.axis[1]);
        return taint;
      }
      case ExprKind::kPart: return Part(expr);
      case ExprKind::kMatMul: return MatMul(expr);
      case ExprKind::kCat: return Cat(expr);
    }
    return Taint{};
  }

  static Taint Constant(Fill fill) {
    Taint taint;
    taint.base = fill;
    return taint;
  }

  static Taint Unary(Op op, Taint x) {
    x.base = ApplyFill(op, x.base);
    for (auto& axis : x.axis) {
      for (auto& [source, fill] : axis) fill = ApplyFill(op, fill);
    }
    x.read_infinite = false;
    return x;
  }

  /// Sources of an axis along which a tile is repeated say nothing about the result.
  static void Drop(Taint& taint, const typed::Type& from, const typed::Type& to) {
    if (!from.is_tile || from.rows != to.rows) taint.axis[0].clear();
    if (!from.is_tile || from.cols != to.cols) taint.axis[1].clear();
  }

  template <typename F>
  static Taint Combine(const Taint& a, const Taint& b, F apply) {
    Taint result;
    result.base = apply(a.base, b.base);
    for (int which = 0; which < 2; ++which) {
      for (const auto& [source, fill] : a.axis[which]) result.axis[which][source] = apply(fill, b.At(which, source));
      for (const auto& [source, fill] : b.axis[which]) result.axis[which][source] = apply(a.At(which, source), fill);
    }
    return result;
  }

  Taint Operands(const Expr& expr, size_t i) {
    Taint taint = Eval(*expr.args[i]);
    Drop(taint, expr.args[i]->type, expr.type);
    return taint;
  }

  Taint Call(const Expr& expr) {
    if (expr.args.size() == 1) return Unary(expr.op, Eval(*expr.args[0]));
    Taint result = Operands(expr, 0);
    for (size_t i = 1; i < expr.args.size(); ++i) {
      result = Combine(result, Operands(expr, i), [&](Fill a, Fill b) { return ApplyFill(expr.op, a, b); });
    }
    return result;
  }

  /// start + 0, 1, 2, .. along an axis: positions, shifted, transposed or a part.
  struct Positions {
    Scalar start;
    int axis = 0;
  };

  std::optional<Positions> PositionsOf(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kPositions: return Positions{table_->Of(*expr.args[0]), 0};
      case ExprKind::kConvert: return IsFloat(expr.type.dtype) ? std::nullopt : PositionsOf(*expr.args[0]);
      case ExprKind::kTranspose: {
        auto inner = PositionsOf(*expr.args[0]);
        if (inner) inner->axis = 1 - inner->axis;
        return inner;
      }
      case ExprKind::kPart: {
        auto inner = PositionsOf(*expr.args[0]);
        if (inner) inner->start = symbolic::Add(inner->start, table_->Of(*expr.args[inner->axis == 0 ? 1 : 2]));
        return inner;
      }
      case ExprKind::kVar: {
        const auto place = positions_.find(expr.id);
        return place == positions_.end() ? std::nullopt : std::optional(place->second);
      }
      case ExprKind::kBinary: {
        if (expr.op != Op::kAdd && expr.op != Op::kSub) return std::nullopt;
        const bool left = expr.args[0]->type.is_tile && !expr.args[1]->type.is_tile;
        const bool right = expr.op == Op::kAdd && expr.args[1]->type.is_tile && !expr.args[0]->type.is_tile;
        if (!left && !right) return std::nullopt;
        auto inner = PositionsOf(*expr.args[left ? 0 : 1]);
        if (!inner) return std::nullopt;
        const Scalar offset = IntegerOf(*expr.args[left ? 1 : 0]);
        inner->start = expr.op == Op::kAdd ? symbolic::Add(inner->start, offset) : symbolic::Sub(inner->start, offset);
        return inner;
      }
      default: return std::nullopt;
    }
  }

  /// An integer scalar whatever its width.
  Scalar IntegerOf(const Expr& expr) {
    return expr.kind == ExprKind::kConvert && !IsFloat(expr.args[0]->type.dtype) ? IntegerOf(*expr.args[0]) : table_->Of(expr);
  }

  /// `pos(n) < N` is false where elements past `N` stand.
  bool Comparison(const Expr& expr, Taint& taint) {
    Op op = expr.op;
    const Expr* tile = expr.args[0].get();
    const Expr* bound = expr.args[1].get();
    if (!tile->type.is_tile) {
      std::swap(tile, bound);
      op = op == Op::kLt ? Op::kGt : op == Op::kGt ? Op::kLt : op == Op::kLe ? Op::kGe : op == Op::kGe ? Op::kLe : op;
    }
    if (!tile->type.is_tile || bound->type.is_tile || IsFloat(bound->type.dtype)) return false;
    const std::optional<Positions> positions = PositionsOf(*tile);
    if (!positions) return false;
    Scalar limit = IntegerOf(*bound);
    if (op == Op::kLe || op == Op::kGt) limit = symbolic::Add(limit, symbolic::Int(1));
    if (op != Op::kLt && op != Op::kLe && op != Op::kGt && op != Op::kGe) return false;
    AddSource(taint.axis[positions->axis], positions->start, limit, op == Op::kLt || op == Op::kLe, Fill::kZero);
    return true;
  }

  Taint Binary(const Expr& expr) {
    if (expr.op >= Op::kEq && expr.op <= Op::kGe) {
      Taint taint;
      Eval(*expr.args[0]);
      Eval(*expr.args[1]);
      if (expr.type.is_tile) Comparison(expr, taint);
      return taint;
    }
    const Taint a = Operands(expr, 0);
    const Taint b = Operands(expr, 1);
    return Combine(a, b, [&](Fill x, Fill y) { return ApplyFill(expr.op, x, y); });
  }

  Taint Select(const Expr& expr) {
    const Taint condition = Operands(expr, 0);
    const Taint a = Operands(expr, 1);
    const Taint b = Operands(expr, 2);
    const auto choose = [](Fill c, Fill x, Fill y) {
      return c == Fill::kNone ? c : c == Fill::kZero ? y : c == Fill::kPositive ? x : Join(x, y);
    };
    Taint result;
    result.base = choose(condition.base, a.base, b.base);
    for (int which = 0; which < 2; ++which) {
      std::set<int> sources;
      for (const Taint* taint : {&condition, &a, &b}) {
        for (const auto& [source, fill] : taint->axis[which]) sources.insert(source);
      }
      for (const int source : sources)
        result.axis[which][source] = choose(condition.At(which, source), a.At(which, source), b.At(which, source));
    }
    return result;
  }

  Taint Read(const Expr& expr) {
    Taint taint;
    const Fill fill = expr.args.empty() ? Fill::kZero : Eval(*expr.args[0]).base;
    taint.read_infinite = IsInfinite(fill);
    int which = 0;
    for (size_t i = 0; i < expr.axes.size(); ++i) {
      const typed::AxisRange& axis = expr.axes[i];
      if (axis.dropped) continue;
      const Scalar start = table_->Of(*axis.start);
      const Scalar end = table_->Of(*kernel_.params[expr.id].extents[i]);
      std::map<int, Fill>& sources = taint.axis[which++];
      // Of two bounds the tighter one says it all, where it is known which that is.
      const Scalar zero = symbolic::Int(0);
      const Scalar hi = axis.hi ? table_->Of(*axis.hi) : end;
      const Scalar lo = axis.lo ? table_->Of(*axis.lo) : zero;
      const bool hi_suffices = IsAtMost(hi, end);
      const bool lo_suffices = IsAtMost(zero, lo);
      if (hi_suffices || !IsAtMost(end, hi)) AddEnd(sources, start, axis.extent, hi, fill);
      if (!hi_suffices) AddEnd(sources, start, axis.extent, end, fill);
      if (lo_suffices || !IsAtMost(lo, zero)) AddBegin(sources, start, lo, fill);
      if (!lo_suffices) AddBegin(sources, start, zero, fill);
    }
    return taint;
  }

  Taint Part(const Expr& expr) {
    Taint taint = Eval(*expr.args[0]);
    for (int which = 0; which < 2; ++which) {
      const Scalar offset = table_->Of(*expr.args[which + 1]);
      std::map<int, Fill> moved;
      for (const auto& [id, fill] : taint.axis[which]) {
        const Source source = sources_[id];
        moved[Intern({symbolic::Add(source.difference, offset), source.upper, source.age})] = fill;
      }
      taint.axis[which] = std::move(moved);
    }
    return taint;
  }

  Taint Cumsum(const Expr& expr) {
    Taint taint = Eval(*expr.args[0]);
    for (auto& [source, fill] : taint.axis[expr.axis]) fill = Join(fill, SumFill(taint.base));
    return taint;
  }

  Taint Cat(const Expr& expr) {
    Taint result = Eval(*expr.args[0]);
    result.axis[1].clear();
    for (size_t i = 1; i < expr.args.size(); ++i) {
      Taint part = Eval(*expr.args[i]);
      part.axis[1].clear();
      result = Join(result, part);
    }
    return result;
  }

  Taint Reduce(const Expr& expr) {
    const Taint x = Eval(*expr.args[0]);
    const bool truth = expr.op == Op::kAny || expr.op == Op::kAll;
    for (const auto& [source, fill] : x.axis[expr.axis]) {
      const bool neutral = fill == Fill::kNone || (expr.op == Op::kAdd && fill == Fill::kZero) ||
                           (expr.op == Op::kMax && fill == Fill::kNegInf) || (expr.op == Op::kMin && fill == Fill::kPosInf) ||
                           truth;
      if (!neutral) {
        ReportReduce(expr, source, fill);
        break;
      }
    }
    Taint result = x;
    result.axis[expr.axis].clear();
    result.read_infinite = false;
    return result;
  }

  Taint MatMul(const Expr& expr) {
    const Taint a = Eval(*expr.args[0]);
    const Taint b = Eval(*expr.args[1]);
    bool infinite = false;
    for (int i = 0; i < 2; ++i) {
      if (!(i == 0 ? a.read_infinite : b.read_infinite)) continue;
      ReportInfinite(expr, *expr.args[i]);
      infinite = true;
    }
    std::set<int> sources;
    for (const auto& [source, fill] : a.axis[1]) sources.insert(source);
    for (const auto& [source, fill] : b.axis[0]) sources.insert(source);
    for (const int source : sources) {
      if (infinite) break;  // said already
      const Fill x = a.At(1, source);
      const Fill y = b.At(0, source);
      if (x == Fill::kNone || y == Fill::kNone || ApplyFill(Op::kMul, x, y) == Fill::kZero) continue;
      ReportMatMul(expr, source, x, y);
      break;
    }
    Taint result;
    for (const auto& [source, fill] : a.axis[0]) result.axis[0][source] = ApplyFill(Op::kMul, fill, b.base);
    for (const auto& [source, fill] : b.axis[1]) result.axis[1][source] = ApplyFill(Op::kMul, fill, a.base);
    if (a.base == Fill::kNone || b.base == Fill::kNone) result.base = Fill::kNone;
    return result;
  }

  // ---- reports

  bool FirstReport(const Expr& expr) {
    return reporting_ && reported_.insert({expr.span.file, expr.span.begin, expr.span.end}).second;
  }

  /// The index in sight that runs along the source.
  const typed::Var* IndexOf(int source) const {
    for (auto var = around_.rbegin(); var != around_.rend(); ++var) {
      if (symbolic::Mentions(sources_[source].difference, NameOf(*var))) return &kernel_.vars[*var];
    }
    return nullptr;
  }

  void AddHelp(DiagnosticBuilder& report, const Expr& operand, int axis, int source, const char* neutral) {
    const typed::Var* index = IndexOf(source);
    if (index == nullptr) {
      report.Help(fmt::format("give the read the fill that changes nothing: `X[..] else {}`", neutral));
      return;
    }
    report.Note(index->span, fmt::format("the last block of `{}` may be short", index->name));
    const std::string mask = fmt::format("where(valid({}){}, ", index->name, axis == 1 ? ".T" : "");
    const Span span = operand.span;
    report.Help(fmt::format("choose `{}` there: `{}.., {})`", neutral, mask, neutral),
                std::vector<Edit>{{{span.file, span.begin, span.begin}, mask},
                                  {{span.file, span.end, span.end}, fmt::format(", {})", neutral)}});
  }

  void ReportReduce(const Expr& expr, int source, Fill fill) {
    if (!FirstReport(expr)) return;
    const char* neutral = expr.op == Op::kAdd ? "0" : expr.op == Op::kMax ? "-inf" : "inf";
    const char* name = expr.op == Op::kAdd ? "sum" : expr.op == Op::kMax ? "maximum" : "minimum";
    const char* along = expr.axis == 1 ? "columns" : "rows";
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kFillNotNeutral, expr.span,
                           fmt::format("a {} over {} that may not exist, where the operand holds {}", name, along, FillText(fill)));
    report.Label(expr.args[0]->span, fmt::format("{} where {} are missing; a {} wants {}", FillText(fill), along, name, neutral));
    AddHelp(report, *expr.args[0], expr.axis, source, neutral);
  }

  void ReportMatMul(const Expr& expr, int source, Fill x, Fill y) {
    if (!FirstReport(expr)) return;
    DiagnosticBuilder report = diagnostics_.Error(
        DiagnosticKind::kFillNotNeutral, expr.span,
        fmt::format("`@` sums over elements that may not exist: there it multiplies {} by {}", FillText(x), FillText(y)));
    report.Label(expr.args[0]->span, fmt::format("holds {} there", FillText(x)))
        .Label(expr.args[1]->span, fmt::format("holds {} there", FillText(y)));
    // Zero one side; if the other may be infinite, that one.
    const bool left = x != Fill::kZero && (x == Fill::kAny || IsInfinite(x) || y == Fill::kFinite || y == Fill::kPositive);
    AddHelp(report, *expr.args[left ? 0 : 1], left ? 1 : 0, source, "0");
  }

  void ReportInfinite(const Expr& expr, const Expr& operand) {
    if (!reporting_ || !reported_.insert({operand.span.file, operand.span.begin, operand.span.end}).second) return;
    diagnostics_.Error(DiagnosticKind::kInfiniteOperand, expr.span, "an operand of `@` has infinities where elements are missing")
        .Label(operand.span, "read with an infinite fill")
        .Help("leave the fill at zero, and mask the product if need be");
  }

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  const Steps& steps_;
  Diagnostics& diagnostics_;
  SymbolicTable* table_ = nullptr;
  bool reporting_ = false;
  VarId instance_ = typed::kNone;
  int64_t instances_ = 1;
  std::vector<Taint> vars_;
  std::map<VarId, Positions> positions_;
  std::vector<std::vector<Taint>> pipes_;  // [pipe][field]
  std::vector<Source> sources_;
  std::map<std::string, int> ids_;
  std::map<std::string, Range> ranges_;
  std::vector<VarId> around_;
  std::map<const Stmt*, std::vector<VarId>> assigned_;
  std::map<const Stmt*, std::vector<Taint>> heads_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> reported_;
};

}  // namespace

void CheckFillTaint(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics) {
  FillTaint(kernel, section, steps, diagnostics).Check();
}

}  // namespace tkc::sema

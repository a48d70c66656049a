// SPDX-License-Identifier: MIT
// Loops: their ranges, and those that are unrolled because their index chooses what must be known.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/symbolic/polynomial.h"
#include "compiler/syntax/ast_print.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::StmtKind;
using typed::Type;
using typed::VarKind;

namespace {

constexpr int kDeepestLoop = 12;  // each doubles the work of analyses that go round it

/// Does the index `name` choose a part, a slice, a ring, or go into a function: then its value has to be known.
class NeedsNumber {
 public:
  explicit NeedsNumber(const std::string& name) : name_(name) {}

  /// Whether the loop fills the pipes of a worker's instances one after the other, each by one statement: then it stays one. What
  /// is sent may begin where the index says. `pipes`: those that are one for each instance.
  bool FillsRings(const ast::Block& block, const std::set<std::string>& pipes) {
    slices_ = false;
    const bool fills = std::all_of(block.stmts.begin(), block.stmts.end(), [&](const ast::StmtPtr& stmt) {
      const auto* arrow = ast::DynCast<ast::ArrowStmt>(*stmt);
      return arrow && IsOwnRing(*arrow->target, pipes) && !In(*arrow->value, false);
    });
    return fills && !block.stmts.empty();
  }

  /// Whether it has to be known in the body of its loop. Which element a function is given would do without; but written out, loads
  /// of several iterations are under way together. Not so around a loop over blocks, which waits for each of its own.
  bool In(const ast::Block& body) {
    elements_ = !HasLoopOverBlocks(body);
    return InAny(body);
  }

 private:
  static bool HasLoopOverBlocks(const ast::Block& block) {
    return std::any_of(block.stmts.begin(), block.stmts.end(), [](const ast::StmtPtr& stmt) {
      if (const auto* loop = ast::DynCast<ast::ForStmt>(*stmt)) return loop->range.step || HasLoopOverBlocks(loop->body);
      const auto* branch = ast::DynCast<ast::IfStmt>(*stmt);
      return branch && (HasLoopOverBlocks(branch->then_branch) || (branch->else_branch && HasLoopOverBlocks(*branch->else_branch)));
    });
  }

  bool InAny(const ast::Block& block) const {
    return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const ast::StmtPtr& stmt) { return In(*stmt); });
  }

  /// `p[u]` or `p[u].name`.
  bool IsOwnRing(const ast::Expr& target, const std::set<std::string>& pipes) const {
    if (const auto* field = ast::DynCast<ast::FieldExpr>(target)) return IsOwnRing(*field->base, pipes);
    const auto* index = ast::DynCast<ast::IndexExpr>(target);
    if (!index || index->indices.size() != 1 || index->indices[0].kind != ast::Index::Kind::kExpr) return false;
    const auto* pipe = ast::DynCast<ast::NameExpr>(*index->base);
    const auto* number = ast::DynCast<ast::NameExpr>(*index->indices[0].expr);
    return pipe && number && pipes.contains(pipe->name) && number->name == name_;
  }

  /// `p[u] <- x` names a ring; a store `Y[u] <- x` an element. A number serves both.
  bool NamesRing(const ast::Expr& target) const {
    const auto* index = ast::DynCast<ast::IndexExpr>(target);
    return index && index->indices.size() == 1 && index->indices[0].expr && In(*index->indices[0].expr, true);
  }

  bool In(const ast::Stmt& stmt) const {
    switch (stmt.kind) {
      case ast::StmtKind::kLet: return In(*ast::Cast<ast::LetStmt>(stmt).value, false);
      case ast::StmtKind::kVar: return In(*ast::Cast<ast::VarStmt>(stmt).value, false);
      case ast::StmtKind::kAssign: {
        const auto& assign = ast::Cast<ast::AssignStmt>(stmt);
        return In(*assign.target, false) || In(*assign.value, false);
      }
      case ast::StmtKind::kArrow: {
        const auto& arrow = ast::Cast<ast::ArrowStmt>(stmt);
        return In(*arrow.target, false) || NamesRing(*arrow.target) || In(*arrow.value, false);
      }
      case ast::StmtKind::kFor: return InAny(ast::Cast<ast::ForStmt>(stmt).body);
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(stmt);
        return In(*branch.condition, false) || InAny(branch.then_branch) || (branch.else_branch && InAny(*branch.else_branch));
      }
      case ast::StmtKind::kEach: return InAny(ast::Cast<ast::EachStmt>(stmt).body);
    }
    return false;
  }

  bool In(const ast::Expr& expr, bool wanted) const {
    const auto any = [&](const std::vector<ast::ExprPtr>& list, bool want) {
      return std::any_of(list.begin(), list.end(), [&](const ast::ExprPtr& e) { return In(*e, want); });
    };
    switch (expr.kind) {
      case ast::ExprKind::kName: return wanted && ast::Cast<ast::NameExpr>(expr).name == name_;
      case ast::ExprKind::kUnary: return In(*ast::Cast<ast::UnaryExpr>(expr).operand, wanted);
      case ast::ExprKind::kBinary:
        return In(*ast::Cast<ast::BinaryExpr>(expr).left, wanted) || In(*ast::Cast<ast::BinaryExpr>(expr).right, wanted);
      case ast::ExprKind::kCall: return any(ast::Cast<ast::CallExpr>(expr).arguments, true);
      case ast::ExprKind::kMethod:
        return In(*ast::Cast<ast::MethodExpr>(expr).base, wanted) || any(ast::Cast<ast::MethodExpr>(expr).arguments, true);
      case ast::ExprKind::kField: return In(*ast::Cast<ast::FieldExpr>(expr).base, wanted);
      case ast::ExprKind::kTuple: return any(ast::Cast<ast::TupleExpr>(expr).elements, wanted);
      case ast::ExprKind::kReceive:
        return ast::Cast<ast::ReceiveExpr>(expr).index && In(*ast::Cast<ast::ReceiveExpr>(expr).index, true);
      case ast::ExprKind::kIf:
        return In(*ast::Cast<ast::IfExpr>(expr).condition, wanted) ||
               In(*ast::Cast<ast::IfExpr>(expr).then_branch.result, wanted) ||
               In(*ast::Cast<ast::IfExpr>(expr).else_branch.result, wanted);
      case ast::ExprKind::kIndex: {
        const auto& index = ast::Cast<ast::IndexExpr>(expr);
        if (In(*index.base, wanted)) return true;
        for (const ast::Index& i : index.indices) {
          const bool is_start = i.kind == ast::Index::Kind::kSlice || i.kind == ast::Index::Kind::kBlock;
          if (i.expr && In(*i.expr, is_start ? wanted || slices_ : wanted && elements_)) return true;
        }
        return false;
      }
      default: return false;
    }
  }

  const std::string& name_;
  bool slices_ = true;    // where one begins has to be known
  bool elements_ = true;  // which one goes into a function has to be known
};

std::string TextOf(const ast::Range& range) { return (range.low ? ast::Print(*range.low) : "") + ".." + ast::Print(*range.high); }

/// Loops over single numbers in one place: under loops of the same ranges, whatever the worker.
struct LoopsOfPlace {
  std::vector<const ast::ForStmt*> loops;
  std::set<size_t> workers;
  bool needs_number = false;
};
using Places = std::map<std::string, LoopsOfPlace>;  // by the ranges from the outermost loop on, as text

void CollectLoops(const std::vector<ast::StmtPtr>& stmts, const std::string& outer, size_t worker,
                  const std::set<std::string>& of_instances, Places& places) {
  for (const ast::StmtPtr& stmt : stmts) {
    switch (stmt->kind) {
      case ast::StmtKind::kFor: {
        const auto& loop = ast::Cast<ast::ForStmt>(*stmt);
        if (NeedsNumber(loop.index.text).FillsRings(loop.body, of_instances)) break;  // no other worker has this loop
        const std::string here = outer + "/" + TextOf(loop.range);
        if (!loop.range.step) {
          LoopsOfPlace& place = places[here];
          place.loops.push_back(&loop);
          place.workers.insert(worker);
          place.needs_number = place.needs_number || NeedsNumber(loop.index.text).In(loop.body);
        }
        CollectLoops(loop.body.stmts, here, worker, of_instances, places);
        break;
      }
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(*stmt);
        CollectLoops(branch.then_branch.stmts, outer, worker, of_instances, places);
        if (branch.else_branch) CollectLoops(branch.else_branch->stmts, outer, worker, of_instances, places);
        break;
      }
      case ast::StmtKind::kEach:
        CollectLoops(ast::Cast<ast::EachStmt>(*stmt).body.stmts, outer, worker, of_instances, places);
        break;
      default: break;
    }
  }
}

}  // namespace

void Elaborator::FindUnrolled(const ast::GridSection& section) {
  unrolled_.clear();
  of_instances_.clear();
  for (const ast::PipeDecl& pipe : section.pipes) {
    if (pipe.per) of_instances_.insert(pipe.name.text);
  }
  Places places;
  for (size_t i = 0; i < section.workers.size(); ++i) CollectLoops(section.workers[i].body.stmts, "", i, of_instances_, places);
  for (const auto& [ranges, place] : places) {
    if (place.needs_number && place.workers.size() > 1) unrolled_.insert(place.loops.begin(), place.loops.end());
  }
}

ExprPtr Elaborator::EdgeOf(const typed::Expr& lo, const typed::Expr& hi, int64_t step) {
  if (hi.kind != ExprKind::kCall || hi.op != Op::kMin || hi.args.size() != 2) return nullptr;
  for (const int i : {0, 1}) {
    const auto length = symbolic::ConstantDifference(symbolic_.Of(*hi.args[i]), symbolic_.Of(lo));
    if (length && *length % step == 0) return Clone(*hi.args[1 - i]);
  }
  return nullptr;
}

RangeInfo Elaborator::CheckRange(const ast::Range& range) {
  RangeInfo info;
  bool ok = true;
  if (range.step) {
    const std::optional<int64_t> step = Constant(*range.step, "the size of a block");
    ok = step.has_value();
    if (ok && (*step < 1 || *step > (1 << 20))) {
      diagnostics_.Error(DiagnosticKind::kBadIndex, range.step->span,
                         fmt::format("blocks of {} elements; they have 1 to 1048576", *step));
      ok = false;
    }
    info.step = step.value_or(1);
    info.is_block = true;
  }
  Value high = Eval(*range.high);
  if (range.low) {
    info.lo = IntegerScalar(Eval(*range.low), "the start of a range");
    info.hi = IntegerScalar(std::move(high), "the end of a range");
    if (info.lo && info.hi) info.edge = EdgeOf(*info.lo, *info.hi, info.step);
  } else if (high.kind == Value::Kind::kBlock) {
    const BlockIndex& block = *high.block;
    info.lo = Clone(*block.start);
    // Blocks that divide a block evenly end with what ends that one.
    if (!block.shifted && block.step % info.step == 0) info.edge = Clone(*block.hi);
    if (block.shifted) info.lo = MakeInteger(Op::kMax, std::move(info.lo), Clone(*block.lo), range.span);
    info.hi = MakeInteger(Op::kMin, MakeInteger(Op::kAdd, Clone(*block.start), MakeInt(block.step, range.span), range.span),
                          Clone(*block.hi), range.span);
  } else {
    info.lo = MakeInt(0, range.span);
    info.hi = IntegerScalar(std::move(high), "a range");
  }
  info.ok = ok && info.lo && info.hi && HasIndices(*info.lo) && HasIndices(*info.hi);
  return info;
}

bool Elaborator::HasIndices(const typed::Expr& bound) {
  constexpr int64_t kFarthest = int64_t{1} << 60;  // the certificate counts on from there
  const auto sum = symbolic::ToPolynomial(symbolic_.Of(bound));
  if (!sum) return true;
  const auto number = sum->find("");
  if (number == sum->end() || (number->second <= kFarthest && number->second >= -kFarthest)) return true;
  diagnostics_
      .Error(DiagnosticKind::kMalformedNumber, bound.span, "a range of which indices, and what follows them, do not fit 64 bits")
      .Label(bound.span, sum->size() == 1 ? fmt::format("is {}", number->second)
                                          : fmt::format("is {} from what is known when the kernel runs", number->second))
      .Note("a range begins and ends within 2^60 of that, or of 0");
  return false;
}

ExprPtr Elaborator::LoopVariable(typed::VarId var, Span span) {
  ExprPtr variable = MakeNode(ExprKind::kVar, Op::kNone, Type::Scalar(DType::kI64), {}, span);
  variable->id = var;
  variable->level = Level::kGrid;
  return variable;
}

Value Elaborator::LoopValue(ExprPtr start, const RangeInfo& range, Span span) {
  if (!range.is_block) {
    Value value = ExprValue(std::move(start), span);
    const std::optional<int64_t> hi = NumberOf(*range.hi);
    if (NumberOf(*range.lo) == 0 && hi) value.count = std::max<int64_t>(0, *hi);
    return value;
  }
  auto block = std::make_shared<BlockIndex>();
  block->start = std::move(start);
  block->lo = Clone(*range.lo);
  block->hi = Clone(range.edge ? *range.edge : *range.hi);
  if (range.edge) block->range_hi = Clone(*range.hi);
  block->step = range.step;
  Value value;
  value.kind = Value::Kind::kBlock;
  value.block = std::move(block);
  value.span = span;
  return value;
}

bool Elaborator::UnrollFor(const ast::ForStmt& stmt, const RangeInfo& range) {
  const std::optional<int64_t> lo = NumberOf(*range.lo);
  const std::optional<int64_t> hi = NumberOf(*range.hi);
  if (!lo || !hi || (*hi - *lo) / range.step > kMostUnrolled) return false;
  const bool is_written_out = written_out_.contains(PlaceOf(stmt.span));
  if (range.is_block && !is_written_out) return false;
  if (!is_written_out && !NeedsNumber(stmt.index.text).In(stmt.body) && unrolled_.count(&stmt) == 0) return false;
  if (*lo == 0 && *hi > 1 && NeedsNumber(stmt.index.text).FillsRings(stmt.body, of_instances_)) return false;
  for (int64_t i = *lo; i < *hi; i += range.step) {
    if (++expansions_ > kMostExpansions) {
      if (expansions_ == kMostExpansions + 1) {
        diagnostics_.Error(DiagnosticKind::kNestingTooDeep, stmt.index.span,
                           fmt::format("calls and unrolled loops make more than {} copies", kMostExpansions));
      }
      return true;
    }
    scope_->Open();
    Value index = LoopValue(MakeInt(i, stmt.index.span), range, stmt.index.span);
    DeclareValue(stmt.index, std::move(index));
    CheckStmts(stmt.body.stmts);
    scope_->Close();
  }
  return true;
}

void Elaborator::CheckFor(const ast::ForStmt& stmt) {
  RangeInfo range = CheckRange(stmt.range);
  if (!range.ok) {
    scope_->Open();
    DeclareValue(stmt.index, Error());
    CheckStmts(stmt.body.stmts);
    scope_->Close();
    return;
  }
  if (UnrollFor(stmt, range)) return;
  if (loops_ == kDeepestLoop) {
    diagnostics_.Error(DiagnosticKind::kNestingTooDeep, stmt.index.span,
                       fmt::format("loops nested more than {} deep", kDeepestLoop));
    return;
  }
  // A range is computed once, before the first iteration.
  const auto bind = [&](ExprPtr& bound, const char* suffix) {
    if (CountNodes(*bound, 6) < 6) return;
    const Span span = bound->span;
    bound = std::move(BindNew(stmt.index.text + suffix, ExprValue(std::move(bound), span), span).expr);
  };
  bind(range.lo, "_begin");
  bind(range.hi, "_end");
  const typed::VarId var = AddVar(stmt.index.text, Type::Scalar(DType::kI64), VarKind::kLoop, Level::kGrid, stmt.index.span);
  ranges_[var] = &stmt.range;
  // Messages and quotes show the head of a loop, not its body.
  typed::Stmt& loop = Append(StmtKind::kFor, {stmt.span.file, stmt.span.begin, stmt.range.span.end});
  loop.var = var;
  loop.step = range.step;
  loop.is_block_loop = range.is_block;
  loop.lo = Clone(*range.lo);
  loop.hi = Clone(*range.hi);
  typed::Block* outer = block_;
  block_ = &loop.body;
  scope_->Open();
  DeclareValue(stmt.index, LoopValue(LoopVariable(var, stmt.index.span), range, stmt.index.span));
  ++loops_;
  CheckStmts(stmt.body.stmts);
  --loops_;
  scope_->Close();
  block_ = outer;
}

}  // namespace tkc::sema

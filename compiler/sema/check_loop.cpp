// SPDX-License-Identifier: MIT
// Loops: their ranges, and how their bodies are elaborated: once, or for each turn.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/support/scoped.h"
#include "compiler/symbolic/polynomial.h"

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

/// Whether a loop had better not compute it anew in each iteration.
bool IsLong(const typed::Expr& bound) {
  constexpr int kNodes = 6;
  const auto is_element = [](const typed::Expr& node) { return node.kind == ExprKind::kElement; };
  return CountNodes(bound, kNodes) == kNodes || typed::Contains(bound, is_element);
}

}  // namespace

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

ExprPtr LoopVariable(typed::VarId var, Span span) {
  ExprPtr variable = MakeNode(ExprKind::kVar, Op::kNone, Type::Scalar(DType::kI64), {}, span);
  variable->id = var;
  variable->level = Level::kGrid;
  return variable;
}

Value LoopValue(ExprPtr start, const RangeInfo& range, Span span) {
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
  if (!written_out_.contains(SourcePlaceOf(stmt.span))) {
    const IndexUse use = range.is_block ? IndexUse::kNumber : unrolled_loops_.UseOf(stmt);
    if (use == IndexUse::kNumber) return false;
    if (use == IndexUse::kLoad && *hi - *lo > kMostLoadedTogether) {
      loops_of_loads_.insert(SourcePlaceOf(stmt.span));
      return false;
    }
  }
  if (*lo == 0 && *hi > 1 && unrolled_loops_.FillsRings(stmt)) return false;
  for (int64_t i = *lo; i < *hi; i += range.step) {
    if (!copies_.Take()) {
      if (copies_.End()) {
        diagnostics_.Error(DiagnosticKind::kNestingTooDeep, stmt.index.span,
                           fmt::format("calls and unrolled loops make more than {} copies", CopyBudget::kMost));
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
    if (!IsLong(*bound)) return;
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
  const Scoped<typed::Block*> in_body(block_, &loop.body);
  scope_->Open();
  DeclareValue(stmt.index, LoopValue(LoopVariable(var, stmt.index.span), range, stmt.index.span));
  ++loops_;
  CheckStmts(stmt.body.stmts);
  --loops_;
  scope_->Close();
}

}  // namespace tkc::sema

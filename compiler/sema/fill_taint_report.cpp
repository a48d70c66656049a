// SPDX-License-Identifier: MIT
// What fill taint reports: once for each place, with the fill that changes nothing and where to write it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "compiler/sema/fill_taint.h"

namespace tkc::sema {

using typed::Expr;
using typed::Op;

bool FillTaint::IsAsRead(const Expr& expr) const {
  if (const Expr* named = LetOf(expr)) return IsAsRead(*named);
  if (expr.kind == typed::ExprKind::kConvert || expr.kind == typed::ExprKind::kTranspose) return IsAsRead(*expr.args[0]);
  return expr.kind == typed::ExprKind::kRead;
}

bool FillTaint::FirstReport(const Expr& expr) {
  return reporting_ && reported_.insert({expr.span.file, expr.span.begin, expr.span.end}).second;
}

void FillTaint::AddHelpBeyondTensor(DiagnosticBuilder& report, const typed::Var& index, int axis, const std::vector<int>& missing,
                                    const std::string& neutral) {
  const int source = missing.front();
  const bool upper = sources_.At(source).upper;
  const std::string turned = axis == 1 ? ".T" : "";
  const bool is_both = std::any_of(missing.begin(), missing.end(), [&](int other) {
    return sources_.At(other).upper != upper && sources_.IndexOf(other) == &index && !sources_.IsEndOfRange(other);
  });
  std::string extent;
  for (const int each : missing) {
    if (extent.empty() && sources_.At(each).upper) extent = sources_.BoundText(each);
  }
  const std::string explained = extent.empty() && (upper || is_both) ? ", `N` the extent of the tensor," : ",";
  if (extent.empty()) extent = "N";
  const auto exists = [&](const std::string& number) {
    const std::string begins = fmt::format("{} >= 0", number), ends = fmt::format("{} < {}", number, extent);
    return is_both ? fmt::format("{} and {}", begins, ends) : upper ? ends : begins;
  };
  if (!sources_.BeginsWithBlocks(source, index)) {
    report.Note(index.span, fmt::format("what is read at a number made of `{}` may {}", index.name,
                                        is_both ? "begin in front of the first element of the tensor, or reach beyond its last"
                                        : upper ? "reach beyond the last element of the tensor"
                                                : "begin in front of the first element of the tensor"));
    report.Help(fmt::format(
        "choose `{}` by the elements' numbers, `where({}, .., {})`, for a read of `n` elements from `first` on{} or read it under "
        "a condition that says that they exist",
        neutral, exists(fmt::format("first + i64(iota(n)){}", turned)), neutral, explained));
    return;
  }
  const std::string number = fmt::format("pos({}){}{}", index.name, turned, sources_.ShiftText(source, index));
  const std::string mask = fmt::format("where({}, .., {})", exists(number), neutral);
  if (is_both) {
    report.Note(index.span,
                fmt::format("blocks of `{}` may begin in front of the first element of the tensor, and what is read there "
                            "may reach beyond the last",
                            index.name));
    report.Help(fmt::format("let the range be `max(0, ..) .. min(.., {})`{} or choose `{}` by the elements' numbers: `{}`", extent,
                            explained, neutral, mask));
  } else if (upper) {
    report.Note(index.span, fmt::format("what is read at `{}` may reach beyond the last element of the tensor", index.name));
    report.Help(fmt::format("let the range end at `min(.., {})`{} or choose `{}` by the elements' numbers: `{}`", extent, explained,
                            neutral, mask));
  } else {  // in its range, but not in the tensor
    report.Note(index.span, fmt::format("blocks of `{}` may begin in front of the first element of the tensor", index.name));
    report.Help(fmt::format("let the range begin at `max(0, ..)`, or choose `{}` by the elements' numbers: `{}`", neutral, mask));
  }
}

namespace {

/// The read that brings the numbers by which the operand chooses rows or elements, whatever type these are converted to, if those
/// that find nothing leave zeros.
const Expr* ReadOfNumbers(const Expr& operand) {
  const Expr* chosen = &operand;
  while (chosen->kind == typed::ExprKind::kConvert) chosen = &*chosen->args[0];
  // One column of numbers, and no fill behind it.
  if (chosen->kind != typed::ExprKind::kGather || chosen->args.size() != 1) return nullptr;
  const Expr* numbers = &*chosen->args[0];
  while (numbers->kind == typed::ExprKind::kConvert) numbers = &*numbers->args[0];
  return numbers->kind == typed::ExprKind::kRead && numbers->args.empty() ? numbers : nullptr;
}

}  // namespace

void FillTaint::AddHelp(DiagnosticBuilder& report, const Expr& operand, int axis, const std::vector<int>& missing,
                        const std::string& neutral) {
  if (unsure_ != nullptr) {
    const std::string& name = kernel_.params[unsure_->id].name;
    report.Note(
        unsure_->span,
        fmt::format("an infinity times `{}` may be a NaN or of either sign, unless the kernel has `require {} > 0`", name, name));
  }
  const typed::Var* index = sources_.IndexOf(missing.front());
  const auto mixed = mixed_.find(missing.front());
  if (index == nullptr && mixed != mixed_.end()) {
    const typed::Pipe& pipe = section_.pipes[static_cast<size_t>(mixed->second)];
    report.Note(pipe.span, fmt::format("what is sent into `{}` at one place may lack elements that others have", pipe.name));
    report.Help(
        fmt::format("let each send have a pipe of its own, and the read the fill that changes nothing: `X[..] else {}`", neutral));
    return;
  }
  if (index == nullptr && !sources_.At(missing.front()).changes.empty()) {
    report.Note("since `reshape` or `cat` what is missing lies in other rows or columns");
    report.Help(
        fmt::format("choose `{}` in front of those, or by a mask that they rearrange alike: `where(reshape(.., r, c), .., {})`",
                    neutral, neutral));
    return;
  }
  const typed::Var* ended = index == nullptr ? sources_.EndedLoopOf(missing.front(), operand.span) : nullptr;
  if (ended != nullptr) {
    report.Note(ended->span, fmt::format("the last block of `{}` may be short", ended->name));
    // What does not exist reads as 0 anyway: where that changes nothing, it is not the read that has to be mended.
    report.Help(fmt::format("choose `{}` in that loop: `where(valid({}){}, .., {})`{}", neutral, ended->name, axis == 1 ? ".T" : "",
                            neutral, neutral == "0" ? "" : fmt::format(", or give the read that fill: `X[..] else {}`", neutral)));
    return;
  }
  if (index == nullptr && !IsAsRead(operand)) {
    const std::string extent = sources_.At(missing.front()).upper ? sources_.BoundText(missing.front()) : "";
    report.Help(fmt::format(
        "choose `{}` in what was computed, by the elements' numbers: `where(iota({}){} < {}, .., {})` where the read begins at 0; "
        "or `require` extents at which all elements exist",
        neutral, axis == 0 ? operand.type.rows : operand.type.cols, axis == 1 ? ".T" : "",
        extent.empty() ? "N" : fmt::format("i32({})", extent), neutral));
    return;
  }
  if (index == nullptr) {
    report.Help(fmt::format(
        "give the read the fill that changes nothing: `X[..] else {}`, or `require` extents at which all elements exist", neutral));
    return;
  }
  if (!sources_.RunsOverBlocks(*index) || !sources_.IsEndOfRange(missing.front()))
    return AddHelpBeyondTensor(report, *index, axis, missing, neutral);
  report.Note(index->span, fmt::format("the last block of `{}` may be short", index->name));
  const std::string part = sources_.PartText(missing.front(), axis == 0 ? operand.type.rows : operand.type.cols);
  const std::string mask = fmt::format("where(valid({}){}{}, ", index->name, part, axis == 1 ? ".T" : "");
  const Span span = operand.span;
  const Expr* numbers = axis == 0 && neutral == "0" ? ReadOfNumbers(operand) : nullptr;
  const std::string other_way =
      numbers ? fmt::format(", or let numbers that are missing find nothing: `{}[..] else -1`", kernel_.params[numbers->id].name)
              : "";
  report.Help(fmt::format("choose `{}` there: `{}.., {})`{}", neutral, mask, neutral, other_way),
              std::vector<Edit>{{{span.file, span.begin, span.begin}, mask},
                                {{span.file, span.end, span.end}, fmt::format(", {})", neutral)}});
}

namespace {

/// `all(valid(n))` and `any(not valid(n))`, also where the mask is a row.
bool AsksForWholeBlock(const Expr& reduce) {
  const Expr* asked = &*reduce.args[0];
  bool is_negated = false;
  const auto is_wrapped = [&] {
    return asked->kind == typed::ExprKind::kTranspose || (asked->kind == typed::ExprKind::kReduce && asked->op == reduce.op);
  };
  while (is_wrapped() || (asked->kind == typed::ExprKind::kUnary && asked->op == Op::kNot)) {
    is_negated ^= asked->kind == typed::ExprKind::kUnary;
    asked = &*asked->args[0];
  }
  const bool is_valid = asked->kind == typed::ExprKind::kBinary && asked->args[0]->kind == typed::ExprKind::kPositions &&
                        asked->span.begin == asked->args[0]->span.begin && asked->span.end == asked->args[0]->span.end;
  return is_valid && is_negated == (reduce.op == Op::kAny);
}

}  // namespace

void FillTaint::ReportAnyAll(const Expr& expr, const std::vector<int>& missing, const char* along) {
  const std::string name = expr.op == Op::kAll ? "all" : "any", neutral = expr.op == Op::kAll ? "true" : "false";
  const char* other = expr.op == Op::kAll ? "false" : "true";
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kFillNotNeutral, expr.span,
                         fmt::format("`{}` over {} that may not exist, where the operand may be {}", name, along, other));
  report.Label(expr.args[0]->span, fmt::format("may be {} where {} are missing; `{}` wants {}", other, along, name, neutral));
  const typed::Var* index = sources_.IndexOf(missing.front());
  if (index != nullptr && AsksForWholeBlock(expr)) {
    const std::string whole = fmt::format("{}.size {} {}", index->name, expr.op == Op::kAll ? "==" : "<",
                                          expr.axis == 0 ? expr.args[0]->type.rows : expr.args[0]->type.cols);
    report.Help(
        fmt::format("whether the block is {} is `{}`, which every worker knows", expr.op == Op::kAll ? "whole" : "short", whole),
        std::vector<Edit>{{expr.span, whole}});
    return;
  }
  if (index != nullptr) return AddHelp(report, *expr.args[0], expr.axis, missing, neutral);
  report.Help(fmt::format("choose `{}` where elements are missing, or `require` extents at which all exist", neutral));
}

namespace {

/// The least or the greatest integer of the type, as an expression of the language.
std::string EndText(DType dtype, bool is_least) {
  const IntegerRange range = IntegersOf(dtype);
  if (!is_least) return range.greatest ? fmt::format("{}", *range.greatest) : fmt::format("{}(-1)", Name(dtype));
  return range.least == std::numeric_limits<int64_t>::min() ? fmt::format("({} - 1)", range.least + 1)
                                                            : fmt::format("{}", range.least);
}

}  // namespace

void FillTaint::ReportReduce(const Expr& expr, const std::vector<int>& missing, Fill fill) {
  if (!FirstReport(expr)) return;
  const char* along = expr.axis == 1 ? "columns" : "rows";
  if (expr.op == Op::kAny || expr.op == Op::kAll) return ReportAnyAll(expr, missing, along);
  const bool runs = expr.kind == typed::ExprKind::kCumsum;
  const bool sums = runs || expr.op == Op::kAdd;
  std::string neutral = sums ? "0" : expr.op == Op::kMax ? "-inf" : "inf";
  if (const DType dtype = ReducedOperand(expr).type.dtype; !sums && !IsFloat(dtype)) neutral = EndText(dtype, expr.op == Op::kMax);
  const char* name = runs ? "running sum" : sums ? "sum" : expr.op == Op::kMax ? "maximum" : "minimum";
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kFillNotNeutral, expr.span,
                         fmt::format("a {} over {} that may not exist, where the operand holds {}", name, along, FillText(fill)));
  report.Label(expr.args[0]->span, fmt::format("{} where {} are missing; a {} wants {}", FillText(fill), along, name, neutral));
  AddHelp(report, *expr.args[0], expr.axis, missing, neutral);
}

void FillTaint::ReportSummed(const Expr& expr, int axis, int source) {
  if (!FirstReport(expr)) return;
  const char* line = axis == 1 ? "column" : "row";
  DiagnosticBuilder report = diagnostics_.Error(
      DiagnosticKind::kFillNotNeutral, expr.span,
      fmt::format("a {} of a running sum over {}s that may not exist, where its operand does not hold 0", line, line));
  report.Label(expr.args[0]->span, fmt::format("behind the last {} it goes on", line));
  const typed::Var* index = sources_.IndexOf(source);
  if (index == nullptr || !sources_.RunsOverBlocks(*index) || !sources_.IsEndOfRange(source)) {
    report.Help("sum up 0 where elements are missing: what `cumsum` is given is to hold 0 there");
    return;
  }
  report.Note(index->span, fmt::format("the last block of `{}` may be short", index->name));
  report.Help(fmt::format("sum up 0 there: `cumsum(where(valid({}){}, .., 0), {})`", index->name, axis == 1 ? ".T" : "", axis));
}

void FillTaint::ReportMatMul(const Expr& expr, const std::vector<int>& missing, Fill x, Fill y) {
  if (!FirstReport(expr)) return;
  DiagnosticBuilder report = diagnostics_.Error(
      DiagnosticKind::kFillNotNeutral, expr.span,
      fmt::format("`@` sums over elements that may not exist: there it multiplies {} by {}", FillText(x), FillText(y)));
  report.Label(expr.args[0]->span, fmt::format("holds {} there", FillText(x)))
      .Label(expr.args[1]->span, fmt::format("holds {} there", FillText(y)));
  // Zero one side; if the other may be infinite, that one.
  const bool left =
      x != Fill::kZero && (x == Fill::kAny || IsInfinite(x) || (y != Fill::kZero && y != Fill::kAny && !IsInfinite(y)));
  AddHelp(report, *expr.args[left ? 0 : 1], left ? 1 : 0, missing, "0");
}

void FillTaint::ReportInfinite(const Expr& expr, const Expr& operand) {
  if (!reporting_ || !reported_.insert({operand.span.file, operand.span.begin, operand.span.end}).second) return;
  diagnostics_.Error(DiagnosticKind::kInfiniteOperand, expr.span, "an operand of `@` has infinities where elements are missing")
      .Label(operand.span, "read with an infinite fill")
      .Help("leave the fill at zero, and mask the product if need be");
}

}  // namespace tkc::sema

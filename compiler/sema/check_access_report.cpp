// SPDX-License-Identifier: MIT
// Accesses that are not what was meant: habits of other languages, a single element for a block, axes exchanged.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/sema/elaborator.h"
#include "compiler/syntax/source_text.h"

namespace tkc::sema {

using typed::AxisRange;
using typed::ExprKind;
using typed::ExprPtr;

bool Elaborator::SuggestBlocks(const std::vector<AxisRange>& axes, DiagnosticBuilder& report) const {
  if (std::count_if(axes.begin(), axes.end(), [](const AxisRange& axis) { return !axis.dropped; }) > 1) return false;
  for (const AxisRange& axis : axes) {
    const typed::Expr* start = axis.start.get();
    while (start != nullptr && start->kind == ExprKind::kConvert) start = start->args[0].get();
    if (!axis.dropped || start == nullptr || start->kind != ExprKind::kVar) continue;
    const typed::Var& index = kernel_.vars[start->id];
    if (index.kind != typed::VarKind::kGrid && index.kind != typed::VarKind::kLoop) continue;
    report.Note(index.span, fmt::format("`{}` is a single element: its range has no `by`", index.name));
    const auto range = ranges_.find(start->id);
    const auto* number = range == ranges_.end() ? nullptr : ast::DynCast<ast::CallExpr>(*range->second->high);
    if (number != nullptr && number->callee.text == "cdiv" && number->arguments.size() == 2 && !range->second->low) {
      const std::string blocks =
          fmt::format("{} by {}", ast::SourceText(*number->arguments[0]), ast::SourceText(*number->arguments[1]));
      report.Help(fmt::format("`cdiv` is the number of blocks; for the blocks write `{}`", blocks), Edit{number->span, blocks});
    } else {
      report.Help("to have blocks of elements, write for example `by 64` behind its range");
    }
    return true;
  }
  return false;
}

bool Elaborator::SuggestBlocks(const typed::Expr& expr, DiagnosticBuilder& report) const {
  if ((expr.kind == ExprKind::kRead || expr.kind == ExprKind::kElement) && SuggestBlocks(expr.axes, report)) return true;
  return std::any_of(expr.args.begin(), expr.args.end(), [&](const ExprPtr& arg) { return SuggestBlocks(*arg, report); });
}

bool Elaborator::ReportBracketsEach(const ast::IndexExpr& expr) {
  const auto* inner = ast::DynCast<ast::IndexExpr>(*expr.base);
  const Symbol* tensor = inner == nullptr || inner->fill ? nullptr : TensorNamed(*inner->base);
  if (tensor == nullptr) return false;
  const typed::Param& param = kernel_.params[tensor->id];
  std::string all;
  for (const auto* indices : {&inner->indices, &expr.indices}) {
    for (const ast::Index& index : *indices) {
      if (index.kind != ast::Index::Kind::kExpr) return false;
      all += (all.empty() ? "" : ", ") + ast::SourceText(*index.expr);
    }
  }
  if (inner->indices.size() + expr.indices.size() > param.extents.size()) return false;
  const Span between{expr.span.file, inner->span.end - 1, expr.indices[0].span.begin};
  diagnostics_
      .Error(DiagnosticKind::kBadIndex, between, fmt::format("the indices of `{}` stand in one pair of brackets", param.name))
      .Help(fmt::format("write `{}[{}]`", param.name, all), Edit{between, ", "});
  return true;
}

bool Elaborator::SuggestLeadingIndex(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<AxisRange>& axes,
                                     DiagnosticBuilder& report) {
  const size_t missing = param.extents.size() - expr.indices.size();
  std::string indices, of_later;
  for (size_t i = 0; i < missing; ++i) indices += ".., ";
  for (size_t i = 0; i < expr.indices.size(); ++i) {
    const ast::Index& index = expr.indices[i];
    const std::string text = index.kind == ast::Index::Kind::kExpr  ? ast::SourceText(*index.expr)
                             : index.kind == ast::Index::Kind::kAll ? ":"
                                                                    : "..";
    indices += (i == 0 ? "" : ", ") + text;
    if (of_later.empty() && axes[i].hi && symbolic_.AreEqual(*axes[i].hi, *param.extents[i + missing]))
      of_later = fmt::format("`{}` goes over axis {}", text, i + missing);
  }
  if (missing == 0 || of_later.empty()) return false;
  report.Help(fmt::format("{}: write what is missing in front of it, `{}[{}]`", of_later, param.name, indices));
  return true;
}

bool Elaborator::IsOfGrid(const std::string& name) {
  const Value& index = scope_->Find(name)->value;
  const typed::Expr& first = index.block ? *index.block->start : *index.expr;
  return first.kind == ExprKind::kVar && kernel_.vars[first.id].kind == typed::VarKind::kGrid;
}

std::string Elaborator::HelpToLoop(const typed::Expr& extent) {
  std::string dim = extent.kind == ExprKind::kDim ? kernel_.dims[extent.id].name : "N", name = "j";
  if (dim.size() == 1 && std::isupper(static_cast<unsigned char>(dim[0])) != 0) name[0] = static_cast<char>(dim[0] - 'A' + 'a');
  if (scope_->Find(name) != nullptr) name = "j";
  return fmt::format("loop over blocks of the axis, `for {} in {} by 128`, or make its extent a compile-time parameter", name, dim);
}

/// The last of `axes` has no index, and can't be taken whole.
void Elaborator::ReportMissingIndex(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<AxisRange>& axes) {
  const size_t axis = axes.size() - 1, found = expr.indices.size();
  const typed::Expr& extent = *param.extents[axis];
  const std::string name = extent.kind == ExprKind::kDim ? fmt::format("`{}`", kernel_.dims[extent.id].name) : "its extent";
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kBadIndex, expr.span,
                         fmt::format("`{}` has {} axes, found {} {}: axis {} is taken whole, and {} is known at launch only",
                                     param.name, param.extents.size(), found, found == 1 ? "index" : "indices", axis, name));
  report.Note(param.span, fmt::format("`{}` is declared here", param.name));
  if (SuggestLeadingIndex(expr, param, axes, report)) return;
  const std::string over = found == axis && !expr.fill ? IndexOver(extent) : "";
  // Of a block of the grid, a reduction would be one of the block alone.
  if (is_reduced_ && (over.empty() || IsOfGrid(over)))
    report.Help(HelpToLoop(extent));
  else if (!over.empty())
    report.Help(fmt::format("write `{}`, the index that runs over it, behind {}", over, found == 1 ? "the one" : "the others"),
                Edit{{expr.span.file, expr.span.end - 1, expr.span.end - 1}, ", " + over});
  else
    report.Help("give the axis an index, such as a block of `for n in N by 128`, or make its extent a compile-time parameter");
}

bool Elaborator::ReportEndAsElement(const ast::Index& index, const typed::Expr& start, const typed::Expr& extent,
                                    const typed::Param& param, int axis) {
  if (NumberOf(extent) || !symbolic_.AreEqual(start, extent)) return false;
  const std::string text = ast::SourceText(*index.expr), over = IndexOver(extent);
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kBadIndex, index.span, fmt::format("`{}` has no element `{}`", param.name, text));
  report.Note(param.span, fmt::format("axis {} of `{}` has `{}` elements, counted from 0", axis, param.name, text));
  if (over.empty())
    report.Help(fmt::format("the last one is `{} - 1`", text));
  else
    report.Help(fmt::format("write `{}`, the index that runs over them", over), Edit{index.span, over});
  return true;
}

std::string Elaborator::IndexOver(const typed::Expr& extent) {
  std::string found;
  for (const std::string& name : scope_->Names()) {
    const Value& value = scope_->Find(name)->value;
    bool runs_over = value.kind == Value::Kind::kBlock && !value.block->shifted &&
                     symbolic_.AreEqual(value.block->range_hi ? *value.block->range_hi : *value.block->hi, extent);
    if (value.kind == Value::Kind::kExpr && value.expr->kind == ExprKind::kVar && extent.kind == ExprKind::kDim) {
      const auto range = ranges_.find(value.expr->id);
      const auto* high = range == ranges_.end() || range->second->low ? nullptr : ast::DynCast<ast::NameExpr>(*range->second->high);
      runs_over = high != nullptr && high->name == kernel_.dims[extent.id].name;
    }
    if (!runs_over) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

std::string Elaborator::ElementsText(const Symbol& tensor) {
  const typed::Param& param = kernel_.params[tensor.id];
  std::vector<std::string> indices;
  for (const ExprPtr& extent : param.extents) {
    const std::string over = NumberOf(*extent) ? ":" : IndexOver(*extent);
    const std::string own = extent->kind == ExprKind::kDim ? kernel_.dims[extent->id].name : "i";
    indices.push_back(!over.empty() ? over : std::string(1, static_cast<char>(std::tolower(own[0]))));
  }
  return fmt::format("{}[{}]", param.name, fmt::join(indices, ", "));
}

bool Elaborator::ReportIndexFromEnd(const ast::Index& index, const typed::Expr& extent, const typed::Param& param) {
  const auto* sign = index.kind == ast::Index::Kind::kExpr ? ast::DynCast<ast::UnaryExpr>(*index.expr) : nullptr;
  if (sign == nullptr || sign->op != ast::UnaryOp::kNegate || sign->operand->kind != ast::ExprKind::kInt) return false;
  const std::string number = ast::SourceText(*sign->operand);
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kBadIndex, index.span, fmt::format("`{}` has no element -{}", param.name, number));
  const std::optional<int64_t> known = NumberOf(extent);
  const std::string end = known ? fmt::format("{}", *known) : extent.kind == ExprKind::kDim ? kernel_.dims[extent.id].name : "";
  if (end.empty())
    report.Help("elements are counted from 0, from the first one on");
  else
    report.Help(fmt::format("elements are counted from 0; from the end write `{} - {}`", end, number),
                Edit{index.span, fmt::format("{} - {}", end, number)});
  return true;
}

/// Blocks that are square hide it: no shape tells `B[n, k]` from `B[k, n]`, but each index runs over the other's axis.
void Elaborator::WarnOfExchange(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<AxisRange>& axes) {
  const auto runs_over = [&](size_t i, const typed::Expr& extent) {
    return axes[i].hi && extent.kind == ExprKind::kDim && axes[i].hi->kind == ExprKind::kDim && axes[i].hi->id == extent.id;
  };
  for (size_t i = 0; i < expr.indices.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!runs_over(i, *param.extents[j]) || !runs_over(j, *param.extents[i])) continue;
      const Span first = expr.indices[j].span, second = expr.indices[i].span;
      exchanged_ = expr.span;
      const auto named = [&](size_t axis) { return kernel_.dims[param.extents[axis]->id].name; };
      DiagnosticBuilder report =
          diagnostics_.Warning(DiagnosticKind::kExchangedAxes, expr.span,
                               fmt::format("axes {} and {} of `{}` are indexed by each other's blocks", j, i, param.name));
      report.Label(first, fmt::format("a block of `{}` on axis `{}`", named(i), named(j)))
          .Label(second, fmt::format("a block of `{}` on axis `{}`", named(j), named(i)))
          .Note(param.span, fmt::format("`{}` is declared here", param.name));
      // Only blocks have a range, and `:` is none.
      const auto* a = ast::DynCast<ast::NameExpr>(*expr.indices[j].expr);
      const auto* b = ast::DynCast<ast::NameExpr>(*expr.indices[i].expr);
      if (a && b)
        report.Help(fmt::format("write `{}` before `{}`", b->name, a->name),
                    std::vector<Edit>{Edit{first, b->name}, Edit{second, a->name}});
    }
  }
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// `A[m, k]`, `x[i :+ n]`, `m[u]`: what an access covers, and the targets of stores.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/views.h"

namespace tkc::sema {

using typed::AxisRange;
using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::Type;

constexpr int64_t kLargestAxis = 1 << 20;

const Symbol* Elaborator::TensorNamed(const ast::Expr& expr) {
  const auto* name = ast::DynCast<ast::NameExpr>(expr);
  const Symbol* symbol = name == nullptr ? nullptr : scope_->Find(name->name);
  return symbol != nullptr && symbol->kind == SymbolKind::kTensor ? symbol : nullptr;
}

namespace {

/// Of the tile that an access covers: a scalar where no axis is kept.
Type TypeOfAxes(const std::vector<AxisRange>& axes, DType dtype) {
  int64_t extents[2] = {1, 1};
  size_t kept = 0;
  for (const AxisRange& axis : axes) {
    if (!axis.dropped) extents[kept++] = axis.extent;
  }
  return kept == 0 ? Type::Scalar(dtype) : Type::Tile(dtype, extents[0], extents[1]);
}

/// What may choose elements of an axis: `i32[n, 1]` or `i64[n, 1]`.
bool IsIndexColumn(const Type& type) {
  return type.is_tile && type.cols == 1 && (type.dtype == DType::kI32 || type.dtype == DType::kI64);
}

bool IsChosen(const AxisRange& axis) { return axis.chosen; }

/// A number beyond the last element, where the extent is known: what else lies outside reads as fill.
bool ReportNoElement(const ast::Index& index, const typed::Expr& extent, const typed::Param& param, int axis,
                     Diagnostics& diagnostics) {
  const auto* literal = index.expr ? ast::DynCast<ast::IntExpr>(*index.expr) : nullptr;
  const std::optional<int64_t> count = NumberOf(extent);
  if (literal == nullptr || !count || *count < 1 || literal->value < static_cast<uint64_t>(*count)) return false;
  DiagnosticBuilder report = diagnostics.Error(DiagnosticKind::kBadIndex, literal->span,
                                               fmt::format("`{}` has no element {}", param.name, literal->value));
  report.Note(param.span, fmt::format("axis {} of `{}` has {} element{}", axis, param.name, *count, *count == 1 ? "" : "s"));
  report.Help(fmt::format("elements are counted from 0: the last one is {}", *count - 1));
  return true;
}

}  // namespace

Value Elaborator::EvalIndex(const ast::IndexExpr& expr) {
  if (const Symbol* tensor = TensorNamed(*expr.base)) return EvalRead(expr, tensor->id);
  if (const auto* name = ast::DynCast<ast::NameExpr>(*expr.base)) {
    const Symbol* symbol = scope_->Find(name->name);
    if (symbol != nullptr && symbol->kind == SymbolKind::kPipe) {
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span, fmt::format("`{}` is a pipe, not a value", name->name))
          .Help(fmt::format("receive from it: `<-{}`", name->name));
      return Error();
    }
  }
  if (ReportBracketsEach(expr)) return Error();
  Value base = Eval(*expr.base);
  if (base.IsError()) return base;
  if (base.kind == Value::Kind::kBlock) {
    if (expr.indices.size() != 1 || expr.indices[0].kind != ast::Index::Kind::kExpr) {
      diagnostics_.Error(DiagnosticKind::kBadIndex, expr.span, "a block index takes one index: `m[u]` is its element number `u`");
      return Error();
    }
    ExprPtr offset = IntegerScalar(Eval(*expr.indices[0].expr), "the index into a block");
    if (!offset) return Error();
    return ExprValue(MakeInteger(Op::kAdd, Clone(*base.block->start), std::move(offset), expr.span), expr.span);
  }
  if (base.IsTile()) return EvalSlice(expr, std::move(base));
  diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span, "only tensors, tiles and block indices are indexed")
      .Label(expr.base->span, fmt::format("is {}", Describe(base)));
  return Error();
}

/// `x[i :+ n]`, `x[:, j :+ n]` of a tile.
Value Elaborator::EvalSlice(const ast::IndexExpr& expr, Value base) {
  if (expr.indices.size() > 2 || expr.fill) {
    diagnostics_
        .Error(DiagnosticKind::kBadIndex, expr.span,
               expr.fill ? "a tile has no missing elements to fill"
                         : fmt::format("a tile has two axes, found {} indices", expr.indices.size()))
        .Label(expr.base->span, fmt::format("is {}", Describe(base)));
    return Error();
  }
  ExprPtr result = std::move(base.expr);
  for (size_t axis = 0; axis < expr.indices.size(); ++axis) {
    const ast::Index& index = expr.indices[axis];
    if (index.kind == ast::Index::Kind::kAll) continue;
    if (index.kind == ast::Index::Kind::kBlock) {
      diagnostics_.Error(DiagnosticKind::kBadIndex, index.span, "a tile has all its elements: there is no range to end inside it")
          .Help("take rows, `x[i :+ n]`, or columns, `x[:, i :+ n]`");
      return Error();
    }
    const int64_t extent = axis == 0 ? result->type.rows : result->type.cols;
    if (index.kind == ast::Index::Kind::kExpr) {
      DiagnosticBuilder report =
          diagnostics_.Error(DiagnosticKind::kBadIndex, index.span, "an element of a tile is no value of its own");
      if (const auto* number = ast::DynCast<ast::IntExpr>(*index.expr))
        report.Help(fmt::format("take a {}: `x[{}{} :+ 1]`", axis == 0 ? "row" : "column", axis == 0 ? "" : ":, ", number->value),
                    Edit{index.span, fmt::format("{} :+ 1", number->value)});
      else
        report.Help("take rows, `x[i :+ n]`, columns, `x[:, i :+ n]`, or a part: `x.rows(w)`");
      return Error();
    }
    const std::optional<int64_t> count = Constant(*index.count, "the length of a slice");
    if (!count) return Error();
    const std::optional<int64_t> low =
        Constant(*index.expr, "the start of a slice of a tile",
                 "an instance or an iteration chooses among equal parts: `x.rows(w)`, `x.cols(w)`; of what lies elsewhere "
                 "write each: `if w == 0 { .. x[0 :+ 32] .. } else { .. }`");
    if (!low) return Error();
    if (*low < 0 || *count < 1 || *low > extent || *count > extent - *low) {
      diagnostics_
          .Error(DiagnosticKind::kBadIndex, index.span,
                 fmt::format("elements {} .. {} of an axis of {}", *low, *low + *count, extent))
          .Label(expr.base->span, fmt::format("is {}", Describe(base = ExprValue(Clone(*result), expr.span))));
      return Error();
    }
    result = Part(std::move(result), static_cast<int>(axis), MakeInt(*low, index.span), *count, expr.span);
  }
  return ExprValue(std::move(result), expr.span);
}

bool Elaborator::WholeAxis(const typed::Expr& extent, const typed::Param& param, int dim, Span span, AxisRange& axis) {
  const std::optional<int64_t> number = NumberOf(extent);
  if (!number || *number < 1 || *number > kLargestAxis) {
    const std::string name = extent.kind == ExprKind::kDim ? fmt::format("`{}`", kernel_.dims[extent.id].name) : "its extent";
    diagnostics_
        .Error(DiagnosticKind::kBadIndex, span,
               number ? fmt::format("axis {} of `{}` has {} elements, too many or too few for a tile", dim, param.name, *number)
                      : fmt::format("the whole of axis {} of `{}` is taken, and {} is known at launch only", dim, param.name, name))
        .Note(param.span, fmt::format("`{}` is declared here", param.name))
        .Help(HelpToLoop(extent));
    return false;
  }
  axis.start = MakeInt(0, span);
  axis.extent = *number;
  return true;
}

void Elaborator::BlockAxis(const BlockIndex& block, const typed::Expr& extent, AxisRange& axis) {
  axis.start = Clone(*block.start);
  axis.extent = block.step;
  const std::optional<int64_t> hi = NumberOf(*block.hi);
  const std::optional<int64_t> end = NumberOf(extent);
  const bool ends_with_axis = hi && end ? *hi >= *end : symbolic_.AreEqual(*block.hi, extent);
  const bool starts_with_axis = !block.shifted || NumberOf(*block.lo) == 0;
  if (ends_with_axis && starts_with_axis) return;
  axis.lo = Clone(*block.lo);
  axis.hi = Clone(*block.hi);
}

void Elaborator::NoteHiddenBlock(const std::string& name, DiagnosticBuilder& report) const {
  const Symbol* hidden = scope_->FindHidden(name);
  if (hidden == nullptr || hidden->value.kind != Value::Kind::kBlock) return;
  report.Note(scope_->Find(name)->span, fmt::format("`{}` is declared again here, and hides the block", name))
      .Help("choose another name for what is declared there");
}

bool Elaborator::ResolveAxis(const ast::Index& index, const typed::Expr& extent, const typed::Param& param, int dim, bool is_store,
                             AxisRange& axis) {
  if (index.kind == ast::Index::Kind::kAll) return WholeAxis(extent, param, dim, index.span, axis);
  if (ReportIndexFromEnd(index, extent, param) || ReportNoElement(index, extent, param, dim, diagnostics_)) return false;
  const auto* name = ast::DynCast<ast::NameExpr>(*index.expr);
  if (name != nullptr && scope_->Find(name->name) == nullptr && !NamedNumber(name->name)) {
    UnknownName(name->name, name->span, NameUse::kValue, index.kind == ast::Index::Kind::kExpr ? IndexOver(extent) : "");
    return false;
  }
  Value value = Eval(*index.expr);
  if (value.IsError()) return false;
  if (index.kind == ast::Index::Kind::kSlice || index.kind == ast::Index::Kind::kBlock) {
    axis.start = IntegerScalar(std::move(value), "the start of a slice");
    const std::optional<int64_t> count = axis.start ? Constant(*index.count, "the length of a slice") : std::nullopt;
    if (count && (*count < 1 || *count > kLargestAxis)) {
      diagnostics_.Error(DiagnosticKind::kBadIndex, index.span,
                         fmt::format("a slice of {} elements; it has 1 to {}", *count, kLargestAxis));
      return false;
    }
    axis.extent = count.value_or(1);
    axis.is_slice = true;
    if (!count || index.kind == ast::Index::Kind::kSlice) return count.has_value();
    ExprPtr end = IntegerScalar(Eval(*index.end), "the end of a range");
    if (!end) return false;
    BlockAxis({Clone(*axis.start), Clone(*axis.start), std::move(end), *count}, extent, axis);
    return true;
  }
  if (value.kind == Value::Kind::kBlock) {
    BlockAxis(*value.block, extent, axis);
    return true;
  }
  if (value.IsTile() && IsIndexColumn(value.expr->type)) {
    if (is_store) {
      diagnostics_
          .Error(DiagnosticKind::kScatterNotUnique, index.span,
                 fmt::format("a store to rows of `{}` that a tile chooses may write an element twice", param.name))
          .Label(index.span, fmt::format("is {}", Describe(value)))
          .Note("scatters are specified, not yet implemented")
          .Help(param.mode == typed::TensorMode::kInOut
                    ? fmt::format("walk over the rows of `{0}`, `grid m in M`, and let a tensor say what each takes: "
                                  "`let i = from[m]`, `if i >= 0 {{ {0}[m, n] <- X[i, n] }}`",
                                  param.name)
                    : "have a tile of work for each row, `grid m in M`, and combine: `Y[list[m], n] += x`; or store rows as they "
                      "come to a `work` tensor, and gather them in a second grid: `rows[from[m], n]`");
      return false;
    }
    axis.start = std::move(value.expr);  // until EvalGather
    axis.dropped = axis.chosen = true;
    return true;
  }
  if (value.IsTile()) {
    DiagnosticBuilder report = diagnostics_.Error(
        DiagnosticKind::kTypeMismatch, index.span,
        fmt::format("index {} of `{}` is an integer, a block, or a column `i32[n, 1]` of numbers", dim, param.name));
    report.Label(index.span, fmt::format("is {}", Describe(value)));
    if (name != nullptr) NoteHiddenBlock(name->name, report);
    return false;
  }
  axis.start = IntegerScalar(std::move(value), fmt::format("index {} of `{}`", dim, param.name));
  axis.extent = 1;
  axis.dropped = true;
  return axis.start != nullptr && !ReportEndAsElement(index, *axis.start, extent, param, dim);
}

bool Elaborator::ResolveAxes(const ast::IndexExpr& expr, typed::ParamId tensor, bool is_store, Access& access) {
  const typed::Param& param = kernel_.params[tensor];
  access.tensor = tensor;
  if (expr.indices.size() > param.extents.size()) {
    diagnostics_
        .Error(DiagnosticKind::kBadIndex, expr.span,
               fmt::format("`{}` has {} ax{}, found {} indices", param.name, param.extents.size(),
                           param.extents.size() == 1 ? "is" : "es", expr.indices.size()))
        .Note(param.span, fmt::format("`{}` is declared here", param.name))
        .Help(param.extents.size() == 1
                  ? fmt::format("give it one: an access to one axis is a column, and `{}[..].T` a row", param.name)
                  : "give each axis one index, in the order in which they are declared");
    return false;
  }
  bool ok = true;
  for (size_t i = 0; i < param.extents.size(); ++i) {
    AxisRange& axis = access.axes.emplace_back();
    const bool written = i < expr.indices.size();
    if (ok && !written && !NumberOf(*param.extents[i])) {
      ReportMissingIndex(expr, param, access.axes);
      return false;
    }
    ok = (written ? ResolveAxis(expr.indices[i], *param.extents[i], param, static_cast<int>(i), is_store, axis)
                  : WholeAxis(*param.extents[i], param, static_cast<int>(i), expr.span, axis)) &&
         ok;
  }
  if (!ok) return false;
  const auto kept = std::count_if(access.axes.begin(), access.axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
  if (kept > 2) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kBadIndex, expr.span,
                                                  fmt::format("an access keeps at most two axes, this one {}", kept));
    report.Note(param.span, fmt::format("`{}` is declared here", param.name));
    if (!SuggestLeadingIndex(expr, param, access.axes, report))
      report.Help(
          "give an element index for all but one of them, which drops their axes; to choose a matrix, let a whole block of rows "
          "have one index");
    return false;
  }
  access.type = TypeOfAxes(access.axes, param.dtype);
  if (access.type.is_tile && ReportTooLarge(access.type, expr.span)) return false;
  WarnOfExchange(expr, param, access.axes);
  access.ok = true;
  return true;
}

Value Elaborator::EvalRead(const ast::IndexExpr& expr, typed::ParamId tensor) {
  const typed::Param& param = kernel_.params[tensor];
  if (param.mode == typed::TensorMode::kOut) handed_on_.Read(tensor, expr.span);
  Access access;
  if (!ResolveAxes(expr, tensor, false, access)) return Error();
  if (std::any_of(access.axes.begin(), access.axes.end(), IsChosen)) return EvalGather(expr, std::move(access));
  if (!access.type.is_tile) {
    if (expr.fill) {
      diagnostics_.Error(DiagnosticKind::kBadIndex, expr.fill->span, "a single element has no fill")
          .Help("compare the index with the extent instead");
      return Error();
    }
    ExprPtr element = MakeNode(ExprKind::kElement, Op::kNone, access.type, {}, expr.span);
    element->id = tensor;
    // Every worker reads the same integer; other elements are data.
    element->level = IsFloat(param.dtype) || param.mode == typed::TensorMode::kInOut ? Level::kWorker : Level::kGrid;
    element->axes = std::move(access.axes);
    return ExprValue(MakeConvert(std::move(element), typed::ScalarDType(param.dtype)), expr.span);
  }
  ExprPtr read = MakeNode(ExprKind::kRead, Op::kNone, access.type, {}, expr.span);
  read->id = tensor;
  read->level = Level::kWorker;
  read->axes = std::move(access.axes);
  return WithFill(std::move(read), expr);
}

/// The access with the number behind its `else`, if it has one.
Value Elaborator::WithFill(ExprPtr access, const ast::IndexExpr& expr) {
  if (expr.fill) {
    ExprPtr fill = FillOf(*expr.fill, access->type.dtype);
    if (!fill) return Error();
    access->args.push_back(std::move(fill));
  }
  return ExprValue(std::move(access), expr.span);
}

/// The number behind `else`; null if it is none, which has been reported.
ExprPtr Elaborator::FillOf(const ast::Expr& expr, DType dtype) {
  Value fill = Eval(expr);
  if (fill.IsError()) return nullptr;
  if (!fill.IsScalar() || fill.expr->level != Level::kConst) {
    diagnostics_.Error(DiagnosticKind::kNotConstant, expr.span, "a fill is a number known at compile time")
        .Label(expr.span, fill.IsScalar() ? "known only when the kernel runs" : fmt::format("is {}", Describe(fill)));
    return nullptr;
  }
  return Coerce(std::move(fill), Type::Scalar(dtype), true, "the fill", kNoSpan);
}

bool Elaborator::ReportRowsNotChosen(const ast::IndexExpr& expr, const typed::Param& param, const std::vector<AxisRange>& axes) {
  const auto first = std::find_if(axes.begin(), axes.end(), IsChosen);
  const auto kept = std::find_if(axes.begin(), axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
  const auto count = std::count_if(kept, axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
  if (count > 1) {
    diagnostics_
        .Error(DiagnosticKind::kBadIndex, expr.span,
               fmt::format("a column chooses rows of one other axis; this access has {} others", count))
        .Note(param.span, fmt::format("`{}` is declared here", param.name))
        .Help(
            "give an element index for all but one of them, which drops their axes; to choose a matrix, let a whole block of rows "
            "have one index");
  } else if (count == 1 && kept < first) {
    const auto column = static_cast<size_t>(first - axes.begin());
    diagnostics_
        .Error(DiagnosticKind::kBadIndex, expr.indices[column].span,
               fmt::format("columns of `{}` that a tile chooses, where it chooses rows", param.name))
        .Label(expr.indices[column].span, fmt::format("is `{}`, behind an axis that stays", TypeText(first->start->type)))
        .Note(param.span, fmt::format("`{}` is declared here", param.name))
        .Help(fmt::format("declare `{}` with that axis behind this one, as strides are the caller's, and turn the rows: `.T`",
                          param.name));
  } else {
    return false;
  }
  return true;
}

/// `X[pos(m), target[m]]`, `W[list[m], d]`: columns of numbers choose an element or a row each, all of them together.
Value Elaborator::EvalGather(const ast::IndexExpr& expr, Access access) {
  const typed::Param& param = kernel_.params[access.tensor];
  if (ReportRowsNotChosen(expr, param, access.axes)) return Error();
  const typed::Expr* first = nullptr;
  ExprPtr gather = MakeNode(ExprKind::kGather, Op::kNone, Type::Tile(param.dtype, 1, 1), {}, expr.span);
  gather->id = access.tensor;
  gather->level = Level::kWorker;
  for (size_t i = 0; i < access.axes.size(); ++i) {
    AxisRange& axis = access.axes[i];
    if (!axis.dropped) gather->type.cols = axis.extent;
    if (!axis.chosen) continue;
    if (first == nullptr) first = axis.start.get();
    if (axis.start->type.rows != first->type.rows) {
      diagnostics_
          .Error(DiagnosticKind::kShapeMismatch, expr.indices[i].span,
                 fmt::format("{} numbers for axis {} of `{}`; an axis before it has {}", axis.start->type.rows, i, param.name,
                             first->type.rows))
          .Label(expr.indices[i].span, fmt::format("is `{}`", TypeText(axis.start->type)))
          .Label(first->span, fmt::format("is `{}`", TypeText(first->type)))
          .Note("columns that choose go together: number i of each for row i of the result");
      return Error();
    }
    gather->args.push_back(std::exchange(axis.start, MakeInt(0, expr.indices[i].span)));
  }
  gather->type.rows = first->type.rows;
  gather->axes = std::move(access.axes);
  return WithFill(std::move(gather), expr);
}

/// `C[m, n]`, `C[m, n].rows(w)`, `dG[d].T`: parts and transposes fold into the access. What is no target is reported.
Access Elaborator::ResolveTarget(const ast::Expr& expr) {
  Access access;
  if (const auto* name = ast::DynCast<ast::NameExpr>(expr)) {
    ReportWholeTensor(*name);
    return access;
  }
  if (const auto* index = ast::DynCast<ast::IndexExpr>(expr)) {
    const Symbol* tensor = TensorNamed(*index->base);
    if (tensor == nullptr) {
      diagnostics_
          .Error(DiagnosticKind::kBadIndex, index->span, "the target of a store is indexed in one place, behind the tensor's name")
          .Help("put all indices into one pair of brackets, and `.T` or `.rows(w)` behind them: `Y[m, n].T`");
      return access;
    }
    if (index->fill) {
      diagnostics_.Error(DiagnosticKind::kBadIndex, index->fill->span,
                         "a store has no fill: elements that do not exist are not written");
      return access;
    }
    ResolveAxes(*index, tensor->id, true, access);
    return access;
  }
  if (const auto* field = ast::DynCast<ast::FieldExpr>(expr)) {
    access = ResolveTarget(*field->base);
    if (!access.ok) return access;
    if (field->field.text != "T" || !access.type.is_tile) {
      diagnostics_.Error(DiagnosticKind::kUnknownName, field->field.span,
                         fmt::format("the target of a store has no `.{}`", field->field.text));
      access.ok = false;
      return access;
    }
    access.transposed = !access.transposed;
    std::swap(access.type.rows, access.type.cols);
    return access;
  }
  const auto& method = ast::Cast<ast::MethodExpr>(expr);
  access = ResolveTarget(*method.base);
  if (!access.ok) return access;
  access.ok = false;
  const int axis = method.method.text == "rows" ? 0 : 1;
  int64_t& extent = axis == 0 ? access.type.rows : access.type.cols;
  std::optional<PartOf> part = PartIndex(method, extent, method.base->span, fmt::format("`{}`", TypeText(access.type)));
  if (!part) return access;
  access.ok = true;
  if (part->extent == extent) return access;
  extent = part->extent;
  int kept = 0;
  for (AxisRange& range : access.axes) {
    if (range.dropped || kept++ != (access.transposed ? 1 - axis : axis)) continue;
    range.start = MakeInteger(Op::kAdd, std::move(range.start), std::move(part->offset), method.span);
    range.extent = part->extent;
    break;
  }
  return access;
}

}  // namespace tkc::sema

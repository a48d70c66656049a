// SPDX-License-Identifier: MIT
// Which dimension each axis of a tile runs over. Where blocks are square no shape tells a tile from its transpose; the names of the
// dimensions that tensors are declared with do. They are carried through everything that is computed tile by tile, and from sends
// to receives, until they stand still; then once more, warning of tiles that would fit if one of them were turned.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/sema/analyses.h"

namespace tkc::sema {
namespace {

using typed::DimId;
using typed::Expr;
using typed::ExprKind;
using typed::Stmt;
using typed::StmtKind;

constexpr DimId kAny = -1;    // fits all: one element for the whole axis, or a constant
constexpr DimId kMixed = -2;  // no dimension, several, or one that is not known

/// Dimensions of a tile's rows and columns.
struct Axes {
  DimId rows = kAny, cols = kAny;
  bool operator==(const Axes&) const = default;
  Axes Turned() const { return {cols, rows}; }
};

DimId Join(DimId a, DimId b) {
  if (a == kAny || a == b) return b;
  return b == kAny ? a : kMixed;
}

Axes Join(Axes a, Axes b) { return {Join(a.rows, b.rows), Join(a.cols, b.cols)}; }

bool AreSame(DimId a, DimId b) { return a >= 0 && a == b; }
bool AreApart(DimId a, DimId b) { return a >= 0 && b >= 0 && a != b; }

/// Whether two tiles that meet element by element differ in an axis, and would not if one were turned.
bool AreExchanged(Axes a, Axes b) {
  const auto fits = [](Axes x, Axes y) { return !AreApart(x.rows, y.rows) && !AreApart(x.cols, y.cols); };
  const Axes turned = b.Turned();
  return !fits(a, b) && fits(a, turned) && (AreSame(a.rows, turned.rows) || AreSame(a.cols, turned.cols));
}

class TileAxes {
 public:
  TileAxes(const typed::Kernel& kernel, const typed::Section& section, Diagnostics& diagnostics)
      : kernel_(kernel), section_(section), diagnostics_(diagnostics) {
    for (DimId dim = 0; dim < static_cast<DimId>(kernel.dims.size()); ++dim) one_of_equal_.push_back(dim);
    for (const typed::ExprPtr& requirement : kernel.requires_at_launch) Unite(*requirement);
  }

  void Check() {
    while (std::exchange(has_changed_, false)) RunAll();
    is_reporting_ = true;
    RunAll();
  }

 private:
  /// `require M == N`: two names of one dimension.
  void Unite(const Expr& requirement) {
    if (requirement.kind != ExprKind::kBinary || requirement.op != typed::Op::kEq) return;
    if (requirement.args[0]->kind != ExprKind::kDim || requirement.args[1]->kind != ExprKind::kDim) return;
    const DimId kept = one_of_equal_[requirement.args[0]->id], gone = one_of_equal_[requirement.args[1]->id];
    std::replace(one_of_equal_.begin(), one_of_equal_.end(), gone, kept);
  }

  void RunAll() {
    for (const typed::GridAxis& axis : section_.axes) dims_of_[axis.var] = DimOf(*axis.hi);
    Run(section_.lets);
    for (const typed::Worker& worker : section_.workers) Run(worker.body);
  }

  void Run(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) Run(*stmt);
  }

  void Run(const Stmt& stmt);
  void Store(const Stmt& stmt);
  Axes Of(const Expr& expr);
  Axes OfElements(const Expr& expr);
  /// `pos(m) < pos(n)`: what was meant is a mask, which wants a row and a column.
  void WarnOfPairs(const Expr& expr);
  Axes OfProduct(const Expr& expr);
  /// The dimension whose elements a range with this end counts, be it cut short, chosen between such ends, or named by a `let`.
  DimId DimOf(const Expr& end) const;
  Axes OfTensor(typed::ParamId tensor, const std::vector<typed::AxisRange>& axes) const;

  template <typename Key>
  void Note(std::map<Key, Axes>& known, const Key& key, Axes axes) {
    Axes& old = known[key];
    axes = Join(old, axes);
    has_changed_ |= axes != old;
    old = axes;
  }

  /// `.T` behind the tile where it is a name, an access, `pos(m)` or `valid(m)`; else it takes parentheses, and nothing is offered.
  std::vector<Edit> Turn(const Expr& tile) const {
    const bool is_name = tile.kind == ExprKind::kVar && kernel_.vars[tile.id].name.size() == tile.span.end - tile.span.begin;
    const bool is_valid = tile.kind == ExprKind::kBinary && tile.args[0]->kind == ExprKind::kPositions &&
                          tile.args[0]->span.begin == tile.span.begin && tile.args[0]->span.end == tile.span.end;
    if (tile.kind != ExprKind::kRead && tile.kind != ExprKind::kPositions && !is_name && !is_valid) return {};
    return {{Span{tile.span.file, tile.span.end, tile.span.end}, ".T"}};
  }

  std::string Names(Axes axes) const {
    const auto name = [&](DimId dim) { return dim >= 0 ? kernel_.dims[dim].name : dim == kAny ? "1" : ".."; };
    return fmt::format("`[{}, {}]`", name(axes.rows), name(axes.cols));
  }

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  Diagnostics& diagnostics_;
  std::vector<DimId> one_of_equal_;  // for each dimension the one that stands for all that are required to be equal to it
  std::map<typed::VarId, Axes> vars_;
  std::map<typed::VarId, DimId>
      dims_of_;  // of indices: what their elements number; of integers: what a range with such an end counts
  std::map<std::pair<typed::PipeId, size_t>, Axes> fields_;
  bool has_changed_ = true;
  bool is_reporting_ = false;
};

void TileAxes::Run(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kLet: dims_of_[stmt.var] = DimOf(*stmt.expr); return Note(vars_, stmt.var, Of(*stmt.expr));
    case StmtKind::kAssign:
    case StmtKind::kAssignPart: return Note(vars_, stmt.var, Of(*stmt.expr));
    case StmtKind::kFor: dims_of_[stmt.var] = DimOf(*stmt.hi); return Run(stmt.body);
    case StmtKind::kIf: Run(stmt.body); return Run(stmt.orelse);
    case StmtKind::kReceive:
      for (size_t i = 0; i < stmt.received.size(); ++i) Note(vars_, stmt.received[i], fields_[{stmt.pipe, i}]);
      return;
    case StmtKind::kSend:
      for (size_t i = 0; i < stmt.values.size(); ++i) {
        const size_t field = stmt.field == typed::kNone ? i : static_cast<size_t>(stmt.field);
        Note(fields_, {stmt.pipe, field}, Of(*stmt.values[i]));
      }
      return;
    case StmtKind::kStore: return Store(stmt);
  }
}

void TileAxes::Store(const Stmt& stmt) {
  const Axes value = Of(*stmt.expr), place = OfTensor(stmt.tensor, stmt.axes);
  if (!is_reporting_ || !AreExchanged(place, value)) return;
  const typed::Param& param = kernel_.params[stmt.tensor];
  diagnostics_
      .Warning(DiagnosticKind::kExchangedAxes, stmt.span,
               fmt::format("a tile over {} is stored where `{}` runs over {}", Names(value), param.name, Names(place)))
      .Label(stmt.expr->span, fmt::format("runs over {}", Names(value)))
      .Note(param.span, fmt::format("`{}` is declared here", param.name))
      .Help("turn it: `.T`", Turn(*stmt.expr));
}

Axes TileAxes::Of(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kVar: return vars_[expr.id];
    case ExprKind::kRead: return OfTensor(expr.id, expr.axes);
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kCall:
    case ExprKind::kSelect:
    case ExprKind::kConvert: return OfElements(expr);
    case ExprKind::kReduce: {
      Axes axes = Of(*expr.args[0]);
      (expr.axis == 1 ? axes.cols : axes.rows) = kAny;
      return axes;
    }
    case ExprKind::kCumsum:
    case ExprKind::kPart: return Of(*expr.args[0]);
    case ExprKind::kTranspose: return Of(*expr.args[0]).Turned();
    case ExprKind::kMatMul: return OfProduct(expr);
    case ExprKind::kPositions: return {DimOf(*expr.args[0]), kAny};
    case ExprKind::kGather:
      for (const typed::ExprPtr& arg : expr.args) Of(*arg);
      return {expr.type.rows == 1 ? kAny : kMixed, OfTensor(expr.id, expr.axes).rows};
    case ExprKind::kCat:
    case ExprKind::kReshape:
      for (const typed::ExprPtr& arg : expr.args) Of(*arg);
      return {expr.type.rows == 1 ? kAny : kMixed, expr.type.cols == 1 ? kAny : kMixed};
    default: return {};
  }
}

DimId TileAxes::DimOf(const Expr& end) const {
  switch (end.kind) {
    case ExprKind::kDim: return one_of_equal_[end.id];
    case ExprKind::kConvert: return DimOf(*end.args[0]);
    case ExprKind::kVar: {
      const auto known = dims_of_.find(end.id);
      return known == dims_of_.end() ? kMixed : known->second;
    }
    case ExprKind::kSelect: return Join(DimOf(*end.args[1]), DimOf(*end.args[2]));
    case ExprKind::kCall: {
      if (end.op != typed::Op::kMin) return kMixed;
      const DimId first = DimOf(*end.args[0]), second = DimOf(*end.args[1]);
      return first == kMixed || first == second ? second : second == kMixed ? first : kMixed;
    }
    default: return kMixed;
  }
}

/// The index whose elements' numbers are compared, where they stand as they are or turned; null for anything else.
const Expr* IndexOfPositions(const Expr& expr, bool& is_turned) {
  const Expr* inner = &expr;
  for (; inner->kind == ExprKind::kConvert || inner->kind == ExprKind::kTranspose; inner = inner->args[0].get()) {
    if (inner->kind == ExprKind::kTranspose) is_turned = !is_turned;
  }
  const bool is_index = inner->kind == ExprKind::kPositions && inner->args[0]->kind == ExprKind::kVar;
  return is_index ? inner->args[0].get() : nullptr;
}

void TileAxes::WarnOfPairs(const Expr& expr) {
  bool is_turned = false, is_other_turned = false;
  const Expr* index = IndexOfPositions(*expr.args[0], is_turned);
  const Expr* other = IndexOfPositions(*expr.args[1], is_other_turned);
  if (index == nullptr || other == nullptr || index->id == other->id || is_turned != is_other_turned) return;
  const char* what = is_turned ? "rows" : "columns";
  diagnostics_
      .Warning(DiagnosticKind::kExchangedAxes, expr.span,
               fmt::format("numbers of `{}` and of `{}` are compared in pairs, the first with the first",
                           kernel_.vars[index->id].name, kernel_.vars[other->id].name))
      .Label(expr.args[1]->span, fmt::format("both are {}", what))
      .Help("to compare each with each turn one of the two: `.T`",
            is_turned ? std::vector<Edit>{}
                      : std::vector<Edit>{{Span{expr.span.file, expr.args[1]->span.end, expr.args[1]->span.end}, ".T"}});
}

/// Of what is computed element by element: each operand against those in front of it.
Axes TileAxes::OfElements(const Expr& expr) {
  if (is_reporting_ && expr.kind == ExprKind::kBinary && expr.type.dtype == DType::kBool) WarnOfPairs(expr);
  Axes all;
  std::pair<const Expr*, Axes> column = {nullptr, {}};  // or row: of two that meet it is the one to turn
  const auto is_line = [](Axes axes) { return axes.rows == kAny || axes.cols == kAny; };
  for (const typed::ExprPtr& arg : expr.args) {
    const Axes axes = Of(*arg);
    if (is_reporting_ && AreExchanged(all, axes)) {
      const bool turns_other = column.first != nullptr && !is_line(axes) && AreExchanged(column.second, axes);
      const auto [turned, over] = turns_other ? column : std::pair<const Expr*, Axes>{arg.get(), axes};
      diagnostics_
          .Warning(DiagnosticKind::kExchangedAxes, expr.span,
                   fmt::format("a tile over {} meets one over {}, element by element", Names(all), Names(axes)))
          .Label(turned->span, fmt::format("runs over {}", Names(over)))
          .Help("turn one of the two: `.T`", Turn(*turned));
    }
    if (axes != Axes{} && is_line(axes)) column = {arg.get(), axes};
    all = Join(all, axes);
  }
  return all;
}

Axes TileAxes::OfProduct(const Expr& expr) {
  const Axes left = Of(*expr.args[0]), right = Of(*expr.args[1]);
  const bool would_fit = AreSame(left.cols, right.cols) || AreSame(left.rows, right.rows);
  // Who multiplies a tile by itself means that block of numbers.
  const bool is_square =
      expr.args[0]->kind == ExprKind::kVar && expr.args[1]->kind == ExprKind::kVar && expr.args[0]->id == expr.args[1]->id;
  if (is_reporting_ && AreApart(left.cols, right.rows) && would_fit && !is_square) {
    const bool is_right = AreSame(left.cols, right.cols);
    diagnostics_
        .Warning(DiagnosticKind::kExchangedAxes, expr.span,
                 fmt::format("a product of a tile over {} and one over {}", Names(left), Names(right)))
        .Label(expr.args[0]->span, fmt::format("columns of `{}`", kernel_.dims[left.cols].name))
        .Label(expr.args[1]->span, fmt::format("rows of `{}`", kernel_.dims[right.rows].name))
        .Help(fmt::format("turn the {} one: `.T`", is_right ? "right" : "left"), Turn(*expr.args[is_right]));
  }
  return {left.rows, right.cols};
}

Axes TileAxes::OfTensor(typed::ParamId tensor, const std::vector<typed::AxisRange>& axes) const {
  std::vector<DimId> kept;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].dropped) continue;
    const Expr& extent = *kernel_.params[tensor].extents[i];
    kept.push_back(extent.kind == ExprKind::kDim ? one_of_equal_[extent.id] : kMixed);
  }
  kept.resize(2, kAny);
  return {kept[0], kept[1]};
}

}  // namespace

void WarnOfTurnedTiles(const typed::Kernel& kernel, const typed::Section& section, Diagnostics& diagnostics) {
  TileAxes(kernel, section, diagnostics).Check();
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Which dimension each axis of a tile runs over. Where blocks are square no shape tells a tile from its transpose; the names of the
// dimensions that tensors are declared with do. They are carried through everything that is computed tile by tile, and from sends
// to receives, until they stand still; then once more, warning of tiles that would fit if one of them were turned.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/fold.h"

namespace tkc::sema {
namespace {

using typed::DimId;
using typed::Expr;
using typed::ExprKind;
using typed::Stmt;
using typed::StmtKind;
using typed::VarId;

constexpr int kAny = -1;    // fits all: one element for the whole axis, or a constant
constexpr int kMixed = -2;  // none, several, or one that is not known

/// What a tile's rows or columns are, each part of it a number, kAny or kMixed.
struct Axis {
  DimId of = kAny;       // the dimension that they are elements of
  VarId by = kAny;       // the index whose block of elements they are
  int64_t whole = kAny;  // how many there are, where that is a number and they are all
  bool operator==(const Axis&) const = default;
};

constexpr Axis kUnknown = {kMixed, kMixed, kMixed};

struct Axes {
  Axis rows, cols;
  bool operator==(const Axes&) const = default;
  Axes Turned() const { return {cols, rows}; }
};

template <typename Number>
Number Join(Number a, Number b) {
  if (a == kAny || a == b) return b;
  return b == kAny ? a : Number{kMixed};
}

Axis Join(const Axis& a, const Axis& b) { return {Join(a.of, b.of), Join(a.by, b.by), Join(a.whole, b.whole)}; }
Axes Join(const Axes& a, const Axes& b) { return {Join(a.rows, b.rows), Join(a.cols, b.cols)}; }

bool AreSame(const Axis& a, const Axis& b) { return a.of >= 0 && a.of == b.of; }
bool AreApart(const Axis& a, const Axis& b) { return a.of >= 0 && b.of >= 0 && a.of != b.of; }

/// Whether two tiles that meet element by element differ in an axis, and would not if one were turned.
bool AreExchanged(const Axes& a, const Axes& b) {
  const auto fits = [](const Axes& x, const Axes& y) { return !AreApart(x.rows, y.rows) && !AreApart(x.cols, y.cols); };
  const Axes turned = b.Turned();
  return !fits(a, b) && fits(a, turned) && (AreSame(a.rows, turned.rows) || AreSame(a.cols, turned.cols));
}

/// A product of features, the same number on both sides, with a block of whatever has them: `Q[i] @ K[j]` without `.T`. A left
/// operand without a dimension, `T[:, :] @ X[m]`, may be meant for blocks.
bool ContractsFeatures(const Axes& left, const Axes& right) {
  return left.cols.whole > 0 && left.cols.whole == right.cols.whole && left.rows.of >= 0 && right.rows.of >= 0 &&
         right.rows.by >= 0;
}

/// The index that an access takes a block of, as it is.
VarId IndexOf(const Expr& start) { return start.kind == ExprKind::kVar ? start.id : kMixed; }

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
  /// `X[m, n] * s[m].T` of `s: f32[N]`: elements of one dimension meet, of which `m` has taken some as if it ran over that
  /// dimension.
  bool AreCrossed(const Axis& right, const Axis& wrong) const;
  bool WarnOfCrossing(const Expr& expr, const Expr& one, const Axis& axis, const Expr& other, const Axis& other_axis);
  bool WarnOfForeignIndex(const Expr& expr, const Expr& operand, const Axis& wrong, VarId right);
  /// How to have the tile meet the other one: turned, and by the other one's index where its own runs over another dimension.
  void HelpTurn(const Expr& turned, const Axes& over, const Axes& other, DiagnosticBuilder& report) const;
  /// The dimension that an index runs over.
  DimId DimOfIndex(VarId index) const {
    const auto known = dims_of_.find(index);
    return known == dims_of_.end() ? kMixed : known->second;
  }
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
    const auto name = [&](const Axis& axis) {
      if (axis.of >= 0) return kernel_.dims[axis.of].name;
      return axis.whole > 0 ? fmt::format("{}", axis.whole) : std::string(axis.of == kAny ? "1" : "..");
    };
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
      (expr.axis == 1 ? axes.cols : axes.rows) = {};
      return axes;
    }
    case ExprKind::kCumsum: return Of(*expr.args[0]);
    case ExprKind::kPart: {
      Axes axes = Of(*expr.args[0]);
      (expr.axis == 1 ? axes.cols : axes.rows).whole = kMixed;
      return axes;
    }
    case ExprKind::kTranspose: return Of(*expr.args[0]).Turned();
    case ExprKind::kMatMul: return OfProduct(expr);
    case ExprKind::kPositions: return {{DimOf(*expr.args[0]), IndexOf(*expr.args[0]), kMixed}, {}};
    case ExprKind::kGather:
      for (const typed::ExprPtr& arg : expr.args) Of(*arg);
      return {expr.type.rows == 1 ? Axis{} : kUnknown, OfTensor(expr.id, expr.axes).rows};
    case ExprKind::kCat:
    case ExprKind::kReshape:
      for (const typed::ExprPtr& arg : expr.args) Of(*arg);
      return {expr.type.rows == 1 ? Axis{} : kUnknown, expr.type.cols == 1 ? Axis{} : kUnknown};
    default: return {};
  }
}

DimId TileAxes::DimOf(const Expr& end) const {
  switch (end.kind) {
    case ExprKind::kDim: return one_of_equal_[end.id];
    case ExprKind::kConvert: return DimOf(*end.args[0]);
    case ExprKind::kVar: return DimOfIndex(end.id);
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
  std::vector<std::pair<const Expr*, Axes>> before;
  std::pair<const Expr*, Axes> column = {nullptr, {}};  // or row: of two that meet it is the one to turn
  const auto is_line = [](const Axes& axes) { return axes.rows == Axis{} || axes.cols == Axis{}; };
  for (const typed::ExprPtr& arg : expr.args) {
    Axes axes = Of(*arg);
    if (arg->type.rows == 1) axes.rows = Axis{};  // one element meets all
    if (arg->type.cols == 1) axes.cols = Axis{};
    for (const auto& [other, of_other] : before) {
      if (!is_reporting_ || WarnOfCrossing(expr, *other, of_other.rows, *arg, axes.rows) ||
          WarnOfCrossing(expr, *other, of_other.cols, *arg, axes.cols))
        break;
    }
    before.emplace_back(arg.get(), axes);
    if (is_reporting_ && AreExchanged(all, axes)) {
      const bool turns_other = column.first != nullptr && !is_line(axes) && AreExchanged(column.second, axes);
      const auto [turned, over] = turns_other ? column : std::pair<const Expr*, Axes>{arg.get(), axes};
      DiagnosticBuilder report =
          diagnostics_.Warning(DiagnosticKind::kExchangedAxes, expr.span,
                               fmt::format("a tile over {} meets one over {}, element by element", Names(all), Names(axes)));
      report.Label(turned->span, fmt::format("runs over {}", Names(over)));
      HelpTurn(*turned, over, turns_other ? axes : all, report);
    }
    if (axes != Axes{} && is_line(axes)) column = {arg.get(), axes};
    all = Join(all, axes);
  }
  return all;
}

bool TileAxes::AreCrossed(const Axis& right, const Axis& wrong) const {
  if (!AreSame(right, wrong) || right.by < 0 || wrong.by < 0) return false;
  const DimId over = DimOfIndex(wrong.by);
  return DimOfIndex(right.by) == right.of && over >= 0 && over != wrong.of;
}

bool TileAxes::WarnOfCrossing(const Expr& expr, const Expr& one, const Axis& axis, const Expr& other, const Axis& other_axis) {
  if (AreCrossed(axis, other_axis)) return WarnOfForeignIndex(expr, other, other_axis, axis.by);
  return AreCrossed(other_axis, axis) && WarnOfForeignIndex(expr, one, axis, other_axis.by);
}

/// Where the index stands, if one access of the tile is what has it.
const Expr* PlaceOfIndex(const Expr& tile, VarId index) {
  const Expr* inner = &tile;
  while (inner->kind == ExprKind::kTranspose || inner->kind == ExprKind::kConvert) inner = inner->args[0].get();
  if (inner->kind != ExprKind::kRead) return nullptr;
  for (const typed::AxisRange& axis : inner->axes) {
    if (!axis.dropped && IndexOf(*axis.start) == index) return axis.start.get();
  }
  return nullptr;
}

bool TileAxes::WarnOfForeignIndex(const Expr& expr, const Expr& operand, const Axis& wrong, VarId right) {
  const std::string &name = kernel_.vars[wrong.by].name, &wanted = kernel_.vars[right].name;
  const std::string &dim = kernel_.dims[wrong.of].name, &over = kernel_.dims[DimOfIndex(wrong.by)].name;
  const Expr* place = PlaceOfIndex(operand, wrong.by);
  diagnostics_
      .Warning(DiagnosticKind::kExchangedAxes, expr.span,
               fmt::format("elements of `{}` at block `{}` meet those at block `{}`", dim, wanted, name))
      .Label(operand.span, fmt::format("a block of `{}` on axis `{}`", over, dim))
      .Help(fmt::format("index it by `{}`, which runs over `{}`", wanted, dim),
            place == nullptr ? std::vector<Edit>{} : std::vector<Edit>{{place->span, wanted}});
  return true;
}

void TileAxes::HelpTurn(const Expr& turned, const Axes& over, const Axes& other, DiagnosticBuilder& report) const {
  const Axes after = over.Turned();
  const bool rows_cross = AreCrossed(other.rows, after.rows);
  const Expr* place = nullptr;
  if (turned.kind == ExprKind::kRead && (rows_cross || AreCrossed(other.cols, after.cols)))
    place = PlaceOfIndex(turned, (rows_cross ? after.rows : after.cols).by);
  if (place == nullptr) return void(report.Help("turn one of the two: `.T`", Turn(turned)));
  const typed::Param& param = kernel_.params[turned.id];
  const std::string& wanted = kernel_.vars[(rows_cross ? other.rows : other.cols).by].name;
  std::vector<Edit> edits = Turn(turned);
  edits.insert(edits.begin(), {place->span, wanted});
  report.Help(fmt::format("index it by `{}`, and turn it: `{}`", wanted,
                          param.extents.size() == 1 ? fmt::format("{}[{}].T", param.name, wanted) : ".T"),
              std::move(edits));
}

Axes TileAxes::OfProduct(const Expr& expr) {
  const Axes left = Of(*expr.args[0]), right = Of(*expr.args[1]);
  const bool would_fit = AreSame(left.cols, right.cols) || AreSame(left.rows, right.rows);
  // Who multiplies a tile by itself means that block of numbers.
  const bool is_square =
      expr.args[0]->kind == ExprKind::kVar && expr.args[1]->kind == ExprKind::kVar && expr.args[0]->id == expr.args[1]->id;
  const bool are_features = ContractsFeatures(left, right);
  if (is_reporting_) WarnOfCrossing(expr, *expr.args[0], left.cols, *expr.args[1], right.rows);
  if (is_reporting_ && (are_features || (AreApart(left.cols, right.rows) && would_fit)) && !is_square) {
    const bool is_right = are_features || AreSame(left.cols, right.cols);
    diagnostics_
        .Warning(DiagnosticKind::kExchangedAxes, expr.span,
                 fmt::format("a product of a tile over {} and one over {}", Names(left), Names(right)))
        .Label(expr.args[0]->span, are_features ? fmt::format("all {} columns of each row", left.cols.whole)
                                                : fmt::format("columns of `{}`", kernel_.dims[left.cols.of].name))
        .Label(expr.args[1]->span, fmt::format("rows of `{}`", kernel_.dims[right.rows.of].name))
        .Help(fmt::format("turn the {} one: `.T`", is_right ? "right" : "left"), Turn(*expr.args[is_right]));
  }
  return {left.rows, right.cols};
}

Axes TileAxes::OfTensor(typed::ParamId tensor, const std::vector<typed::AxisRange>& axes) const {
  std::vector<Axis> kept;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].dropped) continue;
    const Expr& extent = *kernel_.params[tensor].extents[i];
    const std::optional<int64_t> number = NumberOf(extent);
    kept.push_back({extent.kind == ExprKind::kDim ? one_of_equal_[extent.id] : kMixed, IndexOf(*axes[i].start),
                    number == axes[i].extent ? *number : kMixed});
  }
  kept.resize(2);
  return {kept[0], kept[1]};
}

}  // namespace

void WarnOfTurnedTiles(const typed::Kernel& kernel, const typed::Section& section, Diagnostics& diagnostics) {
  TileAxes(kernel, section, diagnostics).Check();
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Fill taint of tiles that are cut, joined and put beside each other.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/sema/fill_taint.h"

namespace tkc::sema {

using symbolic::Scalar;
using typed::Expr;

namespace {

constexpr size_t kMostChanges = 6;  // of one tile, each told from the others; loops may go on for ever
constexpr const char* kOften = " often";

/// One reshape in Source::changes, behind the axis: ` 64x32>2048x1`.
std::string ShapeText(const typed::Type& from, const typed::Type& to) {
  return fmt::format(" {}x{}>{}x{};", from.rows, from.cols, to.rows, to.cols);
}

/// The same where rows are missing whole and each is cut: however long they are, ` 64>2048`.
std::string CutText(int64_t from_rows, int64_t to_rows) { return fmt::format(" {}>{};", from_rows, to_rows); }

bool IsOften(const Source& source) { return !source.changes.empty() && source.changes.front().text == kOften; }

/// Sources of tiles that changed often are all alike, wherever they were, so that loops come to an end.
void AddChange(Source& source, Source::Change change) {
  if (!IsOften(source) && source.changes.size() < kMostChanges) {
    source.changes.push_back(std::move(change));
    return;
  }
  source.changes = {{kOften}};
  source.difference = symbolic::Name(kOld);
  source.starts.clear();
  source.tested.clear();
}

void AddFill(std::map<int, Fill>& axis, int source, Fill fill) {
  const auto [slot, is_new] = axis.emplace(source, fill);
  if (!is_new) slot->second = Join(slot->second, fill);
}

}  // namespace

bool FillSources::IsOftenChanged(int source) const { return IsOften(sources_[source]); }

int FillSources::Reshaped(int source, int axis, const typed::Type& from, const typed::Type& to) {
  Source reshaped = sources_[source];
  const bool cuts_rows = axis == 0 && to.rows > from.rows;
  AddChange(reshaped, {fmt::format("{}{}", axis, cuts_rows ? CutText(from.rows, to.rows) : ShapeText(from, to))});
  return Intern(std::move(reshaped));
}

std::optional<FillSources::AlongAxis> FillSources::ShapedBack(int source, int axis, const typed::Type& from,
                                                              const typed::Type& to) {
  Source back = sources_[source];
  if (back.changes.empty()) return std::nullopt;
  const std::string& last = back.changes.back().text;
  const bool as_rows = axis == 0 && last == "0" + CutText(to.rows, from.rows);
  const int64_t times = from.cols;  // each element of the column, whose copies become neighbours
  const bool as_columns = to.cols % times == 0 && last == "1" + ShapeText(typed::Type::Tile(from.dtype, to.rows, to.cols / times),
                                                                          typed::Type::Tile(from.dtype, from.rows, 1));
  if (!as_rows && !as_columns) return std::nullopt;
  back.changes.pop_back();
  if (as_columns && times > 1) {
    if (!back.changes.empty()) return std::nullopt;
    const Scalar factor = symbolic::Int(times);
    back.difference = symbolic::Mul(back.difference, factor);
    for (std::vector<Scalar>* places : {&back.starts, &back.tested}) {
      for (Scalar& place : *places) place = symbolic::Mul(place, factor);
    }
  }
  return AlongAxis{Intern(std::move(back)), as_rows ? 0 : 1};
}

int FillSources::Beside(int source, int64_t first, int64_t count) {
  Source beside = sources_[source];
  AddChange(beside, {fmt::format(" {}+{};", first, count), first, count});
  return Intern(std::move(beside));
}

std::optional<FillSources::OfPiece> FillSources::PieceOf(int source, int64_t count) {
  Source whole = sources_[source];
  if (whole.changes.empty()) return std::nullopt;
  const Source::Change last = whole.changes.back();
  if (last.count != count || last.first % count != 0) return std::nullopt;
  whole.changes.pop_back();
  return OfPiece{Intern(std::move(whole)), last.first / count};
}

int FillSources::Within(int source, const Scalar& offset) {
  Source within = sources_[source];
  std::set<std::string> names;
  symbolic::AddNames(offset, names);
  const auto moved = [&](const Scalar& place) {
    Scalar result = symbolic::Sub(place, offset);
    // What cancels is not to be found in it.
    for (const std::string& name : names) {
      const Scalar without = symbolic::Substitute(result, name, symbolic::Int(0));
      if (symbolic::Equal(result, without)) result = without;
    }
    return result;
  };
  within.difference = moved(within.difference);
  for (Scalar& start : within.starts) start = moved(start);
  for (Scalar& start : within.tested) start = moved(start);
  if (!within.changes.empty() && symbolic::ConstantDifference(offset, symbolic::Int(0)) != 0)
    AddChange(within, {fmt::format("-{};", symbolic::CanonicalText(offset))});
  return Intern(std::move(within));
}

std::optional<Source> FillSources::Moved(Source source, const Scalar& offset, int64_t extent) {
  const Source::Change last = source.changes.empty() ? Source::Change{} : source.changes.back();
  const auto begin = symbolic::ConstantDifference(offset, symbolic::Int(0));
  if (begin && last.count > 0) {
    if (*begin >= last.first + last.count || *begin + extent <= last.first) return std::nullopt;
    if (*begin >= last.first && *begin + extent <= last.first + last.count) {
      source.changes.pop_back();
      return Moved(std::move(source), symbolic::Int(*begin - last.first), extent);
    }
  }
  source.difference = symbolic::Add(source.difference, offset);
  for (Scalar& start : source.starts) start = symbolic::Add(start, offset);
  for (Scalar& start : source.tested) start = symbolic::Add(start, offset);
  if (!source.changes.empty() && begin != 0)
    AddChange(source, {fmt::format("+{};", symbolic::CanonicalText(offset))});  // counted in rows of the new shape
  return source;
}

Taint FillTaint::Part(const Expr& expr) {
  Taint taint = Eval(*expr.args[0]);
  for (int which = 0; which < 2; ++which) {
    const Scalar offset = table_->Of(*expr.args[which + 1]);
    std::map<int, Fill> moved;
    for (const auto& [id, fill] : taint.axis[which]) {
      const Source source = sources_.At(id);
      const int64_t extent = which == 0 ? expr.type.rows : expr.type.cols;
      const std::optional<Source> part = sources_.Moved(source, offset, extent);
      if (!part || !sources_.CanMiss(*part, extent)) continue;
      const int64_t whole = which == 0 ? expr.args[0]->type.rows : expr.args[0]->type.cols;
      if (fill == Fill::kSummed && extent == 1 && whole > 1) ReportSummed(expr, which, id);
      const int there = sources_.Intern(*part);
      AddFill(moved, there, sources_.IsOftenChanged(there) ? Fill::kAny : fill);
    }
    taint.axis[which] = std::move(moved);
  }
  return taint;
}

Taint FillTaint::WithinTile(Taint part, const typed::Stmt& stmt) {
  for (int which = 0; which < 2; ++which) {
    const typed::ExprPtr& place = which == 0 ? stmt.row : stmt.col;
    if (!place) continue;
    const Scalar offset = table_->Of(*place);
    std::map<int, Fill> within;
    for (const auto& [id, fill] : part.axis[which]) {
      const int source = sources_.Within(id, offset);
      AddFill(within, source, sources_.IsOftenChanged(source) ? Fill::kAny : fill);
    }
    part.axis[which] = std::move(within);
  }
  return part;
}

std::optional<std::map<int, Fill>> FillTaint::ColumnsReshaped(const std::map<int, Fill>& columns, const typed::Type& from,
                                                              const typed::Type& to) {
  constexpr int64_t kMostBeside = 16;  // rows in a joined one, each of which has sources of its own
  std::map<int, Fill> reshaped;
  if (to.rows < from.rows) {
    const int64_t count = from.rows / to.rows;
    if (count > kMostBeside) return std::nullopt;
    for (const auto& [id, fill] : columns) {
      if (const auto back = sources_.ShapedBack(id, 1, from, to)) {
        AddFill(reshaped, back->source, fill);
        continue;
      }
      for (int64_t piece = 0; piece < count; ++piece) {
        const int source = sources_.Beside(id, piece * from.cols, from.cols);
        AddFill(reshaped, source, sources_.IsOftenChanged(source) ? Fill::kAny : fill);
      }
    }
    return reshaped;
  }
  std::map<int, std::set<int64_t>> pieces;
  for (const auto& [id, fill] : columns) {
    const auto of = sources_.PieceOf(id, to.cols);
    if (!of) return std::nullopt;
    pieces[of->source].insert(of->piece);
    AddFill(reshaped, of->source, fill);
  }
  const auto is_of_each = [&](const auto& of) { return of.second.size() == static_cast<size_t>(from.cols / to.cols); };
  if (!std::all_of(pieces.begin(), pieces.end(), is_of_each)) return std::nullopt;
  return reshaped;
}

/// What is missing at the end of a long row is part of a short one, or all of it; and the other way around. Where that is, no mask
/// says but one that was reshaped alike.
Taint FillTaint::Reshape(const Expr& expr) {
  Taint taint = Eval(*expr.args[0]);
  const bool cuts = expr.type.rows > expr.args[0]->type.rows;
  std::map<int, Fill> axis[2];
  const typed::Type& from = expr.args[0]->type;
  const auto columns = ColumnsReshaped(taint.axis[1], from, expr.type);
  if (columns) axis[1] = *columns;
  for (int which = 0; which < (columns ? 1 : 2); ++which) {
    for (const auto& [id, fill] : taint.axis[which]) {
      if (const auto back = sources_.ShapedBack(id, which, from, expr.type)) {
        AddFill(axis[back->axis], back->source, fill);
        continue;
      }
      const int source = sources_.Reshaped(id, which, from, expr.type);
      const Fill there = sources_.IsOftenChanged(source) ? Fill::kAny : fill;
      if (which == 0 || cuts) AddFill(axis[0], source, there);
      if (which == 1 || !cuts) AddFill(axis[1], source, there);
    }
  }
  for (int which = 0; which < 2; ++which) taint.axis[which] = std::move(axis[which]);
  // Numbers along one axis are numbers along both of the other shape.
  if (taint.numbers[0] || taint.numbers[1]) taint.numbers[0] = taint.numbers[1] = Join(taint.Beside(0), taint.Beside(1));
  return taint;
}

/// What is missing of one tile's columns is in their place, which no mask tells but one that was joined alike.
Taint FillTaint::Cat(const Expr& expr) {
  std::optional<Taint> result;
  int64_t first = 0;
  for (const typed::ExprPtr& arg : expr.args) {
    Taint part = Eval(*arg);
    std::map<int, Fill> columns;
    for (const auto& [id, fill] : part.axis[1]) {
      const int source = sources_.Beside(id, first, arg->type.cols);
      AddFill(columns, source, sources_.IsOftenChanged(source) ? Fill::kAny : fill);
    }
    part.axis[1].clear();
    const std::map<int, Fill> before = result ? std::exchange(result->axis[1], {}) : std::map<int, Fill>{};
    result = result ? Join(*result, part) : part;
    result->axis[1] = before;
    for (const auto& [source, fill] : columns) AddFill(result->axis[1], source, fill);
    first += arg->type.cols;
  }
  return result.value_or(Taint{});
}

}  // namespace tkc::sema

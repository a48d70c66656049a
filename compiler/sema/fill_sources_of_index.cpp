// SPDX-License-Identifier: MIT
// Which index in sight a source is of, and whether it lies where `pos` and `valid` of it say (fill_sources.h).
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "compiler/sema/fill_sources.h"

namespace tkc::sema {

using symbolic::Scalar;
using typed::VarId;

const typed::Var* FillSources::IndexOf(int source) const {
  if (!sources_[source].changes.empty()) return nullptr;
  for (auto var = around_.rbegin(); var != around_.rend(); ++var) {
    if (symbolic::Mentions(sources_[source].difference, NameOf(*var))) return &kernel_.vars[*var];
  }
  return nullptr;
}

const typed::Var* FillSources::EndedLoopOf(int source, Span place) const {
  const typed::Var* loop = nullptr;
  for (size_t var = 0; var < kernel_.vars.size(); ++var) {
    const typed::Var& candidate = kernel_.vars[var];
    if (candidate.kind != typed::VarKind::kLoop || candidate.span.file != place.file || candidate.span.begin > place.begin)
      continue;
    const std::string name = NameOf(static_cast<VarId>(var));
    const std::vector<Scalar>& starts = sources_[source].starts;
    if (std::ranges::any_of(starts, [&](const Scalar& start) { return symbolic::Mentions(start, name); })) loop = &candidate;
  }
  return loop;
}

bool FillSources::RunsOverBlocks(const typed::Var& index) const {
  return std::any_of(around_.begin(), around_.end(), [&](VarId var) {
    const auto range = ranges_.find(NameOf(var));
    return &kernel_.vars[var] == &index && range != ranges_.end() && range->second.step > 1;
  });
}

std::optional<FillSources::RangeEnd> FillSources::RangeEndedAt(int source) const {
  const Source& end = sources_[source];
  if (!end.changes.empty()) return std::nullopt;  // where a block ends among cut rows, `valid` does not say
  for (const VarId var : around_) {
    const auto range = ranges_.find(NameOf(var));
    if (!end.upper || range == ranges_.end()) continue;
    const Scalar block_end = symbolic::Sub(symbolic::Name(range->first), range->second.hi);
    const Scalar part = symbolic::Sub(end.difference, block_end);
    if (IsInBlock(part, range->second.step)) return RangeEnd{&range->first, part};
  }
  return std::nullopt;
}

bool FillSources::AsksForBlocks(int source) const {
  const std::vector<Scalar>& tested = sources_[source].tested;
  return !tested.empty() && AreOfBlocks(source, tested);
}

bool FillSources::AreOfBlocks(int source, const std::vector<Scalar>& places) const {
  const std::optional<RangeEnd> end = RangeEndedAt(source);
  return end && std::all_of(places.begin(), places.end(), [&](const Scalar& place) {
           return symbolic::Equal(place, symbolic::Add(symbolic::Name(*end->index), end->part));
         });
}

std::string FillSources::PartText(int source, int64_t extent) const {
  const std::optional<RangeEnd> end = RangeEndedAt(source);
  if (!end || ranges_.at(*end->index).step <= extent) return "";
  if (const auto first = symbolic::ConstantDifference(end->part, symbolic::Int(0)))
    return fmt::format("[{} :+ {}]", *first, extent);
  const Scalar own = symbolic::Mul(symbolic::Name(table_->NameOf(instance_)), symbolic::Int(extent));
  const bool is_own = ranges_.at(*end->index).step == extent * instances_ && symbolic::Equal(end->part, own);
  return is_own ? fmt::format(".rows({})", kernel_.vars[instance_].name) : "";
}

bool FillSources::IsInBlock(const Scalar& part, int64_t step) const {
  for (int64_t number = 0; number < instances_; ++number) {
    const auto place = symbolic::ConstantDifference(WithInstance(part, number), symbolic::Int(0));
    if (!place || *place < 0 || *place >= step) return false;
  }
  return true;
}

bool FillSources::IsShifted(int source, int end) const {
  const std::optional<RangeEnd> range = RangeEndedAt(end);
  const std::vector<Scalar>& starts = sources_[source].starts;
  return range && sources_[source].changes.empty() && !starts.empty() &&
         std::all_of(starts.begin(), starts.end(), [&](const Scalar& start) {
           const Scalar shift = symbolic::Sub(start, symbolic::Add(symbolic::Name(*range->index), range->part));
           const auto by = symbolic::ConstantDifference(shift, symbolic::Int(0));
           // By a whole block, it is a read of another one.
           const bool is_fixed = symbolic::Equal(shift, symbolic::Substitute(shift, *range->index, symbolic::Int(0)));
           return is_fixed && (!by || (*by != 0 && std::abs(*by) < ranges_.at(*range->index).step));
         });
}

bool FillSources::BeginsWithBlocks(int source, const typed::Var& index) const {
  const auto var = std::find_if(around_.begin(), around_.end(), [&](VarId id) { return &kernel_.vars[id] == &index; });
  if (!RunsOverBlocks(index) || var == around_.end()) return false;
  const std::string name = NameOf(*var);
  const std::vector<Scalar>& starts = sources_[source].starts;
  return std::all_of(starts.begin(), starts.end(), [&](const Scalar& start) {
    const Scalar shift = symbolic::Sub(start, symbolic::Name(name));
    return symbolic::Equal(shift, symbolic::Substitute(shift, name, symbolic::Int(0)));
  });
}

std::string FillSources::ShiftText(int source, const typed::Var& index) const {
  const std::vector<Scalar>& starts = sources_[source].starts;
  const auto var = std::find_if(around_.begin(), around_.end(), [&](VarId id) { return &kernel_.vars[id] == &index; });
  if (starts.size() != 1 || var == around_.end()) return "";
  const auto shift = symbolic::ConstantDifference(starts[0], symbolic::Name(NameOf(*var)));
  return !shift || *shift == 0 ? "" : *shift > 0 ? fmt::format(" + {}", *shift) : fmt::format(" - {}", -*shift);
}

std::string FillSources::BoundText(int source) const {
  const Source& ended = sources_[source];
  if (ended.starts.empty()) return "";
  for (const typed::Dim& dim : kernel_.dims) {
    const Scalar from_bound = symbolic::Sub(ended.starts[0], symbolic::Name(SymbolicTable::NameOfDim(dim.name)));
    if (symbolic::ConstantDifference(from_bound, ended.difference) == 0) return dim.name;
  }
  const std::optional<int64_t> number = symbolic::ConstantDifference(ended.starts[0], ended.difference);
  return number ? std::to_string(*number) : "";
}

void FillSources::TakeAsRead(int end) {
  const std::optional<RangeEnd> known = RangeEndedAt(end);
  if (!known) return;
  const Range& range = ranges_.at(*known->index);
  if (!IsMultiple(symbolic::Sub(range.hi, range.lo), range.step)) sources_[end].is_read = true;
}

}  // namespace tkc::sema

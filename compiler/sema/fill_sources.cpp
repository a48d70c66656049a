// SPDX-License-Identifier: MIT
#include "compiler/sema/fill_sources.h"

#include <algorithm>
#include <utility>

#include "compiler/support/internal_error.h"
#include "compiler/symbolic/evaluate.h"

namespace tkc::sema {

using symbolic::Scalar;
using typed::Expr;
using typed::Stmt;
using typed::VarId;

namespace {

constexpr int kOldest = 2;  // iterations; what is older is all alike, so that loops come to an end

/// a - b, also where one of them is an element of a tensor of narrower integers.
std::optional<int64_t> Distance(const Scalar& a, const Scalar& b) {
  if (a->dtype == DType::kI64 && b->dtype == DType::kI64) return symbolic::ConstantDifference(a, b);
  return symbolic::ConstantDifference(symbolic::Sub(a, b), symbolic::Int(0));
}

/// Most lists that come are as those that are there: each place is looked for where it stands in its own.
void AddNew(std::vector<Scalar>& places, const std::vector<Scalar>& more) {
  for (size_t i = 0; i < more.size(); ++i) {
    if (i < places.size() && symbolic::Equal(places[i], more[i])) continue;
    const auto is_same = [&](const Scalar& other) { return symbolic::Equal(more[i], other); };
    if (std::none_of(places.begin(), places.end(), is_same)) places.push_back(more[i]);
  }
}

/// Whether `scalar` gets no smaller as the name's value grows: `k + c`, but also `k / 128 * 16`.
bool Rises(const Scalar& scalar, const std::string& name) {
  using symbolic::Kind;
  if (!symbolic::Mentions(scalar, name) || scalar->kind == Kind::kName) return true;
  const Scalar rest = symbolic::Sub(scalar, symbolic::Name(name));
  if (symbolic::Equal(rest, symbolic::Substitute(rest, name, symbolic::Int(0)))) return true;
  if (scalar->dtype != DType::kI64) return false;  // may wrap
  int64_t factor = 0;
  switch (scalar->kind) {
    case Kind::kAdd:
    case Kind::kMin:
    case Kind::kMax: return Rises(scalar->args[0], name) && Rises(scalar->args[1], name);
    case Kind::kSub: return Rises(scalar->args[0], name) && !symbolic::Mentions(scalar->args[1], name);
    case Kind::kMul:
    case Kind::kDiv:
    case Kind::kCdiv: return symbolic::IsInt(scalar->args[1], &factor) && factor > 0 && Rises(scalar->args[0], name);
    default: return false;
  }
}

}  // namespace

void FillSources::Begin(SymbolicTable& table, VarId instance, int64_t instances) {
  table_ = &table;
  instance_ = instance;
  instances_ = instances;
  ranges_.clear();
  around_.clear();
  facts_.clear();
  solved_.reset();
  if (!kernel_.requires_at_launch.empty()) solved_.emplace(table.RequirementsOfLaunch(), SymbolicTable::IsCount);
  for (const typed::ExprPtr& requirement : kernel_.requires_at_launch) Assume(*requirement);
}

void FillSources::Enter(VarId var, const Expr& lo, const Expr& hi, int64_t step) {
  ranges_[NameOf(var)] = {table_->Of(lo), table_->Of(hi), step};
  around_.push_back(var);
}

std::string FillSources::NameOf(VarId var) const {
  const auto name = steps_.names.find(var);
  return name == steps_.names.end() ? table_->NameOf(var) : name->second;
}

int FillSources::Intern(Source source) {
  std::string key = symbolic::CanonicalText(source.difference) + (source.upper ? " u" : " l");
  for (const Source::Change& change : source.changes) key += change.text;
  const auto [place, is_new] = ids_.emplace(key, static_cast<int>(sources_.size()));
  if (is_new) {
    sources_.push_back(std::move(source));
    return place->second;
  }
  Source& known = sources_[place->second];
  known.is_read |= source.is_read;
  AddNew(known.starts, source.starts);
  AddNew(known.tested, source.tested);
  return place->second;
}

/// Where the integer is greatest or least, each index in it at an end of its range: as it is where others are no further.
std::vector<Scalar> FillSources::Extremes(const Scalar& scalar, bool greatest) const {
  std::vector<Scalar> extremes{scalar};
  Scalar all = scalar;
  for (auto var = around_.rbegin(); var != around_.rend(); ++var) {
    const std::string name = NameOf(*var);
    const Range& range = ranges_.at(name);
    const auto add = [&](Scalar& of) {
      const bool rises = Rises(of, name), falls = !rises && Rises(symbolic::Sub(symbolic::Int(0), of), name);
      if (!symbolic::Mentions(of, name) || (!rises && !falls)) return;
      const bool divides = IsMultiple(symbolic::Sub(range.hi, range.lo), range.step);
      const Scalar last = symbolic::Sub(range.hi, symbolic::Int(divides ? range.step : 1));
      extremes.push_back(symbolic::Substitute(of, name, rises == greatest ? last : range.lo));
      of = extremes.back();
    };
    Scalar alone = scalar;
    add(alone);
    if (all == scalar)
      all = alone;
    else
      add(all);
  }
  return extremes;
}

/// Can `start + extent` exceed `bound`? The block index of a range that its step divides stays inside.
bool FillSources::CanExceed(const Scalar& start, int64_t extent, const Scalar& bound) {
  if (const auto room = Distance(bound, start)) return *room < extent;
  if (IsAbove(bound, start, extent)) return false;
  const std::vector<Scalar> tops = Extremes(start, true);
  return std::none_of(tops.begin(), tops.end(), [&](const Scalar& top) {
    return OfEachInstance(top, [&](const Scalar& own) { return IsAbove(bound, own, extent); });
  });
}

bool FillSources::CanPrecede(const Scalar& start, const Scalar& bound) {
  if (const auto room = Distance(start, bound)) return *room < 0;
  if (IsAbove(start, bound, 0)) return false;
  const std::vector<Scalar> bottoms = Extremes(start, false);
  const bool is_behind = std::any_of(bottoms.begin(), bottoms.end(), [&](const Scalar& bottom) {
    return OfEachInstance(bottom, [&](const Scalar& own) { return IsAbove(own, bound, 0); });
  });
  return !is_behind && !IsNonNegative(symbolic::Sub(start, bound));  // ranges in ranges
}

template <typename Holds>
bool FillSources::OfEachInstance(const Scalar& scalar, const Holds& holds) const {
  for (int64_t number = 0; number < instances_; ++number) {
    if (!holds(WithInstance(scalar, number))) return false;
  }
  return true;
}

Scalar FillSources::WithInstance(const Scalar& scalar, int64_t number) const {
  return instance_ == typed::kNone ? scalar : symbolic::Substitute(scalar, table_->NameOf(instance_), symbolic::Int(number));
}

Fill FillSources::WhereMissing(const std::vector<const Taint*>& taints, int axis, int source, const OfElements& apply) const {
  std::vector<Fill> there;
  std::vector<size_t> missing;
  for (size_t i = 0; i < taints.size(); ++i) {
    there.push_back(taints[i]->At(axis, source));
    if (taints[i]->axis[axis].count(source) > 0) missing.push_back(i);
  }
  Fill fill = apply(there);
  if (!symbolic::Mentions(sources_[static_cast<size_t>(source)].difference, kOld)) return fill;
  for (size_t some = 1; some + 1 < size_t{1} << missing.size(); ++some) {
    std::vector<Fill> of = there;
    for (size_t i = 0; i < missing.size(); ++i) {
      if ((some >> i & 1) == 0) of[missing[i]] = taints[missing[i]]->base;
    }
    fill = Join(fill, apply(of));
  }
  return fill;
}

void FillSources::AddSource(std::map<int, Fill>& axis, const Scalar& start, const Scalar& bound, bool upper, Fill fill,
                            bool is_read) {
  Source source{symbolic::Sub(start, bound), upper, 0, is_read};
  (is_read ? source.starts : source.tested).push_back(start);
  axis[Intern(std::move(source))] = fill;
}

void FillSources::AddEnd(std::map<int, Fill>& axis, const Scalar& start, int64_t extent, const Scalar& bound, Fill fill) {
  if (CanExceed(start, extent, bound)) AddSource(axis, start, bound, true, fill, true);
}

void FillSources::AddBegin(std::map<int, Fill>& axis, const Scalar& start, const Scalar& bound, Fill fill) {
  if (CanPrecede(start, bound)) AddSource(axis, start, bound, false, fill, true);
}

bool FillSources::CanMiss(const Source& source, int64_t extent) {
  if (!source.is_read || source.age > 0 || source.starts.size() != 1 || !source.changes.empty()) return true;
  const Scalar& start = source.starts[0];
  const Scalar bound = symbolic::Sub(start, source.difference);
  return source.upper ? CanExceed(start, extent, bound) : CanPrecede(start, bound);
}

bool FillSources::LiesBeyond(int id, const Scalar& start, const Scalar& limit, bool upper) {
  const Source& source = sources_[id];
  if (source.upper != upper || source.age > 0 || !source.changes.empty()) return false;
  const Scalar bound = symbolic::Sub(start, source.difference);
  return upper ? IsAtMost(limit, bound) || !CanExceed(limit, 0, bound) : IsAtMost(bound, limit) || !CanPrecede(limit, bound);
}

Taint FillSources::Older(const Taint& taint, const Stmt& loop) {
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
                ? symbolic::Name(kOld)
                : symbolic::Substitute(source.difference, name, symbolic::Sub(symbolic::Name(name), symbolic::Int(loop.step)));
        place = Intern({before, source.upper, source.age + 1, source.is_read, source.starts, source.changes});
      }
      const auto [slot, is_new] = renamed.emplace(place, fill);
      if (!is_new) slot->second = Join(slot->second, fill);
    }
    axis = std::move(renamed);
  }
  return older;
}

std::vector<FillSources::Numbers> FillSources::NumbersIn(const Scalar& scalar) const {
  std::vector<Numbers> numbers;
  if (instance_ != typed::kNone && symbolic::Mentions(scalar, table_->NameOf(instance_)))
    numbers.push_back({table_->NameOf(instance_), 0, instances_, 1});
  for (const VarId var : around_) {
    const std::string name = NameOf(var);
    if (!symbolic::Mentions(scalar, name)) continue;
    const Range& range = ranges_.at(name);
    const auto lo = symbolic::ConstantDifference(range.lo, symbolic::Int(0));
    const auto hi = symbolic::ConstantDifference(range.hi, symbolic::Int(0));
    Ensure(lo && hi, "the range of a loop that chooses a ring is not known", kernel_.span);
    numbers.push_back({name, *lo, *hi, range.step});
  }
  return numbers;
}

int FillSources::At(int source, const std::string& name, int64_t number) {
  Source own = sources_[source];
  own.difference = symbolic::Substitute(own.difference, name, symbolic::Int(number));
  for (std::vector<Scalar>* places : {&own.starts, &own.tested}) {
    for (Scalar& start : *places) start = symbolic::Substitute(start, name, symbolic::Int(number));
  }
  return Intern(std::move(own));
}

Taint FillSources::At(const Taint& taint, const std::string& name, int64_t number) {
  Taint own = taint;
  for (auto& axis : own.axis) {
    std::map<int, Fill> renamed;
    for (const auto& [source, fill] : axis) {
      const auto [slot, is_new] = renamed.emplace(At(source, name, number), fill);
      if (!is_new) slot->second = Join(slot->second, fill);
    }
    axis = std::move(renamed);
  }
  return own;
}

std::optional<int> FillSources::OfInstances(int source, int next, int64_t first) {
  Source own = sources_[source];
  const Source& other = sources_[next];
  if (own.upper != other.upper || own.age != other.age || own.is_read != other.is_read || own.changes != other.changes ||
      own.starts.size() != other.starts.size() || own.starts.size() > 1 || own.tested.size() != other.tested.size() ||
      own.tested.size() > 1)
    return std::nullopt;
  const Scalar number = symbolic::Sub(symbolic::Name(table_->NameOf(instance_)), symbolic::Int(first));
  const auto along = [&](const Scalar& a, const Scalar& b) { return symbolic::Add(a, symbolic::Mul(number, symbolic::Sub(b, a))); };
  own.difference = along(own.difference, other.difference);
  if (!own.starts.empty()) own.starts = {along(own.starts[0], other.starts[0])};
  if (!own.tested.empty()) own.tested = {along(own.tested[0], other.tested[0])};
  return Intern(std::move(own));
}

Taint FillSources::Forgotten(const Taint& taint, const std::string& name) {
  Taint forgotten = taint;
  for (auto& axis : forgotten.axis) {
    std::map<int, Fill> kept;
    for (const auto& [id, fill] : axis) {
      const Source source = sources_[id];
      const bool mentions = symbolic::Mentions(source.difference, name);
      const int place =
          mentions ? Intern({symbolic::Name(kOld), source.upper, kOldest, source.is_read, source.starts, source.changes}) : id;
      const auto [slot, is_new] = kept.emplace(place, fill);
      if (!is_new) slot->second = Join(slot->second, fill);
    }
    axis = std::move(kept);
  }
  return forgotten;
}

bool FillSources::IsNonNegative(const Scalar& scalar) const {
  return symbolic::IsNonNegativeOf(scalar, [&](const Scalar& atom) { return IsAbove(atom, symbolic::Int(0), 0); });
}

bool FillSources::IsCount(const Scalar& atom, int depth) const {
  constexpr int kDeepest = 4;  // ranges that begin where others do
  if (atom->kind != symbolic::Kind::kName || depth > kDeepest) return false;
  if (SymbolicTable::IsCount(atom->name)) return true;
  if (instance_ != typed::kNone && table_->NameOf(instance_) == atom->name) return true;
  const auto range = ranges_.find(atom->name);
  const auto is_count = [&](const Scalar& other) { return IsCount(other, depth + 1); };
  return range != ranges_.end() && symbolic::IsNonNegativeOf(range->second.lo, is_count);
}

bool FillSources::IsAtMost(const Scalar& a, const Scalar& b, int depth) const {
  using symbolic::Kind;
  if (int64_t least = 0; symbolic::IsInt(a, &least) && least <= 0 && IsNonNegative(b)) return true;
  if (const auto difference = symbolic::ConstantDifference(b, a)) return *difference >= 0;
  if (IsAbove(b, a, 0)) return true;
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

}  // namespace tkc::sema

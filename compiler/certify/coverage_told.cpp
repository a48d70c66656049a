// SPDX-License-Identifier: MIT
// Whether tiles, and iterations of the loops around a store, store elements of their own. A variable is told apart by an axis in
// which its step, times its coefficient, reaches beyond what the rectangles and the variables that are not told apart yet cover
// there. If every one is, no two executions meet: the first of them that differs says so. Both may be what the launch fixes, `n` of
// `Y[g * n + c]` with `c in n`: then as polynomials of names that are not negative.
#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/certify/coverage_sites.h"
#include "compiler/symbolic/cases.h"
#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/solved_names.h"

namespace tkc::certify {
namespace {

using ir::Scalar;
using symbolic::Polynomial;

Polynomial Number(int64_t value) { return value == 0 ? Polynomial{} : Polynomial{{"", value}}; }

class Teller {
 public:
  Teller(const std::vector<Site>& sites, const ir::Kernel& kernel) : sites_(sites), around_(sites[0].around), base_(sites[0].base) {
    for (const std::string& dim : kernel.dims) counts_.insert(dim + "*");
    for (const Site& site : sites_) ends_.push_back(site.ends);
    PutInSolved(kernel);
    // A loop that is executed has an iteration.
    for (const Iteration& iteration : around_) {
      const auto length = symbolic::ToPolynomial(symbolic::Sub(iteration.hi, iteration.lo));
      if (length && length->size() == 1 && length->begin()->second > 0) counts_.insert(length->begin()->first);
    }
    for (const Iteration& iteration : around_) {
      if (iteration.is_told) told_.insert(iteration.name);
    }
    written_base_ = base_;
    written_ends_ = ends_;
    AddDigits();
    for (size_t axis = 0; axis < base_.size(); ++axis) offsets_.push_back(OffsetsOf(axis));
    // From here on a variable counts its steps; inner loops may begin where outer ones are.
    for (Scalar& base : base_) base = InSteps(base);
    for (Scalar& base : written_base_) base = InSteps(base);
    for (std::vector<std::vector<Scalar>>* all : {&ends_, &written_ends_}) {
      for (std::vector<Scalar>& ends : *all) {
        for (Scalar& end : ends) end = InSteps(end);
      }
    }
  }

  /// The name of a variable that nothing tells apart.
  std::optional<std::string> Missing() {
    for (bool changes = true; changes;) {
      changes = false;
      for (const Iteration& iteration : around_) {
        if (told_.count(iteration.name) != 0 || !(IsTold(iteration) || HasToldBase(iteration))) continue;
        told_.insert(iteration.name);
        changes = true;
      }
      for (size_t axis = 0; axis < base_.size(); ++axis) {
        Offsets& offsets = offsets_[axis];
        if (offsets.is_told) continue;
        offsets.is_told = true;
        const Polynomial apart = Number(offsets.apart);
        offsets.is_told = IsAnyWithin(Reaches(axis, ""), apart);
        changes |= offsets.is_told;
      }
      changes |= AddDeterminedBases();
      for (auto next = around_.begin(); !changes && next != around_.end(); ++next) {
        if (told_.count(next->name) != 0 || next->digit || !IsToldByFacts(*next)) continue;
        told_.insert(next->name);
        changes = true;
      }
    }
    const auto is_missing = [&](const Iteration& i) { return !i.digit && told_.count(i.name) == 0; };
    const auto missing = std::find_if(around_.begin(), around_.end(), is_missing);
    return missing == around_.end() ? std::nullopt : std::optional(missing->name);
  }

 private:
  /// Dimensions in terms of others, as the launch requires.
  void PutInSolved(const ir::Kernel& kernel) {
    const symbolic::SolvedNames solved(kernel.launch_requires,
                                       [&](std::string_view name) { return counts_.contains(std::string(name) + "*"); });
    for (const std::string& dim : kernel.dims) {
      std::set<std::string> names;
      symbolic::AddNames(solved.PutIn(symbolic::Name(dim)), names);
      for (const std::string& name : names) counts_.insert(name + "*");
    }
    for (const Scalar& requirement : kernel.launch_requires)
      symbolic::AddNotNegative(solved.PutIn(requirement), true, not_negative_);
    for (Iteration& iteration : around_) iteration.lo = solved.PutIn(iteration.lo), iteration.hi = solved.PutIn(iteration.hi);
    for (Scalar& base : base_) base = solved.PutIn(base);
    for (std::vector<Scalar>& ends : ends_) {
      for (Scalar& end : ends) end = solved.PutIn(end);
    }
  }

  /// Quotients and remainders of the variables around are variables, too.
  void AddDigits() {
    std::vector<symbolic::IndexRange> ranges;
    for (const Iteration& iteration : around_) ranges.push_back({iteration.name, iteration.lo, iteration.hi, iteration.step});
    symbolic::IndexDigits digits([&](std::string_view name) { return counts_.contains(std::string(name) + "*"); },
                                 [](size_t number) { return fmt::format("digit {}", number); });
    for (Scalar& base : base_) base = digits.Replace(base, ranges);
    for (std::vector<Scalar>& ends : ends_) {
      for (Scalar& end : ends) end = digits.Replace(end, ranges);
    }
    for (auto& digit : digits.Of(ranges)) around_.push_back({.name = digit->name, .lo = {}, .hi = {}, .digit = digit});
  }

  /// With a variable's value as the number of its steps.
  Scalar InSteps(Scalar scalar) const {
    for (auto loop = around_.rbegin(); scalar && loop != around_.rend(); ++loop) {
      if (loop->digit) continue;
      const Scalar value = symbolic::Add(loop->lo, symbolic::Mul(symbolic::Int(loop->step), symbolic::Name(loop->name)));
      scalar = symbolic::Substitute(scalar, loop->name, value);
    }
    return scalar;
  }

  /// Whether it is a digit of what is told.
  bool HasToldBase(const Iteration& iteration) const {
    if (!iteration.digit) return false;
    const Scalar base = InSteps(iteration.digit->digit.base);
    return std::all_of(around_.begin(), around_.end(),
                       [&](const Iteration& each) { return told_.count(each.name) != 0 || !symbolic::Mentions(base, each.name); });
  }

  /// Integers of which the digits that are told say all are axes, each of one element.
  bool AddDeterminedBases() {
    std::vector<const symbolic::IndexDigit*> told;
    for (const Iteration& iteration : around_) {
      if (iteration.digit && told_.count(iteration.name) != 0) told.push_back(&*iteration.digit);
    }
    bool is_any_new = false;
    for (const Scalar& base : symbolic::DeterminedBases(told)) {
      if (!determined_.insert(symbolic::CanonicalText(base)).second) continue;
      base_.push_back(InSteps(base));
      offsets_.push_back({.extent = 1, .is_told = true});
      for (std::vector<Scalar>& ends : ends_) ends.push_back(nullptr);
      is_any_new = true;
    }
    return is_any_new;
  }

  /// Where the rectangles of an axis begin, beside each other: like a variable of its own.
  struct Offsets {
    int64_t low = 0, apart = 0, span = 0;  // multiples of `apart` behind `low`, up to `span`
    int64_t extent = 0;                    // of the longest
    bool is_told = false;
  };

  Offsets OffsetsOf(size_t axis) const {
    Offsets offsets{sites_[0].first[axis]};
    for (const Site& site : sites_) offsets.low = std::min(offsets.low, site.first[axis]);
    for (const Site& site : sites_) {
      const int64_t offset = site.first[axis] - offsets.low;
      offsets.apart = std::gcd(offsets.apart, offset);
      offsets.span = std::max(offsets.span, offset);
      offsets.extent = std::max(offsets.extent, site.extent[axis]);
    }
    offsets.is_told = offsets.span == 0;
    return offsets;
  }

  bool IsTold(const Iteration& iteration) const {
    for (size_t axis = 0; axis < base_.size(); ++axis) {
      const std::optional<Polynomial> distance = Distance(base_[axis], iteration);
      const std::optional<Polynomial> size = distance ? Size(*distance) : std::nullopt;
      if (size && IsAnyWithin(Reaches(axis, iteration.name), *size)) return true;
    }
    return false;
  }

  /// Whether on some axis executions with a greater value of the variable begin where one with a lesser ends, or behind, as ranges
  /// and requirements show it. What is not told apart has other values there.
  bool IsToldByFacts(const Iteration& iteration) const {
    const auto later = [&](Scalar scalar) {
      for (const Iteration& each : around_) {
        if (told_.count(each.name) != 0 || !symbolic::Mentions(scalar, each.name)) continue;
        const Scalar value = each.name == iteration.name
                                 ? symbolic::Add(symbolic::Add(symbolic::Name(each.name), symbolic::Name(kMore)), symbolic::Int(1))
                                 : symbolic::Name(kThen + each.name);
        scalar = symbolic::Substitute(scalar, each.name, value);
      }
      return scalar;
    };
    symbolic::Known known{not_negative_, [&](const Scalar& atom) {
                            const std::string name = atom->name.substr(atom->name.starts_with(kThen) ? kThen.size() : 0);
                            return atom->kind == symbolic::Kind::kName &&
                                   (name == kMore || IsStep(name) || counts_.contains(name + "*"));
                          }};
    for (const Iteration& each : around_) {
      if (each.digit) continue;
      const Scalar to_end = InSteps(symbolic::Sub(symbolic::Sub(each.hi, symbolic::Name(each.name)), symbolic::Int(1)));
      known.not_negative.push_back(to_end);
      known.not_negative.push_back(later(to_end));
    }
    symbolic::AddCounts(known);
    for (size_t axis = 0; axis < written_base_.size(); ++axis) {
      const Offsets& offsets = offsets_[axis];
      const Scalar begin = symbolic::Add(written_base_[axis], symbolic::Int(offsets.low));
      const Scalar& cut = written_ends_[0][axis];
      std::vector<Scalar> ends{symbolic::Add(begin, symbolic::Int(offsets.span + offsets.extent))};
      const auto is_same = [&](const std::vector<Scalar>& of) { return of[axis] && symbolic::Equal(of[axis], cut); };
      if (cut && std::all_of(written_ends_.begin(), written_ends_.end(), is_same)) ends.push_back(cut);
      for (const Scalar& end : ends) {
        if (symbolic::IsAtLeast(symbolic::Sub(later(begin), end), 0, known)) return true;
      }
    }
    return false;
  }

  /// Whether it counts the steps of a loop or an axis.
  bool IsStep(const std::string& name) const {
    return std::any_of(around_.begin(), around_.end(), [&](const Iteration& each) { return !each.digit && each.name == name; });
  }

  /// By how much one step moves the start of an axis, if that is always the same.
  std::optional<Polynomial> Distance(const Scalar& base, const Iteration& iteration) const {
    const Scalar after = symbolic::Add(symbolic::Name(iteration.name), symbolic::Int(1));
    const Scalar next = symbolic::Substitute(base, iteration.name, after);
    if (const std::optional<int64_t> number = symbolic::ConstantDifference(next, base)) return Number(*number);
    return Fixed(symbolic::Sub(next, base));
  }

  static std::optional<Polynomial> Size(const Polynomial& distance) {
    const bool is_negative = symbolic::NonzeroNumber(distance).value_or(0) < 0;
    return is_negative ? symbolic::Sum({}, distance, -1) : std::optional(distance);
  }

  /// Bounds on the elements of an axis from the first to the last one, whatever is not told apart, but for `but`.
  std::vector<Polynomial> Reaches(size_t axis, const std::string& but) const {
    const Offsets& offsets = offsets_[axis];
    std::optional<Polynomial> reach = Number(offsets.extent + (offsets.is_told ? 0 : offsets.span));
    Scalar start = symbolic::Add(base_[axis], symbolic::Int(offsets.low));  // where all that is not told apart begins
    for (const Iteration& other : around_) {
      if (other.name == but || told_.count(other.name) != 0 || !symbolic::Mentions(base_[axis], other.name)) continue;
      const std::optional<Polynomial> distance = Distance(base_[axis], other), steps = LastStep(other);
      if (!distance) return {};
      const bool begins_anywhere = other.digit && !other.digit->begins_at_zero;
      start = !IsNonNegative(*distance) || begins_anywhere ? nullptr
              : start                                      ? symbolic::Substitute(start, other.name, symbolic::Int(0))
                                                           : start;
      const std::optional<Polynomial> size = Size(*distance);
      const std::optional<Polynomial> moved =
          reach && steps && size && IsNonNegative(*size) ? symbolic::Product(*size, *steps) : std::nullopt;
      reach = moved ? symbolic::Sum(*reach, *moved) : std::nullopt;
    }
    std::vector<Polynomial> reaches = start ? ReachesToEnd(axis, start) : std::vector<Polynomial>{};
    if (reach) reaches.push_back(std::move(*reach));
    return reaches;
  }

  /// The number of the last iteration, at most.
  std::optional<Polynomial> LastStep(const Iteration& iteration) const {
    if (iteration.digit) {
      const std::optional<Polynomial>& end = iteration.digit->end;
      return end && iteration.digit->begins_at_zero ? symbolic::Sum(*end, Number(-1)) : std::nullopt;
    }
    if (const std::optional<int64_t> length = symbolic::MostDifference(iteration.hi, iteration.lo))
      return Number(std::max<int64_t>(*length - 1, 0) / iteration.step);
    const std::optional<Polynomial> length = Fixed(symbolic::Sub(iteration.hi, iteration.lo));
    const std::optional<Polynomial> steps = length ? symbolic::ExactQuotient(*length, Number(iteration.step)) : std::nullopt;
    return steps ? symbolic::Sum(*steps, Number(-1)) : std::nullopt;
  }

  /// Where all stores are cut.
  std::vector<Polynomial> ReachesToEnd(size_t axis, const Scalar& start) const {
    std::vector<Polynomial> reaches;
    std::optional<int64_t> most = 0;
    for (const std::vector<Scalar>& ends : ends_) {
      if (!ends[axis]) return {};
      const std::optional<int64_t> distance = symbolic::MostDifference(ends[axis], start);
      most = most && distance ? std::optional(std::max(*most, *distance)) : std::nullopt;
    }
    if (most) return {Number(*most)};
    const auto is_same = [&](const std::vector<Scalar>& ends) { return symbolic::Equal(ends[axis], ends_[0][axis]); };
    if (!std::all_of(ends_.begin(), ends_.end(), is_same)) return {};
    const Scalar& end = ends_[0][axis];
    for (const Scalar& each : end->kind == symbolic::Kind::kMin ? end->args : std::vector<Scalar>{end}) {
      if (std::optional<Polynomial> reach = Fixed(symbolic::Sub(each, start))) reaches.push_back(std::move(*reach));
    }
    return reaches;
  }

  /// An integer that is the same in all executions of the store.
  std::optional<Polynomial> Fixed(const Scalar& scalar) const {
    std::optional<Polynomial> fixed = symbolic::ToPolynomial(scalar);
    const auto is_around = [&](const auto& term) {
      return std::any_of(around_.begin(), around_.end(), [&](const Iteration& each) { return IsIn(each.name, term.first); });
    };
    return fixed && std::none_of(fixed->begin(), fixed->end(), is_around) ? fixed : std::nullopt;
  }

  /// Whether a term has the name, on its own or inside of another integer.
  static bool IsIn(const std::string& name, const std::string& term) {
    const auto continues = [&](size_t at) { return at < term.size() && (std::isalnum(term[at]) != 0 || term[at] == '_'); };
    for (size_t at = term.find(name); at != std::string::npos; at = term.find(name, at + 1)) {
      if (!continues(at + name.size()) && (at == 0 || !continues(at - 1))) return true;
    }
    return false;
  }

  bool IsAnyWithin(const std::vector<Polynomial>& reaches, const Polynomial& distance) const {
    return std::any_of(reaches.begin(), reaches.end(), [&](const Polynomial& reach) {
      const std::optional<Polynomial> rest = symbolic::Sum(distance, reach, -1);
      return rest && IsNonNegative(*rest);
    });
  }

  bool IsNonNegative(const Polynomial& polynomial) const {
    return std::all_of(polynomial.begin(), polynomial.end(),
                       [&](const auto& term) { return term.second > 0 && IsCount(term.first); });
  }

  bool IsCount(const std::string& term) const {
    const std::vector<std::string_view> factors = symbolic::FactorsOf(term);
    return counts_.contains(term) || std::all_of(factors.begin(), factors.end(), [&](std::string_view factor) {
             return counts_.contains(std::string(factor) + '*');
           });
  }

  // Steps between two executions, beside one, and what variables are called in the later one.
  static inline const std::string kMore = "more", kThen = "then ";

  const std::vector<Site>& sites_;
  std::vector<Iteration> around_;  // the digits last
  std::vector<Scalar> base_;
  std::vector<std::vector<Scalar>> ends_;  // of each site
  std::vector<Scalar> written_base_;       // both without digits
  std::vector<std::vector<Scalar>> written_ends_;
  std::vector<Offsets> offsets_;  // of each axis
  std::set<std::string> told_, determined_;
  std::vector<Scalar> not_negative_;  // on launches that are not refused
  std::set<std::string> counts_;      // terms that are not negative where something is stored
};

}  // namespace

std::optional<Finding> CheckTold(const std::string& tensor, const std::vector<Site>& sites, const ir::Kernel& kernel) {
  if (const std::optional<std::string> missing = Teller(sites, kernel).Missing())
    return Finding{DiagnosticKind::kCertificateCoverage, sites[0].op->span,
                   fmt::format("nothing shows that other values of `{}` store other elements of `{}`", *missing, tensor)};
  return std::nullopt;
}

}  // namespace tkc::certify

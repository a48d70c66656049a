// SPDX-License-Identifier: MIT
// Whether tiles, and iterations of the loops around a store, store elements of their own. A variable is told apart by an axis in
// which its step, times its coefficient, reaches beyond what the rectangles and the variables that are not told apart yet cover
// there. If every one is, no two executions meet: the first of them that differs says so.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/certify/coverage_sites.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using ir::Scalar;

class Teller {
 public:
  explicit Teller(const std::vector<Site>& sites) : sites_(sites), around_(sites[0].around), base_(sites[0].base) {
    for (const Iteration& iteration : around_) {
      if (iteration.is_told) told_.insert(iteration.name);
    }
    for (const Site& site : sites_) ends_.push_back(site.ends);
    for (size_t axis = 0; axis < base_.size(); ++axis) offsets_.push_back(OffsetsOf(axis));
    // From here on a variable counts its steps; inner loops may begin where outer ones are.
    for (auto loop = around_.rbegin(); loop != around_.rend(); ++loop) {
      const Scalar value = symbolic::Add(loop->lo, symbolic::Mul(symbolic::Int(loop->step), symbolic::Name(loop->name)));
      for (Scalar& base : base_) base = symbolic::Substitute(base, loop->name, value);
      for (std::vector<Scalar>& ends : ends_) {
        for (Scalar& end : ends) end = end ? symbolic::Substitute(end, loop->name, value) : end;
      }
    }
  }

  /// A variable that nothing tells apart.
  const Iteration* Missing() {
    for (bool changes = true; changes;) {
      changes = false;
      for (const Iteration& iteration : around_) {
        if (told_.count(iteration.name) != 0 || !IsTold(iteration)) continue;
        told_.insert(iteration.name);
        changes = true;
      }
      for (size_t axis = 0; axis < base_.size(); ++axis) {
        Offsets& offsets = offsets_[axis];
        if (offsets.is_told) continue;
        offsets.is_told = true;
        const std::optional<int64_t> reach = Reach(axis, "");
        offsets.is_told = reach && offsets.apart >= *reach;
        changes |= offsets.is_told;
      }
    }
    const auto missing = std::find_if(around_.begin(), around_.end(), [&](const Iteration& i) { return told_.count(i.name) == 0; });
    return missing == around_.end() ? nullptr : &*missing;
  }

 private:
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
      const std::optional<int64_t> reach = Reach(axis, iteration.name);
      const std::optional<int64_t> distance = Distance(base_[axis], iteration);
      if (reach && distance && std::abs(*distance) >= *reach) return true;
    }
    return false;
  }

  /// By how much one step moves the start of an axis, if that is always the same.
  static std::optional<int64_t> Distance(const Scalar& base, const Iteration& iteration) {
    const Scalar next = symbolic::Add(symbolic::Name(iteration.name), symbolic::Int(1));
    return symbolic::ConstantDifference(symbolic::Substitute(base, iteration.name, next), base);
  }

  /// Elements of an axis from the first to the last one, whatever is not told apart, but for `but`.
  std::optional<int64_t> Reach(size_t axis, const std::string& but) const {
    const Offsets& offsets = offsets_[axis];
    std::optional<int64_t> reach = offsets.extent + (offsets.is_told ? 0 : offsets.span);
    Scalar start = symbolic::Add(base_[axis], symbolic::Int(offsets.low));  // where all that is not told apart begins
    for (const Iteration& other : around_) {
      if (other.name == but || told_.count(other.name) != 0 || !symbolic::Mentions(base_[axis], other.name)) continue;
      const std::optional<int64_t> distance = Distance(base_[axis], other), length = symbolic::MostDifference(other.hi, other.lo);
      if (!distance) return std::nullopt;
      start = *distance < 0 ? nullptr : start ? symbolic::Substitute(start, other.name, symbolic::Int(0)) : start;
      if (reach && length)
        *reach += std::abs(*distance) * (std::max<int64_t>(*length - 1, 0) / other.step);
      else
        reach.reset();
    }
    const std::optional<int64_t> cut = start ? ReachToEnd(axis, start) : std::nullopt;
    return !reach || !cut ? (cut ? cut : reach) : std::min(*reach, *cut);
  }

  /// Where all stores are cut.
  std::optional<int64_t> ReachToEnd(size_t axis, const Scalar& start) const {
    int64_t reach = 0;
    for (const std::vector<Scalar>& ends : ends_) {
      const std::optional<int64_t> distance = ends[axis] ? symbolic::MostDifference(ends[axis], start) : std::nullopt;
      if (!distance) return std::nullopt;
      reach = std::max(reach, *distance);
    }
    return reach;
  }

  const std::vector<Site>& sites_;
  const std::vector<Iteration>& around_;
  std::vector<Scalar> base_;
  std::vector<std::vector<Scalar>> ends_;  // of each site
  std::vector<Offsets> offsets_;           // of each axis
  std::set<std::string> told_;
};

}  // namespace

std::optional<Finding> CheckTold(const std::string& tensor, const std::vector<Site>& sites) {
  if (const Iteration* missing = Teller(sites).Missing())
    return Finding{DiagnosticKind::kCertificateCoverage, sites[0].op->span,
                   fmt::format("nothing shows that other values of `{}` store other elements of `{}`", missing->name, tensor)};
  return std::nullopt;
}

}  // namespace tkc::certify

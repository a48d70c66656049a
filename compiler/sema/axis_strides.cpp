// SPDX-License-Identifier: MIT
#include "compiler/sema/axis_strides.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tkc::sema {

using symbolic::Polynomial;
using typed::VarId;

bool Add(Polynomial& to, const Polynomial& from, int64_t factor) {
  std::optional<Polynomial> sum = symbolic::Sum(to, from, factor);
  if (sum) to = std::move(*sum);
  return sum.has_value();
}

namespace {

/// Whether variables that are not in `known` occur as multiples only.
bool IsAffine(const Polynomial& polynomial, const std::vector<Iteration>& around, const std::set<VarId>& known) {
  return std::all_of(polynomial.begin(), polynomial.end(), [&](const auto& term) {
    return std::all_of(around.begin(), around.end(), [&](const Iteration& iteration) {
      return term.first == KeyOf(iteration.var) || known.count(iteration.var) > 0 || !Mentions(term.first, iteration.var);
    });
  });
}

constexpr int64_t kLargestStride = int64_t{1} << 40;  // times kLargestSpan that stays within 64 bits

/// Where the axis starts, with each loop that begins where others are standing for its distance from there, as far as it is
/// `replaced`: those become `from_zero`.
template <typename IsReplaced>
Polynomial StartFromLoops(const StoredAxis& axis, const GridStore& store, const IsReplaced& is_replaced,
                          std::set<VarId>& from_zero) {
  Polynomial start = axis.start;
  for (auto iteration = store.around.rbegin(); iteration != store.around.rend(); ++iteration) {
    const auto own = start.find(KeyOf(iteration->var));
    if (own == start.end() || std::abs(own->second) > kLargestSpan || !iteration->lo || !is_replaced(*iteration)) continue;
    if (Add(start, *iteration->lo, own->second)) from_zero.insert(iteration->var);
  }
  return start;
}

/// How one variable moves the start of an axis.
struct Stride {
  int64_t stride, reach;  // elements between neighbours; elements that all its values span, 0: unbounded
  VarId var;
  std::string term;    // of the start
  bool is_first_zero;  // and none of its values is below
};

/// The strides in the start of an axis of variables that are not in `known`, smallest first; none if such a variable occurs in a
/// product or inside another term.
std::optional<std::vector<Stride>> StridesOf(const Polynomial& start, const std::set<VarId>& from_zero, const GridStore& store,
                                             const std::set<VarId>& known) {
  std::vector<Stride> strides;
  for (const auto& [key, coefficient] : start) {
    const auto own = std::find_if(store.around.begin(), store.around.end(), [&, term = std::string_view(key)](const Iteration& it) {
      return term == KeyOf(it.var) && known.count(it.var) == 0;
    });
    const bool is_within = own == store.around.end() &&
                           std::any_of(store.around.begin(), store.around.end(), [&, &term = key](const Iteration& iteration) {
                             return known.count(iteration.var) == 0 && Mentions(term, iteration.var);
                           });
    if (is_within) return std::nullopt;
    if (own == store.around.end()) continue;
    if (own->RunsOnce()) {
      // Its one value is where the range begins, and that may differ between executions.
      const auto mentions = [&](VarId var) { return Mentions(*own->lo, var); };
      const bool is_one_place = from_zero.count(own->var) > 0 || (own->lo && IsAlike(store, known, mentions));
      if (!is_one_place) return std::nullopt;
      continue;
    }
    const int64_t size = std::abs(coefficient);
    if (size > kLargestStride) return std::nullopt;
    const bool is_short = own->span && *own->span < kLargestSpan;
    const int64_t stride = size * own->step;
    const int64_t count = is_short ? (*own->span + own->step - 1) / own->step : 0;
    const bool is_first_zero = coefficient > 0 && from_zero.count(own->var) > 0;
    strides.push_back({stride, stride * count, own->var, key, is_first_zero});
  }
  std::sort(strides.begin(), strides.end(),
            [](const Stride& a, const Stride& b) { return std::pair(a.stride, a.var) < std::pair(b.stride, b.var); });
  return strides;
}

/// Several stores that begin a fixed distance apart count as the iterations of one more loop.
void AddStores(const StoredAxis& axis, std::vector<Stride>& strides) {
  if (axis.apart == 0) return;
  const auto next = std::find_if(strides.begin(), strides.end(), [&](const Stride& other) { return other.stride >= axis.apart; });
  strides.insert(next, {axis.apart, axis.span + axis.apart, typed::kNone, "", true});
}

/// How many elements behind `first` the axis stores at most, where that is a number; else 0.
int64_t MostBehind(const StoredAxis& axis, const Polynomial& first) {
  int64_t most = 0;
  for (Polynomial gap : axis.ends) {
    const bool is_number = Add(gap, first, -1) && symbolic::NonzeroNumber(gap).value_or(0) > 0;
    if (is_number && (most == 0 || gap.begin()->second < most)) most = gap.begin()->second;
  }
  return most;
}

/// The factor of a variable in the start of an axis, from which its terms are taken: none where it occurs other than once in a
/// product.
std::optional<Polynomial> TakeFactor(Polynomial& start, VarId var) {
  const std::string name = KeyOf(var);
  Polynomial factor;
  for (const auto& [key, coefficient] : start) {
    if (!Mentions(key, var)) continue;
    size_t at = key.find(name);
    while (at != std::string::npos && at > 0 && key[at - 1] != '*') at = key.find(name, at + 1);
    if (at == std::string::npos) return std::nullopt;
    const std::string others = key.substr(0, at) + key.substr(at + name.size());
    if (Mentions(others, var)) return std::nullopt;
    factor[others] += coefficient;
  }
  std::erase_if(start, [&](const auto& term) { return Mentions(term.first, var); });
  return factor;
}

/// Whether steps of `stride` elements are no shorter than `covered`, which is above zero wherever something is stored.
bool StepsOver(const Polynomial& stride, const Polynomial& covered) {
  if (stride.empty() || stride.size() != covered.size()) return false;
  const bool are_numbers = stride.size() == 1 && stride.begin()->first.empty() && covered.begin()->first.empty();
  if (are_numbers) return covered.begin()->second > 0 && stride.begin()->second >= covered.begin()->second;
  const int64_t times = stride.begin()->second / covered.begin()->second;
  return times > 0 && std::equal(stride.begin(), stride.end(), covered.begin(), [&](const auto& of_stride, const auto& of_covered) {
           return of_stride.first == of_covered.first && of_stride.second % times == 0 &&
                  of_stride.second / times == of_covered.second;
         });
}

/// Takes variables out of the start of an axis, smallest strides first, where strides are numbers or what the launch fixes, as in
/// `Y[g * n + c]` of `c in n`: a stride must be what all smaller ones cover, or a multiple of it.
class SymbolicStrides {
 public:
  SymbolicStrides(const StoredAxis& axis, const GridStore& store, const std::set<VarId>& known)
      : axis_(axis), store_(store), known_(known) {
    start_ = StartFromLoops(
        axis, store, [&](const Iteration& iteration) { return IsOpen(iteration.var) && IsLinear(*iteration.lo); }, from_zero_);
  }

  /// All open variables of the axis, or none.
  std::set<VarId> Apart() {
    std::vector<Polynomial> covered = {{{"", axis_.extent + axis_.span}}};
    bool is_cut = true;
    while (const Iteration* next = Next(covered)) {
      const std::optional<Polynomial> factor = TakeFactor(start_, next->var);
      apart_.insert(next->var);
      is_cut = is_cut && (from_zero_.count(next->var) > 0 || next->lo->empty());
      covered.clear();
      if (const std::optional<Polynomial> all = Covered(*factor, *next)) covered.push_back(*all);
      if (is_cut) AddCuts(covered);
    }
    return std::any_of(start_.begin(), start_.end(), [&](const auto& term) { return MentionsOpen(term.first); }) ? std::set<VarId>{}
                                                                                                                 : apart_;
  }

 private:
  bool IsOpen(VarId var) const { return known_.count(var) == 0 && apart_.count(var) == 0; }

  bool MentionsOpen(const std::string& term) const {
    return std::any_of(store_.around.begin(), store_.around.end(), [&](const Iteration& iteration) {
      return known_.count(iteration.var) == 0 && Mentions(term, iteration.var);
    });
  }
  bool MentionsOpen(const Polynomial& polynomial) const {
    return std::any_of(polynomial.begin(), polynomial.end(), [&](const auto& term) { return MentionsOpen(term.first); });
  }

  /// Whether open variables occur once in each term at most, and in no other way.
  bool IsLinear(Polynomial polynomial) const {
    for (const Iteration& iteration : store_.around) {
      if (known_.count(iteration.var) > 0) continue;
      const std::optional<Polynomial> factor = TakeFactor(polynomial, iteration.var);
      if (!factor || MentionsOpen(*factor)) return false;
    }
    return true;
  }

  /// A variable that steps over all that is covered.
  const Iteration* Next(const std::vector<Polynomial>& covered) const {
    for (const Iteration& iteration : store_.around) {
      if (!IsOpen(iteration.var) || !Mentions(start_, iteration.var)) continue;
      if (!iteration.lo || (from_zero_.count(iteration.var) == 0 && MentionsOpen(*iteration.lo))) continue;
      Polynomial rest = start_, stride;
      const std::optional<Polynomial> factor = TakeFactor(rest, iteration.var);
      if (!factor || MentionsOpen(*factor) || !Add(stride, *factor, iteration.step)) continue;
      const auto is_stepped_over = [&](const Polynomial& each) { return StepsOver(stride, each); };
      if (std::any_of(covered.begin(), covered.end(), is_stepped_over)) return &iteration;
    }
    return nullptr;
  }

  /// What all iterations cover together, where their blocks are whole: the length of the range times the factor.
  std::optional<Polynomial> Covered(const Polynomial& factor, const Iteration& iteration) const {
    std::optional<Polynomial> length = iteration.end;
    if (!length || !Add(*length, *iteration.lo, -1)) return std::nullopt;
    const bool is_whole = symbolic::ExactQuotient(*length, {{"", iteration.step}}).has_value();
    return !is_whole || MentionsOpen(*length) ? std::nullopt : symbolic::Product(factor, *length);
  }

  /// Up to where blocks are cut.
  void AddCuts(std::vector<Polynomial>& covered) const {
    for (Polynomial end : axis_.ends) {
      if (Add(end, start_, -1) && !end.empty() && !MentionsOpen(end)) covered.push_back(std::move(end));
    }
  }

  const StoredAxis& axis_;
  const GridStore& store_;
  const std::set<VarId>& known_;
  std::set<VarId> from_zero_, apart_;
  Polynomial start_;
};

}  // namespace

bool BeginsIn(const Run& run, const StoredAxis& axis, const GridStore& store) {
  std::set<VarId> from_zero;
  Polynomial behind = StartFromLoops(axis, store, [](const Iteration&) { return true; }, from_zero);
  return Add(behind, run.first, -1) && std::all_of(behind.begin(), behind.end(), [&](const auto& term) {
           const bool is_distance =
               std::any_of(from_zero.begin(), from_zero.end(), [&](VarId var) { return term.first == KeyOf(var); });
           return term.second > 0 && (term.first.empty() || is_distance);
         });
}

Apart ApartAlong(const StoredAxis& axis, const GridStore& store, const std::set<VarId>& known) {
  std::set<VarId> from_zero;
  const auto is_replaced = [&](const Iteration& iteration) {
    return known.count(iteration.var) == 0 && IsAffine(*iteration.lo, store.around, known);
  };
  Polynomial start = StartFromLoops(axis, store, is_replaced, from_zero);
  std::optional<std::vector<Stride>> strides = StridesOf(start, from_zero, store, known);
  if (!strides) return {{}, false, 0};
  AddStores(axis, *strides);
  Apart apart{{}, true, axis.extent};  // covered by everything smaller
  bool is_cut = true;
  for (const Stride& stride : *strides) {
    apart.is_all = apart.covered != 0 && stride.stride >= apart.covered;
    if (!apart.is_all) return {{}, false, 0};
    if (stride.var != typed::kNone) apart.vars.insert(stride.var);
    apart.covered = stride.reach == 0 ? 0 : stride.reach - stride.stride + apart.covered;
    // Blocks that reach beyond their range are cut there.
    is_cut = is_cut && stride.is_first_zero;
    if (stride.var != typed::kNone) start.erase(stride.term);
    const int64_t behind = is_cut ? MostBehind(axis, start) : 0;
    if (behind != 0 && (apart.covered == 0 || behind < apart.covered)) apart.covered = behind;
  }
  return apart;
}

std::set<VarId> ApartBySymbols(const StoredAxis& axis, const GridStore& store, const std::set<VarId>& known) {
  return SymbolicStrides(axis, store, known).Apart();
}

}  // namespace tkc::sema

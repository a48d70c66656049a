// SPDX-License-Identifier: MIT
#include "compiler/sema/stores_apart.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tkc::sema {
namespace {

using symbolic::Polynomial;
using typed::VarId;

/// Does the term name the variable: `v3`, but not the beginning of `v30`.
bool Mentions(const std::string& term, VarId var) {
  const std::string name = fmt::format("v{}", var);
  for (size_t at = term.find(name); at != std::string::npos; at = term.find(name, at + 1)) {
    const char next = at + name.size() < term.size() ? term[at + name.size()] : ' ';
    if (next < '0' || next > '9') return true;
  }
  return false;
}

bool Mentions(const Polynomial& polynomial, VarId var) {
  return std::any_of(polynomial.begin(), polynomial.end(), [&](const auto& term) { return Mentions(term.first, var); });
}

/// Whether the variables occur as multiples only.
bool IsAffine(const Polynomial& polynomial, const std::vector<Iteration>& around) {
  return std::all_of(polynomial.begin(), polynomial.end(), [&](const auto& term) {
    return std::all_of(around.begin(), around.end(), [&](const Iteration& iteration) {
      return term.first == fmt::format("v{}*", iteration.var) || !Mentions(term.first, iteration.var);
    });
  });
}

/// to += factor * from
void Add(Polynomial& to, const Polynomial& from, int64_t factor) {
  for (const auto& [key, coefficient] : from) to[key] += factor * coefficient;
  std::erase_if(to, [](const auto& term) { return term.second == 0; });
}

constexpr int64_t kLargestStride = int64_t{1} << 40, kLargestSpan = int64_t{1} << 20;  // products of both stay within 64 bits

/// Where the axis starts, with each loop that begins where others are standing for its distance from there.
Polynomial StartFromLoops(const StoredAxis& axis, const GridStore& store) {
  Polynomial start = axis.start;
  for (auto iteration = store.around.rbegin(); iteration != store.around.rend(); ++iteration) {
    const auto own = start.find(fmt::format("v{}*", iteration->var));
    if (own == start.end() || own->second < 0 || own->second > kLargestSpan) continue;
    if (iteration->lo && IsAffine(*iteration->lo, store.around)) Add(start, *iteration->lo, own->second);
  }
  return start;
}

/// How one variable moves the start of an axis.
struct Stride {
  int64_t stride, reach;  // elements between neighbours; elements that all its values span, 0: unbounded
  VarId var;
};

/// The strides of an axis, smallest first; none if a variable that is not in `known` occurs in a product or inside another term.
std::optional<std::vector<Stride>> StridesOf(const StoredAxis& axis, const GridStore& store, const std::set<VarId>& known) {
  std::vector<Stride> strides;
  for (const auto& [key, coefficient] : StartFromLoops(axis, store)) {
    for (const Iteration& iteration : store.around) {
      const bool is_own = key == fmt::format("v{}*", iteration.var);
      if (is_own || (key == iteration.number && !key.empty())) {
        if (iteration.RunsOnce()) continue;
        const int64_t size = std::abs(coefficient), step = is_own ? iteration.step : 1;
        if (size > kLargestStride) return std::nullopt;
        const bool is_short = iteration.span && *iteration.span < kLargestSpan;
        const int64_t span = is_short ? std::max<int64_t>(*iteration.span, iteration.step) : 0;
        const int64_t reach = span * step / iteration.step + (span * step % iteration.step != 0);
        strides.push_back({size * step, size * reach, iteration.var});
      } else if (Mentions(key, iteration.var) && known.count(iteration.var) == 0) {
        return std::nullopt;
      }
    }
  }
  std::sort(strides.begin(), strides.end(),
            [](const Stride& a, const Stride& b) { return std::pair(a.stride, a.var) < std::pair(b.stride, b.var); });
  return strides;
}

/// What one axis tells apart.
struct Apart {
  std::set<VarId> vars;
  bool is_all = true;   // every variable that occurs in the axis, or did before
  int64_t covered = 0;  // elements that all their values span, 0: unbounded
};

/// Variables that an axis of `store` tells apart. Of executions that could meet in it, those in `known` have the same values, so
/// that terms of them shift all of these alike.
Apart ApartAlong(const StoredAxis& axis, const GridStore& store, const std::set<VarId>& known) {
  const std::optional<std::vector<Stride>> strides = StridesOf(axis, store, known);
  if (!strides) return {{}, false, 0};
  Apart apart{{}, true, axis.extent};  // covered by everything smaller
  for (const Stride& stride : *strides) {
    apart.is_all = apart.covered != 0 && stride.stride >= apart.covered;
    if (!apart.is_all) break;
    apart.vars.insert(stride.var);
    apart.covered = stride.reach == 0 ? 0 : stride.reach - stride.stride + apart.covered;
  }
  return apart;
}

/// The store of the axes that both have in common: what it tells apart has one value where they meet.
GridStore Common(const GridStore& a, const GridStore& b) {
  GridStore common{a.stmt, {}, a.around, {}, {}};
  for (size_t i = 0; i < a.axes.size(); ++i) {
    if (a.axes[i].start == b.axes[i].start && a.axes[i].extent == b.axes[i].extent) common.axes.push_back(a.axes[i]);
  }
  return common;
}

/// Where an axis of `store` starts at the earliest: loops that `other` does not mention there begin where their range does.
std::optional<Polynomial> Earliest(const GridStore& store, const Polynomial& start, const Polynomial& other) {
  Polynomial earliest = start;
  for (const Iteration& iteration : store.around) {
    if (iteration.is_grid || Mentions(other, iteration.var) || !Mentions(start, iteration.var)) continue;
    const auto own = earliest.find(fmt::format("v{}*", iteration.var));
    if (own == earliest.end() || own->second < 0 || own->second > kLargestSpan || !iteration.lo) return std::nullopt;
    const int64_t coefficient = own->second;
    earliest.erase(own);
    if (Mentions(earliest, iteration.var)) return std::nullopt;
    Add(earliest, *iteration.lo, coefficient);
  }
  return earliest;
}

}  // namespace

std::set<VarId> Separated(const GridStore& store) {
  std::set<VarId> separated, known;
  // Axes whose start depends on what others tell apart come after them, in whichever order they stand.
  for (size_t turn = 0; turn < store.axes.size(); ++turn) {
    for (const StoredAxis& axis : store.axes) {
      const Apart apart = ApartAlong(axis, store, known);
      separated.insert(apart.vars.begin(), apart.vars.end());
      if (apart.is_all) known.insert(apart.vars.begin(), apart.vars.end());
    }
  }
  // A block cut again: the inner index tells the outer one.
  for (auto iteration = store.around.rbegin(); iteration != store.around.rend(); ++iteration) {
    if (separated.count(iteration->var) > 0 && iteration->parent != typed::kNone) separated.insert(iteration->parent);
  }
  return separated;
}

bool IsBoundByData(const GridStore& store, VarId var) {
  return std::any_of(store.around.begin(), store.around.end(), [&](const Iteration& loop) {
    return loop.lo && std::any_of(loop.lo->begin(), loop.lo->end(), [&](const auto& term) {
             return Mentions(term.first, var) && term.first != fmt::format("v{}*", var);
           });
  });
}

bool Exclusive(const GridStore& a, const GridStore& b) {
  const std::set<VarId> apart = Separated(Common(a, b));
  const auto varies = [&](const std::string& text, const GridStore& store) {
    return std::any_of(store.around.begin(), store.around.end(), [&](const Iteration& iteration) {
      return apart.count(iteration.var) == 0 && Mentions(text, iteration.var);
    });
  };
  for (const symbolic::Condition& one : a.conditions) {
    for (const symbolic::Condition& other : b.conditions) {
      const bool exclude = !one.text.empty() && one.text == other.text && one.is_negated != other.is_negated;
      if (exclude && !varies(one.text, a) && !varies(one.text, b)) return true;
    }
  }
  return false;
}

bool EndsBefore(const GridStore& before, const GridStore& after) {
  const std::set<VarId> apart = Separated(Common(before, after));
  for (size_t i = 0; i < before.axes.size(); ++i) {
    const Polynomial& first = before.axes[i].start;
    const std::optional<Polynomial> then = Earliest(after, after.axes[i].start, first);
    if (!then) continue;
    const auto is_tied = [&](const Iteration& iteration) {
      return apart.count(iteration.var) > 0 || !(Mentions(first, iteration.var) || Mentions(*then, iteration.var));
    };
    const bool are_tied = std::all_of(before.around.begin(), before.around.end(), is_tied) &&
                          std::all_of(after.around.begin(), after.around.end(), is_tied);
    Polynomial gap = *then;
    Add(gap, first, -1);
    const bool is_number = gap.size() == 1 && gap.begin()->first.empty();
    if (are_tied && is_number && gap.begin()->second >= before.axes[i].extent) return true;
  }
  return false;
}

std::string FormOf(const GridStore& store, std::vector<int64_t>& offsets) {
  std::string text;
  for (const StoredAxis& axis : store.axes) {
    int64_t offset = 0;
    for (const auto& [key, coefficient] : axis.start) {
      if (key.empty())
        offset = coefficient;
      else
        text += fmt::format("{}{} ", coefficient, key);
    }
    offsets.push_back(offset);
    text += "|";
  }
  return text;
}

bool Overlap(const PlacedStore& a, const PlacedStore& b) {
  for (size_t i = 0; i < a.offsets.size(); ++i) {
    if (a.offsets[i] + a.store->axes[i].extent <= b.offsets[i] || b.offsets[i] + b.store->axes[i].extent <= a.offsets[i])
      return false;
  }
  return true;
}

bool ApartIfVariablesDiffer(const std::vector<PlacedStore>& group) {
  GridStore together = *group[0].store;
  for (size_t i = 0; i < together.axes.size(); ++i) {
    int64_t first = group[0].offsets[i], end = first;
    for (const PlacedStore& placed : group) {
      first = std::min(first, placed.offsets[i]);
      end = std::max(end, placed.offsets[i] + placed.store->axes[i].extent);
    }
    together.axes[i].extent = end - first;
  }
  const std::set<VarId> apart = Separated(together);
  return std::all_of(group.begin(), group.end(), [&](const PlacedStore& placed) {
    const std::set<VarId> alone = Separated(*placed.store);
    return std::includes(apart.begin(), apart.end(), alone.begin(), alone.end());
  });
}

bool OutOfReach(const PlacedStore& a, const PlacedStore& b) {
  for (size_t i = 0; i < a.offsets.size(); ++i) {
    const int64_t distance = b.offsets[i] - a.offsets[i];
    const PlacedStore& lower = distance < 0 ? b : a;
    const Apart apart = ApartAlong(lower.store->axes[i], *lower.store, {});
    if (apart.is_all && apart.covered != 0 && std::abs(distance) >= apart.covered) return true;
  }
  return false;
}

}  // namespace tkc::sema

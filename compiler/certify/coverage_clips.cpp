// SPDX-License-Identifier: MIT
#include "compiler/certify/coverage_clips.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

/// Each index as the first of its range and a number of steps.
Scalar InSteps(Scalar scalar, const Ranges& ranges) {
  std::set<std::string> names;
  symbolic::AddNames(scalar, names);
  for (const std::string& name : names) {
    const auto range = ranges.find(name);
    if (range == ranges.end()) continue;
    const auto& [lo, hi, step] = range->second;
    symbolic::AddNames(lo, names);  // those further on are replaced in turn
    scalar = symbolic::Substitute(scalar, name, symbolic::Add(lo, symbolic::Mul(symbolic::Int(step), symbolic::Name(name + "'"))));
  }
  return scalar;
}

bool EndsWithBlock(const Scalar& hi, const Range& range, const Ranges& ranges, Integers& launch) {
  return launch.IsMultiple(InSteps(symbolic::Sub(hi, range.lo), ranges), range.step);
}

/// At `hi`, or earlier: where a block is cut again, with that block.
bool IsWithin(const Scalar& end, const Scalar& hi) {
  if (symbolic::Equal(end, hi)) return true;
  return end->kind == Kind::kMin && (IsWithin(end->args[0], hi) || IsWithin(end->args[1], hi));
}

/// Of nested minima each.
template <typename Holds>
bool AllEnds(const Scalar& hi, const Holds& holds) {
  if (holds(hi)) return true;
  return hi->kind == Kind::kMin && AllEnds(hi->args[0], holds) && AllEnds(hi->args[1], holds);
}

}  // namespace

bool IsClipped(const Ranges& ranges, const std::vector<Scalar>& holding, Integers& launch, const Clipped& access) {
  const auto is_behind_all = [&](const Scalar& hi) {
    const Scalar block_end = symbolic::Add(access.start, symbolic::Int(access.extent));
    const Scalar seen = symbolic::Make(Kind::kMin, DType::kI64, {block_end, access.end});
    return std::any_of(holding.begin(), holding.end(), [&](const Scalar& condition) {
      return condition->kind == Kind::kLe && symbolic::Equal(condition->args[0], seen) && symbolic::Equal(condition->args[1], hi);
    });
  };
  std::set<std::string> names;
  symbolic::AddNames(access.start, names);
  for (const std::string& name : names) {
    const auto place = ranges.find(name);
    if (place == ranges.end()) continue;
    const Range& range = place->second;
    std::optional<int64_t> from = symbolic::ConstantDifference(access.start, symbolic::Name(name));
    if (from && *from >= access.ahead * range.step) *from -= access.ahead * range.step;
    if (!from || *from < 0 || *from + access.extent > range.step || range.step == 1) continue;
    if (IsWithin(access.end, range.hi)) return true;
    return AllEnds(range.hi, [&](const Scalar& hi) {
      return symbolic::Equal(hi, access.end) || EndsWithBlock(hi, range, ranges, launch) || is_behind_all(hi);
    });
  }
  return true;
}

}  // namespace tkc::certify

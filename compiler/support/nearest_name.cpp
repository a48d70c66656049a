// SPDX-License-Identifier: MIT
#include "compiler/support/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace tkc {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool IsSameButForCapitals(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) == Lower(y); });
}

}  // namespace

std::string NearestName(std::string_view name, std::vector<std::string> candidates) {
  std::sort(candidates.begin(), candidates.end());
  std::string best;
  if (name.size() > 1) {  // `m` and `M` are a block and its dimension
    const auto alike = [&](const std::string& candidate) { return IsSameButForCapitals(name, candidate); };
    const auto found = std::find_if(candidates.begin(), candidates.end(), alike);
    if (found != candidates.end()) return *found;
  }
  // A name of one or two letters is nobody's slip, too many are one letter away; but for one letter typed twice.
  if (name.size() == 2 && Lower(name[0]) == Lower(name[1])) {
    const std::string once(name.substr(0, 1));
    if (std::find(candidates.begin(), candidates.end(), once) != candidates.end()) return once;
  }
  size_t best_prefix = 0;
  size_t best_distance = name.size() < 3 ? 0 : std::min<size_t>(name.size() / 3, 2) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > name.size() + 2 || name.size() > candidate.size() + 2 || candidate.size() > 200) continue;
    const size_t distance = Distance(name, candidate);
    const size_t prefix = std::mismatch(name.begin(), name.end(), candidate.begin(), candidate.end()).first - name.begin();
    if (distance > best_distance || (distance == best_distance && (best.empty() || prefix <= best_prefix))) continue;
    best = candidate;
    best_distance = distance;
    best_prefix = prefix;
  }
  return best;
}

std::string WhatItHas(std::span<const std::string> names) {
  return names.empty() ? "it has none" : fmt::format("it has `{}`", fmt::join(names, "`, `"));
}

}  // namespace tkc

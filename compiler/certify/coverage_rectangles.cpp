// SPDX-License-Identifier: MIT
#include "compiler/certify/coverage_rectangles.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tkc::certify {
namespace {

bool Meet(const Site& a, const Site& b) {
  for (size_t i = 0; i < a.first.size(); ++i) {
    if (a.first[i] >= b.first[i] + b.extent[i] || b.first[i] >= a.first[i] + a.extent[i]) return false;
  }
  return true;
}

int64_t Elements(const Site& site) {
  return std::accumulate(site.extent.begin(), site.extent.end(), int64_t{1}, std::multiplies<>());
}

using Parts = std::vector<const Site*>;

bool AreRectangle(const Parts& parts) {
  int64_t elements = 0, box = 1;
  for (const Site* part : parts) elements += Elements(*part);
  for (size_t k = 0; k < parts[0]->first.size(); ++k) {
    int64_t low = parts[0]->first[k], high = low;
    for (const Site* part : parts) {
      low = std::min(low, part->first[k]);
      high = std::max(high, part->first[k] + part->extent[k]);
    }
    box *= high - low;
  }
  return box == elements;
}

/// Copies of a statement for the turns of loops that the source has, and for instances: as large, and as far apart, where one
/// turn's or instance's lie as another's do.
bool AreEquallySpaced(const Parts& parts) {
  std::set<std::vector<int64_t>> firsts;
  for (const Site* part : parts) {
    if (part->extent != parts[0]->extent) return false;
    firsts.insert(part->first);
  }
  if (firsts.size() != parts.size()) return false;
  while (firsts.size() > 1) {
    std::vector<int64_t> apart = *std::next(firsts.begin());
    for (size_t k = 0; k < apart.size(); ++k) apart[k] -= (*firsts.begin())[k];
    const auto from = [&](std::vector<int64_t> first) {
      for (size_t k = 0; k < apart.size(); ++k) first[k] += apart[k];
      return first;
    };
    size_t count = 0;
    for (std::vector<int64_t> next = *firsts.begin(); firsts.contains(next); next = from(next)) ++count;
    std::set<std::vector<int64_t>> rows;
    while (!firsts.empty()) {
      std::vector<int64_t> next = *firsts.begin();
      rows.insert(next);
      for (size_t i = 0; i < count; ++i, next = from(next)) {
        if (firsts.erase(next) == 0) return false;
      }
    }
    firsts = std::move(rows);
  }
  return true;
}

}  // namespace

std::optional<Finding> CheckApart(const std::string& tensor, const std::vector<Site>& sites) {
  for (size_t i = 0; i < sites.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!Meet(sites[i], sites[j])) continue;
      return Finding{DiagnosticKind::kCertificateCoverage,
                     sites[i].op->span,
                     fmt::format("elements of `{}` are stored twice in one tile", tensor),
                     {{sites[j].op->span, fmt::format("by `{}` here, and by `{}`", sites[j].who, sites[i].who)}}};
    }
  }
  return std::nullopt;
}

std::optional<Finding> CheckWhole(const std::string& tensor, const std::vector<Site>& sites) {
  using Of = std::pair<const ir::Op*, std::string>;    // an operation of an instance
  std::map<uint32_t, std::map<Of, Parts>> statements;  // by where they begin
  for (const Site& site : sites) statements[site.op->span.begin][{site.op, site.who}].push_back(&site);
  for (const auto& [statement, operations] : statements) {
    Parts all;
    bool is_whole = true;
    for (const auto& [of, parts] : operations) {
      is_whole = is_whole && AreRectangle(parts);
      all.insert(all.end(), parts.begin(), parts.end());
    }
    if (AreRectangle(all) || (is_whole && AreEquallySpaced(all))) continue;
    return Finding{DiagnosticKind::kCertificateCoverage, all[0]->op->span,
                   fmt::format("the stores of `{}` leave a hole in their tile", tensor)};
  }
  return std::nullopt;
}

bool HoldTheSame(const std::vector<Site>& sites, const std::vector<Site>& others) {
  int64_t elements = 0, of_others = 0, common = 0;
  for (const Site& other : others) of_others += Elements(other);
  for (const Site& site : sites) {
    elements += Elements(site);
    for (const Site& other : others) {
      if (!Meet(site, other)) continue;
      int64_t both = 1;
      for (size_t k = 0; k < site.first.size(); ++k)
        both *=
            std::min(site.first[k] + site.extent[k], other.first[k] + other.extent[k]) - std::max(site.first[k], other.first[k]);
      common += both;
    }
  }
  return elements == of_others && elements == common;
}

}  // namespace tkc::certify

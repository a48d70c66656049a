// SPDX-License-Identifier: MIT
#include "compiler/sema/scope.h"

#include <algorithm>
#include <utility>

namespace tkc::sema {

Value Value::Clone() const {
  Value copy;
  copy.kind = kind;
  if (expr) copy.expr = sema::Clone(*expr);
  for (const Value& element : elements) copy.elements.push_back(element.Clone());
  copy.names = names;
  copy.block = block;
  copy.width = width;
  copy.count = count;
  copy.span = span;
  return copy;
}

Value ExprValue(typed::ExprPtr expr, Span span) {
  Value value;
  value.kind = Value::Kind::kExpr;
  value.expr = std::move(expr);
  value.span = span;
  return value;
}

Value TupleValue(std::vector<Value> elements, Span span) {
  Value value;
  value.kind = Value::Kind::kTuple;
  value.elements = std::move(elements);
  value.span = span;
  return value;
}

void Scope::Close() {
  for (const std::string& name : frames_.back()) {
    auto place = symbols_.find(name);
    place->second.pop_back();
    if (place->second.empty()) symbols_.erase(place);
  }
  frames_.pop_back();
}

const Symbol* Scope::Find(const std::string& name) const {
  const auto place = symbols_.find(name);
  return place == symbols_.end() ? nullptr : &place->second.back().second;
}

Symbol* Scope::Find(const std::string& name) { return const_cast<Symbol*>(std::as_const(*this).Find(name)); }

bool Scope::IsLocal(const std::string& name) const {
  const auto place = symbols_.find(name);
  return place != symbols_.end() && place->second.back().first == frames_.size();
}

Symbol& Scope::Declare(const std::string& name, Symbol symbol) {
  frames_.back().push_back(name);
  std::vector<std::pair<size_t, Symbol>>& stack = symbols_[name];
  stack.emplace_back(frames_.size(), std::move(symbol));
  return stack.back().second;
}

std::string Scope::Nearest(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [candidate, symbols] : symbols_) names.push_back(candidate);
  return NearestName(name, std::move(names));
}

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

}  // namespace

std::string NearestName(std::string_view name, std::vector<std::string> candidates) {
  std::sort(candidates.begin(), candidates.end());
  std::string best;
  // A name of one or two letters is nobody's slip: too many are one letter away.
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

}  // namespace tkc::sema

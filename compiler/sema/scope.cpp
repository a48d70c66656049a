// SPDX-License-Identifier: MIT
#include "compiler/sema/scope.h"

#include <algorithm>
#include <utility>

#include "compiler/support/nearest_name.h"

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
  copy.divisor = divisor;
  copy.is_rounded = is_rounded;
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

const Symbol* Scope::FindHidden(const std::string& name) const {
  const auto place = symbols_.find(name);
  return place == symbols_.end() || place->second.size() < 2 ? nullptr : &place->second.end()[-2].second;
}

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

std::vector<std::string> Scope::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, symbols] : symbols_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string Scope::Nearest(std::string_view name) const { return NearestName(name, Names()); }

}  // namespace tkc::sema

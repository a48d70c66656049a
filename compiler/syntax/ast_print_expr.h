// SPDX-License-Identifier: MIT
// Expressions, types, patterns and ranges as text: what declarations and statements are printed with.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/syntax/ast.h"

namespace tkc::ast {

class ExprPrinter {
 public:
  std::string Take() { return std::move(out_); }

  void PrintExpr(const Expr& expr);
  void PrintType(const TypeExpr& type);

 protected:
  template <typename... Args>
  void Text(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    Indent();
    Text(format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void Indent() { out_.append(2 * indent_, ' '); }
  template <typename Items, typename Each>
  void Separated(const Items& items, Each each) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) Text(", ");
      first = false;
      each(item);
    }
  }

  void PrintRange(const Range& range);
  static std::string PatternText(const Pattern& pattern);

  int indent_ = 0;

 private:
  void List(std::string_view head, std::initializer_list<const Expr*> items);
  void List(std::string_view head, const std::vector<ExprPtr>& items);
  void PrintFloat(double value);
  void PrintIndexed(const IndexExpr& expr);
  void PrintBranch(const Block& block);

  std::string out_;
};

}  // namespace tkc::ast

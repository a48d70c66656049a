// SPDX-License-Identifier: MIT
// Typed scalars as symbolic formulas, for questions of equality. Immutable `let`s are looked through, so that two workers
// which compute the same number by different names agree; loops that run in step are given one name by Rename.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/typed.h"
#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::sema {

/// The symbolic operator of a scalar operator; kCall for a function, which is known by name only.
symbolic::Kind SymbolicKind(typed::Op op);

class SymbolicTable {
 public:
  explicit SymbolicTable(const typed::Kernel& kernel) : kernel_(kernel) {}

  symbolic::Scalar Of(const typed::Expr& expr);
  /// `var` is from now on called `name`.
  void Rename(typed::VarId var, std::string name);
  /// `var` is from now on the number `value`.
  void Fix(typed::VarId var, int64_t value);
  /// `var` is the value of `expr`, which has been computed once and does not change.
  void Define(typed::VarId var, const typed::Expr& expr);
  /// The name of a variable in formulas.
  static std::string NameOf(typed::VarId var);
  /// The same of a dimension.
  static constexpr std::string_view kDim = "d.";
  static std::string NameOfDim(const std::string& dim) { return std::string(kDim) + dim; }
  /// Whether it is such a name, of a number that is not negative.
  static bool IsCount(std::string_view name) { return name.starts_with(kDim); }
  /// The same of a parameter, and the parameter that such a name stands for.
  static constexpr std::string_view kParam = "p.";
  static std::string NameOfParam(const std::string& param) { return std::string(kParam) + param; }
  static std::string ParamOf(const std::string& name) { return name.substr(kParam.size()); }

  /// What the launcher checks.
  std::vector<symbolic::Scalar> RequirementsOfLaunch();

  bool AreEqual(const typed::Expr& a, const typed::Expr& b);

 private:
  const typed::Kernel& kernel_;
  std::map<typed::VarId, symbolic::Scalar> values_;
  std::map<std::string, std::string> long_definitions_;  // canonical text to the name of the function that stands for it
};

/// Defines every immutable scalar `let` of `block` and the blocks in it.
void DefineLets(const typed::Kernel& kernel, const typed::Block& block, SymbolicTable& table);

}  // namespace tkc::sema

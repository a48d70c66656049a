// SPDX-License-Identifier: MIT
// Lowers the statements of one typed kernel: the part of from_ast that walks bodies.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/ir/ir.h"
#include "compiler/sema/typed.h"

namespace tkc::ir {

/// A reduction along an axis of one element: the value is that element.
bool IsItsOperand(const typed::Expr& expr);

/// What the source calls a variable or a tensor that is read, transposed or not; empty if it is something else.
std::string_view NameOfOperand(const typed::Expr& expr, const typed::Kernel& source);

/// Names and values of one kernel while its bodies are lowered.
class WorkerLowering {
 public:
  WorkerLowering(const typed::Kernel& source, const typed::Section& section, Kernel& kernel);

  /// Names of scalars are local to a worker: those of the workers before may be used again.
  void BeginWorker() {
    used_names_ = kernel_names_;
    last_suffix_.clear();
  }
  /// What has been named so far is visible to all workers.
  void EndShared() { kernel_names_ = used_names_; }
  /// Appends the lowering of `block` to `region`.
  void LowerBlock(const typed::Block& block, Region& region);
  Scalar LowerScalar(const typed::Expr& expr);
  const std::string& ScalarName(typed::VarId var);
  /// Of what the launcher alone names, so that another may have the name in the kernel.
  void GiveName(typed::VarId var, const std::string& name) { scalars_[var] = name; }

 private:
  void LowerStmt(const typed::Stmt& stmt, Region& region);
  void LowerBinding(const typed::Stmt& stmt, Region& region);
  void LowerAssign(const typed::Stmt& stmt, Region& region);
  void LowerFor(const typed::Stmt& stmt, Region& region);
  void LowerReceive(const typed::Stmt& stmt, Region& region);
  void LowerSend(const typed::Stmt& stmt, Region& region);
  void LowerStore(const typed::Stmt& stmt, Region& region);

  /// The value of a tile expression; `name` is a wish for the name of the result.
  ValueId LowerTile(const typed::Expr& expr, Region& region, const std::string& name = "");
  /// Positions, turned or not, as numbers of type `dtype`.
  ValueId LowerPositions(const typed::Expr& expr, DType dtype, Region& region, const std::string& name);
  ValueId LowerBinary(const typed::Expr& expr, Region& region, const std::string& name);
  ValueId LowerGather(const typed::Expr& expr, Region& region, const std::string& name);
  ValueId LowerSelect(const typed::Expr& expr, Region& region, const std::string& name);
  /// Whether an `if` expression is executed as a statement: the branch that is not taken loads nothing.
  static bool Branches(const typed::Expr& choice);
  /// Zeros of the shape of the expression.
  ValueId LowerNothing(const typed::Expr& expr, Region& region);
  ValueId LowerBranches(const typed::Expr& choice, Region& region, const std::string& name);
  /// `rest + a @ b - c @ d`, products in any number: nothing lies between them in the matrix unit.
  struct SumOfProducts {
    struct Term {
      const typed::Expr* product;
      bool negative;
    };
    const typed::Expr* rest = nullptr;  // null: there are but products
    std::vector<Term> terms{};          // from left to right; empty where the expression is no such sum
  };
  static SumOfProducts Split(const typed::Expr& expr);
  /// What adds the product to a variable, which is not set yet.
  Op LowerTerm(const SumOfProducts::Term& term, Region& region, Span span);
  std::vector<AxisRange> LowerAxes(const std::vector<typed::AxisRange>& axes);
  ValueId LowerConvert(const typed::Expr& expr, Region& region, const std::string& name);
  ValueId Emit(Region& region, Op op, typed::Type type, const std::string& name, Span span, bool is_mutable = false);
  std::string UniqueScalar(const std::string& name);
  /// `any(x)` or `all(x)`, as the name of what is tested in front of the statement.
  Scalar LowerTest(const typed::Expr& expr);

  const typed::Kernel& source_;
  const typed::Section& section_;
  Kernel& kernel_;
  Region* into_ = nullptr;  // where the present statement's operations go
  std::map<typed::VarId, ValueId> tiles_;
  std::map<typed::VarId, std::string> scalars_;
  std::set<std::string> used_names_, kernel_names_;
  std::set<ValueId> rounded_;                // results of conversions
  std::map<ValueId, ValueId> rounded_from_;  // of one that is as exact as what it is of, such a result
  std::map<std::string, int> last_suffix_;   // of names that the worker has several times
  std::set<std::string> scalar_names_;       // of all workers
};

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
// Tiles times what one tile does: that of the first indices, or of the last ones, whose loops may be longer. Loops whose ends are
// data count once, those that end at `min(len[b], S)` as if they went on to S.
#include "compiler/driver/case_work.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "compiler/interp/evaluate.h"

namespace tkc {
namespace {

using typed::Expr;
using typed::ExprKind;

// Multiplications that take the simulator as long.
constexpr double kColumnReduction = 1 << 17;
constexpr double kOperation = 1 << 12;  // of small tiles: one in many iterations

double ProductsIn(const Expr* expr) {
  if (expr == nullptr) return 0;
  double products = expr->type.is_tile && expr->kind != ExprKind::kVar ? kOperation : 0;
  if (expr->kind == ExprKind::kMatMul) {
    const typed::Type& left = expr->args[0]->type;
    products = static_cast<double>(left.rows) * static_cast<double>(left.cols) * static_cast<double>(expr->args[1]->type.cols);
  }
  if (expr->kind == ExprKind::kReduce && expr->axis == 0) products = kColumnReduction;
  for (const typed::ExprPtr& arg : expr->args) products += ProductsIn(arg.get());
  return products;
}

class Counter {
 public:
  Counter(const interp::Launch& launch, interp::Faults& faults)
      : launch_(launch), faults_(faults), vars_(interp::InitialVars(launch)) {}

  CaseWork Of(const typed::Section& section) {
    CaseWork work;
    work.tiles = 1;
    for (const typed::GridAxis& axis : section.axes) {
      work.tiles *= Trips(*axis.lo, *axis.hi, axis.step);
      Set(axis.var, Integer(*axis.lo));
    }
    const double first = OfTile(section);
    for (const typed::GridAxis& axis : section.axes) {
      const int64_t lo = Integer(*axis.lo);
      const auto steps = static_cast<int64_t>(Trips(*axis.lo, *axis.hi, axis.step));
      Set(axis.var, lo + std::max<int64_t>(steps - 1, 0) * axis.step);
    }
    work.products = work.tiles * std::max(first, OfTile(section));
    return work;
  }

 private:
  double OfTile(const typed::Section& section) {
    OfBlock(section.lets);
    double products = 0;
    for (const typed::Worker& worker : section.workers) {
      products += static_cast<double>(worker.InstancesOfTile()) * OfBlock(worker.body);
    }
    return products;
  }

  double OfBlock(const typed::Block& block) {
    double products = 0;
    for (const typed::StmtPtr& stmt : block) products += OfStmt(*stmt);
    return products;
  }

  double OfStmt(const typed::Stmt& stmt) {
    switch (stmt.kind) {
      case typed::StmtKind::kFor: {
        const Expr *lo = WithoutData(*stmt.lo), *hi = WithoutData(*stmt.hi);
        const bool is_data = lo == nullptr || hi == nullptr;
        const double trips = is_data ? 1 : Trips(*lo, *hi, stmt.step);
        Set(stmt.var, is_data ? 0 : Integer(*lo));
        return trips * OfBlock(stmt.body);
      }
      case typed::StmtKind::kIf: return std::max(OfBlock(stmt.body), OfBlock(stmt.orelse));
      case typed::StmtKind::kLet: {
        const typed::Var& var = launch_.kernel->vars[static_cast<size_t>(stmt.var)];
        if (var.type.is_tile || IsFloat(var.type.dtype) || var.level == typed::Level::kWorker) break;
        const Expr* number = WithoutData(*stmt.expr);
        if (number == nullptr)
          data_.insert(stmt.var);
        else
          vars_[static_cast<size_t>(stmt.var)] = Evaluate(*number);
        break;
      }
      default: break;
    }
    double products = ProductsIn(stmt.expr.get());
    for (const typed::ExprPtr& value : stmt.values) products += ProductsIn(value.get());
    return products;
  }

  bool DependsOnData(const Expr& expr) const {
    return typed::Contains(expr, [&](const Expr& node) {
      return node.kind == ExprKind::kElement || (node.kind == ExprKind::kVar && data_.contains(node.id));
    });
  }
  /// The expression, or of a minimum with data the part without any, which is no less; null if there is none.
  const Expr* WithoutData(const Expr& expr) const {
    if (!DependsOnData(expr)) return &expr;
    if (expr.kind != ExprKind::kCall || expr.op != typed::Op::kMin) return nullptr;
    for (const typed::ExprPtr& arg : expr.args) {
      if (const Expr* part = WithoutData(*arg)) return part;
    }
    return nullptr;
  }

  double Trips(const Expr& lo, const Expr& hi, int64_t step) {
    const auto extent = static_cast<double>(Integer(hi)) - static_cast<double>(Integer(lo));
    return std::ceil(std::max(extent, 0.0) / static_cast<double>(step));
  }
  interp::Value Evaluate(const Expr& expr) { return interp::Evaluator(launch_, vars_, faults_).Evaluate(expr); }
  int64_t Integer(const Expr& expr) { return interp::Evaluator(launch_, vars_, faults_).Integer(expr); }
  void Set(typed::VarId var, int64_t value) { vars_[static_cast<size_t>(var)] = interp::Value::Integer(DType::kI64, value); }

  const interp::Launch& launch_;
  interp::Faults& faults_;
  std::vector<interp::Value> vars_;
  std::set<typed::VarId> data_;  // numbers that are made of elements of tensors
};

}  // namespace

CaseWork WorkOf(const interp::Launch& launch) {
  CaseWork most;
  for (const typed::Section& section : launch.kernel->sections) {
    Diagnostics ignored;
    interp::Faults faults(ignored);
    const CaseWork work = Counter(launch, faults).Of(section);
    if (faults.failed()) continue;
    most.tiles = std::max(most.tiles, work.tiles);
    most.products += work.products;
  }
  return most;
}

}  // namespace tkc

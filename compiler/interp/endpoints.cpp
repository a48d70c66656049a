// SPDX-License-Identifier: MIT
#include "compiler/interp/endpoints.h"

#include <algorithm>

#include "compiler/interp/evaluate.h"

namespace tkc::interp {
namespace {

using typed::Block;
using typed::Expr;
using typed::ExprKind;
using typed::Section;
using typed::Stmt;
using typed::StmtKind;
using typed::StmtPtr;
using typed::VarKind;
using typed::Worker;

/// Loops of known range are walked value by value up to this trip count, as a ring's number may be the loop variable.
constexpr int64_t kLongestKnownLoop = 64;

bool Receives(const Block& block) {
  return std::ranges::any_of(block, [](const StmtPtr& stmt) {
    return stmt->kind == StmtKind::kReceive || Receives(stmt->body) || Receives(stmt->orelse);
  });
}

class Scan {
 public:
  Scan(const Launch& launch, const Section& section, Diagnostics& ignored)
      : launch_(launch), vars_(launch.kernel->vars.size()), known_(vars_.size(), false), faults_(ignored) {
    for (const typed::Pipe& pipe : section.pipes) rings_.emplace_back(static_cast<size_t>(pipe.rings), false);
  }

  void Know(typed::VarId var, int64_t value) {
    if (var == typed::kNone) return;
    vars_[static_cast<size_t>(var)] = Value::Integer(DType::kI64, value);
    known_[static_cast<size_t>(var)] = true;
  }

  void Visit(const Block& block) {
    for (const StmtPtr& stmt : block) Visit(*stmt);
  }

  std::vector<std::vector<bool>> Take() { return std::move(rings_); }

 private:
  void Visit(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kLet: Let(stmt); break;
      case StmtKind::kFor: Loop(stmt); break;
      case StmtKind::kIf: Branch(stmt); break;
      case StmtKind::kReceive: Receive(stmt); break;
      default: break;
    }
  }

  void Let(const Stmt& stmt) {
    const auto var = static_cast<size_t>(stmt.var);
    known_[var] = launch_.kernel->vars[var].kind == VarKind::kLet && !stmt.expr->type.is_tile && IsKnown(*stmt.expr);
    if (known_[var]) vars_[var] = Evaluate(*stmt.expr);
  }

  void Loop(const Stmt& stmt) {
    if (!Receives(stmt.body)) return;  // loops in loops would be walked for nothing
    const auto var = static_cast<size_t>(stmt.var);
    if (IsKnown(*stmt.lo) && IsKnown(*stmt.hi)) {
      const int64_t lo = Evaluate(*stmt.lo).AsInteger();
      const int64_t hi = Evaluate(*stmt.hi).AsInteger();
      if (hi - lo <= kLongestKnownLoop * stmt.step) {
        for (int64_t i = lo; i < hi; i += stmt.step) {
          Know(stmt.var, i);
          Visit(stmt.body);
        }
        known_[var] = false;
        return;
      }
    }
    known_[var] = false;
    Visit(stmt.body);
  }

  void Branch(const Stmt& stmt) {
    if (!IsKnown(*stmt.expr)) {
      Visit(stmt.body);
      Visit(stmt.orelse);
    } else {
      Visit(Evaluate(*stmt.expr).AsBool() ? stmt.body : stmt.orelse);
    }
  }

  void Receive(const Stmt& stmt) {
    std::vector<bool>& rings = rings_[static_cast<size_t>(stmt.pipe)];
    if (!stmt.ring) {
      rings[0] = true;
    } else if (IsKnown(*stmt.ring)) {
      const int64_t ring = Evaluate(*stmt.ring).AsInteger();
      if (ring >= 0 && ring < static_cast<int64_t>(rings.size())) rings[static_cast<size_t>(ring)] = true;
    } else {
      rings.assign(rings.size(), true);
    }
  }

  bool IsKnown(const Expr& expr) const {
    if (expr.type.is_tile) return false;
    switch (expr.kind) {
      case ExprKind::kInt:
      case ExprKind::kFloat:
      case ExprKind::kBool: return true;
      case ExprKind::kVar: return known_[static_cast<size_t>(expr.id)];
      case ExprKind::kUnary:
      case ExprKind::kBinary:
      case ExprKind::kSelect:
      case ExprKind::kCall:
      case ExprKind::kConvert:
        for (const typed::ExprPtr& arg : expr.args) {
          if (!IsKnown(*arg)) return false;
        }
        return true;
      default: return false;
    }
  }

  Value Evaluate(const Expr& expr) { return Evaluator(launch_, vars_, faults_).Evaluate(expr); }

  const Launch& launch_;
  std::vector<Value> vars_;
  std::vector<bool> known_;
  Faults faults_;  // what goes wrong here goes wrong again, and is reported, when the worker runs
  std::vector<std::vector<bool>> rings_;
};

}  // namespace

std::vector<std::vector<bool>> ReceivedRings(const Launch& launch, const Section& section, const Worker& worker, int64_t instance) {
  Diagnostics ignored;
  Scan scan(launch, section, ignored);
  scan.Know(worker.instance_var, instance);
  scan.Visit(worker.body);
  return scan.Take();
}

}  // namespace tkc::interp

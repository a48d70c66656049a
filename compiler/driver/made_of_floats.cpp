// SPDX-License-Identifier: MIT
#include "compiler/driver/made_of_floats.h"

#include <algorithm>
#include <vector>

#include "compiler/driver/compare.h"

namespace tkc {
namespace {

using typed::Expr;
using typed::ExprKind;
using typed::Op;

/// What may be told of a value, from the least to the most that may be off. Of integers and booleans the last two, of floats the
/// first three: a product is exact by itself, but a sum with it may be rounded once or twice.
enum class State : uint8_t { kExact, kProduct, kInexact, kConverted, kComputed };

class States {
 public:
  explicit States(const typed::Kernel& kernel) : kernel_(kernel), vars_(kernel.vars.size()), tensors_(kernel.params.size()) {
    do {
      changed_ = false;
      for (const typed::Section& section : kernel.sections) {
        // What is left there by another section's pipe of the same number makes it no more exact.
        pipes_.resize(std::max(pipes_.size(), section.pipes.size()));
        Visit(section.lets);
        for (const typed::Worker& worker : section.workers) Visit(worker.body);
      }
    } while (changed_);
  }

  State OfTensor(size_t param) const { return tensors_[param]; }

 private:
  State Of(const Expr& expr) const {
    State state = State::kExact;
    if (expr.kind == ExprKind::kVar) state = vars_[static_cast<size_t>(expr.id)];
    if (expr.kind == ExprKind::kElement || expr.kind == ExprKind::kRead || expr.kind == ExprKind::kGather)
      state = tensors_[static_cast<size_t>(expr.id)];
    for (const typed::ExprPtr& arg : expr.args) state = arg ? std::max(state, Of(*arg)) : state;
    if (expr.kind == ExprKind::kConvert) return Converted(expr.args[0]->type.dtype, expr.type.dtype, state);
    return IsFloat(expr.type.dtype) ? std::min(OfFloat(expr, state), State::kInexact) : OfInteger(expr, state);
  }

  static State Converted(DType from, DType to, State state) {
    if (IsFloat(from) == IsFloat(to)) return state;
    if (IsFloat(to)) return state >= State::kConverted ? State::kInexact : State::kExact;
    if (state < State::kInexact) return State::kExact;
    return to == DType::kBool ? State::kComputed : State::kConverted;
  }

  static State OfFloat(const Expr& expr, State state) {
    if (IsApproximate(expr)) return State::kInexact;
    switch (expr.kind) {
      case ExprKind::kBinary:
        if (expr.op == Op::kMul) return std::max(state, State::kProduct);
        return state >= State::kProduct ? State::kInexact : state;
      case ExprKind::kCall: {
        const bool rounds = expr.op == Op::kRound || expr.op == Op::kFloor || expr.op == Op::kCeil;
        return rounds && state == State::kProduct ? State::kExact : state;
      }
      case ExprKind::kReduce: return expr.op == Op::kAdd ? State::kInexact : state;
      case ExprKind::kCumsum:
      case ExprKind::kMatMul: return State::kInexact;
      default: return state;
    }
  }

  State OfInteger(const Expr& expr, State state) const {
    if (state < State::kInexact) return State::kExact;
    switch (expr.kind) {
      case ExprKind::kBinary: {
        const bool shifts =
            (expr.op == Op::kAdd || expr.op == Op::kSub) && std::min(Of(*expr.args[0]), Of(*expr.args[1])) == State::kExact;
        return shifts ? state : State::kComputed;
      }
      case ExprKind::kCall: return expr.op == Op::kMin || expr.op == Op::kMax || expr.op == Op::kAbs ? state : State::kComputed;
      case ExprKind::kReduce: return expr.op == Op::kMin || expr.op == Op::kMax ? state : State::kComputed;
      case ExprKind::kGather:
      case ExprKind::kCumsum:
      case ExprKind::kMatMul: return State::kComputed;
      default: return state;
    }
  }

  void Raise(State& place, State to) {
    changed_ |= to > place;
    place = std::max(place, to);
  }

  void Store(const typed::Stmt& stmt) {
    const auto id = static_cast<size_t>(stmt.tensor);
    const DType dtype = kernel_.params[id].dtype;
    State state = Converted(stmt.expr->type.dtype, dtype, Of(*stmt.expr));
    if (stmt.store_op == typed::StoreOp::kAdd) {
      if (IsFloat(dtype)) state = State::kInexact;
      if (state == State::kConverted) state = State::kComputed;
    }
    Raise(tensors_[id], state);
  }

  void Visit(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      switch (stmt->kind) {
        case typed::StmtKind::kLet:
        case typed::StmtKind::kAssign:
        case typed::StmtKind::kAssignPart: Raise(vars_[static_cast<size_t>(stmt->var)], Of(*stmt->expr)); break;
        case typed::StmtKind::kStore: Store(*stmt); break;
        case typed::StmtKind::kReceive:
          for (const typed::VarId var : stmt->received)
            Raise(vars_[static_cast<size_t>(var)], OfPipe(static_cast<size_t>(stmt->pipe), kernel_.vars[static_cast<size_t>(var)]));
          break;
        case typed::StmtKind::kSend:
          for (const typed::ExprPtr& value : stmt->values) Raise(pipes_[static_cast<size_t>(stmt->pipe)], Of(*value));
          break;
        default: break;
      }
      Visit(stmt->body);
      Visit(stmt->orelse);
    }
  }

  /// All fields of a pipe are as the least exact one.
  State OfPipe(size_t pipe, const typed::Var& received) const {
    const State state = pipes_[pipe];
    if (IsFloat(received.type.dtype)) return std::min(state, State::kInexact);
    return state >= State::kConverted ? State::kComputed : State::kExact;
  }

  const typed::Kernel& kernel_;
  std::vector<State> vars_, tensors_, pipes_;
  bool changed_ = false;
};

}  // namespace

std::map<std::string, MadeOfFloats> IntegersMadeOfFloats(const typed::Kernel& kernel) {
  const States states(kernel);
  std::map<std::string, MadeOfFloats> made;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const typed::Param& param = kernel.params[i];
    const State state = states.OfTensor(i);
    if (param.kind == typed::ParamKind::kScalar || IsFloat(param.dtype) || state < State::kConverted) continue;
    made[param.name] = state == State::kConverted ? MadeOfFloats::kConverted : MadeOfFloats::kComputed;
  }
  return made;
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/interp/execute.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/internal_error.h"

namespace tkc::interp {

using typed::Block;
using typed::Stmt;
using typed::StmtKind;
using typed::StmtPtr;
using typed::Type;

void Executor::Execute(const Block& block) {
  for (const StmtPtr& stmt : block) {
    if (faults_.failed()) return;
    Execute(*stmt);
  }
}

void Executor::Execute(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kLet:
    case StmtKind::kAssign: {
      const double terms = TermsOf(*stmt.expr);
      Var(stmt.var) = evaluator_.Evaluate(*stmt.expr).BroadcastTo(launch_.kernel->vars[static_cast<size_t>(stmt.var)].type);
      Var(stmt.var).set_terms(terms);
      break;
    }
    case StmtKind::kAssignPart: AssignPartOf(stmt); break;
    case StmtKind::kFor: Loop(stmt); break;
    case StmtKind::kIf: Execute(evaluator_.Truth(*stmt.expr) ? stmt.body : stmt.orelse); break;
    case StmtKind::kReceive: Receive(stmt); break;
    case StmtKind::kSend: Send(stmt); break;
    case StmtKind::kStore: Store(stmt); break;
  }
}

void Executor::AssignPartOf(const Stmt& stmt) {
  const Value part = evaluator_.Evaluate(*stmt.expr);
  const int64_t row = stmt.row ? evaluator_.Integer(*stmt.row) : 0;
  const int64_t col = stmt.col ? evaluator_.Integer(*stmt.col) : 0;
  if (faults_.failed()) return;
  Var(stmt.var).set_terms(std::max(Var(stmt.var).terms(), TermsOf(*stmt.expr)));
  AssignPart(Var(stmt.var), row, col, part);
}

void Executor::Loop(const Stmt& stmt) {
  const int64_t lo = evaluator_.Integer(*stmt.lo);
  const int64_t hi = evaluator_.Integer(*stmt.hi);
  const DType dtype = launch_.kernel->vars[static_cast<size_t>(stmt.var)].type.dtype;
  for (int64_t i = lo; i < hi && !faults_.failed(); i += stmt.step) {
    Var(stmt.var) = Value::Integer(dtype, i);
    Execute(stmt.body);
  }
}

int64_t Executor::RingOf(const Stmt& stmt) {
  const int64_t ring = stmt.ring ? evaluator_.Integer(*stmt.ring) : 0;
  const typed::Pipe& pipe = section_->pipes[static_cast<size_t>(stmt.pipe)];
  Ensure(ring >= 0 && ring < pipe.rings, "a ring that the pipe does not have", stmt.span);
  return ring;
}

void Executor::Receive(const Stmt& stmt) {
  if (traffic_ == nullptr) InternalError("a receive outside a worker", stmt.span);
  std::vector<Value> fields;
  traffic_->Receive(stmt, RingOf(stmt), fields);
  if (faults_.failed()) return;
  for (size_t i = 0; i < stmt.received.size(); ++i) {
    if (stmt.received[i] == typed::kNone) continue;
    Var(stmt.received[i]) = fields[i];
    Var(stmt.received[i]).set_terms(launch_.terms.sent[static_cast<size_t>(stmt.pipe)]);
  }
}

void Executor::Send(const Stmt& stmt) {
  if (traffic_ == nullptr) InternalError("a send outside a worker", stmt.span);
  const typed::Pipe& pipe = section_->pipes[static_cast<size_t>(stmt.pipe)];
  const int64_t row = stmt.row ? evaluator_.Integer(*stmt.row) : 0;
  const int64_t col = stmt.col ? evaluator_.Integer(*stmt.col) : 0;
  const bool is_part = stmt.row || stmt.col;
  std::vector<RingPart> parts;
  for (size_t i = 0; i < stmt.values.size(); ++i) {
    const size_t field_index = stmt.field == typed::kNone ? i : static_cast<size_t>(stmt.field);
    const typed::PipeField& field = pipe.fields[field_index];
    const Value value = evaluator_.Evaluate(*stmt.values[i]);
    double& sent = launch_.terms.sent[static_cast<size_t>(stmt.pipe)];
    sent = std::max(sent, TermsOf(*stmt.values[i]));
    // A part keeps its own shape; a whole field may be sent a value that broadcasts. Either is rounded to the field's type.
    const Type type =
        is_part ? Type::Tile(field.dtype, value.type().rows, value.type().cols) : Type::Tile(field.dtype, field.rows, field.cols);
    parts.push_back({field_index, row, col, value.BroadcastTo(type)});
  }
  if (!faults_.failed()) traffic_->Send(stmt, RingOf(stmt), parts);
}

void Executor::Store(const Stmt& stmt) {
  const auto id = static_cast<size_t>(stmt.tensor);
  Tensor& tensor = *launch_.tensors[id];
  const Value value = evaluator_.Evaluate(*stmt.expr);
  const std::vector<AxisBounds> axes = evaluator_.Bounds(tensor, stmt.axes);
  if (faults_.failed()) return;
  const typed::Param& param = launch_.kernel->params[id];
  if (launch_.measures != nullptr && IsFloat(param.dtype)) {
    std::vector<int64_t> starts;
    for (const AxisBounds& axis : axes) starts.push_back(axis.start);
    launch_.terms.Store(stmt, starts, TermsOf(*stmt.expr));
    if (stmt.store_op == typed::StoreOp::kAdd && LowestBit(value) < 0) launch_.measures->is_exact = false;
  }
  std::vector<bool>* written = nullptr;
  if (param.mode == typed::TensorMode::kOut && param.kind == typed::ParamKind::kTensor && stmt.store_op == typed::StoreOp::kSet) {
    written = &launch_.written[id];
    if (written->empty()) written->resize(tensor.bytes.size() / static_cast<size_t>(Bytes(tensor.dtype)));
  }
  if (!WriteBlock(tensor, axes, value, stmt.store_op, written)) {
    faults_.Report(DiagnosticKind::kWrittenTwice, stmt.span,
                   fmt::format("an element of `{}` is stored a second time in one grid", param.name));
  }
}

}  // namespace tkc::interp

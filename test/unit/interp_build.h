// SPDX-License-Identifier: MIT
// Builds typed trees by hand for the tests of the interpreter: short functions for nodes, and a kernel in the making.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/interp/interpret.h"
#include "compiler/sema/typed.h"

namespace tkc::build {

using namespace typed;  // a test header: the tree is all it is about

inline ExprPtr Node(ExprKind kind, Type type) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->type = type;
  return expr;
}

template <typename... Args>
ExprPtr NodeOf(ExprKind kind, Op op, Type type, Args... args) {
  ExprPtr expr = Node(kind, type);
  expr->op = op;
  (expr->args.push_back(std::move(args)), ...);
  return expr;
}

inline ExprPtr Int(int64_t value, DType dtype = DType::kI64) {
  ExprPtr expr = Node(ExprKind::kInt, Type::Scalar(dtype));
  expr->int_value = value;
  return expr;
}

inline ExprPtr Float(double value, DType dtype = DType::kF32) {
  ExprPtr expr = Node(ExprKind::kFloat, Type::Scalar(dtype));
  expr->float_value = value;
  return expr;
}

inline ExprPtr Bool(bool value) {
  ExprPtr expr = Node(ExprKind::kBool, Type::Scalar(DType::kBool));
  expr->int_value = value ? 1 : 0;
  return expr;
}

inline ExprPtr Ref(ExprKind kind, int id, Type type) {
  ExprPtr expr = Node(kind, type);
  expr->id = id;
  return expr;
}

inline ExprPtr DimOf(DimId id) { return Ref(ExprKind::kDim, id, Type::Scalar(DType::kI64)); }
inline ExprPtr VarOf(VarId id, Type type = Type::Scalar(DType::kI64)) { return Ref(ExprKind::kVar, id, type); }
inline ExprPtr ParamOf(ParamId id, DType dtype) { return Ref(ExprKind::kParam, id, Type::Scalar(dtype)); }

inline ExprPtr Binary(Op op, ExprPtr x, ExprPtr y, Type type) {
  return NodeOf(ExprKind::kBinary, op, type, std::move(x), std::move(y));
}
/// Integer arithmetic, or a comparison of scalars.
inline ExprPtr IntBinary(Op op, ExprPtr x, ExprPtr y) { return Binary(op, std::move(x), std::move(y), Type::Scalar(DType::kI64)); }
inline ExprPtr Compare(Op op, ExprPtr x, ExprPtr y) { return Binary(op, std::move(x), std::move(y), Type::Scalar(DType::kBool)); }
inline ExprPtr Splat(ExprPtr x, Type type) { return NodeOf(ExprKind::kSplat, Op::kNone, type, std::move(x)); }
inline ExprPtr Convert(ExprPtr x, DType dtype) {
  Type type = x->type;
  type.dtype = dtype;
  return NodeOf(ExprKind::kConvert, Op::kNone, type, std::move(x));
}
inline ExprPtr Product(ExprPtr a, ExprPtr b) {
  const Type type = Type::Tile(DType::kF32, a->type.rows, b->type.cols);
  return NodeOf(ExprKind::kMatMul, Op::kNone, type, std::move(a), std::move(b));
}
inline ExprPtr PartOf(ExprPtr x, ExprPtr row, ExprPtr col, int64_t rows, int64_t cols) {
  const Type type = Type::Tile(x->type.dtype, rows, cols);
  return NodeOf(ExprKind::kPart, Op::kNone, type, std::move(x), std::move(row), std::move(col));
}

inline AxisRange Range(ExprPtr start, int64_t extent) {
  AxisRange range;
  range.start = std::move(start);
  range.extent = extent;
  return range;
}
inline AxisRange Clipped(ExprPtr start, int64_t extent, ExprPtr lo, ExprPtr hi) {
  AxisRange range = Range(std::move(start), extent);
  range.lo = std::move(lo);
  range.hi = std::move(hi);
  return range;
}
inline AxisRange At(ExprPtr index) {
  AxisRange range = Range(std::move(index), 1);
  range.dropped = true;
  return range;
}
template <typename... Axes>
std::vector<AxisRange> AxesOf(Axes... axes) {
  std::vector<AxisRange> list;
  (list.push_back(std::move(axes)), ...);
  return list;
}
inline ExprPtr Read(ParamId tensor, Type type, std::vector<AxisRange> axes, ExprPtr fill = nullptr) {
  ExprPtr expr = Ref(type.is_tile ? ExprKind::kRead : ExprKind::kElement, tensor, type);
  expr->axes = std::move(axes);
  if (fill) expr->args.push_back(std::move(fill));
  return expr;
}

inline StmtPtr MakeStmt(StmtKind kind) {
  auto stmt = std::make_unique<Stmt>();
  stmt->kind = kind;
  return stmt;
}
inline StmtPtr Let(VarId var, ExprPtr expr) {
  StmtPtr stmt = MakeStmt(StmtKind::kLet);
  stmt->var = var;
  stmt->expr = std::move(expr);
  return stmt;
}
inline StmtPtr Assign(VarId var, ExprPtr expr) {
  StmtPtr stmt = Let(var, std::move(expr));
  stmt->kind = StmtKind::kAssign;
  return stmt;
}
inline StmtPtr Store(ParamId tensor, std::vector<AxisRange> axes, ExprPtr value, StoreOp op = StoreOp::kSet) {
  StmtPtr stmt = MakeStmt(StmtKind::kStore);
  stmt->tensor = tensor;
  stmt->axes = std::move(axes);
  stmt->expr = std::move(value);
  stmt->store_op = op;
  return stmt;
}
template <typename... Stmts>
Block BlockOf(Stmts... stmts) {
  Block block;
  (block.push_back(std::move(stmts)), ...);
  return block;
}
inline StmtPtr For(VarId var, ExprPtr lo, ExprPtr hi, int64_t step, Block body) {
  StmtPtr stmt = MakeStmt(StmtKind::kFor);
  stmt->var = var;
  stmt->lo = std::move(lo);
  stmt->hi = std::move(hi);
  stmt->step = step;
  stmt->body = std::move(body);
  return stmt;
}
inline StmtPtr If(ExprPtr condition, Block body, Block orelse = {}) {
  StmtPtr stmt = MakeStmt(StmtKind::kIf);
  stmt->expr = std::move(condition);
  stmt->body = std::move(body);
  stmt->orelse = std::move(orelse);
  return stmt;
}
template <typename... Values>
StmtPtr Send(PipeId pipe, Values... values) {
  StmtPtr stmt = MakeStmt(StmtKind::kSend);
  stmt->pipe = pipe;
  (stmt->values.push_back(std::move(values)), ...);
  return stmt;
}
inline StmtPtr SendRows(PipeId pipe, int field, ExprPtr row, ExprPtr value) {
  StmtPtr stmt = Send(pipe, std::move(value));
  stmt->field = field;
  stmt->row = std::move(row);
  stmt->col = Int(0);
  return stmt;
}
inline StmtPtr Receive(PipeId pipe, std::vector<VarId> vars) {
  StmtPtr stmt = MakeStmt(StmtKind::kReceive);
  stmt->pipe = pipe;
  stmt->received = std::move(vars);
  return stmt;
}

/// A kernel in the making; every function returns the id of what it adds.
struct KernelBuilder {
  Kernel kernel;

  KernelBuilder() { kernel.name = "k"; }

  DimId AddDim(std::string name) {
    kernel.dims.push_back({std::move(name), {}});
    return static_cast<DimId>(kernel.dims.size()) - 1;
  }
  VarId AddVar(std::string name, Type type = Type::Scalar(DType::kI64), VarKind kind = VarKind::kLet) {
    kernel.vars.push_back({std::move(name), type, kind, Level::kGrid, {}});
    return static_cast<VarId>(kernel.vars.size()) - 1;
  }
  ParamId AddTensor(std::string name, DType dtype, std::vector<DimId> dims, TensorMode mode = TensorMode::kIn) {
    Param param;
    param.name = std::move(name);
    param.dtype = dtype;
    param.mode = mode;
    for (DimId dim : dims) param.extents.push_back(DimOf(dim));
    kernel.params.push_back(std::move(param));
    return static_cast<ParamId>(kernel.params.size()) - 1;
  }
  ParamId AddScalar(std::string name, DType dtype) {
    Param param;
    param.name = std::move(name);
    param.kind = ParamKind::kScalar;
    param.dtype = dtype;
    kernel.params.push_back(std::move(param));
    return static_cast<ParamId>(kernel.params.size()) - 1;
  }
  Section& AddSection() { return kernel.sections.emplace_back(); }
};

inline void AddAxis(Section& section, VarId var, ExprPtr lo, ExprPtr hi, int64_t step) {
  section.axes.push_back({var, std::move(lo), std::move(hi), step, step != 1, {}});
}
inline PipeId AddPipe(Section& section, std::string name, std::vector<PipeField> fields, int64_t slots = 0) {
  Pipe pipe;
  pipe.name = std::move(name);
  pipe.fields = std::move(fields);
  pipe.slots = slots;
  section.pipes.push_back(std::move(pipe));
  return static_cast<PipeId>(section.pipes.size()) - 1;
}
inline Worker& AddWorker(Section& section, std::string name, Block body, int64_t instances = 1, VarId instance_var = kNone) {
  Worker& worker = section.workers.emplace_back();
  worker.name = std::move(name);
  worker.instances = instances;
  worker.instance_var = instance_var;
  worker.body = std::move(body);
  return worker;
}

inline interp::Tensor TensorOf(DType dtype, std::vector<int64_t> extents, const std::vector<double>& values) {
  interp::Tensor tensor = interp::Tensor::Dense(dtype, std::move(extents));
  tensor.FromReals(values);
  return tensor;
}

}  // namespace tkc::build

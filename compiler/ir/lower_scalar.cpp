// SPDX-License-Identifier: MIT
// Typed scalar expressions to symbolic trees. Every worker recomputes the scalars it uses, so they stay expressions.
#include "compiler/ir/lower_worker.h"
#include "compiler/sema/symbolic_table.h"
#include "compiler/support/internal_error.h"

namespace tkc::ir {
namespace {

symbolic::Kind ScalarKind(typed::Op op, Span span) {
  const symbolic::Kind kind = sema::SymbolicKind(op);
  Ensure(kind != symbolic::Kind::kCall, "not a scalar operator", span);
  return kind;
}

/// The runtime's scalar function of the same name.
const char* FunctionName(typed::Op op) {
  using typed::Op;
  switch (op) {
    case Op::kAbs: return "abs";
    case Op::kExp: return "exp";
    case Op::kExp2: return "exp2";
    case Op::kLog: return "log";
    case Op::kLog2: return "log2";
    case Op::kSqrt: return "sqrt";
    case Op::kRsqrt: return "rsqrt";
    case Op::kTanh: return "tanh";
    case Op::kErf: return "erf";
    case Op::kSigmoid: return "sigmoid";
    case Op::kFloor: return "floor";
    case Op::kCeil: return "ceil";
    case Op::kPow: return "pow";
    case Op::kSin: return "sin";
    case Op::kCos: return "cos";
    default: return nullptr;
  }
}

}  // namespace

Scalar WorkerLowering::LowerScalar(const typed::Expr& expr) {
  using typed::ExprKind;
  const auto args = [&] {
    std::vector<Scalar> lowered;
    for (const typed::ExprPtr& arg : expr.args) lowered.push_back(LowerScalar(*arg));
    return lowered;
  };
  const DType dtype = expr.type.dtype;
  switch (expr.kind) {
    case ExprKind::kInt:
      return dtype == DType::kI64 ? symbolic::Int(expr.int_value) : symbolic::Convert(symbolic::Int(expr.int_value), dtype);
    case ExprKind::kFloat: return symbolic::Float(expr.float_value, dtype);
    case ExprKind::kBool: return symbolic::Bool(expr.int_value != 0);
    case ExprKind::kDim: return symbolic::Name(source_.dims[expr.id].name);
    case ExprKind::kParam: return symbolic::Name(source_.params[expr.id].name, dtype);
    case ExprKind::kVar: return symbolic::Name(ScalarName(expr.id), dtype);
    case ExprKind::kElement: {
      std::vector<Scalar> indices;
      for (const typed::AxisRange& axis : expr.axes) indices.push_back(LowerScalar(*axis.start));
      return symbolic::Element(source_.params[expr.id].name, dtype, std::move(indices));
    }
    case ExprKind::kUnary:
    case ExprKind::kBinary: return symbolic::Make(ScalarKind(expr.op, expr.span), dtype, args());
    case ExprKind::kSelect: return symbolic::Make(symbolic::Kind::kSelect, dtype, args());
    case ExprKind::kConvert: return symbolic::Convert(LowerScalar(*expr.args[0]), dtype);
    case ExprKind::kCall:
      if (const char* name = FunctionName(expr.op)) return symbolic::Call(name, dtype, args());
      return symbolic::Make(ScalarKind(expr.op, expr.span), dtype, args());
    default:
      // A scalar made of tile elements: only the worker that computed it knows it.
      diagnostics_
          .Error(DiagnosticKind::kNotImplemented, expr.span,
                 "a condition on the values of a tile is specified, not yet implemented")
          .Help("select between tiles with `where(condition, a, b)`");
      return symbolic::Bool(false);
  }
}

}  // namespace tkc::ir

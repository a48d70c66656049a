// SPDX-License-Identifier: MIT
// Typed scalar expressions to symbolic trees. Every worker recomputes the scalars it uses, so they stay expressions.
#include "compiler/ir/lower_worker.h"
#include "compiler/ir/op_words.h"
#include "compiler/sema/symbolic_table.h"
#include "compiler/support/internal_error.h"

namespace tkc::ir {
namespace {

symbolic::Kind ScalarKind(typed::Op op, Span span) {
  const symbolic::Kind kind = sema::SymbolicKind(op);
  Ensure(kind != symbolic::Kind::kCall, "not a scalar operator", span);
  return kind;
}

/// Whether the runtime has a scalar function of the same name.
bool IsRuntimeFunction(typed::Op op) { return op >= typed::Op::kAbs && op <= typed::Op::kCos; }

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
      if (IsRuntimeFunction(expr.op)) return symbolic::Call(std::string(OpWord(expr.op)), dtype, args());
      return symbolic::Make(ScalarKind(expr.op, expr.span), dtype, args());
    case ExprKind::kReduce: return LowerTest(expr);
    default: InternalError("not a scalar expression", expr.span);
  }
}

/// Along rows, then along columns, as the largest or the least of numbers that are 1 where the element holds and 0 where not.
Scalar WorkerLowering::LowerTest(const typed::Expr& expr) {
  if (!into_) InternalError("a test of a tile outside of a worker", expr.span);
  const typed::Expr& tile = *expr.args[0]->args[0];
  const bool is_any = expr.op == typed::Op::kAny;
  typed::Type type = typed::Type::Tile(DType::kI32, tile.type.rows, tile.type.cols);
  const ValueId mask = LowerTile(tile, *into_);
  ValueId value = Emit(*into_, {OpCode::kConvert, {}, {mask}}, type, "truth", expr.span);
  const auto reduce = [&](bool of_rows, int64_t& extent) {
    if (extent == 1) return;
    extent = 1;
    Op op{OpCode::kReduce, {}, {value}};
    op.Set(is_any ? typed::Op::kMax : typed::Op::kMin);
    op.SetOfRows(of_rows);
    value = Emit(*into_, std::move(op), type, is_any ? "maximum" : "minimum", expr.span);
  };
  reduce(/*of_rows=*/true, type.cols);
  reduce(/*of_rows=*/false, type.rows);
  Op test{OpCode::kTest, {}, {value}};
  test.symbol = UniqueScalar(std::string(OpWord(expr.op)));
  test.span = expr.span;
  into_->push_back(test);
  return symbolic::Name(test.symbol, DType::kBool);
}

}  // namespace tkc::ir

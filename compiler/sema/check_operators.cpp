// SPDX-License-Identifier: MIT
// Operators: of one operand and of two, shifted block indices, products of tiles.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/support/scoped.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;
using typed::Type;

namespace {

Op BinaryOpOf(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::kAdd: return Op::kAdd;
    case ast::BinaryOp::kSubtract: return Op::kSub;
    case ast::BinaryOp::kMultiply: return Op::kMul;
    case ast::BinaryOp::kDivide: return Op::kDiv;
    case ast::BinaryOp::kModulo: return Op::kMod;
    case ast::BinaryOp::kEqual: return Op::kEq;
    case ast::BinaryOp::kNotEqual: return Op::kNe;
    case ast::BinaryOp::kLess: return Op::kLt;
    case ast::BinaryOp::kLessEqual: return Op::kLe;
    case ast::BinaryOp::kGreater: return Op::kGt;
    case ast::BinaryOp::kGreaterEqual: return Op::kGe;
    case ast::BinaryOp::kAnd: return Op::kAnd;
    case ast::BinaryOp::kOr: return Op::kOr;
    case ast::BinaryOp::kMatMul: return Op::kNone;
  }
  return Op::kNone;
}

/// How many parts an index of parts still tells apart behind a division: of six, `w / 2` tells three and `w % 2` two. 0: it is
/// none.
int64_t PartsBehind(Op op, const Value& index, const Value& by) {
  const std::optional<int64_t> number = index.count > 0 && by.IsScalar() ? NumberOf(*by.expr) : std::nullopt;
  if (!number || *number <= 0 || index.count % *number != 0) return 0;
  return op == Op::kDiv ? index.count / *number : op == Op::kMod ? *number : 0;
}

}  // namespace

Value Elaborator::EvalUnary(const ast::UnaryExpr& expr) {
  Value x = Eval(*expr.operand);
  if (x.IsError()) return x;
  const bool is_not = expr.op == ast::UnaryOp::kNot;
  if (x.kind != Value::Kind::kExpr || (x.expr->type.dtype == DType::kBool) != is_not) {
    diagnostics_
        .Error(DiagnosticKind::kTypeMismatch, expr.span,
               fmt::format("`{}` takes a {}", Spelling(expr.op), is_not ? "`bool`" : "number"))
        .Label(expr.operand->span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  const DType wide = WidenedType(x.expr->type.dtype);
  if (!is_not) x.expr = MakeConvert(std::move(x.expr), wide);
  const Type type = x.expr->type;
  return ExprValue(MakeFolded(ExprKind::kUnary, is_not ? Op::kNot : Op::kNeg, type, Args(std::move(x.expr)), expr.span), expr.span);
}

Value Elaborator::EvalBinary(const ast::BinaryExpr& expr) {
  Value a = Eval(*expr.left);
  const bool is_logic = expr.op == ast::BinaryOp::kAnd || expr.op == ast::BinaryOp::kOr;
  const Scoped<const char*> may_be_skipped(no_receive_, is_logic ? "behind `and` or `or`" : no_receive_);
  Value b = Eval(*expr.right);
  if (a.IsError() || b.IsError()) return Error();
  const bool sums = expr.op == ast::BinaryOp::kAdd || expr.op == ast::BinaryOp::kSubtract;
  if (sums && a.kind == Value::Kind::kBlock && b.kind != Value::Kind::kBlock) {
    return ShiftBlock(*a.block, std::move(b), expr.op == ast::BinaryOp::kSubtract, expr.span);
  }
  if (expr.op == ast::BinaryOp::kAdd && b.kind == Value::Kind::kBlock && a.kind != Value::Kind::kBlock) {
    return ShiftBlock(*b.block, std::move(a), false, expr.span);
  }
  if (expr.op == ast::BinaryOp::kMatMul) return MatMul(expr, std::move(a), std::move(b));
  if (is_logic) return Logic(BinaryOpOf(expr.op), Spelling(expr.op), std::move(a), std::move(b), expr.span);
  return Arithmetic(BinaryOpOf(expr.op), Spelling(expr.op), std::move(a), std::move(b), expr.span, expr.op_span);
}

Value Elaborator::ShiftBlock(const BlockIndex& block, Value offset, bool negate, Span span) {
  ExprPtr count = IntegerScalar(std::move(offset), "the shift of a block index");
  if (!count) return Error();
  auto shifted = std::make_shared<BlockIndex>();
  ExprPtr elements = MakeInteger(Op::kMul, std::move(count), MakeInt(block.step, span), span);
  shifted->start = MakeInteger(negate ? Op::kSub : Op::kAdd, Clone(*block.start), std::move(elements), span);
  shifted->lo = Clone(*block.lo);
  shifted->hi = Clone(block.range_hi ? *block.range_hi : *block.hi);
  shifted->step = block.step;
  shifted->shifted = true;
  Value value;
  value.kind = Value::Kind::kBlock;
  value.block = std::move(shifted);
  return value;
}

Value Elaborator::Arithmetic(Op op, std::string_view spelling, Value a, Value b, Span span, Span op_span) {
  const bool compares = op >= Op::kEq && op <= Op::kGe;
  for (const Value* v : {&a, &b}) {
    if (v->kind == Value::Kind::kExpr && (v->expr->type.dtype != DType::kBool || op == Op::kEq || op == Op::kNe)) continue;
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMismatch, op_span, fmt::format("`{}` takes numbers", spelling));
    report.Label(v->span, fmt::format("is {}", Describe(*v)));
    if (v->kind == Value::Kind::kBlock && op == Op::kMul)
      report.Help("accesses take the block as it is, `X[k]`; its number is `.number`, its first element `.start`");
    else if (v->kind == Value::Kind::kBlock)
      report.Help("its first element is `.start`, the column of its elements `pos(..)`");
    if (v->kind == Value::Kind::kExpr) report.Help("choose by it: `where(c, a, b)`");
    return Error();
  }
  if (!Unify(a, b, true, spelling, op_span)) return Error();
  std::optional<Type> type = Broadcast(a, b, spelling, op_span);
  if (!type) return Error();
  type->dtype = compares ? DType::kBool : a.expr->type.dtype;
  const bool divides = op == Op::kDiv || op == Op::kMod;
  if (divides && !IsFloat(b.expr->type.dtype) && NumberOf(*b.expr) == 0) {
    diagnostics_.Error(DiagnosticKind::kDivisionByZero, op_span, fmt::format("`{}` by zero", spelling)).Label(b.span, "is 0");
    return Error();
  }
  if (op == Op::kMod && IsFloat(a.expr->type.dtype)) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, op_span, "`%` takes integers")
        .Label(a.span, fmt::format("is {}", Describe(a)));
    return Error();
  }
  const int64_t parts = PartsBehind(op, a, b);
  if (parts > 0 && parts == a.count) return a;  // `w / 1`, and `w % 2` of two
  if (parts == 1) {
    Value only = ExprValue(MakeInt(0, span), span);
    only.count = 1;
    return only;
  }
  const bool are_integers = *type == Type::Scalar(DType::kI64) && NumberOf(*a.expr) && NumberOf(*b.expr);
  const bool is_rounded =
      are_integers && (a.is_rounded || b.is_rounded || (op == Op::kDiv && *NumberOf(*a.expr) % *NumberOf(*b.expr) != 0));
  ExprPtr result = MakeFolded(ExprKind::kBinary, op, *type, Args(std::move(a.expr), std::move(b.expr)), span);
  if (are_integers && !NumberOf(*result)) {
    diagnostics_.Error(DiagnosticKind::kMalformedNumber, span, fmt::format("the result of `{}` does not fit 64 bits", spelling))
        .Label(result->args[0]->span, fmt::format("is {}", *NumberOf(*result->args[0])))
        .Label(result->args[1]->span, fmt::format("is {}", *NumberOf(*result->args[1])));
    return Error();
  }
  Value value = ExprValue(std::move(result), span);
  value.count = parts;
  if (op == Op::kDiv && *type == Type::Scalar(DType::kI64)) value.divisor = b.span;
  value.is_rounded = is_rounded;
  return value;
}

Value Elaborator::Logic(Op op, std::string_view spelling, Value a, Value b, Span span) {
  for (const Value* v : {&a, &b}) {
    if (v->kind == Value::Kind::kExpr && v->expr->type.dtype == DType::kBool) continue;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, v->span, fmt::format("`{}` takes `bool`s", spelling))
        .Label(v->span, fmt::format("is {}", Describe(*v)));
    return Error();
  }
  std::optional<Type> type = Broadcast(a, b, spelling, span);
  if (!type) return Error();
  // `false or mask` on tiles: a known scalar decides or drops out.
  if (type->is_tile) {
    for (Value* v : {&a, &b}) {
      const std::optional<int64_t> known = v->expr->type.is_tile ? std::nullopt : NumberOf(*v->expr);
      if (known && (*known != 0) == (op == Op::kAnd)) return std::move(v == &a ? b : a);
    }
  }
  return ExprValue(MakeFolded(ExprKind::kBinary, op, *type, Args(std::move(a.expr), std::move(b.expr)), span), span);
}

Value Elaborator::MatMul(const ast::BinaryExpr& expr, Value a, Value b) {
  for (const Value* v : {&a, &b}) {
    if (v->IsTile()) continue;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.op_span, "`@` takes two tiles")
        .Label(v->span, fmt::format("is {}", Describe(*v)));
    return Error();
  }
  const Type& x = a.expr->type;
  const Type& y = b.expr->type;
  if (x.cols != y.rows) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kShapeMismatch, expr.op_span,
                           fmt::format("`@` sums over {} columns on the left and {} rows on the right", x.cols, y.rows));
    report.Label(a.span, fmt::format("`{}`", TypeText(x))).Label(b.span, fmt::format("`{}`", TypeText(y)));
    if (SuggestBlocks(*a.expr, report) || SuggestBlocks(*b.expr, report)) return Error();
    // Where both fit, either may be meant, unless it is said what the product is to be.
    const auto is_wanted = [&](int64_t rows, int64_t cols) {
      return assigned_ != &expr || (assigned_type_->rows == rows && assigned_type_->cols == cols);
    };
    const auto *left = ast::DynCast<ast::NameExpr>(*expr.left), *right = ast::DynCast<ast::NameExpr>(*expr.right);
    const bool exchanges = y.cols == x.rows && left != nullptr && right != nullptr && is_wanted(y.rows, x.cols);
    const std::string other = exchanges ? fmt::format("`{} @ {}`", right->name, left->name) : "";
    const std::string or_other = exchanges ? ", or exchange them: " + other : "";
    if (x.cols == y.cols && is_wanted(x.rows, y.rows))
      report.Help("transpose the right operand: `.T`" + or_other, Edit{{b.span.file, b.span.end, b.span.end}, ".T"});
    else if (x.rows == y.rows && is_wanted(x.cols, y.cols))
      report.Help("transpose the left operand: `.T`" + or_other, Edit{{a.span.file, a.span.end, a.span.end}, ".T"});
    else if (exchanges)
      report.Help("exchange them: " + other, {{a.span, right->name}, {b.span, left->name}});
    return Error();
  }
  const auto is_half = [](DType dtype) { return dtype == DType::kBF16 || dtype == DType::kF16; };
  if (!is_half(x.dtype) || !is_half(y.dtype)) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kMatMulType, expr.op_span,
                           fmt::format("`{} @ {}`: the tensor unit multiplies 16-bit floats", Name(x.dtype), Name(y.dtype)));
    report.Label(a.span, fmt::format("`{}`", TypeText(x))).Label(b.span, fmt::format("`{}`", TypeText(y)));
    const DType wanted = is_half(x.dtype) ? x.dtype : is_half(y.dtype) ? y.dtype : DType::kBF16;
    std::vector<Edit> edits;
    for (const Value* v : {&a, &b}) {
      if (is_half(v->expr->type.dtype)) continue;
      edits.push_back({{v->span.file, v->span.begin, v->span.begin}, fmt::format("{}(", Name(wanted))});
      edits.push_back({{v->span.file, v->span.end, v->span.end}, ")"});
    }
    report.Help(fmt::format("round by name: `{}(..)`{}", Name(wanted),
                            y.cols == 1 ? "; a product by one column in f32 is `rowsum(a * b.T)`" : ""),
                std::move(edits));
    return Error();
  }
  if (x.dtype != y.dtype) {
    diagnostics_
        .Error(DiagnosticKind::kTypeMixing, expr.op_span, fmt::format("`@` mixes `{}` and `{}`", Name(x.dtype), Name(y.dtype)))
        .Label(a.span, fmt::format("`{}`", TypeText(x)))
        .Label(b.span, fmt::format("`{}`", TypeText(y)))
        .Help(fmt::format("convert one of them: `{}(..)`", Name(x.dtype)));
    return Error();
  }
  const Type type = Type::Tile(DType::kF32, x.rows, y.cols);
  return ExprValue(MakeNode(ExprKind::kMatMul, Op::kNone, type, Args(std::move(a.expr), std::move(b.expr)), expr.span), expr.span);
}

}  // namespace tkc::sema

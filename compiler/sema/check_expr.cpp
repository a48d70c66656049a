// SPDX-License-Identifier: MIT
// Expressions: names, operators, fields, parts, receives. Calls and accesses have files of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/habits.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::Type;

namespace {

/// Functions inlined into functions deepen a tree that the parser has bounded; recursion here must stay bounded too.
constexpr int kMaxDepth = 1400;

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

std::optional<double> NamedNumber(const std::string& name) {
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "pi") return 3.14159265358979323846;
  if (name == "log2e") return 1.44269504088896340736;
  if (name == "tiny") return static_cast<double>(FLT_MIN);
  return std::nullopt;
}

class DepthGuard {
 public:
  explicit DepthGuard(int& depth) : depth_(++depth) {}
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  int& depth_;
};

}  // namespace

std::string Elaborator::Describe(const Value& value) const {
  switch (value.kind) {
    case Value::Kind::kError: return "nothing";
    case Value::Kind::kExpr: return fmt::format("`{}`", TypeText(value.expr->type));
    case Value::Kind::kTuple: return fmt::format("a tuple of {} values", value.elements.size());
    case Value::Kind::kBlock: return "a block index";
  }
  return "";
}

bool Elaborator::EvalAll(const std::vector<ast::ExprPtr>& exprs, std::vector<Value>& values) {
  for (const ast::ExprPtr& expr : exprs) values.push_back(Eval(*expr));
  return std::none_of(values.begin(), values.end(), [](const Value& value) { return value.IsError(); });
}

Value Elaborator::Eval(const ast::Expr& expr) {
  DepthGuard guard(depth_);
  if (depth_ > kMaxDepth) {
    diagnostics_.Error(DiagnosticKind::kNestingTooDeep, expr.span,
                       "functions inlined into functions make this expression too deep");
    return Error();
  }
  Value value = EvalChecked(expr);
  value.span = expr.span;
  return value;
}

Value Elaborator::EvalChecked(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::kInt:
      return ExprValue(MakeInt(static_cast<int64_t>(ast::Cast<ast::IntExpr>(expr).value), expr.span), expr.span);
    case ast::ExprKind::kFloat: return ExprValue(MakeFloat(ast::Cast<ast::FloatExpr>(expr).value, expr.span), expr.span);
    case ast::ExprKind::kBool: return ExprValue(MakeBool(ast::Cast<ast::BoolExpr>(expr).value, expr.span), expr.span);
    case ast::ExprKind::kName: return EvalName(ast::Cast<ast::NameExpr>(expr));
    case ast::ExprKind::kUnary: return EvalUnary(ast::Cast<ast::UnaryExpr>(expr));
    case ast::ExprKind::kBinary: return EvalBinary(ast::Cast<ast::BinaryExpr>(expr));
    case ast::ExprKind::kCall: return EvalCall(ast::Cast<ast::CallExpr>(expr));
    case ast::ExprKind::kMethod: return EvalMethod(ast::Cast<ast::MethodExpr>(expr));
    case ast::ExprKind::kField: return EvalField(ast::Cast<ast::FieldExpr>(expr));
    case ast::ExprKind::kIndex: return EvalIndex(ast::Cast<ast::IndexExpr>(expr));
    case ast::ExprKind::kIf: return EvalIf(ast::Cast<ast::IfExpr>(expr));
    case ast::ExprKind::kReceive: return EvalReceive(ast::Cast<ast::ReceiveExpr>(expr), nullptr);
    case ast::ExprKind::kTuple: {
      std::vector<Value> elements;
      const bool is_right = EvalAll(ast::Cast<ast::TupleExpr>(expr).elements, elements);
      return is_right ? TupleValue(std::move(elements), expr.span) : Error();
    }
  }
  return Error();
}

Value Elaborator::EvalName(const ast::NameExpr& expr) {
  const Symbol* symbol = scope_->Find(expr.name);
  if (symbol == nullptr) {
    if (const auto number = NamedNumber(expr.name)) return ExprValue(MakeFloat(*number, expr.span), expr.span);
    UnknownName(expr.name, expr.span);
    return Error();
  }
  switch (symbol->kind) {
    case SymbolKind::kTensor:
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span, fmt::format("tensor `{}` is used without an index", expr.name))
          .Help("name the elements: a block index, `:` or an element for each axis");
      return Error();
    case SymbolKind::kPipe:
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span, fmt::format("`{}` is a pipe, not a value", expr.name))
          .Help(fmt::format("receive from it: `<-{}`", expr.name));
      return Error();
    case SymbolKind::kValue: break;
  }
  Value value = symbol->value.Clone();
  if (value.kind == Value::Kind::kExpr) value.expr->span = expr.span;
  return value;
}

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
  if (!is_not && IsNarrowFloat(x.expr->type.dtype)) x.expr = MakeConvert(std::move(x.expr), DType::kF32);
  const Type type = x.expr->type;
  return ExprValue(MakeFolded(ExprKind::kUnary, is_not ? Op::kNot : Op::kNeg, type, Args(std::move(x.expr)), expr.span), expr.span);
}

Value Elaborator::EvalBinary(const ast::BinaryExpr& expr) {
  Value a = Eval(*expr.left);
  const bool is_logic = expr.op == ast::BinaryOp::kAnd || expr.op == ast::BinaryOp::kOr;
  const char* outer = no_receive_;
  if (is_logic) no_receive_ = "behind `and` or `or`";
  Value b = Eval(*expr.right);
  no_receive_ = outer;
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
  ExprPtr result = MakeFolded(ExprKind::kBinary, op, *type, Args(std::move(a.expr), std::move(b.expr)), span);
  if (are_integers && !NumberOf(*result)) {
    diagnostics_.Error(DiagnosticKind::kMalformedNumber, span, fmt::format("the result of `{}` does not fit 64 bits", spelling))
        .Label(result->args[0]->span, fmt::format("is {}", *NumberOf(*result->args[0])))
        .Label(result->args[1]->span, fmt::format("is {}", *NumberOf(*result->args[1])));
    return Error();
  }
  Value value = ExprValue(std::move(result), span);
  value.count = parts;
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
    // Where both fit, either may be meant.
    const auto *left = ast::DynCast<ast::NameExpr>(*expr.left), *right = ast::DynCast<ast::NameExpr>(*expr.right);
    const bool exchanges = y.cols == x.rows && left != nullptr && right != nullptr;
    const std::string other = exchanges ? fmt::format("`{} @ {}`", right->name, left->name) : "";
    const std::string or_other = exchanges ? ", or exchange them: " + other : "";
    if (x.cols == y.cols)
      report.Help("transpose the right operand: `.T`" + or_other, Edit{{b.span.file, b.span.end, b.span.end}, ".T"});
    else if (x.rows == y.rows)
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
    report.Help(fmt::format("round by name: `{}(..)`; a small product in f32 is `rowsum(a * b.T)`", Name(wanted)),
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

Value Elaborator::EvalIf(const ast::IfExpr& expr) {
  Value condition = Eval(*expr.condition);
  if (condition.IsError()) return condition;
  if (!condition.IsScalar() || condition.expr->type.dtype != DType::kBool) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.condition->span, "the condition of `if` is one `bool`");
    report.Label(expr.condition->span, fmt::format("is {}", Describe(condition)));
    if (condition.IsTile()) report.Help("choose by element with `where(c, a, b)`");
    return Error();
  }
  if (const auto known = NumberOf(*condition.expr)) return EvalBranch(*known != 0 ? expr.then_branch : expr.else_branch);
  const char* outer = no_receive_;
  no_receive_ = "in a branch of an `if` expression";
  Value a = EvalBranch(expr.then_branch);
  Value b = EvalBranch(expr.else_branch);
  no_receive_ = outer;
  if (a.IsError() || b.IsError()) return Error();
  return Select(std::move(condition), std::move(a), std::move(b), "the branches of `if`", expr.span);
}

Value Elaborator::EvalBranch(const ast::Block& block) {
  scope_->Open();
  CheckStmts(block.stmts);
  Value value = Eval(*block.result);
  scope_->Close();
  return value;
}

Value Elaborator::EvalBlockField(const BlockIndex& block, const ast::FieldExpr& expr) {
  const std::string& field = expr.field.text;
  const Span span = expr.span;
  const auto integer = [&](ExprPtr value) { return ExprValue(std::move(value), span); };
  if (field == "start") return integer(Clone(*block.start));
  ExprPtr end = MakeInteger(Op::kAdd, Clone(*block.start), MakeInt(block.step, span), span);
  end = MakeInteger(Op::kMin, std::move(end), Clone(*block.hi), span);
  ExprPtr start = Clone(*block.start);
  if (block.shifted) start = MakeInteger(Op::kMax, std::move(start), Clone(*block.lo), span);
  if (field == "end") {
    return integer(block.shifted ? MakeInteger(Op::kMax, std::move(end), std::move(start), span) : std::move(end));
  }
  if (field == "size") {
    ExprPtr size = MakeInteger(Op::kSub, std::move(end), std::move(start), span);
    return integer(block.shifted ? MakeInteger(Op::kMax, std::move(size), MakeInt(0, span), span) : std::move(size));
  }
  if (field == "number") {
    ExprPtr offset = MakeInteger(Op::kSub, Clone(*block.start), Clone(*block.lo), span);
    return integer(MakeInteger(Op::kDiv, std::move(offset), MakeInt(block.step, span), span));
  }
  diagnostics_.Error(DiagnosticKind::kUnknownName, expr.field.span, fmt::format("a block index has no `.{}`", field))
      .Help("its fields are `.start`, `.size`, `.end` and `.number`");
  return Error();
}

Value Elaborator::EvalField(const ast::FieldExpr& expr) {
  Value base = Eval(*expr.base);
  if (base.IsError()) return base;
  const std::string& field = expr.field.text;
  if (base.kind == Value::Kind::kBlock) return EvalBlockField(*base.block, expr);
  if (base.IsTile() && field == "T") return ExprValue(Transpose(std::move(base.expr), expr.span), expr.span);
  if (base.IsTile() && field == "last") {
    const int axis = base.expr->type.cols == 1 ? 0 : 1;
    if (axis == 1 && base.expr->type.rows != 1) {
      diagnostics_.Error(DiagnosticKind::kShapeMismatch, expr.span, "`.last` takes a column or a row")
          .Label(expr.base->span, fmt::format("is {}", Describe(base)));
      return Error();
    }
    const int64_t last = (axis == 0 ? base.expr->type.rows : base.expr->type.cols) - 1;
    return ExprValue(Part(std::move(base.expr), axis, MakeInt(last, expr.span), 1, expr.span), expr.span);
  }
  if (base.kind == Value::Kind::kTuple) {
    size_t position = base.elements.size();
    if (expr.position) position = *expr.position;
    if (base.elements.size() == 2 && (field == "re" || field == "im")) position = field == "im";
    for (size_t i = 0; i < base.names.size(); ++i) {
      if (base.names[i] == field) position = i;
    }
    if (position < base.elements.size()) return std::move(base.elements[position]);
  }
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kUnknownName, expr.field.span, fmt::format("there is no `.{}` here", field));
  report.Label(expr.base->span, fmt::format("is {}", Describe(base)));
  if (base.IsTile() && (field == "rows" || field == "cols")) report.Help(fmt::format("name the part: `.{}(w)`", field));
  if (const std::string_view help = HelpForMember(field); !help.empty()) report.Help(std::string(help));
  return Error();
}

}  // namespace tkc::sema

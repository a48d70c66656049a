// SPDX-License-Identifier: MIT
// Expressions: names, operators, fields, parts, receives. Calls and accesses have files of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/sema/elaborator.h"

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

Value Elaborator::Eval(const ast::Expr& expr) {
  DepthGuard guard(depth_);
  if (depth_ > kMaxDepth) {
    diagnostics_.Error(DiagnosticKind::kNestingTooDeep, expr.span, "functions inlined into functions make this expression too deep");
    return Error();
  }
  Value value = EvalChecked(expr);
  value.span = expr.span;
  return value;
}

Value Elaborator::EvalChecked(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::kInt: return ExprValue(MakeInt(static_cast<int64_t>(ast::Cast<ast::IntExpr>(expr).value), expr.span), expr.span);
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
      bool failed = false;
      for (const ast::ExprPtr& element : ast::Cast<ast::TupleExpr>(expr).elements) {
        elements.push_back(Eval(*element));
        failed = failed || elements.back().IsError();
      }
      return failed ? Error() : TupleValue(std::move(elements), expr.span);
    }
  }
  return Error();
}

bool Elaborator::UnknownName(const std::string& name, Span span) {
  if (name == "block" || name == "blocks") {
    diagnostics_.Error(DiagnosticKind::kBlockOutsideWork, span, fmt::format("`{}` outside the index of a `work` tensor", name))
        .Help("what a tile computes may not depend on which block computes it; a `work` tensor may hold one row for each block");
    return true;
  }
  const std::string nearest = scope_->Nearest(name);
  DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kUnknownName, span, fmt::format("there is no `{}` here", name));
  if (!nearest.empty()) {
    if (const Symbol* symbol = scope_->Find(nearest); symbol->span.file == span.file && symbol->span.end > 0) {
      report.Note(symbol->span, fmt::format("`{}` is declared here", nearest));
    }
    report.Help(fmt::format("write `{}`", nearest), Edit{span, nearest});
  } else if (!inlining_.empty()) {
    report.Help("a `fn` sees its parameters only; pass what it needs");
  }
  return true;
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
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span, fmt::format("`{}` takes a {}", Spelling(expr.op), is_not ? "`bool`" : "number"))
        .Label(expr.operand->span, fmt::format("is {}", Describe(x)));
    return Error();
  }
  if (!is_not && Bytes(x.expr->type.dtype) == 2) x.expr = MakeConvert(std::move(x.expr), DType::kF32);
  const Type type = x.expr->type;
  std::vector<ExprPtr> args;
  args.push_back(std::move(x.expr));
  return ExprValue(MakeFolded(ExprKind::kUnary, is_not ? Op::kNot : Op::kNeg, type, std::move(args), expr.span), expr.span);
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
  shifted->hi = Clone(*block.hi);
  shifted->step = block.step;
  shifted->shifted = true;
  Value value;
  value.kind = Value::Kind::kBlock;
  value.block = std::move(shifted);
  return value;
}

std::optional<Type> Elaborator::Broadcast(const Value& a, const Value& b, std::string_view spelling, Span span) {
  const Type& x = a.expr->type;
  const Type& y = b.expr->type;
  if (!x.is_tile && !y.is_tile) return x;
  const auto fits = [](int64_t m, int64_t n) { return m == n || m == 1 || n == 1; };
  if (fits(x.rows, y.rows) && fits(x.cols, y.cols)) return Type::Tile(x.dtype, std::max(x.rows, y.rows), std::max(x.cols, y.cols));
  // A column where a row would fit is the commonest slip: a slab of one axis is a column.
  const Value* column = nullptr;
  if (x.cols == 1 && fits(1, y.rows) && fits(x.rows, y.cols)) column = &a;
  if (y.cols == 1 && fits(x.rows, 1) && fits(y.rows, x.cols)) column = &b;
  const auto kind = column != nullptr ? DiagnosticKind::kColumnAsRow : DiagnosticKind::kShapeMismatch;
  DiagnosticBuilder report = diagnostics_.Error(
      kind, span, fmt::format("`{}` of shapes [{}, {}] and [{}, {}]", spelling, x.rows, x.cols, y.rows, y.cols));
  report.Label(a.span, fmt::format("`{}`", TypeText(x))).Label(b.span, fmt::format("`{}`", TypeText(y)));
  if (column != nullptr) {
    report.Note("a slab of one axis is a column");
    const typed::Expr* inner = column->expr.get();
    while (inner->kind == ExprKind::kConvert) inner = inner->args[0].get();
    const bool needs_parens = inner->kind == ExprKind::kBinary || inner->kind == ExprKind::kUnary || inner->kind == ExprKind::kMatMul || inner->kind == ExprKind::kSelect;
    report.Help(!needs_parens ? "`.T` makes it a row" : "`(..).T` makes it a row",
                !needs_parens
                    ? std::vector<Edit>{{{column->span.file, column->span.end, column->span.end}, ".T"}}
                    : std::vector<Edit>{{{column->span.file, column->span.begin, column->span.begin}, "("},
                                        {{column->span.file, column->span.end, column->span.end}, ").T"}});
  }
  return std::nullopt;
}

bool Elaborator::Unify(Value& a, Value& b, bool compute, std::string_view spelling, Span span) {
  const auto is_literal = [](const Value& v) { return !v.expr->type.is_tile && v.expr->level == Level::kConst; };
  const auto kind_of = [](const Value& v) { return v.expr->type.dtype == DType::kBool ? 0 : IsFloat(v.expr->type.dtype) ? 2 : 1; };
  // An integer literal takes the type of what it meets.
  if (kind_of(a) == 1 && kind_of(b) == 2 && is_literal(a)) a.expr = MakeConvert(std::move(a.expr), DType::kF32);
  if (kind_of(b) == 1 && kind_of(a) == 2 && is_literal(b)) b.expr = MakeConvert(std::move(b.expr), DType::kF32);
  const DType x = a.expr->type.dtype;
  const DType y = b.expr->type.dtype;
  const auto mixing = [&] {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMixing, span, fmt::format("`{}` mixes `{}` and `{}`", spelling, TypeText(Type::Scalar(x)), TypeText(Type::Scalar(y))));
    report.Label(a.span, fmt::format("is {}", Describe(a))).Label(b.span, fmt::format("is {}", Describe(b)));
    const Value* integer = kind_of(a) == 1 && kind_of(b) == 2 ? &a : kind_of(b) == 1 && kind_of(a) == 2 ? &b : nullptr;
    if (integer != nullptr) {
      report.Help("convert the integer: `f32(..)`", std::vector<Edit>{{{integer->span.file, integer->span.begin, integer->span.begin}, "f32("},
                                                                       {{integer->span.file, integer->span.end, integer->span.end}, ")"}});
    }
    return false;
  };
  if (kind_of(a) != kind_of(b)) return mixing();
  if (kind_of(a) == 0) return true;
  if (kind_of(a) == 2) {
    // A float literal has no width of its own beside a tile of 16-bit elements.
    if (!compute && x != y && is_literal(a) && b.expr->type.is_tile) {
      a.expr = MakeConvert(std::move(a.expr), y);
    } else if (!compute && x != y && is_literal(b) && a.expr->type.is_tile) {
      b.expr = MakeConvert(std::move(b.expr), x);
    } else if (compute || x != y) {
      a.expr = MakeConvert(std::move(a.expr), DType::kF32);
      b.expr = MakeConvert(std::move(b.expr), DType::kF32);
    }
    return true;
  }
  if (x == y) return true;
  if (x == DType::kI64 && !a.expr->type.is_tile) a.expr = MakeConvert(std::move(a.expr), y);
  else if (y == DType::kI64 && !b.expr->type.is_tile) b.expr = MakeConvert(std::move(b.expr), x);
  else return mixing();
  return true;
}

Value Elaborator::Arithmetic(Op op, std::string_view spelling, Value a, Value b, Span span, Span op_span) {
  const bool compares = op >= Op::kEq && op <= Op::kGe;
  for (const Value* v : {&a, &b}) {
    if (v->kind == Value::Kind::kExpr && (v->expr->type.dtype != DType::kBool || op == Op::kEq || op == Op::kNe)) continue;
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, op_span, fmt::format("`{}` takes numbers", spelling));
    report.Label(v->span, fmt::format("is {}", Describe(*v)));
    if (v->kind == Value::Kind::kBlock) report.Help("its first element is `.start`, the column of its elements `pos(..)`");
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
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, op_span, "`%` takes integers").Label(a.span, fmt::format("is {}", Describe(a)));
    return Error();
  }
  std::vector<ExprPtr> args;
  args.push_back(std::move(a.expr));
  args.push_back(std::move(b.expr));
  return ExprValue(MakeFolded(ExprKind::kBinary, op, *type, std::move(args), span), span);
}

Value Elaborator::Logic(Op op, std::string_view spelling, Value a, Value b, Span span) {
  for (const Value* v : {&a, &b}) {
    if (v->kind == Value::Kind::kExpr && v->expr->type.dtype == DType::kBool) continue;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, v->span, fmt::format("`{}` takes `bool`s", spelling)).Label(v->span, fmt::format("is {}", Describe(*v)));
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
  std::vector<ExprPtr> args;
  args.push_back(std::move(a.expr));
  args.push_back(std::move(b.expr));
  return ExprValue(MakeFolded(ExprKind::kBinary, op, *type, std::move(args), span), span);
}

Value Elaborator::MatMul(const ast::BinaryExpr& expr, Value a, Value b) {
  for (const Value* v : {&a, &b}) {
    if (v->IsTile()) continue;
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.op_span, "`@` takes two tiles").Label(v->span, fmt::format("is {}", Describe(*v)));
    return Error();
  }
  const Type& x = a.expr->type;
  const Type& y = b.expr->type;
  if (x.cols != y.rows) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kShapeMismatch, expr.op_span,
                       fmt::format("`@` sums over {} columns on the left and {} rows on the right", x.cols, y.rows));
    report.Label(a.span, fmt::format("`{}`", TypeText(x))).Label(b.span, fmt::format("`{}`", TypeText(y)));
    if (x.cols == y.cols) report.Help("transpose the right operand: `.T`", Edit{{b.span.file, b.span.end, b.span.end}, ".T"});
    else if (x.rows == y.rows) report.Help("transpose the left operand: `.T`", Edit{{a.span.file, a.span.end, a.span.end}, ".T"});
    return Error();
  }
  const auto is_half = [](DType dtype) { return dtype == DType::kBF16 || dtype == DType::kF16; };
  if (!is_half(x.dtype) || !is_half(y.dtype)) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kMatMulType, expr.op_span,
                       fmt::format("`{} @ {}`: the tensor unit multiplies 16-bit floats", Name(x.dtype), Name(y.dtype)));
    report.Label(a.span, fmt::format("`{}`", TypeText(x))).Label(b.span, fmt::format("`{}`", TypeText(y)));
    const DType wanted = is_half(x.dtype) ? x.dtype : is_half(y.dtype) ? y.dtype : DType::kBF16;
    std::vector<Edit> edits;
    for (const Value* v : {&a, &b}) {
      if (is_half(v->expr->type.dtype)) continue;
      edits.push_back({{v->span.file, v->span.begin, v->span.begin}, fmt::format("{}(", Name(wanted))});
      edits.push_back({{v->span.file, v->span.end, v->span.end}, ")"});
    }
    report.Help(fmt::format("round by name: `{}(..)`; a small product in f32 is `rowsum(a * b.T)`", Name(wanted)), std::move(edits));
    return Error();
  }
  if (x.dtype != y.dtype) {
    diagnostics_.Error(DiagnosticKind::kTypeMixing, expr.op_span, fmt::format("`@` mixes `{}` and `{}`", Name(x.dtype), Name(y.dtype)))
        .Label(a.span, fmt::format("`{}`", TypeText(x))).Label(b.span, fmt::format("`{}`", TypeText(y)))
        .Help(fmt::format("convert one of them: `{}(..)`", Name(x.dtype)));
    return Error();
  }
  const Type type = Type::Tile(DType::kF32, x.rows, y.cols);
  std::vector<ExprPtr> args;
  args.push_back(std::move(a.expr));
  args.push_back(std::move(b.expr));
  return ExprValue(MakeNode(ExprKind::kMatMul, Op::kNone, type, std::move(args), expr.span), expr.span);
}

Value Elaborator::EvalIf(const ast::IfExpr& expr) {
  Value condition = Eval(*expr.condition);
  if (condition.IsError()) return condition;
  if (!condition.IsScalar() || condition.expr->type.dtype != DType::kBool) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.condition->span, "the condition of `if` is one `bool`");
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
      diagnostics_.Error(DiagnosticKind::kShapeMismatch, expr.span, "`.last` takes a column or a row").Label(expr.base->span, fmt::format("is {}", Describe(base)));
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
  DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kUnknownName, expr.field.span, fmt::format("there is no `.{}` here", field));
  report.Label(expr.base->span, fmt::format("is {}", Describe(base)));
  if (base.IsTile() && (field == "rows" || field == "cols")) report.Help(fmt::format("name the part: `.{}(w)`", field));
  return Error();
}

ExprPtr Elaborator::Transpose(ExprPtr expr, Span span) {
  if (expr->kind == ExprKind::kTranspose) return std::move(expr->args[0]);
  if (expr->type.rows == 1 && expr->type.cols == 1) return expr;
  const Type type = Type::Tile(expr->type.dtype, expr->type.cols, expr->type.rows);
  std::vector<ExprPtr> args;
  args.push_back(std::move(expr));
  return MakeNode(ExprKind::kTranspose, Op::kNone, type, std::move(args), span);
}

/// Parts of accesses are smaller accesses, also behind a transpose or a conversion; parts of parts are parts.
ExprPtr Elaborator::Part(ExprPtr expr, int axis, ExprPtr offset, int64_t extent, Span span) {
  Type type = expr->type;
  (axis == 0 ? type.rows : type.cols) = extent;
  if (type == expr->type) return expr;
  if (expr->kind == ExprKind::kTranspose) return Transpose(Part(std::move(expr->args[0]), 1 - axis, std::move(offset), extent, span), span);
  if (expr->kind == ExprKind::kConvert) {
    expr->args[0] = Part(std::move(expr->args[0]), axis, std::move(offset), extent, span);
    expr->type = type;
    return expr;
  }
  if (expr->kind == ExprKind::kRead) {
    int kept = 0;
    for (typed::AxisRange& range : expr->axes) {
      if (range.dropped || kept++ != axis) continue;
      range.start = MakeInteger(Op::kAdd, std::move(range.start), std::move(offset), span);
      range.extent = extent;
      expr->level = std::max(expr->level, range.start->level);
      break;
    }
    expr->type = type;
    expr->span = span;
    return expr;
  }
  if (expr->kind == ExprKind::kPart) {
    ExprPtr& old = expr->args[axis == 0 ? 1 : 2];
    old = MakeInteger(Op::kAdd, std::move(old), std::move(offset), span);
    expr->type = type;
    return expr;
  }
  std::vector<ExprPtr> args;
  args.push_back(std::move(expr));
  args.push_back(axis == 0 ? std::move(offset) : MakeInt(0, span));
  args.push_back(axis == 0 ? MakeInt(0, span) : std::move(offset));
  return MakeNode(ExprKind::kPart, Op::kNone, type, std::move(args), span);
}

std::optional<Elaborator::PartOf> Elaborator::PartIndex(const ast::MethodExpr& method, int64_t extent, Span base, std::string_view described) {
  const bool rows = method.method.text == "rows";
  if (!rows && method.method.text != "cols") {
    diagnostics_.Error(DiagnosticKind::kUnknownName, method.method.span, fmt::format("there is no `.{}(..)`", method.method.text))
        .Help("parts of a tile are `.rows(w)` and `.cols(u)`");
    return std::nullopt;
  }
  if (method.arguments.size() != 1) {
    diagnostics_.Error(DiagnosticKind::kWrongArguments, method.span, fmt::format("`.{}` takes one index, found {}", method.method.text, method.arguments.size()));
    return std::nullopt;
  }
  Value index = Eval(*method.arguments[0]);
  if (index.IsError()) return std::nullopt;
  if (!index.IsScalar() || index.expr->type.dtype != DType::kI64 || index.count == 0) {
    diagnostics_.Error(DiagnosticKind::kPartIndex, index.span, fmt::format("`.{}` takes an index that knows how many parts there are", method.method.text))
        .Label(index.span, fmt::format("is {}", Describe(index)))
        .Help("use the index of a worker, `worker compute[W] as w`, or of a loop, `for u in 4`");
    return std::nullopt;
  }
  if (extent % index.count != 0) {
    diagnostics_.Error(DiagnosticKind::kPartSize, method.span,
                       fmt::format("{} {} do not divide into {} parts: {} / {} leaves {}", extent, rows ? "rows" : "columns", index.count, extent, index.count, extent % index.count))
        .Label(base, fmt::format("{}", described))
        .Label(index.span, fmt::format("0 .. {}", index.count));
    return std::nullopt;
  }
  PartOf part;
  part.extent = extent / index.count;
  part.offset = MakeInteger(Op::kMul, std::move(index.expr), MakeInt(part.extent, method.span), method.span);
  return part;
}

Value Elaborator::EvalMethod(const ast::MethodExpr& expr) {
  Value base = Eval(*expr.base);
  if (base.IsError()) return base;
  if (!base.IsTile()) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span, fmt::format("`.{}(..)` takes a part of a tile", expr.method.text))
        .Label(expr.base->span, fmt::format("is {}", Describe(base)));
    return Error();
  }
  const int axis = expr.method.text == "rows" ? 0 : 1;
  std::optional<PartOf> part = PartIndex(expr, axis == 0 ? base.expr->type.rows : base.expr->type.cols, expr.base->span, Describe(base));
  if (!part) return Error();
  return ExprValue(Part(std::move(base.expr), axis, std::move(part->offset), part->extent, expr.span), expr.span);
}

Value Elaborator::EvalReceive(const ast::ReceiveExpr& expr, const ast::Pattern* wish) {
  const Symbol* symbol = scope_->Find(expr.pipe.text);
  if (symbol == nullptr) {
    UnknownName(expr.pipe.text, expr.pipe.span);
    return Error();
  }
  if (symbol->kind == SymbolKind::kValue && symbol->value.IsError()) return Error();
  if (symbol->kind != SymbolKind::kPipe) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.pipe.span, fmt::format("`{}` is not a pipe", expr.pipe.text))
        .Note(symbol->span, fmt::format("`{}` is declared here", expr.pipe.text))
        .Help(fmt::format("for a comparison with a negative number write `< -{}`", expr.pipe.text));
    return Error();
  }
  if (!in_worker_ || no_receive_ != nullptr) {
    diagnostics_.Error(DiagnosticKind::kConditionalReceive, expr.span, fmt::format("a receive {}", no_receive_ != nullptr ? no_receive_ : "outside a worker"))
        .Note("a receive stands where it is always evaluated, as the sender does not know the condition")
        .Help(fmt::format("receive first: `let x = <-{}`", expr.pipe.text));
    return Error();
  }
  CheckTrafficLevel(expr.span, "receive");
  const typed::PipeId id = symbol->id;
  const typed::Pipe& pipe = section_->pipes[id];
  ExprPtr ring;
  if ((pipe.per_worker != typed::kNone) != (expr.index != nullptr)) {
    diagnostics_.Error(DiagnosticKind::kRingIndex, expr.span, pipe.per_worker != typed::kNone ? fmt::format("`{}` has a ring for each instance; name one", pipe.name) : fmt::format("`{}` is one pipe, not one for each instance", pipe.name))
        .Note(pipe.span, "declared here");
    return Error();
  }
  if (expr.index) {
    Value index = Eval(*expr.index);
    if (index.IsError()) return Error();
    ring = std::move(index.expr);
    if (!ring || ring->type.is_tile || ring->type.dtype != DType::kI64 || index.count == 0) {
      diagnostics_.Error(DiagnosticKind::kRingIndex, expr.index->span, fmt::format("the ring of `{}` is known only when the kernel runs", pipe.name))
          .Help("index it by the number of the instance, or by a loop over a number: `for u in 4`");
      return Error();
    }
  }
  typed::Stmt& stmt = Append(typed::StmtKind::kReceive, expr.span);
  stmt.pipe = id;
  stmt.ring = std::move(ring);
  const bool named = wish != nullptr && wish->names.size() == (wish->is_tuple ? pipe.fields.size() : 1) && (wish->is_tuple || pipe.fields.size() == 1);
  std::vector<Value> fields;
  std::vector<std::string> names;
  for (size_t i = 0; i < pipe.fields.size(); ++i) {
    const typed::PipeField& field = pipe.fields[i];
    std::string name = !field.name.empty() ? field.name : pipe.fields.size() == 1 ? pipe.name : fmt::format("{}_{}", pipe.name, i);
    Span span = expr.span;
    if (named && wish->names[i].text != "_") name = wish->names[i].text, span = wish->names[i].span;
    const Type type = Type::Tile(field.dtype, field.rows, field.cols);
    const typed::VarId var = AddVar(name, type, typed::VarKind::kReceived, Level::kWorker, span);
    stmt.received.push_back(var);
    ExprPtr value = MakeNode(ExprKind::kVar, Op::kNone, type, {}, expr.span);
    value->id = var;
    value->level = Level::kWorker;
    fields.push_back(ExprValue(std::move(value), expr.span));
    names.push_back(field.name);
  }
  if (fields.size() == 1) return std::move(fields[0]);
  Value tuple = TupleValue(std::move(fields), expr.span);
  tuple.names = std::move(names);
  return tuple;
}

ExprPtr Elaborator::Coerce(Value value, Type type, bool convert, std::string_view what, Span what_span) {
  if (value.IsError()) return nullptr;
  const auto mismatch = [&](std::string_view help) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span, fmt::format("{} is `{}`, the value {}", what, TypeText(type), Describe(value)));
    report.Label(value.span, fmt::format("is {}", Describe(value)));
    if (what_span.file != kNoFile && !(what_span == value.span)) report.Label(what_span, fmt::format("is `{}`", TypeText(type)));
    if (!help.empty()) report.Help(std::string(help));
    return nullptr;
  };
  if (value.kind != Value::Kind::kExpr) return mismatch(value.kind == Value::Kind::kBlock ? "`.start` is its first element" : "");
  const Type from = value.expr->type;
  if (from.is_tile && !type.is_tile) return mismatch("");
  if (from.is_tile && (from.rows != type.rows || from.cols != type.cols)) {
    const bool turned = from.rows == type.cols && from.cols == type.rows;
    DiagnosticBuilder report = diagnostics_.Error(turned && from.cols == 1 ? DiagnosticKind::kColumnAsRow : DiagnosticKind::kShapeMismatch, value.span,
                       fmt::format("{} has shape [{}, {}], the value [{}, {}]", what, type.rows, type.cols, from.rows, from.cols));
    report.Label(value.span, fmt::format("`{}`", TypeText(from)));
    if (what_span.file != kNoFile && !(what_span == value.span)) report.Label(what_span, fmt::format("`{}`", TypeText(type)));
    if (turned) report.Help("transpose it: `.T`");
    return nullptr;
  }
  const bool literal = !from.is_tile && value.expr->level == Level::kConst;
  const bool both_numbers = from.dtype != DType::kBool && type.dtype != DType::kBool;
  const bool same_class = both_numbers && IsFloat(from.dtype) == IsFloat(type.dtype);
  const bool widens = literal && both_numbers && !IsFloat(from.dtype);  // an integer literal takes any type
  const bool float_literal = literal && IsFloat(from.dtype) && IsFloat(type.dtype);
  const bool integer_scalar = !from.is_tile && from.dtype == DType::kI64 && both_numbers && !IsFloat(type.dtype);
  if (from.dtype != type.dtype && !(same_class && convert) && !widens && !float_literal && !integer_scalar) {
    return mismatch(both_numbers ? fmt::format("convert it: `{}(..)`", Name(type.dtype)) : std::string());
  }
  ExprPtr expr = std::move(value.expr);
  const Span span = value.span;
  expr = MakeConvert(std::move(expr), type.dtype);
  if (!from.is_tile && type.is_tile) {
    std::vector<ExprPtr> args;
    args.push_back(std::move(expr));
    expr = MakeNode(ExprKind::kSplat, Op::kNone, type, std::move(args), span);
  }
  return expr;
}

ExprPtr Elaborator::IntegerScalar(Value value, std::string_view what) {
  if (value.IsError()) return nullptr;
  if (!value.IsScalar() || IsFloat(value.expr->type.dtype) || value.expr->type.dtype == DType::kBool) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span, fmt::format("{} is an integer", what));
    report.Label(value.span, fmt::format("is {}", Describe(value)));
    if (value.kind == Value::Kind::kBlock) report.Help("its first element is `.start`");
    return nullptr;
  }
  if (value.expr->level == Level::kWorker) {
    diagnostics_.Error(DiagnosticKind::kWorkerLevel, value.span, fmt::format("{} depends on what only this worker knows", what))
        .Label(value.span, "computed from tile data or a `var`")
        .Note("ranges and indices are made of numbers, dimensions, launch scalars, indices and elements of `in` integer tensors");
    return nullptr;
  }
  return MakeConvert(std::move(value.expr), DType::kI64);
}

std::optional<int64_t> Elaborator::ConstantOf(const Value& value, std::string_view what) {
  if (value.IsError()) return std::nullopt;
  if (value.IsScalar() && !IsFloat(value.expr->type.dtype)) {
    if (const auto number = NumberOf(*value.expr)) return number;
  }
  const bool is_integer = value.IsScalar() && value.expr->type.dtype == DType::kI64;
  if (is_integer && value.expr->level == Level::kConst) {
    diagnostics_.Error(DiagnosticKind::kNotConstant, value.span, fmt::format("{} does not fit 64 bits", what));
    return std::nullopt;
  }
  diagnostics_.Error(DiagnosticKind::kNotConstant, value.span, fmt::format("{} is a number known at compile time", what))
      .Label(value.span, is_integer ? "known only when the kernel runs" : fmt::format("is {}", Describe(value)))
      .Help("write a number or a compile-time parameter: `kernel k<BM = 128>(..)`");
  return std::nullopt;
}

std::optional<int64_t> Elaborator::Constant(const ast::Expr& expr, std::string_view what) { return ConstantOf(Eval(expr), what); }

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Expressions: names, fields, choices. Operators, parts, calls and accesses have files of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/habits.h"
#include "compiler/sema/views.h"
#include "compiler/support/scoped.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;

namespace {

/// Functions inlined into functions deepen a tree that the parser has bounded; recursion here must stay bounded too.
constexpr int kMaxDepth = 1400;

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

std::optional<double> NamedNumber(const std::string& name) {
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "pi") return 3.14159265358979323846;
  if (name == "log2e") return 1.44269504088896340736;
  if (name == "tiny") return static_cast<double>(FLT_MIN);
  return std::nullopt;
}

std::string Describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kError: return "nothing";
    case Value::Kind::kExpr: return fmt::format("`{}`", TypeText(value.expr->type));
    case Value::Kind::kTuple: return fmt::format("a tuple of {} values", value.elements.size());
    case Value::Kind::kBlock: return "a block index";
  }
  return "";
}

void Elaborator::UnknownName(const std::string& name, Span span, NameUse use, const std::string& index) {
  const bool in_define = std::any_of(context_.options->defines.begin(), context_.options->defines.end(),
                                     [&](const Define& define) { return define.span.file == span.file; });
  ReportUnknownName(name, span, use, {*scope_, in_define, !inlining_.empty(), source_section_, worker_, index}, diagnostics_);
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
    case SymbolKind::kTensor: {
      const std::vector<ExprPtr>& extents = kernel_.params[symbol->id].extents;
      const bool is_number =
          std::all_of(extents.begin(), extents.end(), [](const ExprPtr& extent) { return NumberOf(*extent) == 1; });
      DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span,
                                                    fmt::format("tensor `{}` is used without an index", expr.name));
      if (section_ == nullptr)
        report.Help("before the kernel runs no elements are known: pass the number as a launch scalar: `n: i32`");
      else if (is_number && extents.size() == 1)
        report.Help(fmt::format("write `{}[0]`", expr.name), Edit{{expr.span.file, expr.span.end, expr.span.end}, "[0]"});
      else
        report.Help("name the elements: a block index, `:` or an element for each axis");
      return Error();
    }
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
  const Scoped<const char*> in_branch(no_receive_, "in a branch of an `if` expression");
  Value a = EvalBranch(expr.then_branch);
  Value b = EvalBranch(expr.else_branch);
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
          .Label(expr.base->span, fmt::format("is {}", Describe(base)))
          .Help(fmt::format("the last column of a tile is `x[:, {} :+ 1]`, its last row `x[{} :+ 1, :]`", base.expr->type.cols - 1,
                            base.expr->type.rows - 1));
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

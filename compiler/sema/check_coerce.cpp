// SPDX-License-Identifier: MIT
// Which types and shapes meet: broadcasting, mixing, and values that take the type of their place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/symbolic/int_range.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::Type;

namespace {

/// Whether a row or a column would be repeated to make the tile.
bool IsRepeated(const Type& vector, const Type& tile) {
  return (vector.rows == 1 && vector.cols == tile.cols) || (vector.cols == 1 && vector.rows == tile.rows);
}

/// `2` of `2.0`; "" of anything else.
std::string WholeNumber(const typed::Expr& expr) {
  const double value = expr.kind == ExprKind::kFloat ? expr.float_value : 0.5;
  return value == std::floor(value) && std::abs(value) < 1e6 ? fmt::format("{}", static_cast<int64_t>(value)) : "";
}

/// The type of what is written there, before an operator widened it.
const Type& WrittenType(const Value& value) {
  const typed::Expr* expr = value.expr.get();
  while (expr->kind == ExprKind::kConvert && expr->args[0]->span == expr->span) expr = expr->args[0].get();
  return expr->type;
}

/// Whether it is made of elements of this type, or of variables that hold such: what a tensor or a pipe has, not numbers of tkc.
bool HoldsElements(const typed::Expr& expr, DType dtype) {
  return typed::Contains(
      expr, [&](const typed::Expr& part) { return part.args.empty() && part.type.is_tile && part.type.dtype == dtype; });
}

void HelpWithQuotient(Span divisor, DiagnosticBuilder& report) {
  report.Help(
      "`/` of integers rounds down: convert what divides, `f32(..)`",
      std::vector<Edit>{{{divisor.file, divisor.begin, divisor.begin}, "f32("}, {{divisor.file, divisor.end, divisor.end}, ")"}});
}

}  // namespace

/// Where a value that is a name got its shape.
void Elaborator::NoteDeclaration(const Value& value, DiagnosticBuilder& report) const {
  const typed::Expr* expr = value.expr.get();
  while (expr->kind == ExprKind::kConvert) expr = expr->args[0].get();
  if (expr->kind != ExprKind::kVar) return;
  const typed::Var& var = kernel_.vars[static_cast<size_t>(expr->id)];
  if (var.span.file == value.span.file && var.span.end > var.span.begin)
    report.Note(var.span, fmt::format("`{}` is declared here", var.name));
}

std::optional<Type> Elaborator::Broadcast(const Value& a, const Value& b, std::string_view spelling, Span span) {
  const Type& x = a.expr->type;
  const Type& y = b.expr->type;
  if (!x.is_tile && !y.is_tile) return x;
  const auto fits = [](int64_t m, int64_t n) { return m == n || m == 1 || n == 1; };
  if (fits(x.rows, y.rows) && fits(x.cols, y.cols)) return Type::Tile(x.dtype, std::max(x.rows, y.rows), std::max(x.cols, y.cols));
  // A column where a row would fit is the commonest slip: an access to one axis is a column.
  const Value* column = nullptr;
  if (x.cols == 1 && fits(1, y.rows) && fits(x.rows, y.cols)) column = &a;
  if (y.cols == 1 && fits(x.rows, 1) && fits(y.rows, x.cols)) column = &b;
  const ErrorKind kind = column != nullptr ? ErrorKind(DiagnosticKind::kColumnAsRow) : ErrorKind(DiagnosticKind::kShapeMismatch);
  DiagnosticBuilder report =
      diagnostics_.Error(kind, span, fmt::format("`{}` of shapes [{}, {}] and [{}, {}]", spelling, x.rows, x.cols, y.rows, y.cols));
  report.Label(a.span, fmt::format("`{}`", TypeText(WrittenType(a)))).Label(b.span, fmt::format("`{}`", TypeText(WrittenType(b))));
  if (column == nullptr) {
    NoteDeclaration(a, report);
    NoteDeclaration(b, report);
    if (spelling == "*" && x.cols == y.rows) report.Help("a product of matrices is `@`", Edit{span, "@"});
  } else if (x.cols == 1 && y.cols == 1) {
    report.Note("an access to one axis is a column")
        .Help(fmt::format(
            "make a row of the one whose elements lie along the columns of the result, by `.T`: of the first, for [{}, {}], "
            "or of the second, for [{}, {}]",
            y.rows, x.rows, x.rows, y.rows));
  } else {
    report.Note("an access to one axis is a column");
    const typed::Expr* inner = column->expr.get();
    while (inner->kind == ExprKind::kConvert) inner = inner->args[0].get();
    const bool needs_parens = inner->kind == ExprKind::kBinary || inner->kind == ExprKind::kUnary ||
                              inner->kind == ExprKind::kMatMul || inner->kind == ExprKind::kSelect;
    report.Help(!needs_parens ? "`.T` makes it a row" : "`(..).T` makes it a row",
                !needs_parens ? std::vector<Edit>{{{column->span.file, column->span.end, column->span.end}, ".T"}}
                              : std::vector<Edit>{{{column->span.file, column->span.begin, column->span.begin}, "("},
                                                  {{column->span.file, column->span.end, column->span.end}, ").T"}});
  }
  return std::nullopt;
}

bool Elaborator::Unify(Value& a, Value& b, bool compute, std::string_view spelling, Span span) {
  const auto is_literal = [](const Value& v) { return !v.expr->type.is_tile && v.expr->level == Level::kConst && !v.is_rounded; };
  const auto kind_of = [](const Value& v) { return v.expr->type.dtype == DType::kBool ? 0 : IsFloat(v.expr->type.dtype) ? 2 : 1; };
  // An integer literal takes the type of what it meets, but for a quotient that has lost its fraction.
  if (kind_of(a) == 1 && kind_of(b) == 2 && is_literal(a)) a.expr = MakeConvert(std::move(a.expr), DType::kF32);
  if (kind_of(b) == 1 && kind_of(a) == 2 && is_literal(b)) b.expr = MakeConvert(std::move(b.expr), DType::kF32);
  for (Value* v : {&a, &b}) {
    const DType wide = WidenedType(v->expr->type.dtype);
    if (compute && kind_of(a) == 1 && kind_of(b) == 1) v->expr = MakeConvert(std::move(v->expr), wide);
  }
  const DType x = a.expr->type.dtype;
  const DType y = b.expr->type.dtype;
  // Elements of a tile have a width; an integer by itself has none.
  const auto element = [](const Type& type) { return type.is_tile ? std::string(Name(type.dtype)) : TypeText(type); };
  const auto mixing = [&] {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMixing, span,
                           fmt::format("`{}` mixes `{}` and `{}`", spelling, element(a.expr->type), element(b.expr->type)));
    report.Label(a.span, fmt::format("is {}", Describe(a))).Label(b.span, fmt::format("is {}", Describe(b)));
    const auto convert = [&](const Value& value, std::string_view what, std::string_view to) {
      report.Help(fmt::format("convert {}: `{}(..)`", what, to),
                  std::vector<Edit>{{{value.span.file, value.span.begin, value.span.begin}, fmt::format("{}(", to)},
                                    {{value.span.file, value.span.end, value.span.end}, ")"}});
    };
    if (kind_of(a) == 1 && kind_of(b) == 1) {
      // What counts or numbers is of i64 for want of another type; what is read may need its 64 bits.
      const Value& wide = x == DType::kI64 ? a : b;
      const Value& other = x == DType::kI64 ? b : a;
      const bool widens = wide.expr->type.dtype == DType::kI64 && HoldsElements(*wide.expr, DType::kI64);
      convert(widens ? other : wide, "one of them", Name((widens ? wide : other).expr->type.dtype));
    } else if (kind_of(a) != 0 && kind_of(b) != 0) {
      const Value& integer = kind_of(a) == 1 ? a : b;
      const Value& number = kind_of(a) == 1 ? b : a;
      const std::string whole = WholeNumber(*number.expr);
      if (integer.divisor)
        HelpWithQuotient(*integer.divisor, report);
      else if (!whole.empty())
        report.Help(fmt::format("as an integer it is `{}`", whole), Edit{number.span, whole});
      else
        convert(integer, "the integer", "f32");
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
  if (x == DType::kI64 && !a.expr->type.is_tile) return TakeType(a, y, b);
  if (y == DType::kI64 && !b.expr->type.is_tile) return TakeType(b, x, a);
  return mixing();
}

/// An integer takes the type of the elements that it meets. One that was converted by name wraps around.
bool Elaborator::TakeType(Value& number, DType dtype, const Value& met) {
  const std::optional<int64_t> known = number.width ? std::nullopt : NumberOf(*number.expr);
  if (!known || symbolic::Holds(dtype, *known)) {
    number.expr = MakeConvert(std::move(number.expr), dtype);
    return true;
  }
  diagnostics_.Error(DiagnosticKind::kMalformedNumber, number.span, fmt::format("{} is no `{}`", *known, Name(dtype)))
      .Label(number.span, "takes the type of what it meets")
      .Label(met.span, fmt::format("is {}", Describe(met)))
      .Help(fmt::format("where it is to wrap around, say so: `{}(..)`", Name(dtype)),
            std::vector<Edit>{{{number.span.file, number.span.begin, number.span.begin}, fmt::format("{}(", Name(dtype))},
                              {{number.span.file, number.span.end, number.span.end}, ")"}});
  return false;
}

namespace {

/// The operation in which a column and a row became a tile, if one did.
const typed::Expr* ColumnMeetsRow(const typed::Expr& expr) {
  const bool is_elementwise = expr.kind == ExprKind::kBinary || expr.kind == ExprKind::kUnary || expr.kind == ExprKind::kConvert ||
                              expr.kind == ExprKind::kCall || expr.kind == ExprKind::kSelect;
  if (!is_elementwise || expr.type.rows == 1 || expr.type.cols == 1) return nullptr;
  bool has_column = false, has_row = false, has_tile = false;
  for (const ExprPtr& arg : expr.args) {
    const Type& type = arg->type;
    has_column |= type.is_tile && type.cols == 1 && type.rows > 1;
    has_row |= type.is_tile && type.rows == 1 && type.cols > 1;
    has_tile |= type.is_tile && type.rows > 1 && type.cols > 1;
  }
  if (has_column && has_row && !has_tile) return &expr;
  for (const ExprPtr& arg : expr.args) {
    if (const typed::Expr* inner = ColumnMeetsRow(*arg); inner != nullptr) return inner;
  }
  return nullptr;
}

}  // namespace

bool Elaborator::SuggestOwnPart(const Type& part, const Type& whole, Span target, DiagnosticBuilder& report) const {
  const Symbol* index = worker_ == nullptr || worker_->index.text.empty() ? nullptr : scope_->Find(worker_->index.text);
  const int64_t instances = index == nullptr ? 1 : index->value.count;
  const bool of_rows = part.cols == whole.cols && part.rows * instances == whole.rows;
  const bool of_cols = part.rows == whole.rows && part.cols * instances == whole.cols;
  if (instances <= 1 || (!of_rows && !of_cols)) return false;
  const std::string own = fmt::format(".{}({})", of_rows ? "rows" : "cols", worker_->index.text);
  report.Help(fmt::format("each of the {} instances stores its own {}: write `{}` behind the target", instances,
                          of_rows ? "rows" : "columns", own),
              Edit{{target.file, target.end, target.end}, own});
  return true;
}

ExprPtr Elaborator::Coerce(Value value, Type type, bool convert, std::string_view what, Span what_span,
                           const std::vector<typed::AxisRange>* target) {
  if (value.IsError()) return nullptr;
  const auto suggest_blocks = [&](DiagnosticBuilder& report) {
    return (target != nullptr && SuggestBlocks(*target, report)) || (value.expr && SuggestBlocks(*value.expr, report));
  };
  const auto mismatch = [&](std::string_view help) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span,
                                                  fmt::format("{} is `{}`, the value {}", what, TypeText(type), Describe(value)));
    report.Label(value.span, fmt::format("is {}", Describe(value)));
    if (what_span.file != kNoFile && !(what_span == value.span)) report.Label(what_span, fmt::format("is `{}`", TypeText(type)));
    if (value.divisor && IsFloat(type.dtype))
      HelpWithQuotient(*value.divisor, report);
    else if (!help.empty())
      report.Help(std::string(help));
    else
      suggest_blocks(report);
    return nullptr;
  };
  if (value.kind != Value::Kind::kExpr) return mismatch(value.kind == Value::Kind::kBlock ? "`.start` is its first element" : "");
  const Type from = value.expr->type;
  if (from.is_tile && !type.is_tile) return mismatch("");
  if (from.is_tile && (from.rows != type.rows || from.cols != type.cols)) {
    const bool turned = from.rows == type.cols && from.cols == type.rows;
    DiagnosticBuilder report = diagnostics_.Error(
        turned && from.cols == 1 ? ErrorKind(DiagnosticKind::kColumnAsRow) : ErrorKind(DiagnosticKind::kShapeMismatch), value.span,
        fmt::format("{} has shape [{}, {}], the value [{}, {}]", what, type.rows, type.cols, from.rows, from.cols));
    report.Label(value.span, fmt::format("`{}`", TypeText(from)));
    if (what_span.file != kNoFile && !(what_span == value.span)) report.Label(what_span, fmt::format("`{}`", TypeText(type)));
    if (const typed::Expr* met = type.rows == 1 || type.cols == 1 ? ColumnMeetsRow(*value.expr) : nullptr; met != nullptr)
      (met->span == value.span ? report.Note("a column meets a row in it: each element meets each of the other")
                               : report.Note(met->span, "a column meets a row here: each element meets each of the other"))
          .Help("to have them meet element by element, turn one of the two: add a `.T`, or leave it out");
    else if (target != nullptr && SuggestOwnPart(from, type, what_span, report))
      return nullptr;
    else if (turned && what_span == exchanged_)
      report.Help("with the indices in the order of the axes, as the warning says, the value fits");
    else if (turned)
      report.Help(value.expr->kind == ExprKind::kTranspose ? "leave out the `.T`" : "transpose it: `.T`");
    else if (!suggest_blocks(report) && IsRepeated(from, type))
      report.Help(
          fmt::format("only a number fills a tile; a {} is repeated where it is added to one", from.rows == 1 ? "row" : "column"));
    else if (IsRepeated(Type::Tile(from.dtype, from.cols, from.rows), type))
      report.Help(fmt::format("only a number fills a tile; as a {}, `.T`, this is repeated where it is added to one",
                              from.cols == 1 ? "row" : "column"));
    return nullptr;
  }
  const bool literal = !from.is_tile && value.expr->level == Level::kConst;
  const bool both_numbers = from.dtype != DType::kBool && type.dtype != DType::kBool;
  const bool same_class = both_numbers && IsFloat(from.dtype) == IsFloat(type.dtype);
  // An integer literal takes any type, but for a quotient that has lost its fraction.
  const bool widens = literal && both_numbers && !IsFloat(from.dtype) && !(value.is_rounded && IsFloat(type.dtype));
  const bool float_literal = literal && IsFloat(from.dtype) && IsFloat(type.dtype);
  const bool integer_scalar = !from.is_tile && from.dtype == DType::kI64 && both_numbers && !IsFloat(type.dtype);
  if (from.dtype != type.dtype && !(same_class && convert) && !widens && !float_literal && !integer_scalar) {
    return mismatch(both_numbers ? fmt::format("convert it: `{}(..)`", Name(type.dtype)) : std::string());
  }
  ExprPtr expr = std::move(value.expr);
  const Span span = value.span;
  expr = MakeConvert(std::move(expr), type.dtype);
  if (!from.is_tile && type.is_tile) {
    expr = MakeNode(ExprKind::kSplat, Op::kNone, type, Args(std::move(expr)), span);
  }
  return expr;
}

ExprPtr Elaborator::IntegerScalar(Value value, std::string_view what) {
  if (value.IsError()) return nullptr;
  if (!value.IsScalar() || !IsInteger(value.expr->type.dtype)) {
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

std::optional<int64_t> Elaborator::ConstantOf(const Value& value, std::string_view what, std::string_view help) {
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
      .Help(std::string(help));
  return std::nullopt;
}

std::optional<int64_t> Elaborator::Constant(const ast::Expr& expr, std::string_view what, std::string_view help) {
  return ConstantOf(Eval(expr), what, help);
}

}  // namespace tkc::sema

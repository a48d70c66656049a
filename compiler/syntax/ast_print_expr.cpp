// SPDX-License-Identifier: MIT
#include "compiler/syntax/ast_print_expr.h"

namespace tkc::ast {

void ExprPrinter::PrintExpr(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kInt: Text("{}", Cast<IntExpr>(expr).value); break;
    case ExprKind::kFloat: PrintFloat(Cast<FloatExpr>(expr).value); break;
    case ExprKind::kBool: Text("{}", Cast<BoolExpr>(expr).value); break;
    case ExprKind::kName: Text("{}", Cast<NameExpr>(expr).name); break;
    case ExprKind::kUnary: List(Spelling(Cast<UnaryExpr>(expr).op), {Cast<UnaryExpr>(expr).operand.get()}); break;
    case ExprKind::kBinary: {
      const auto& binary = Cast<BinaryExpr>(expr);
      List(Spelling(binary.op), {binary.left.get(), binary.right.get()});
      break;
    }
    case ExprKind::kCall: List(Cast<CallExpr>(expr).callee.text, Cast<CallExpr>(expr).arguments); break;
    case ExprKind::kMethod: {
      const auto& method = Cast<MethodExpr>(expr);
      Text("(.{} ", method.method.text);
      PrintExpr(*method.base);
      for (const ExprPtr& argument : method.arguments) Text(" "), PrintExpr(*argument);
      Text(")");
      break;
    }
    case ExprKind::kField: List("." + Cast<FieldExpr>(expr).field.text, {Cast<FieldExpr>(expr).base.get()}); break;
    case ExprKind::kIndex: PrintIndexed(Cast<IndexExpr>(expr)); break;
    case ExprKind::kTuple: List("tuple", Cast<TupleExpr>(expr).elements); break;
    case ExprKind::kIf: {
      const auto& value = Cast<IfExpr>(expr);
      Text("(if ");
      PrintExpr(*value.condition);
      PrintBranch(value.then_branch);
      PrintBranch(value.else_branch);
      Text(")");
      break;
    }
    case ExprKind::kReceive: {
      const auto& receive = Cast<ReceiveExpr>(expr);
      Text("(<- {}", receive.pipe.text);
      if (receive.index) Text(" "), PrintExpr(*receive.index);
      Text(")");
      break;
    }
  }
}

void ExprPrinter::PrintType(const TypeExpr& type) {
  switch (type.kind) {
    case TypeExpr::Kind::kElement:
    case TypeExpr::Kind::kNamed:
      Text("{}", type.name.text);
      if (type.has_dims) {
        Text("[");
        Separated(type.dims, [&](const ExprPtr& dim) { PrintExpr(*dim); });
        Text("]");
      }
      break;
    case TypeExpr::Kind::kIndexOf: Text("index of "), PrintExpr(*type.of); break;
    case TypeExpr::Kind::kTuple:
      Text("(");
      Separated(type.fields, [&](const TypeExpr::Field& field) {
        if (field.name) Text("{}: ", field.name.text);
        PrintType(*field.type);
        if (field.repeat) Text(" x "), PrintExpr(*field.repeat);
      });
      Text(")");
      break;
  }
}

void ExprPrinter::List(std::string_view head, std::initializer_list<const Expr*> items) {
  Text("({}", head);
  for (const Expr* item : items) Text(" "), PrintExpr(*item);
  Text(")");
}
void ExprPrinter::List(std::string_view head, const std::vector<ExprPtr>& items) {
  Text("({}", head);
  for (const ExprPtr& item : items) Text(" "), PrintExpr(*item);
  Text(")");
}

void ExprPrinter::PrintFloat(double value) {
  const std::string text = fmt::format("{}", value);
  const bool looks_float = text.find_first_of(".en") != std::string::npos;
  Text("{}{}", text, looks_float ? "" : ".0");
}

void ExprPrinter::PrintIndexed(const IndexExpr& expr) {
  Text("(index ");
  PrintExpr(*expr.base);
  for (const Index& index : expr.indices) {
    Text(" ");
    if (index.kind == Index::Kind::kAll) {
      Text(":");
    } else if (index.kind == Index::Kind::kSlice) {
      List(":+", {index.expr.get(), index.count.get()});
    } else if (index.kind == Index::Kind::kBlock) {
      List("..by", {index.expr.get(), index.end.get(), index.count.get()});
    } else {
      PrintExpr(*index.expr);
    }
  }
  if (expr.fill) Text(" else "), PrintExpr(*expr.fill);
  Text(")");
}

void ExprPrinter::PrintBranch(const Block& block) {
  if (block.stmts.empty()) {
    Text(" ");
    return PrintExpr(*block.result);
  }
  Text(" (do");
  for (const StmtPtr& stmt : block.stmts) {
    const auto& let = Cast<LetStmt>(*stmt);
    Text(" (let {} ", PatternText(let.pattern));
    PrintExpr(*let.value);
    Text(")");
  }
  Text(" ");
  PrintExpr(*block.result);
  Text(")");
}

std::string ExprPrinter::PatternText(const Pattern& pattern) {
  if (!pattern.is_tuple) return pattern.names[0].text;
  std::string text = "(";
  for (const Name& name : pattern.names) text += (text.size() > 1 ? ", " : "") + name.text;
  return text + ")";
}

void ExprPrinter::PrintRange(const Range& range) {
  if (range.low) PrintExpr(*range.low), Text(" .. ");
  PrintExpr(*range.high);
  if (range.step) Text(" by "), PrintExpr(*range.step);
}

}  // namespace tkc::ast

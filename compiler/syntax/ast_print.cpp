// SPDX-License-Identifier: MIT
#include "compiler/syntax/ast_print.h"

#include <fmt/format.h>

#include <iterator>

namespace tkc::ast {
namespace {

class Printer {
 public:
  std::string Take() { return std::move(out_); }

  void PrintFile(const File& file) {
    for (const File::Ref& ref : file.order) {
      switch (ref.kind) {
        case File::DeclKind::kImport: Line("import \"{}\"", file.imports[ref.index].path); break;
        case File::DeclKind::kFn: PrintFn(file.fns[ref.index]); break;
        case File::DeclKind::kKernel: PrintKernel(file.kernels[ref.index]); break;
        case File::DeclKind::kInstance: PrintInstance(file.instances[ref.index]); break;
        case File::DeclKind::kSchedule: PrintSchedule(file.schedules[ref.index]); break;
      }
    }
  }

  void PrintExpr(const Expr& expr) {
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

  void PrintType(const TypeExpr& type) {
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

 private:
  template <typename... Args>
  void Text(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    Indent();
    Text(format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void Indent() { out_.append(2 * indent_, ' '); }
  template <typename Items, typename Each>
  void Separated(const Items& items, Each each) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) Text(", ");
      first = false;
      each(item);
    }
  }

  void List(std::string_view head, std::initializer_list<const Expr*> items) {
    Text("({}", head);
    for (const Expr* item : items) Text(" "), PrintExpr(*item);
    Text(")");
  }
  void List(std::string_view head, const std::vector<ExprPtr>& items) {
    Text("({}", head);
    for (const ExprPtr& item : items) Text(" "), PrintExpr(*item);
    Text(")");
  }

  void PrintFloat(double value) {
    const std::string text = fmt::format("{}", value);
    const bool looks_float = text.find_first_of(".en") != std::string::npos;
    Text("{}{}", text, looks_float ? "" : ".0");
  }

  void PrintIndexed(const IndexExpr& expr) {
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

  void PrintBranch(const Block& block) {
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

  static std::string PatternText(const Pattern& pattern) {
    if (!pattern.is_tuple) return pattern.names[0].text;
    std::string text = "(";
    for (const Name& name : pattern.names) text += (text.size() > 1 ? ", " : "") + name.text;
    return text + ")";
  }

  void PrintRange(const Range& range) {
    if (range.low) PrintExpr(*range.low), Text(" .. ");
    PrintExpr(*range.high);
    if (range.step) Text(" by "), PrintExpr(*range.step);
  }

  void PrintBinding(std::string_view word, const Pattern& pattern, const TypeExprPtr& type, const Expr& value) {
    Indent();
    Text("{} {}", word, PatternText(pattern));
    if (type) Text(": "), PrintType(*type);
    Text(" = ");
    PrintExpr(value);
    Text("\n");
  }

  void PrintStmt(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kLet: {
        const auto& let = Cast<LetStmt>(stmt);
        return PrintBinding("let", let.pattern, let.type, *let.value);
      }
      case StmtKind::kVar: {
        const auto& var = Cast<VarStmt>(stmt);
        return PrintBinding("var", var.pattern, var.type, *var.value);
      }
      case StmtKind::kAssign: {
        const auto& assign = Cast<AssignStmt>(stmt);
        Indent();
        PrintExpr(*assign.target);
        Text(" {} ", Spelling(assign.op));
        PrintExpr(*assign.value);
        return Text("\n");
      }
      case StmtKind::kArrow: {
        const auto& arrow = Cast<ArrowStmt>(stmt);
        Indent();
        PrintExpr(*arrow.target);
        Text(" <- ");
        PrintExpr(*arrow.value);
        return Text("\n");
      }
      case StmtKind::kFor: {
        const auto& loop = Cast<ForStmt>(stmt);
        Indent();
        Text("for {} in ", loop.index.text);
        PrintRange(loop.range);
        Text("\n");
        return PrintBody(loop.body);
      }
      case StmtKind::kIf: {
        const auto& branch = Cast<IfStmt>(stmt);
        Indent();
        Text("if ");
        PrintExpr(*branch.condition);
        Text("\n");
        PrintBody(branch.then_branch);
        if (!branch.else_branch) return;
        Line("else");
        return PrintBody(*branch.else_branch);
      }
      case StmtKind::kEach: {
        const auto& each = Cast<EachStmt>(stmt);
        Indent();
        Text("each ");
        Separated(each.axes, [&](const Name& name) { Text("{}", name.text); });
        Text("\n");
        return PrintBody(each.body);
      }
    }
  }

  void PrintBody(const Block& block) {
    ++indent_;
    for (const StmtPtr& stmt : block.stmts) PrintStmt(*stmt);
    if (block.result) {
      Indent();
      Text("value ");
      PrintExpr(*block.result);
      Text("\n");
    }
    --indent_;
  }

  void PrintDoc(const std::string& doc) {
    for (size_t begin = 0; begin < doc.size();) {
      const size_t end = std::min(doc.find('\n', begin), doc.size());
      Line("/// {}", std::string_view(doc).substr(begin, end - begin));
      begin = end + 1;
    }
  }

  void PrintFn(const FnDecl& fn) {
    PrintDoc(fn.doc);
    Text("fn {}(", fn.name.text);
    Separated(fn.params, [&](const FnParam& param) {
      Text("{}", param.name.text);
      if (param.type) Text(": "), PrintType(*param.type);
    });
    Text(")");
    if (fn.return_type) Text(" -> "), PrintType(*fn.return_type);
    Text("\n");
    PrintBody(fn.body);
  }

  void PrintKernel(const KernelDecl& kernel) {
    PrintDoc(kernel.doc);
    Line("{}kernel {}", kernel.deterministic ? "deterministic " : "", kernel.name.text);
    ++indent_;
    for (const StaticParam& param : kernel.static_params) {
      Indent();
      Text("static {}", param.name.text);
      if (param.type) Text(": "), PrintType(*param.type);
      if (param.default_value) Text(" = "), PrintExpr(*param.default_value);
      Text("\n");
    }
    for (const Param& param : kernel.params) {
      Indent();
      static constexpr std::string_view kModes[] = {"in", "out", "inout"};
      Text("param {}: {} ", param.name.text, kModes[static_cast<int>(param.mode)]);
      PrintType(*param.type);
      if (param.preset) Text(" = "), PrintExpr(*param.preset);
      Text("\n");
    }
    for (const ExprPtr& condition : kernel.requires_) {
      Indent();
      Text("require ");
      PrintExpr(*condition);
      Text("\n");
    }
    if (kernel.require_native) Line("require native");
    for (const WorkDecl& work : kernel.works) {
      Indent();
      Text("work {}: ", work.name.text);
      PrintType(*work.type);
      if (work.preset) Text(" = "), PrintExpr(*work.preset);
      Text("\n");
    }
    for (const StmtPtr& let : kernel.lets) PrintStmt(*let);
    for (const GridSection& grid : kernel.grids) PrintGrid(grid);
    --indent_;
  }

  void PrintGrid(const GridSection& grid) {
    Line("grid{}{}", grid.persistent ? " persistent" : "", grid.dynamic ? " dynamic" : "");
    ++indent_;
    for (const GridAxis& axis : grid.axes) {
      Indent();
      Text("axis {} in ", axis.name.text);
      PrintRange(axis.range);
      Text("\n");
    }
    for (const StmtPtr& let : grid.lets) PrintStmt(*let);
    for (const PipeDecl& pipe : grid.pipes) {
      Indent();
      Text("pipe {}", pipe.name.text);
      if (pipe.slots) Text("["), PrintExpr(*pipe.slots), Text("]");
      if (pipe.per) Text(" per {}", pipe.per.text);
      Text(": ");
      PrintType(*pipe.type);
      Text("\n");
    }
    for (const WorkerDecl& worker : grid.workers) {
      Indent();
      Text("worker {}", worker.name.text);
      if (worker.count) Text("["), PrintExpr(*worker.count), Text("]");
      if (worker.index) Text(" as {}", worker.index.text);
      if (worker.in_turn) Text(" in turn");
      Text("\n");
      PrintBody(worker.body);
    }
    --indent_;
  }

  void PrintInstance(const InstanceDecl& instance) {
    Text("instance {}<", instance.kernel.text);
    Separated(instance.bindings, [&](const Binding& binding) {
      Text("{} = ", binding.name.text);
      PrintExpr(*binding.value);
    });
    Text(">\n");
  }

  void PrintSchedule(const ScheduleDecl& schedule) {
    PrintDoc(schedule.doc);
    Text("schedule {} of {}", schedule.name.text, schedule.kernel.text);
    if (!schedule.targets.empty()) {
      Text(" for ");
      Separated(schedule.targets, [&](const Name& target) { Text("{}", target.text); });
    }
    if (schedule.condition) Text(" when "), PrintExpr(*schedule.condition);
    Text("\n");
    ++indent_;
    for (const ScheduleItem& item : schedule.items) PrintItem(item);
    --indent_;
  }

  void PrintItem(const ScheduleItem& item) {
    static constexpr std::string_view kWords[] = {"",         "persistent", "dynamic",  "slots ",     "order",   "cluster", "split",
                                                  "in turn ", "depth",      "resident", "alternate ", "spread ", "cost"};
    Indent();
    Text("{}{}", kWords[static_cast<int>(item.kind)], item.name.text);
    if (item.value) Text(" = "), PrintExpr(*item.value);
    Text("\n");
  }

  std::string out_;
  int indent_ = 0;
};

}  // namespace

std::string Print(const File& file) {
  Printer printer;
  printer.PrintFile(file);
  return printer.Take();
}

std::string Print(const Expr& expr) {
  Printer printer;
  printer.PrintExpr(expr);
  return printer.Take();
}

std::string Print(const TypeExpr& type) {
  Printer printer;
  printer.PrintType(type);
  return printer.Take();
}

}  // namespace tkc::ast

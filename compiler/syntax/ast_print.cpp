// SPDX-License-Identifier: MIT
#include "compiler/syntax/ast_print.h"

#include <algorithm>

#include "compiler/syntax/ast_print_expr.h"

namespace tkc::ast {
namespace {

class Printer : public ExprPrinter {
 public:
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

 private:
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
    Text("schedule {} of ", schedule.name.text);
    Separated(schedule.kernels, [&](const Name& kernel) { Text("{}", kernel.text); });
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
};

}  // namespace

std::string Print(const File& file) {
  Printer printer;
  printer.PrintFile(file);
  return printer.Take();
}

std::string Print(const Expr& expr) {
  ExprPrinter printer;
  printer.PrintExpr(expr);
  return printer.Take();
}

std::string Print(const TypeExpr& type) {
  ExprPrinter printer;
  printer.PrintType(type);
  return printer.Take();
}

}  // namespace tkc::ast

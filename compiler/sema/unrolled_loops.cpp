// SPDX-License-Identifier: MIT
#include "compiler/sema/unrolled_loops.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/syntax/ast_print.h"

namespace tkc::sema {
namespace {

using PipeNames = std::set<std::string>;

/// Uses of an index by which it may choose something, beside parts, rings and numbers that functions are given: those always count.
struct Kinds {
  bool slices = true;    // where one begins
  bool elements = true;  // which one goes into a function
};

/// Whether the index of a loop chooses something.
class Choices {
 public:
  Choices(const std::string& index, Kinds kinds) : name_(index), kinds_(kinds) {}

  bool In(const ast::Block& block) const {
    return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const ast::StmtPtr& stmt) { return In(*stmt); });
  }

  /// `chooses`: what the expression's value is used for does.
  bool In(const ast::Expr& expr, bool chooses) const {
    const auto any = [&](const std::vector<ast::ExprPtr>& list, bool want) {
      return std::any_of(list.begin(), list.end(), [&](const ast::ExprPtr& e) { return In(*e, want); });
    };
    switch (expr.kind) {
      case ast::ExprKind::kName: return chooses && ast::Cast<ast::NameExpr>(expr).name == name_;
      case ast::ExprKind::kUnary: return In(*ast::Cast<ast::UnaryExpr>(expr).operand, chooses);
      case ast::ExprKind::kBinary:
        return In(*ast::Cast<ast::BinaryExpr>(expr).left, chooses) || In(*ast::Cast<ast::BinaryExpr>(expr).right, chooses);
      case ast::ExprKind::kCall: return any(ast::Cast<ast::CallExpr>(expr).arguments, true);
      case ast::ExprKind::kMethod:
        return In(*ast::Cast<ast::MethodExpr>(expr).base, chooses) || any(ast::Cast<ast::MethodExpr>(expr).arguments, true);
      case ast::ExprKind::kField: return In(*ast::Cast<ast::FieldExpr>(expr).base, chooses);
      case ast::ExprKind::kTuple: return any(ast::Cast<ast::TupleExpr>(expr).elements, chooses);
      case ast::ExprKind::kReceive:
        return ast::Cast<ast::ReceiveExpr>(expr).index && In(*ast::Cast<ast::ReceiveExpr>(expr).index, true);
      case ast::ExprKind::kIf:
        return In(*ast::Cast<ast::IfExpr>(expr).condition, chooses) ||
               In(*ast::Cast<ast::IfExpr>(expr).then_branch.result, chooses) ||
               In(*ast::Cast<ast::IfExpr>(expr).else_branch.result, chooses);
      case ast::ExprKind::kIndex: {
        const auto& index = ast::Cast<ast::IndexExpr>(expr);
        if (In(*index.base, chooses)) return true;
        for (const ast::Index& i : index.indices) {
          const bool is_start = i.kind == ast::Index::Kind::kSlice || i.kind == ast::Index::Kind::kBlock;
          if (i.expr && In(*i.expr, is_start ? chooses || kinds_.slices : chooses && kinds_.elements)) return true;
        }
        return false;
      }
      default: return false;
    }
  }

 private:
  /// `p[u] <- x` names a ring; a store `Y[u] <- x` an element. A number serves both.
  bool NamesRing(const ast::Expr& target) const {
    const auto* index = ast::DynCast<ast::IndexExpr>(target);
    return index && index->indices.size() == 1 && index->indices[0].expr && In(*index->indices[0].expr, true);
  }

  bool In(const ast::Stmt& stmt) const {
    switch (stmt.kind) {
      case ast::StmtKind::kLet: return In(*ast::Cast<ast::LetStmt>(stmt).value, false);
      case ast::StmtKind::kVar: return In(*ast::Cast<ast::VarStmt>(stmt).value, false);
      case ast::StmtKind::kAssign: {
        const auto& assign = ast::Cast<ast::AssignStmt>(stmt);
        return In(*assign.target, false) || In(*assign.value, false);
      }
      case ast::StmtKind::kArrow: {
        const auto& arrow = ast::Cast<ast::ArrowStmt>(stmt);
        return In(*arrow.target, false) || NamesRing(*arrow.target) || In(*arrow.value, false);
      }
      case ast::StmtKind::kFor: return In(ast::Cast<ast::ForStmt>(stmt).body);
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(stmt);
        return In(*branch.condition, false) || In(branch.then_branch) || (branch.else_branch && In(*branch.else_branch));
      }
      case ast::StmtKind::kEach: return In(ast::Cast<ast::EachStmt>(stmt).body);
    }
    return false;
  }

  const std::string& name_;
  const Kinds kinds_;
};

bool HasLoopOverBlocks(const ast::Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const ast::StmtPtr& stmt) {
    if (const auto* loop = ast::DynCast<ast::ForStmt>(*stmt)) return loop->range.step || HasLoopOverBlocks(loop->body);
    const auto* branch = ast::DynCast<ast::IfStmt>(*stmt);
    return branch && (HasLoopOverBlocks(branch->then_branch) || (branch->else_branch && HasLoopOverBlocks(*branch->else_branch)));
  });
}

/// Which element a function is given would do without a number; but written out, loads of several iterations are under way
/// together. Not so around a loop over blocks, which waits for each of its own.
bool NeedsNumber(const ast::ForStmt& loop) {
  return Choices(loop.index.text, {.elements = !HasLoopOverBlocks(loop.body)}).In(loop.body);
}

/// `p[u]` or `p[u].name`.
bool IsRingOf(const std::string& index, const ast::Expr& target, const PipeNames& pipes) {
  if (const auto* field = ast::DynCast<ast::FieldExpr>(target)) return IsRingOf(index, *field->base, pipes);
  const auto* element = ast::DynCast<ast::IndexExpr>(target);
  if (!element || element->indices.size() != 1 || element->indices[0].kind != ast::Index::Kind::kExpr) return false;
  const auto* pipe = ast::DynCast<ast::NameExpr>(*element->base);
  const auto* number = ast::DynCast<ast::NameExpr>(*element->indices[0].expr);
  return pipe && number && pipes.contains(pipe->name) && number->name == index;
}

bool FillsRingsOf(const ast::ForStmt& loop, const PipeNames& pipes) {
  const Choices choices(loop.index.text, {.slices = false});
  const std::vector<ast::StmtPtr>& stmts = loop.body.stmts;
  return !stmts.empty() && std::all_of(stmts.begin(), stmts.end(), [&](const ast::StmtPtr& stmt) {
    const auto* arrow = ast::DynCast<ast::ArrowStmt>(*stmt);
    return arrow && IsRingOf(loop.index.text, *arrow->target, pipes) && !choices.In(*arrow->value, false);
  });
}

std::string TextOf(const ast::Range& range) { return (range.low ? ast::Print(*range.low) : "") + ".." + ast::Print(*range.high); }

/// Loops over single numbers in one place: under loops of the same ranges, whatever the worker.
struct LoopsOfPlace {
  std::vector<const ast::ForStmt*> loops;
  std::set<size_t> workers;
  bool needs_number = false;
};
using Places = std::map<std::string, LoopsOfPlace>;  // by the ranges from the outermost loop on, as text

void CollectLoops(const std::vector<ast::StmtPtr>& stmts, const std::string& outer, size_t worker, const PipeNames& of_instances,
                  Places& places) {
  for (const ast::StmtPtr& stmt : stmts) {
    switch (stmt->kind) {
      case ast::StmtKind::kFor: {
        const auto& loop = ast::Cast<ast::ForStmt>(*stmt);
        if (FillsRingsOf(loop, of_instances)) break;  // no other worker has this loop
        const std::string here = outer + "/" + TextOf(loop.range);
        if (!loop.range.step) {
          LoopsOfPlace& place = places[here];
          place.loops.push_back(&loop);
          place.workers.insert(worker);
          place.needs_number = place.needs_number || NeedsNumber(loop);
        }
        CollectLoops(loop.body.stmts, here, worker, of_instances, places);
        break;
      }
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(*stmt);
        CollectLoops(branch.then_branch.stmts, outer, worker, of_instances, places);
        if (branch.else_branch) CollectLoops(branch.else_branch->stmts, outer, worker, of_instances, places);
        break;
      }
      case ast::StmtKind::kEach:
        CollectLoops(ast::Cast<ast::EachStmt>(*stmt).body.stmts, outer, worker, of_instances, places);
        break;
      default: break;
    }
  }
}

}  // namespace

UnrolledLoops::UnrolledLoops(const ast::GridSection& section) {
  for (const ast::PipeDecl& pipe : section.pipes) {
    if (pipe.per) of_instances_.insert(pipe.name.text);
  }
  Places places;
  for (size_t i = 0; i < section.workers.size(); ++i) CollectLoops(section.workers[i].body.stmts, "", i, of_instances_, places);
  for (const auto& [ranges, place] : places) {
    if (place.needs_number && place.workers.size() > 1) for_others_.insert(place.loops.begin(), place.loops.end());
  }
}

bool UnrolledLoops::NeedNumbers(const ast::ForStmt& loop) const { return NeedsNumber(loop) || for_others_.contains(&loop); }

bool UnrolledLoops::FillsRings(const ast::ForStmt& loop) const { return FillsRingsOf(loop, of_instances_); }

}  // namespace tkc::sema

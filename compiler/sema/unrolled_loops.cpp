// SPDX-License-Identifier: MIT
#include "compiler/sema/unrolled_loops.h"

#include <algorithm>
#include <vector>

#include "compiler/sema/unknown_names.h"
#include "compiler/syntax/ast_print.h"

namespace tkc::sema {
namespace {

using Names = UnrolledLoops::Names;
using enum IndexUse;

/// The ring of `p[u]` and of `p[u].name`, or null.
const ast::IndexExpr* RingOf(const ast::Expr& target, const std::set<std::string>& pipes) {
  if (const auto* field = ast::DynCast<ast::FieldExpr>(target)) return RingOf(*field->base, pipes);
  const auto* ring = ast::DynCast<ast::IndexExpr>(target);
  if (!ring || ring->indices.size() != 1 || ring->indices[0].kind != ast::Index::Kind::kExpr) return nullptr;
  const auto* pipe = ast::DynCast<ast::NameExpr>(*ring->base);
  return pipe && pipes.contains(pipe->name) ? ring : nullptr;
}

/// What the index of one loop is used for.
class Uses {
 public:
  Uses(const std::string& index, const Names& names) : index_(index), names_(names) {}

  IndexUse In(const ast::Block& block) const {
    Uses here = *this;
    IndexUse most = kNumber;
    for (const ast::StmtPtr& stmt : block.stmts) {
      most = std::max(most, here.In(*stmt));
      const auto* let = ast::DynCast<ast::LetStmt>(*stmt);
      if (let && !let->pattern.is_tuple && here.IsNumberOfIndex(*let->value)) here.numbers_.insert(let->pattern.names[0].text);
    }
    return most;
  }

  /// `of_tensors`: what it is used for that says where a tensor is read.
  IndexUse In(const ast::Expr& expr, IndexUse of_tensors) const { return In(expr, kNumber, of_tensors); }

 private:
  /// `as`: what the expression's value is used for.
  IndexUse In(const ast::Expr& expr, IndexUse as, IndexUse of_tensors) const {
    const auto most = [&](const std::vector<ast::ExprPtr>& list, IndexUse use) {
      IndexUse result = kNumber;
      for (const ast::ExprPtr& each : list) result = std::max(result, In(*each, use, of_tensors));
      return result;
    };
    switch (expr.kind) {
      case ast::ExprKind::kName: {
        const std::string& name = ast::Cast<ast::NameExpr>(expr).name;
        return name == index_ || (as == kChoice && numbers_.contains(name)) ? as : kNumber;
      }
      case ast::ExprKind::kUnary: return In(*ast::Cast<ast::UnaryExpr>(expr).operand, as, of_tensors);
      case ast::ExprKind::kBinary: {
        const auto& binary = ast::Cast<ast::BinaryExpr>(expr);
        return std::max(In(*binary.left, as, of_tensors), In(*binary.right, as, of_tensors));
      }
      case ast::ExprKind::kCall: {
        const auto& call = ast::Cast<ast::CallExpr>(expr);
        return most(call.arguments, IsOfElements(call.callee.text) ? as : kChoice);
      }
      case ast::ExprKind::kMethod: {
        const auto& method = ast::Cast<ast::MethodExpr>(expr);
        return std::max(In(*method.base, as, of_tensors), most(method.arguments, kChoice));
      }
      case ast::ExprKind::kField: return In(*ast::Cast<ast::FieldExpr>(expr).base, as, of_tensors);
      case ast::ExprKind::kTuple: return most(ast::Cast<ast::TupleExpr>(expr).elements, as);
      case ast::ExprKind::kReceive: {
        const auto& receive = ast::Cast<ast::ReceiveExpr>(expr);
        return receive.index ? In(*receive.index, kChoice, of_tensors) : kNumber;
      }
      case ast::ExprKind::kIf: {
        const auto& choice = ast::Cast<ast::IfExpr>(expr);
        return std::max({In(*choice.condition, as, of_tensors), In(*choice.then_branch.result, as, of_tensors),
                         In(*choice.else_branch.result, as, of_tensors)});
      }
      case ast::ExprKind::kIndex: {
        const auto& indexed = ast::Cast<ast::IndexExpr>(expr);
        const auto* base = ast::DynCast<ast::NameExpr>(*indexed.base);
        const bool is_tensor = base && names_.tensors.contains(base->name);
        IndexUse result = In(*indexed.base, as, of_tensors);
        for (const ast::Index& each : indexed.indices) {
          const bool is_slice = each.kind == ast::Index::Kind::kSlice || each.kind == ast::Index::Kind::kBlock;
          if (each.expr) result = std::max(result, In(*each.expr, is_tensor ? of_tensors : is_slice ? kChoice : as, of_tensors));
        }
        return result;
      }
      default: return kNumber;
    }
  }

  IndexUse In(const ast::Stmt& stmt) const {
    switch (stmt.kind) {
      case ast::StmtKind::kLet: return In(*ast::Cast<ast::LetStmt>(stmt).value, kLoad);
      case ast::StmtKind::kVar: return In(*ast::Cast<ast::VarStmt>(stmt).value, kLoad);
      case ast::StmtKind::kAssign: {
        const auto& assign = ast::Cast<ast::AssignStmt>(stmt);
        return std::max(In(*assign.target, kNumber), In(*assign.value, kLoad));
      }
      case ast::StmtKind::kArrow: {
        const auto& arrow = ast::Cast<ast::ArrowStmt>(stmt);
        const auto* ring = RingOf(*arrow.target, names_.pipes);
        const IndexUse of_ring = ring ? In(*ring->indices[0].expr, kChoice, kNumber) : In(*arrow.target, kNumber);
        return std::max(of_ring, In(*arrow.value, IsPipe(*arrow.target) ? kNumber : kLoad));
      }
      case ast::StmtKind::kFor: return In(ast::Cast<ast::ForStmt>(stmt).body);
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(stmt);
        return std::max(
            {In(*branch.condition, kNumber), In(branch.then_branch), branch.else_branch ? In(*branch.else_branch) : kNumber});
      }
      case ast::StmtKind::kEach: return In(ast::Cast<ast::EachStmt>(stmt).body);
    }
    return kNumber;
  }

  /// Whether it is known where the index is.
  bool IsNumberOfIndex(const ast::Expr& expr) const {
    if (expr.kind == ast::ExprKind::kInt) return true;
    if (const auto* name = ast::DynCast<ast::NameExpr>(expr))
      return name->name == index_ || numbers_.contains(name->name) || names_.parameters.contains(name->name);
    if (const auto* unary = ast::DynCast<ast::UnaryExpr>(expr)) return IsNumberOfIndex(*unary->operand);
    const auto* binary = ast::DynCast<ast::BinaryExpr>(expr);
    return binary && IsNumberOfIndex(*binary->left) && IsNumberOfIndex(*binary->right);
  }

  bool IsPipe(const ast::Expr& target) const {
    if (const auto* field = ast::DynCast<ast::FieldExpr>(target)) return IsPipe(*field->base);
    if (const auto* name = ast::DynCast<ast::NameExpr>(target)) return names_.pipes.contains(name->name);
    return RingOf(target, names_.pipes) != nullptr;
  }

  const std::string& index_;
  const Names& names_;
  std::set<std::string> numbers_{};  // names for what is computed from the index, or known anyway
};

bool HasLoopOverBlocks(const ast::Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const ast::StmtPtr& stmt) {
    if (const auto* loop = ast::DynCast<ast::ForStmt>(*stmt)) return loop->range.step || HasLoopOverBlocks(loop->body);
    const auto* branch = ast::DynCast<ast::IfStmt>(*stmt);
    return branch && (HasLoopOverBlocks(branch->then_branch) || (branch->else_branch && HasLoopOverBlocks(*branch->else_branch)));
  });
}

IndexUse UseIn(const ast::ForStmt& loop, const Names& names) {
  const IndexUse use = Uses(loop.index.text, names).In(loop.body);
  // Loads of several turns do not meet around a loop over blocks, which waits for each of its own.
  return use == kLoad && HasLoopOverBlocks(loop.body) ? kNumber : use;
}

bool FillsRingsOf(const ast::ForStmt& loop, const Names& names) {
  const Uses uses(loop.index.text, names);
  const std::vector<ast::StmtPtr>& stmts = loop.body.stmts;
  return !stmts.empty() && std::all_of(stmts.begin(), stmts.end(), [&](const ast::StmtPtr& stmt) {
    const auto* arrow = ast::DynCast<ast::ArrowStmt>(*stmt);
    const auto* ring = arrow ? RingOf(*arrow->target, names.of_instances) : nullptr;
    const auto* number = ring ? ast::DynCast<ast::NameExpr>(*ring->indices[0].expr) : nullptr;
    return number && number->name == loop.index.text && uses.In(*arrow->value, kNumber) == kNumber;
  });
}

std::string TextOf(const ast::Range& range) { return (range.low ? ast::Print(*range.low) : "") + ".." + ast::Print(*range.high); }

/// Loops over single numbers in one place: under loops of the same ranges, whatever the worker.
struct LoopsOfPlace {
  std::vector<const ast::ForStmt*> loops;
  std::set<const ast::WorkerDecl*> workers;
  IndexUse use = kNumber;
};
using Places = std::map<std::string, LoopsOfPlace>;  // by the ranges from the outermost loop on, as text

void CollectLoops(const std::vector<ast::StmtPtr>& stmts, const std::string& outer, const ast::WorkerDecl& worker,
                  const Names& names, Places& places) {
  for (const ast::StmtPtr& stmt : stmts) {
    switch (stmt->kind) {
      case ast::StmtKind::kFor: {
        const auto& loop = ast::Cast<ast::ForStmt>(*stmt);
        if (FillsRingsOf(loop, names)) break;  // no other worker has this loop
        const std::string here = outer + "/" + TextOf(loop.range);
        if (!loop.range.step) {
          LoopsOfPlace& place = places[here];
          place.loops.push_back(&loop);
          place.workers.insert(&worker);
          place.use = std::max(place.use, UseIn(loop, names));
        }
        CollectLoops(loop.body.stmts, here, worker, names, places);
        break;
      }
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(*stmt);
        CollectLoops(branch.then_branch.stmts, outer, worker, names, places);
        if (branch.else_branch) CollectLoops(branch.else_branch->stmts, outer, worker, names, places);
        break;
      }
      case ast::StmtKind::kEach: CollectLoops(ast::Cast<ast::EachStmt>(*stmt).body.stmts, outer, worker, names, places); break;
      default: break;
    }
  }
}

}  // namespace

UnrolledLoops::UnrolledLoops(const ast::KernelDecl& kernel, const ast::GridSection& section) {
  for (const ast::Param& param : kernel.params) {
    if (param.IsTensor()) names_.tensors.insert(param.name.text);
  }
  for (const ast::StaticParam& param : kernel.static_params) names_.parameters.insert(param.name.text);
  for (const ast::WorkDecl& work : kernel.works) names_.tensors.insert(work.name.text);
  for (const ast::PipeDecl& pipe : section.pipes) {
    names_.pipes.insert(pipe.name.text);
    if (pipe.per) names_.of_instances.insert(pipe.name.text);
  }
  Places places;
  for (const ast::WorkerDecl& worker : section.workers) CollectLoops(worker.body.stmts, "", worker, names_, places);
  for (const auto& [ranges, place] : places) {
    for (const ast::ForStmt* loop : place.loops) of_loops_[loop] = place.workers.size() > 1 ? place.use : UseIn(*loop, names_);
  }
}

IndexUse UnrolledLoops::UseOf(const ast::ForStmt& loop) const {
  const auto found = of_loops_.find(&loop);
  return found != of_loops_.end() ? found->second : UseIn(loop, Names());  // in a function, what looks like a tensor may be a tile
}

bool UnrolledLoops::FillsRings(const ast::ForStmt& loop) const { return FillsRingsOf(loop, names_); }

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Typed statements to operations.
#include "compiler/ir/lower_worker.h"

#include <utility>

#include <fmt/format.h>

#include <algorithm>

namespace tkc::ir {

using typed::StmtKind;

WorkerLowering::WorkerLowering(const typed::Kernel& source, const typed::Section& section, Kernel& kernel)
    : source_(source), section_(section), kernel_(kernel) {
  used_names_ = {"tile", "tiles", "layout", "shared"};  // what every kernel's code has
  for (const typed::Dim& dim : source.dims) used_names_.insert(dim.name);
  for (const typed::Param& param : source.params) used_names_.insert(param.name);
  for (const typed::Pipe& pipe : section.pipes) used_names_.insert(pipe.name);
  for (const typed::VarId var : {source.sms_var, source.room_var, source.aligned_var, source.contiguous_var}) {
    if (var != typed::kNone) GiveName(var, source.vars[var].name);
  }
}

std::string WorkerLowering::UniqueScalar(const std::string& name) {
  const auto is_taken = [&](const std::string& candidate) {
    const bool is_value = kernel_.names_of_values.Contains(candidate) && scalar_names_.count(candidate) == 0;
    return is_value || used_names_.count(candidate) != 0;
  };
  std::string unique = name;
  for (int& i = last_suffix_[name]; is_taken(unique);) unique = fmt::format("{}_{}", name, ++i);
  used_names_.insert(unique);
  if (unique != name && scalar_names_.contains(name)) kernel_.numbered_scalars.emplace(unique, name);
  scalar_names_.insert(unique);
  kernel_.names_of_values.Take(unique);
  return unique;
}

const std::string& WorkerLowering::ScalarName(typed::VarId var) {
  auto [place, is_new] = scalars_.try_emplace(var);
  if (is_new) place->second = UniqueScalar(source_.vars[var].name);
  return place->second;
}

void WorkerLowering::LowerBlock(const typed::Block& block, Region& region) {
  Region* const around = std::exchange(into_, &region);
  for (const typed::StmtPtr& stmt : block) LowerStmt(*stmt, region);
  into_ = around;
}

void WorkerLowering::LowerStmt(const typed::Stmt& stmt, Region& region) {
  switch (stmt.kind) {
    case StmtKind::kLet: return LowerBinding(stmt, region);
    case StmtKind::kAssign: return LowerAssign(stmt, region);
    case StmtKind::kAssignPart: {
      const ValueId value = LowerTile(*stmt.expr, region);
      Op op{OpCode::kAssignPart, {}, {tiles_.at(stmt.var), value}, {LowerScalar(*stmt.row), LowerScalar(*stmt.col)}};
      op.span = stmt.span;
      region.push_back(std::move(op));
      return;
    }
    case StmtKind::kFor: return LowerFor(stmt, region);
    case StmtKind::kIf: {
      Op op{OpCode::kIf, {}, {}, {LowerScalar(*stmt.expr)}};
      op.span = stmt.span;
      op.regions.resize(2);
      LowerBlock(stmt.body, op.regions[0]);
      LowerBlock(stmt.orelse, op.regions[1]);
      region.push_back(std::move(op));
      return;
    }
    case StmtKind::kReceive: return LowerReceive(stmt, region);
    case StmtKind::kSend: return LowerSend(stmt, region);
    case StmtKind::kStore: return LowerStore(stmt, region);
  }
}

void WorkerLowering::LowerBinding(const typed::Stmt& stmt, Region& region) {
  const typed::Var& var = source_.vars[stmt.var];
  const bool is_mutable = var.kind == typed::VarKind::kMutable;
  if (!var.type.is_tile) {
    Op op{OpCode::kLet, {}, {}, {LowerScalar(*stmt.expr)}};
    op.symbol = ScalarName(stmt.var);
    op.Set(is_mutable ? kMayChange : kStays);
    op.span = stmt.span;
    region.push_back(std::move(op));
    return;
  }
  const typed::Expr* named = stmt.expr.get();
  while (IsItsOperand(*named)) named = named->args[0].get();
  const bool names_another = named->kind == typed::ExprKind::kVar;
  const ValueId value = LowerTile(*stmt.expr, region, is_mutable ? "" : var.name);
  if (!is_mutable && !(names_another && kernel_.values[value].is_mutable)) {
    tiles_[stmt.var] = value;
    if (kernel_.values[value].base == var.name) kernel_.KeepName(value);  // else it is another variable's value
    return;
  }
  tiles_[stmt.var] = Emit(region, {OpCode::kVar, {}, {value}}, var.type, var.name, stmt.span, true);
  kernel_.KeepName(tiles_[stmt.var]);
}

void WorkerLowering::LowerAssign(const typed::Stmt& stmt, Region& region) {
  const typed::Var& var = source_.vars[stmt.var];
  const auto assign = [&](ValueId value) {
    Op op{OpCode::kAssign, {}, {tiles_.at(stmt.var), value}};
    op.span = stmt.span;
    region.push_back(std::move(op));
  };
  if (!var.type.is_tile) {
    Op op{OpCode::kLet, {}, {}, {LowerScalar(*stmt.expr)}};
    op.symbol = ScalarName(stmt.var);
    op.Set(kChanges);
    op.span = stmt.span;
    region.push_back(std::move(op));
    return;
  }
  const SumOfProducts sum = Split(*stmt.expr);
  const bool is_product = sum.rest == nullptr && sum.terms.size() == 1;
  if (sum.terms.empty() || is_product) return assign(LowerTile(*stmt.expr, region));
  const bool is_self = sum.rest != nullptr && sum.rest->kind == typed::ExprKind::kVar && sum.rest->id == stmt.var;
  const ValueId rest = is_self ? kNone : sum.rest == nullptr ? LowerNothing(*stmt.expr, region) : LowerTile(*sum.rest, region);
  // The operands are values before the variable changes.
  std::vector<Op> terms;
  for (const SumOfProducts::Term& term : sum.terms) terms.push_back(LowerTerm(term, region, stmt.span));
  if (!is_self) assign(rest);
  for (Op& term : terms) {
    term.operands[0] = tiles_.at(stmt.var);
    region.push_back(std::move(term));
  }
}

void WorkerLowering::LowerFor(const typed::Stmt& stmt, Region& region) {
  Op op{OpCode::kFor, {}, {}, {LowerScalar(*stmt.lo), LowerScalar(*stmt.hi)}};
  op.symbol = ScalarName(stmt.var);
  op.SetStep(stmt.step);
  op.span = stmt.span;
  op.regions.resize(1);
  LowerBlock(stmt.body, op.regions[0]);
  region.push_back(std::move(op));
}

void WorkerLowering::LowerReceive(const typed::Stmt& stmt, Region& region) {
  const typed::Pipe& pipe = section_.pipes[stmt.pipe];
  Op op{OpCode::kReceive};
  op.symbol = pipe.name;
  op.span = stmt.span;
  if (stmt.ring) op.scalars.push_back(LowerScalar(*stmt.ring));
  for (size_t i = 0; i < pipe.fields.size(); ++i) {
    const typed::PipeField& field = pipe.fields[i];
    const typed::VarId var = stmt.received[i];
    const ValueId value =
        kernel_.AddValue(var == typed::kNone ? pipe.name : source_.vars[var].name, Type{field.dtype, field.rows, field.cols});
    if (var != typed::kNone) {
      tiles_[var] = value;
      kernel_.KeepName(value);
    }
    op.results.push_back(value);
  }
  region.push_back(std::move(op));
}

void WorkerLowering::LowerSend(const typed::Stmt& stmt, Region& region) {
  Op op{OpCode::kSend};
  op.symbol = section_.pipes[stmt.pipe].name;
  op.SetField(stmt.field);
  op.span = stmt.span;
  op.scalars = {stmt.row ? LowerScalar(*stmt.row) : symbolic::Int(0), stmt.col ? LowerScalar(*stmt.col) : symbolic::Int(0)};
  if (stmt.ring) op.scalars.push_back(LowerScalar(*stmt.ring));
  for (const typed::ExprPtr& value : stmt.values) op.operands.push_back(LowerTile(*value, region));
  region.push_back(std::move(op));
}

namespace {

/// What is computed for a tensor is called after it, but for what is a variable or another tensor, converted or reduced.
std::string NameOfStored(const typed::Expr& value, const std::string& tensor, const typed::Kernel& source) {
  const bool is_after = value.kind == typed::ExprKind::kConvert || value.kind == typed::ExprKind::kReduce;
  const typed::Expr& stored = is_after ? *value.args[0] : value;
  return NameOfOperand(stored, source).empty() ? tensor + "_tile" : "";
}

}  // namespace

void WorkerLowering::LowerStore(const typed::Stmt& stmt, Region& region) {
  Op op{OpCode::kStore};
  op.symbol = source_.params[stmt.tensor].name;
  op.axes = LowerAxes(stmt.axes);
  op.Set(stmt.store_op);
  op.span = stmt.span;
  op.operands = {LowerTile(*stmt.expr, region, NameOfStored(*stmt.expr, op.symbol, source_))};
  region.push_back(std::move(op));
}

}  // namespace tkc::ir

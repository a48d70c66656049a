// SPDX-License-Identifier: MIT
#include "compiler/sema/symbolic_table.h"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace tkc::sema {
namespace {

using symbolic::Kind;
using typed::Expr;
using typed::ExprKind;
using typed::Op;

/// Definitions whose text is longer than this become a function of the names in them instead of being copied into every formula.
constexpr size_t kLongText = 600;

}  // namespace

Kind SymbolicKind(Op op) {
  switch (op) {
    case Op::kNeg: return Kind::kNeg;
    case Op::kNot: return Kind::kNot;
    case Op::kAdd: return Kind::kAdd;
    case Op::kSub: return Kind::kSub;
    case Op::kMul: return Kind::kMul;
    case Op::kDiv: return Kind::kDiv;
    case Op::kMod: return Kind::kMod;
    case Op::kMin: return Kind::kMin;
    case Op::kMax: return Kind::kMax;
    case Op::kCdiv: return Kind::kCdiv;
    case Op::kEq: return Kind::kEq;
    case Op::kNe: return Kind::kNe;
    case Op::kLt: return Kind::kLt;
    case Op::kLe: return Kind::kLe;
    case Op::kGt: return Kind::kGt;
    case Op::kGe: return Kind::kGe;
    case Op::kAnd: return Kind::kAnd;
    case Op::kOr: return Kind::kOr;
    default: return Kind::kCall;
  }
}

std::string SymbolicTable::NameOf(typed::VarId var) { return 'v' + std::to_string(var); }

symbolic::Scalar SymbolicTable::Of(const Expr& expr) {
  const auto args = [&] {
    std::vector<symbolic::Scalar> scalars;
    for (const typed::ExprPtr& arg : expr.args) scalars.push_back(Of(*arg));
    return scalars;
  };
  switch (expr.kind) {
    case ExprKind::kInt: return symbolic::Int(expr.int_value);
    case ExprKind::kFloat: return symbolic::Float(expr.float_value);
    case ExprKind::kBool: return symbolic::Bool(expr.int_value != 0);
    case ExprKind::kDim: return symbolic::Name(NameOfDim(kernel_.dims[expr.id].name));
    case ExprKind::kParam: return symbolic::Name(NameOfParam(kernel_.params[expr.id].name), expr.type.dtype);
    case ExprKind::kVar: {
      const auto known = values_.find(expr.id);
      return known == values_.end() ? symbolic::Name(NameOf(expr.id), expr.type.dtype) : known->second;
    }
    case ExprKind::kElement: {
      std::vector<symbolic::Scalar> indices;
      for (const typed::AxisRange& axis : expr.axes) indices.push_back(Of(*axis.start));
      return symbolic::Element(NameOfParam(kernel_.params[expr.id].name), expr.type.dtype, std::move(indices));
    }
    case ExprKind::kConvert:
      // Integers are one kind here: a formula over them does not see their width.
      if (expr.type.dtype == DType::kI64 && !IsFloat(expr.args[0]->type.dtype)) return Of(*expr.args[0]);
      return symbolic::Convert(Of(*expr.args[0]), expr.type.dtype);
    case ExprKind::kSelect: return symbolic::Make(Kind::kSelect, expr.type.dtype, args());
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kCall: {
      if (expr.op == Op::kAbs && expr.type.dtype == DType::kI64) {
        const symbolic::Scalar number = Of(*expr.args[0]);
        return symbolic::Make(Kind::kMax, DType::kI64, {number, symbolic::Sub(symbolic::Int(0), number)});
      }
      const Kind kind = SymbolicKind(expr.op);
      if (kind == Kind::kCall) return symbolic::Call(fmt::format("op{}", static_cast<int>(expr.op)), expr.type.dtype, args());
      return symbolic::Make(kind, expr.type.dtype, args());
    }
    default: return symbolic::Name(fmt::format("opaque.{}.{}", expr.span.file, expr.span.begin), expr.type.dtype);
  }
}

void SymbolicTable::Rename(typed::VarId var, std::string name) { values_[var] = symbolic::Name(std::move(name)); }

void SymbolicTable::Fix(typed::VarId var, int64_t value) { values_[var] = symbolic::Int(value); }

void SymbolicTable::Define(typed::VarId var, const Expr& expr) {
  symbolic::Scalar value = Of(expr);
  std::string text = symbolic::CanonicalText(value);
  if (text.size() > kLongText) {
    const auto [place, is_new] = long_definitions_.try_emplace(std::move(text), fmt::format("e{}", long_definitions_.size()));
    // Whoever asks whether a name is in it has to find it.
    std::set<std::string> names;
    symbolic::AddNames(value, names);
    std::vector<symbolic::Scalar> args;
    for (const std::string& name : names) args.push_back(symbolic::Name(name));
    value = symbolic::Call(place->second, expr.type.dtype, std::move(args));
  }
  values_[var] = std::move(value);
}

std::vector<symbolic::Scalar> SymbolicTable::RequirementsOfLaunch() {
  std::vector<symbolic::Scalar> requirements;
  for (const typed::ExprPtr& requirement : kernel_.requires_at_launch) requirements.push_back(Of(*requirement));
  return requirements;
}

bool SymbolicTable::AreEqual(const Expr& a, const Expr& b) {
  if (a.kind == b.kind && a.kind == ExprKind::kDim) return a.id == b.id;
  if (a.kind == b.kind && a.kind == ExprKind::kInt) return a.int_value == b.int_value;
  return symbolic::Equal(Of(a), Of(b));
}

void DefineLets(const typed::Kernel& kernel, const typed::Block& block, SymbolicTable& table) {
  for (const typed::StmtPtr& stmt : block) {
    if (stmt->kind == typed::StmtKind::kLet) {
      const typed::Var& var = kernel.vars[stmt->var];
      if (var.kind == typed::VarKind::kLet && !var.type.is_tile && var.level != typed::Level::kWorker)
        table.Define(stmt->var, *stmt->expr);
    }
    DefineLets(kernel, stmt->body, table);
    DefineLets(kernel, stmt->orelse, table);
  }
}

}  // namespace tkc::sema

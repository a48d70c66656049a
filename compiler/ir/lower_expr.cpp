// SPDX-License-Identifier: MIT
// Typed tile expressions to operations, in the order of evaluation: left to right.
#include "compiler/ir/lower_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/view_of_leaves.h"
#include "compiler/support/internal_error.h"

namespace tkc::ir {

using typed::ExprKind;

std::string_view NameOfOperand(const typed::Expr& expr, const typed::Kernel& source) {
  switch (expr.kind) {
    case ExprKind::kVar: return source.vars[expr.id].name;
    case ExprKind::kRead:
    case ExprKind::kGather: return source.params[expr.id].name;
    case ExprKind::kTranspose: return NameOfOperand(*expr.args[0], source);
    default: return {};
  }
}

namespace {

Scalar Zero(DType dtype) {
  if (dtype == DType::kBool) return symbolic::Bool(false);
  return IsFloat(dtype) ? symbolic::Float(0, dtype) : symbolic::Convert(symbolic::Int(0), dtype);
}

/// What is done to an operand stands behind its name: `p_bf16`, `x_sum`.
std::string NameAfterOperand(const typed::Expr& expr, std::string_view suffix, std::string_view otherwise,
                             const typed::Kernel& source) {
  const std::string_view operand = NameOfOperand(*expr.args[0], source);
  return operand.empty() || suffix.empty() ? std::string(otherwise) : fmt::format("{}_{}", operand, suffix);
}

std::string_view SuffixOfReduction(typed::Op op) {
  return op == typed::Op::kAdd ? "sum" : op == typed::Op::kMax ? "max" : op == typed::Op::kMin ? "min" : "";
}

/// Of a value between the operations of an expression.
std::string_view NameOfResult(typed::Op op) {
  using typed::Op;
  switch (op) {
    case Op::kAdd: return "sum";
    case Op::kSub: return "difference";
    case Op::kMul: return "product";
    case Op::kDiv: return "quotient";
    case Op::kMax: return "maximum";
    case Op::kMin: return "minimum";
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
    case Op::kAnd:
    case Op::kOr:
    case Op::kNot: return "mask";
    case Op::kAbs: return "magnitude";
    case Op::kExp:
    case Op::kExp2:
    case Op::kPow: return "power";
    default: return "value";
  }
}

std::string DefaultName(const typed::Expr& expr, const typed::Kernel& source) {
  switch (expr.kind) {
    case ExprKind::kGather:
    case ExprKind::kRead: return source.params[expr.id].name + "_tile";
    case ExprKind::kReduce: return NameAfterOperand(expr, SuffixOfReduction(expr.op), NameOfResult(expr.op), source);
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kCall: return std::string(NameOfResult(expr.op));
    case ExprKind::kCumsum: return "sums";
    case ExprKind::kSelect: return "chosen";
    case ExprKind::kTranspose: {
      const typed::Expr& operand = *expr.args[0];
      return operand.kind == ExprKind::kVar ? source.vars[operand.id].name + "T" : DefaultName(operand, source);
    }
    case ExprKind::kPositions: return "position";
    case ExprKind::kMatMul: return "product";
    case ExprKind::kPart: return NameAfterOperand(expr, "part", "part", source);
    case ExprKind::kReshape: return expr.type.rows > expr.args[0]->type.rows ? "cut" : "joined";
    case ExprKind::kConvert: {
      const bool narrows = Bytes(expr.type.dtype) < Bytes(expr.args[0]->type.dtype);
      return NameAfterOperand(expr, tkc::Name(expr.type.dtype), narrows ? "rounded" : "wide", source);
    }
    default: return "value";
  }
}

}  // namespace

ValueId WorkerLowering::Emit(Region& region, Op op, typed::Type type, const std::string& name, Span span, bool is_mutable) {
  const ValueId value = kernel_.AddValue(name, Type{type.dtype, type.rows, type.cols, Space::kAbstract, false}, is_mutable);
  op.results.insert(op.results.begin(), value);
  op.span = span;
  region.push_back(std::move(op));
  return value;
}

std::vector<AxisRange> WorkerLowering::LowerAxes(const std::vector<typed::AxisRange>& axes) {
  std::vector<AxisRange> lowered;
  for (const typed::AxisRange& axis : axes) {
    lowered.push_back({LowerScalar(*axis.start), axis.extent, axis.dropped, axis.lo ? LowerScalar(*axis.lo) : nullptr,
                       axis.hi ? LowerScalar(*axis.hi) : nullptr, axis.is_slice, axis.chosen});
  }
  return lowered;
}

namespace {

bool IsSumOfTiles(const typed::Expr& expr) {
  if (expr.kind != ExprKind::kBinary || (expr.op != typed::Op::kAdd && expr.op != typed::Op::kSub)) return false;
  const typed::Type &left = expr.args[0]->type, &right = expr.args[1]->type;
  return left.is_tile && right.is_tile && left.rows == right.rows && left.cols == right.cols && left.dtype == right.dtype;
}

}  // namespace

WorkerLowering::SumOfProducts WorkerLowering::Split(const typed::Expr& expr) {
  if (expr.kind == ExprKind::kMatMul) return {nullptr, {{&expr, false}}};
  if (!IsSumOfTiles(expr)) return {&expr};
  const bool subtracts = expr.op == typed::Op::kSub;
  SumOfProducts sum = Split(*expr.args[0]);
  const SumOfProducts right = Split(*expr.args[1]);
  if (right.rest != nullptr) {
    if (sum.rest != nullptr || subtracts) return {&expr};
    sum.rest = right.rest;
  }
  for (const SumOfProducts::Term& term : right.terms) sum.terms.push_back({term.product, term.negative != subtracts});
  return sum;
}

Op WorkerLowering::LowerTerm(const SumOfProducts::Term& term, Region& region, Span span) {
  const ValueId a = LowerTile(*term.product->args[0], region), b = LowerTile(*term.product->args[1], region);
  Op accumulate{OpCode::kAccumulate, {}, {kNone, a, b}};
  accumulate.Set(term.negative ? kSubtracts : kAdds);
  accumulate.span = span;
  return accumulate;
}

ValueId WorkerLowering::LowerNothing(const typed::Expr& expr, Region& region) {
  Op zero{OpCode::kFill};
  zero.scalars = {Zero(expr.type.dtype)};
  return Emit(region, std::move(zero), expr.type, "nothing", expr.span);
}

ValueId WorkerLowering::LowerBinary(const typed::Expr& expr, Region& region, const std::string& name) {
  if (const SumOfProducts sum = Split(expr); !sum.terms.empty()) {
    const ValueId rest = sum.rest == nullptr ? LowerNothing(expr, region) : LowerTile(*sum.rest, region);
    ValueId total = kNone;
    for (const SumOfProducts::Term& term : sum.terms) {
      Op accumulate = LowerTerm(term, region, expr.span);
      if (total == kNone) total = Emit(region, {OpCode::kVar, {}, {rest}}, expr.type, name, expr.span, true);
      accumulate.operands[0] = total;
      region.push_back(std::move(accumulate));
    }
    return total;
  }
  const typed::Expr& left = *expr.args[0];
  const typed::Expr& right = *expr.args[1];
  Op op{OpCode::kBinary};
  op.Set(expr.op);
  if (left.type.is_tile)
    op.operands.push_back(LowerTile(left, region));
  else
    op.scalars.push_back(LowerScalar(left));
  if (right.type.is_tile)
    op.operands.push_back(LowerTile(right, region));
  else
    op.scalars.push_back(LowerScalar(right));
  if (!right.type.is_tile) op.SetScalarRight();
  if (!left.type.is_tile) op.SetScalarLeft();
  return Emit(region, std::move(op), expr.type, name, expr.span);
}

namespace {

bool LoadsFromMemory(const typed::Expr& expr) {
  return expr.kind == ExprKind::kRead || expr.kind == ExprKind::kGather ||
         std::ranges::any_of(expr.args, [](const typed::ExprPtr& arg) { return arg && LoadsFromMemory(*arg); });
}

}  // namespace

bool WorkerLowering::Branches(const typed::Expr& choice) {
  const auto fits = [&](const typed::Expr& arm) {
    return !arm.type.is_tile || (arm.type.rows == choice.type.rows && arm.type.cols == choice.type.cols);
  };
  const typed::Expr &yes = *choice.args[1], &no = *choice.args[2];
  return !choice.args[0]->type.is_tile && fits(yes) && fits(no) && (LoadsFromMemory(yes) || LoadsFromMemory(no));
}

ValueId WorkerLowering::LowerBranches(const typed::Expr& choice, Region& region, const std::string& name) {
  const auto lower = [&](const typed::Expr* arm, Region& into) {
    if (arm == nullptr) return LowerNothing(choice, into);
    if (arm->type.is_tile) return LowerTile(*arm, into);
    Op fill{OpCode::kFill};
    fill.scalars = {LowerScalar(*arm)};
    return Emit(into, std::move(fill), choice.type, "value", choice.span);
  };
  // What loads nothing stands in front.
  const typed::Expr &yes = *choice.args[1], &no = *choice.args[2];
  const bool yes_loads = LoadsFromMemory(yes), no_loads = LoadsFromMemory(no);
  const ValueId first = lower(!no_loads ? &no : !yes_loads ? &yes : nullptr, region);
  const ValueId chosen = Emit(region, {OpCode::kVar, {}, {first}}, choice.type, name, choice.span, true);
  const auto assign = [&](const typed::Expr& arm, Region& into) {
    Region* const around = std::exchange(into_, &into);
    const ValueId value = lower(&arm, into);
    into_ = around;
    into.push_back({OpCode::kAssign, {}, {chosen, value}});
    into.back().span = choice.span;
  };
  const Scalar condition = LowerScalar(*choice.args[0]);
  Op branch{OpCode::kIf, {}, {}, {yes_loads ? condition : symbolic::Make(symbolic::Kind::kNot, DType::kBool, {condition})}};
  branch.span = choice.span;
  branch.regions.resize(2);
  assign(yes_loads ? yes : no, branch.regions[0]);
  if (yes_loads && no_loads) assign(no, branch.regions[1]);
  region.push_back(std::move(branch));
  return chosen;
}

ValueId WorkerLowering::LowerSelect(const typed::Expr& expr, Region& region, const std::string& name) {
  if (Branches(expr)) return LowerBranches(expr, region, name);
  Op op{OpCode::kSelect};
  if (!expr.args[0]->type.is_tile) {  // a scalar condition chooses among tiles: as a tile of one element
    Op fill{OpCode::kFill};
    fill.scalars = {LowerScalar(*expr.args[0])};
    op.operands.push_back(Emit(region, std::move(fill), typed::Type::Tile(DType::kBool, 1, 1), "condition", expr.span));
  } else {
    op.operands.push_back(LowerTile(*expr.args[0], region));
  }
  op.SetTileArms(expr.args[1]->type.is_tile, expr.args[2]->type.is_tile);
  for (int i = 1; i <= 2; ++i) {
    const typed::Expr& arm = *expr.args[i];
    if (arm.type.is_tile)
      op.operands.push_back(LowerTile(arm, region));
    else
      op.scalars.push_back(LowerScalar(arm));
  }
  return Emit(region, std::move(op), expr.type, name, expr.span);
}

ValueId WorkerLowering::LowerGather(const typed::Expr& expr, Region& region, const std::string& name) {
  Op op{OpCode::kGather};
  op.symbol = source_.params[expr.id].name;
  for (const typed::ExprPtr& arg : expr.args) {
    if (arg->type.is_tile)
      op.operands.push_back(LowerTile(*arg, region));
    else
      op.scalars.push_back(LowerScalar(*arg));
  }
  op.axes = LowerAxes(expr.axes);
  return Emit(region, std::move(op), expr.type, name, expr.span);
}

namespace {

/// The positions, turned or not, that a conversion to i64 is of: they are counted in i64 from the start, so that neighbours are
/// known to be neighbours. Null for other conversions.
const typed::Expr* WidePositions(const typed::Expr& conversion) {
  const typed::Expr& operand = *conversion.args[0];
  const typed::Expr& inner = operand.kind == ExprKind::kTranspose ? *operand.args[0] : operand;
  return conversion.type.dtype == DType::kI64 && inner.kind == ExprKind::kPositions ? &operand : nullptr;
}

}  // namespace

ValueId WorkerLowering::LowerPositions(const typed::Expr& expr, DType dtype, Region& region, const std::string& name) {
  typed::Type type = expr.type;
  type.dtype = dtype;
  Op op{OpCode::kPositions};
  if (expr.kind == ExprKind::kTranspose) {
    op.code = OpCode::kTranspose;
    op.operands = {LowerPositions(*expr.args[0], dtype, region, "position")};
  } else {
    op.SetOfRows(true);
    op.scalars = {LowerScalar(*expr.args[0])};
  }
  return Emit(region, std::move(op), type, name, expr.span);
}

bool IsItsOperand(const typed::Expr& expr) {
  return (expr.kind == ExprKind::kReduce || expr.kind == ExprKind::kCumsum) &&
         (expr.axis == 1 ? expr.args[0]->type.cols : expr.args[0]->type.rows) == 1;
}

ValueId WorkerLowering::LowerTile(const typed::Expr& expr, Region& region, const std::string& wish) {
  const std::string name = wish.empty() ? DefaultName(expr, source_) : wish;
  if (expr.kind == ExprKind::kTranspose || expr.kind == ExprKind::kPart) {
    if (const typed::ExprPtr moved = ViewOfLeaves(expr)) return LowerTile(*moved, region, wish);
  }
  Op op{OpCode::kFill};
  if (!expr.type.is_tile) {  // a scalar where a tile is wanted
    op.scalars = {LowerScalar(expr)};
    return Emit(region, std::move(op), typed::Type::Tile(expr.type.dtype, 1, 1), name, expr.span);
  }
  switch (expr.kind) {
    case ExprKind::kVar: return tiles_.at(expr.id);
    case ExprKind::kRead:
      op = {OpCode::kRead};
      op.symbol = source_.params[expr.id].name;
      op.axes = LowerAxes(expr.axes);
      if (!expr.args.empty()) op.scalars.push_back(LowerScalar(*expr.args[0]));
      return Emit(region, std::move(op), expr.type, name, expr.span);
    case ExprKind::kGather: return LowerGather(expr, region, name);
    case ExprKind::kSplat:
      op = {OpCode::kFill};
      op.scalars = {LowerScalar(*expr.args[0])};
      return Emit(region, std::move(op), expr.type, name, expr.span);
    case ExprKind::kUnary:
      op.code = OpCode::kUnary;
      op.Set(expr.op);
      break;
    case ExprKind::kBinary: return LowerBinary(expr, region, name);
    case ExprKind::kSelect: return LowerSelect(expr, region, name);
    case ExprKind::kCall:
      if (expr.args.size() == 2) return LowerBinary(expr, region, name);
      op.code = OpCode::kUnary;
      op.Set(expr.op);
      break;
    case ExprKind::kConvert:
      if (const typed::Expr* positions = WidePositions(expr)) return LowerPositions(*positions, DType::kI64, region, name);
      return LowerConvert(expr, region, name);
    case ExprKind::kReduce:
    case ExprKind::kCumsum:
      op.code = expr.kind == ExprKind::kReduce ? OpCode::kReduce : OpCode::kCumsum;
      if (op.code == OpCode::kReduce) op.Set(expr.op);
      op.SetOfRows(expr.axis == 1);
      if (IsItsOperand(expr)) return LowerTile(*expr.args[0], region, wish);
      break;
    case ExprKind::kTranspose: op.code = OpCode::kTranspose; break;
    case ExprKind::kPart:
      op.code = OpCode::kPart;
      op.operands.push_back(LowerTile(*expr.args[0], region));
      op.scalars = {LowerScalar(*expr.args[1]), LowerScalar(*expr.args[2])};
      return Emit(region, std::move(op), expr.type, name, expr.span);
    case ExprKind::kMatMul: op.code = OpCode::kMatmul; break;
    case ExprKind::kPositions: return LowerPositions(expr, expr.type.dtype, region, name);
    case ExprKind::kCat: op.code = OpCode::kCat; break;
    case ExprKind::kReshape: op.code = OpCode::kReshape; break;
    default: InternalError("not a tile expression", expr.span);
  }
  for (const typed::ExprPtr& arg : expr.args) op.operands.push_back(LowerTile(*arg, region));
  return Emit(region, std::move(op), expr.type, name, expr.span);
}

/// What was rounded and is wide again is rounded to the same elements a second time: `bf16(f32(y))` is y.
ValueId WorkerLowering::LowerConvert(const typed::Expr& expr, Region& region, const std::string& name) {
  const ValueId operand = LowerTile(*expr.args[0], region);
  if (const auto wide = rounded_from_.find(operand); wide != rounded_from_.end()) {
    if (kernel_.TypeOf(wide->second).dtype == expr.type.dtype) return wide->second;
  }
  const ValueId result = Emit(region, {OpCode::kConvert, {}, {operand}}, expr.type, name, expr.span);
  const DType from = kernel_.TypeOf(operand).dtype;
  if (rounded_.contains(operand) && IsFloat(from) && expr.type.dtype == DType::kF32) rounded_from_[result] = operand;
  rounded_.insert(result);
  return result;
}

}  // namespace tkc::ir

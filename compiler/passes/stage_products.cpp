// SPDX-License-Identifier: MIT
// Products: where their operands may begin, and the steps of those that warps multiply by themselves.
#include "compiler/ir/derived_names.h"
#include "compiler/layout/row_layout.h"
#include "compiler/layout/shared_tile.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/stage_operands_impl.h"
#include "compiler/passes/turned_tiles.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Space;
using ir::ValueId;

/// Loads of operands take 16 bytes of a row at once. A matrix unit that reads shared memory by itself goes on from its first
/// address by strides: no instruction's columns may lie in two panels, but for those that begin with a panel.
bool Staging::BeginsWell(ValueId shared) {
  constexpr int64_t kChunk = 16;  // bytes
  const auto under = transpose_of_.find(shared);
  const ValueId stored = under == transpose_of_.end() ? shared : under->second;
  const auto found = place_of_.find(stored);
  if (found == place_of_.end()) return true;
  const auto& [col, whole] = found->second;
  if (whole.rows > 1 && whole.cols * Bytes(whole.dtype) % kChunk != 0) return false;
  const auto is_multiple = [&](int64_t unit) { return symbolic::KnownDivisor(col) % unit == 0; };
  if (by_warps_) return is_multiple(kChunk / Bytes(whole.dtype));
  const int64_t cols = kernel_.TypeOf(stored).cols;
  const layout::SharedTile tile{whole.dtype, whole.rows, whole.cols, layout::ChooseSwizzle(whole.dtype, whole.rows, whole.cols)};
  return is_multiple(tile.PanelCols()) || (tile.PanelCols() % cols == 0 && is_multiple(cols));
}

ValueId Staging::WhereItBeginsWell(ValueId shared, Region& out, Span span) {
  if (BeginsWell(shared)) return shared;
  if (const auto place = staged_.find(shared); place != staged_.end()) return place->second;
  const ValueId copy = InShared(InRegisters(shared, out, span), out, span);
  return staged_[shared] = copy;
}

void Staging::CheckProduct(const Op& op) {
  const bool has_acc = op.code == OpCode::kAccumulate;
  const ir::Type& a = kernel_.TypeOf(op.operands[has_acc]);
  const ir::Type& b = kernel_.TypeOf(op.operands[has_acc + 1]);
  const auto complain = [&](int64_t found, const char* what, int64_t unit, bool is_shared_out = false) {
    DiagnosticBuilder report = diagnostics_.Error(
        DiagnosticKind::kMatrixShape, op.span,
        fmt::format("the product has {} {} in one worker instance; {} multiples of {}", found, what,
                    unit == RowsOfWarps(target_) ? "its four warps together take" : "the matrix unit takes", unit));
    report.Label(op.span, fmt::format("`{}[{}, {}] @ {}[{}, {}]`", Name(a.dtype), a.rows, a.cols, Name(b.dtype), b.rows, b.cols));
    if (unit == unit_.rows && !by_warps_) TurnedTiles(kernel_, worker_).NoteObstacle(target_, report);
    // Blocks beyond the edge of a tensor cost no care: a few rows of a tensor are a block of 64, too, also of an axis that is
    // shorter.
    const int64_t enough = RoundUp(found, unit);
    report.Help(
        is_shared_out
            ? fmt::format("take {} {} for each instance, or fewer instances of `{}`", enough, what, worker_.name)
            : fmt::format("take {} {}: what of a block lies beyond the end of a tensor is zero and is not stored, so take an "
                          "axis that is shorter as `0 :+ {}`",
                          enough, what, enough));
  };
  if (a.rows % unit_.rows != 0) complain(a.rows, "rows", unit_.rows, worker_.instances > 1);
  if (b.cols % unit_.cols != 0) complain(b.cols, "columns", unit_.cols);
  if (a.cols % unit_.depth != 0) complain(a.cols, "terms a sum", unit_.depth);
}

void Staging::RewriteProduct(const Op& op, Region& out) {
  CheckProduct(op);
  const bool has_acc = op.code == OpCode::kAccumulate;
  ValueId acc = has_acc ? Current(op.operands[0]) : op.results[0];
  ForgetExchanged(acc);
  ValueId a = Current(op.operands[has_acc]);
  // The left operand may stay in registers; one that was only read goes through shared memory.
  if (!IsShared(a) && pending_.find(a) != pending_.end()) a = InShared(a, out, op.span);
  if (!by_warps_ && IsShared(a) && !BeginsWell(a)) a = InRegisters(a, out, op.span);
  if (!IsShared(a) && !by_warps_) {
    // A copy that nothing else touches: the matrix unit reads it while the worker goes on.
    const ValueId operand = kernel_.AddValueAfter(a, std::string(ir::kOperandSuffix), kernel_.TypeOf(a), true);
    Op copy{OpCode::kVar, {operand}, {a}};
    copy.span = op.span;
    out.push_back(copy);
    a = operand;
  }
  if (by_warps_) a = IsShared(a) ? WhereItBeginsWell(a, out, op.span) : InRegisters(a, out, op.span);
  const ValueId b = WhereItBeginsWell(InShared(op.operands[has_acc + 1], out, op.span), out, op.span);
  if (!has_acc) {
    kernel_.TypeOf(acc).space = Space::kRegister;
    kernel_.values[acc].is_mutable = true;
    Op declare{OpCode::kVar, {acc}};
    declare.span = op.span;
    out.push_back(declare);
  }
  if (by_warps_) return ProductSteps(op, acc, IsShared(a) ? a : NarrowOf(op, a, out), b, out);
  Op mma{OpCode::kMma, {}, {acc, a, b}};
  mma.Set(has_acc ? op.As<ir::ProductInto>() : ir::kSets);
  mma.span = op.span;
  out.push_back(mma);
}

ValueId Staging::NarrowOf(const Op& product, ValueId left, Region& out) {
  const auto converts = [&](const Op& op) { return op.code == OpCode::kConvert && op.results[0] == left; };
  const auto conversion = std::find_if(out.begin(), out.end(), converts);
  if (conversion == out.end() || !Uses(product, left) || CountUses(worker_.body, left) != 1) return left;
  const ValueId narrow = conversion->operands[0];
  const ir::Type &from = kernel_.TypeOf(narrow), &to = kernel_.TypeOf(left);
  const bool is_kept = from.space == Space::kRegister && !kernel_.values[narrow].is_mutable;
  if (!is_kept || Bytes(from.dtype) >= Bytes(to.dtype) || to.cols == unit_.StepOf(to.cols)) return left;
  out.erase(conversion);
  return narrow;
}

ValueId Staging::Fragment(ValueId operand, bool is_left, int64_t step, Region& out, Span span) {
  ir::Type type = kernel_.TypeOf(operand);
  const int64_t depth = unit_.StepOf(is_left ? type.cols : type.rows);
  const symbolic::Scalar zero = symbolic::Int(0), first = symbolic::Int(step * depth);
  const std::string number = fmt::format("_{}", step);
  (is_left ? type.cols : type.rows) = depth;
  const bool is_whole = type == kernel_.TypeOf(operand);
  ValueId part = operand;
  if (!is_whole) {
    part = kernel_.AddValueAfter(operand, IsShared(operand) ? "_part" : number, type);
    if (!IsShared(operand)) kernel_.KeepName(part);
    Op take{OpCode::kPart, {part}, {operand}, {is_left ? zero : first, is_left ? first : zero}};
    take.span = span;
    if (const auto under = transpose_of_.find(operand); under != transpose_of_.end()) {
      // The part of a transposed view is the transposed part of the view under it.
      ir::Type stored = type;
      std::swap(stored.rows, stored.cols);
      stored.transposed = false;
      take.results = {kernel_.AddValueAfter(operand, "_part", stored)};
      take.operands = {under->second};
      std::swap(take.scalars[0], take.scalars[1]);
      out.push_back(take);
      Op turn{OpCode::kTranspose, {part}, take.results};
      turn.span = span;
      out.push_back(turn);
    } else {
      out.push_back(take);
    }
  }
  if (!IsShared(operand)) return part;
  type.space = is_left ? Space::kLeft : Space::kRight;
  type.transposed = false;
  Op load{is_left ? OpCode::kLoadLeft : OpCode::kLoadRight, {kernel_.AddValueAfter(operand, number, type)}, {part}};
  load.span = span;
  kernel_.KeepName(load.results[0]);
  out.push_back(load);
  return load.results[0];
}

ValueId Staging::Converted(ValueId tile, DType dtype, Region& out, Span span) {
  ir::Type type = kernel_.TypeOf(tile);
  if (type.dtype == dtype) return tile;
  type.dtype = dtype;
  Op convert{OpCode::kConvert, {kernel_.AddValueAfter(tile, "_wide", type)}, {tile}};
  convert.span = span;
  kernel_.KeepName(convert.results[0]);
  out.push_back(std::move(convert));
  return out.back().results[0];
}

void Staging::ProductSteps(const Op& op, ValueId acc, ValueId a, ValueId b, Region& out) {
  const bool has_acc = op.code == OpCode::kAccumulate;
  const int64_t steps = kernel_.TypeOf(a).cols / unit_.StepOf(kernel_.TypeOf(a).cols);
  const DType dtype = kernel_.TypeOf(b).dtype;
  const auto left_of = [&](int64_t step) { return Converted(Fragment(a, true, step, out, op.span), dtype, out, op.span); };
  ValueId left = left_of(0), right = Fragment(b, false, 0, out, op.span);
  const bool goes_ahead =
      RegistersOfTwoSteps(kernel_.TypeOf(acc), kernel_.TypeOf(left), kernel_.TypeOf(right), worker_.layout) <= registers_;
  for (int64_t step = 0; step < steps; ++step) {
    Op multiply{OpCode::kMultiply, {}, {acc, left, right}};
    multiply.Set(has_acc ? op.As<ir::ProductInto>() : step == 0 ? ir::kSets : ir::kAdds);
    multiply.span = op.span;
    // The operands of a step are on their way while the one before it is multiplied, if registers hold both.
    if (!goes_ahead) out.push_back(multiply);
    if (step + 1 < steps) {
      left = left_of(step + 1);
      right = Fragment(b, false, step + 1, out, op.span);
    }
    if (goes_ahead) out.push_back(std::move(multiply));
  }
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// What threads exchange by way of shared memory: reductions over several warps, tiles of another shape, parts that other threads
// hold.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/stage_operands_impl.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Space;
using ir::ValueId;

void Staging::RewriteExchange(Op op, ValueId source, Region& out) {
  const ValueId result = op.results[0];
  const Span span = op.span;
  ir::Type type = kernel_.TypeOf(result);
  type.space = Space::kShared;
  type.transposed = op.code == OpCode::kTranspose;
  op.operands = {Exchanged(source, out, span)};
  op.results = {kernel_.AddValueAfter(result, "_staged", type)};
  const ValueId view = op.results[0];
  out.push_back(std::move(op));
  Load(view, result, out, span);
}

void Staging::ReduceByParts(const Op& op, Region& out) {
  const ValueId source = Current(op.operands[0]);
  const bool by_columns = op.IsOfRows();
  ir::Type type = kernel_.TypeOf(source);
  const int64_t parts = by_columns ? type.cols : type.rows;
  (by_columns ? type.cols : type.rows) = 1;
  ValueId sum = ir::kNone;
  for (int64_t i = 0; i < parts; ++i) {
    const symbolic::Scalar at = symbolic::Int(i), zero = symbolic::Int(0);
    Op part{
        OpCode::kPart, {kernel_.AddValueAfter(source, "_part", type)}, {source}, {by_columns ? zero : at, by_columns ? at : zero}};
    part.span = op.span;
    RewritePart(part, out);
    ValueId value = InRegisters(part.results[0], out, op.span);
    const ir::Type result = kernel_.TypeOf(op.results[0]);  // values move where some are added
    if (kernel_.TypeOf(value).dtype != result.dtype) {
      Op convert{OpCode::kConvert, {kernel_.AddValueAfter(source, "_part", result)}, {value}};
      convert.span = op.span;
      kernel_.TypeOf(value = convert.results[0]).space = Space::kRegister;
      out.push_back(std::move(convert));
    }
    if (sum == ir::kNone) {
      sum = value;
      continue;
    }
    Op add{OpCode::kBinary, {kernel_.AddValueAfter(op.results[0], "", result)}, {sum, value}};
    add.Set(op.Function());
    add.span = op.span;
    kernel_.TypeOf(sum = add.results[0]).space = Space::kRegister;
    out.push_back(std::move(add));
  }
  replaced_[op.results[0]] = sum;
}

bool Staging::StaysWithThreads(ValueId whole_tile, ValueId part_tile, const std::vector<ir::Scalar>& place) const {
  const ir::Type &whole = kernel_.TypeOf(whole_tile), &part = kernel_.TypeOf(part_tile);
  const ir::RegisterLayout &layout = LayoutOf(whole_tile), dealt = layout.ForRows(whole.rows);
  int64_t row = 0, col = 0;
  if (!symbolic::IsInt(place[0], &row) || !symbolic::IsInt(place[1], &col)) return false;
  const bool rows_stay = part.rows == whole.rows || (dealt == layout.ForRows(part.rows) && part.rows % dealt.RowsPerBlock() == 0 &&
                                                     row % dealt.RowsPerBlock() == 0);
  const bool cols_stay = part.cols == whole.cols || (part.cols % dealt.ColsPerBlock() == 0 && col % dealt.ColsPerBlock() == 0);
  return rows_stay && cols_stay;
}

int64_t Staging::Stretches(ValueId tile, bool is_column) const {
  const ir::Type& type = kernel_.TypeOf(tile);
  const ir::RegisterLayout dealt = LayoutOf(tile).ForRows(type.rows);
  return is_column ? type.rows / dealt.RowsPerBlock() : type.cols / dealt.ColsPerBlock();
}

const std::string& Staging::Scratch(const Op& op, int64_t lines) {
  const DType dtype = kernel_.TypeOf(op.operands[0]).dtype;
  std::string& buffer =
      scratches_[{op.span.file, op.span.begin, op.span.end, static_cast<int>(op.code), static_cast<int>(dtype), lines}];
  if (!buffer.empty() && op.span.file != kNoSpan.file) return buffer;
  buffer = NewBuffer(ir::WithoutNumber(kernel_.values[op.results[0]].name) + "_scratch", dtype, ir::kWarpsOfInstance, lines,
                     fmt::format("one partial result a warp of a {} {}", !op.IsOfRows() ? "column" : "row",
                                 op.code == OpCode::kCumsum ? "scan, for each stretch" : "reduction"));
  kernel_.buffers.back().is_scratch = true;
  return buffer;
}

void Staging::RewriteReduce(Op op, Region& out) {
  const ValueId tile = op.operands[0];
  if (const ValueId source = Current(op.operands[0]); IsShared(source)) {
    const bool is_short = op.IsOfRows() ? !FitsCols(tile) : !FitsRows(tile);
    if (is_short && op.code == OpCode::kReduce) return ReduceByParts(op, out);
  }
  op.operands[0] = InRegisters(op.operands[0], out, op.span);
  kernel_.TypeOf(op.results[0]).space = Space::kRegister;
  if (SpansWarps(op, worker_.layout)) {
    const bool is_column = !op.IsOfRows(), is_scan = op.code == OpCode::kCumsum;
    const ir::Type& type = kernel_.TypeOf(op.operands[0]);
    const int64_t lines = is_column ? type.cols : type.rows;
    op.symbol = Scratch(op, is_scan ? lines * Stretches(tile, is_column) : lines);
  }
  out.push_back(std::move(op));
}

ValueId Staging::StoreTo(const std::string& buffer, ValueId value, Region& out, Span span) {
  const ValueId view = NewView(buffer, kernel_.values[value].name + "_staged", kernel_.TypeOf(value), out, span);
  Op store{OpCode::kStoreShared, {}, {view, value}};
  store.span = span;
  out.push_back(std::move(store));
  return view;
}

const std::string& Staging::Exchange(const ir::Type& type, bool is_reshaped) {
  std::string& buffer = exchanges_[{static_cast<int>(type.dtype), type.rows, type.cols, is_reshaped}];
  if (!buffer.empty()) return buffer;
  buffer = NewBuffer("exchange", type.dtype, type.rows, type.cols, "tiles on their way to other threads");
  kernel_.buffers.back().stages = "exchange";
  return buffer;
}

ValueId Staging::Exchanged(ValueId variable, Region& out, Span span) {
  const std::string& buffer = Exchange(kernel_.TypeOf(variable), false);
  const auto held = exchanged_.find(buffer);
  if (held != exchanged_.end() && held->second.variable == variable) return held->second.view;
  const ValueId view = StoreTo(buffer, variable, out, span);
  exchanged_[buffer] = {variable, view};
  return view;
}

void Staging::ForgetExchanged(ValueId variable) {
  std::erase_if(exchanged_, [&](const auto& held) { return held.second.variable == variable; });
}

ValueId Staging::Load(ValueId view, ValueId result, Region& out, Span span) {
  ir::Type& type = kernel_.TypeOf(result);
  type.space = Space::kRegister;
  Op load{OpCode::kLoadShared, {result}, {view}};
  load.span = span;
  out.push_back(std::move(load));
  return result;
}

void Staging::RewriteReshape(Op op, Region& out) {
  const ValueId value = op.operands[0] = InRegisters(op.operands[0], out, op.span), result = op.results[0];
  kernel_.TypeOf(result).space = Space::kRegister;
  if (op.Is(ir::kStaysInRegisters)) return out.push_back(std::move(op));
  const std::string& buffer = Exchange(kernel_.TypeOf(value), true);
  StoreTo(buffer, value, out, op.span);
  Load(NewView(buffer, kernel_.values[result].name + "_staged", kernel_.TypeOf(result), out, op.span), result, out, op.span);
}

void Staging::RewriteCat(Op op, Region& out) {
  const ValueId result = op.results[0];
  bool stays = true;
  std::vector<symbolic::Scalar> place = {symbolic::Int(0), symbolic::Int(0)};
  std::vector<std::vector<symbolic::Scalar>> places;
  for (const ValueId part : op.operands) {
    stays &= StaysWithThreads(result, part, place);
    places.push_back(place);
    place[1] = symbolic::Add(place[1], symbolic::Int(kernel_.TypeOf(part).cols));
  }
  for (ValueId& value : op.operands) value = InRegisters(value, out, op.span);
  kernel_.TypeOf(result).space = Space::kRegister;
  if (stays) return out.push_back(std::move(op));
  const std::string& buffer = Exchange(kernel_.TypeOf(result), false);
  const ValueId view = NewView(buffer, kernel_.values[result].name + "_staged", kernel_.TypeOf(result), out, op.span);
  exchanged_.erase(buffer);
  for (size_t i = 0; i < op.operands.size(); ++i) StorePart(view, op.operands[i], places[i], out, op.span);
  Load(view, result, out, op.span);
}

void Staging::StorePart(ValueId view, ValueId value, const std::vector<symbolic::Scalar>& place, Region& out, Span span) {
  ir::Type type = kernel_.TypeOf(value);
  type.space = Space::kShared;
  Op part{OpCode::kPart, {kernel_.AddValueAfter(view, "_part", type)}, {view}, place};
  Op store{OpCode::kStoreShared, {}, {part.results[0], value}};
  part.span = store.span = span;
  out.push_back(std::move(part));
  out.push_back(std::move(store));
}

void Staging::RewriteAssignPart(Op op, Region& out) {
  const bool stays = StaysWithThreads(op.operands[0], op.operands[1], op.scalars);
  for (ValueId& value : op.operands) value = InRegisters(value, out, op.span);
  const ValueId variable = op.operands[0], value = op.operands[1];
  if (stays) {
    ForgetExchanged(variable);
    return out.push_back(std::move(op));
  }
  // The whole, the part over it, and the whole again: the buffer holds the variable as it is then.
  const ValueId view = Exchanged(variable, out, op.span);
  StorePart(view, value, op.scalars, out, op.span);
  Op assign{OpCode::kAssign,
            {},
            {variable, Load(view, kernel_.AddValueAfter(variable, "_values", kernel_.TypeOf(variable)), out, op.span)}};
  assign.span = op.span;
  out.push_back(std::move(assign));
}

}  // namespace tkc::passes

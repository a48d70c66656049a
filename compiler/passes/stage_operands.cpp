// SPDX-License-Identifier: MIT
#include "compiler/passes/stage_operands.h"

#include "compiler/layout/row_layout.h"
#include "compiler/passes/select_layout.h"
#include "compiler/passes/shared_room.h"
#include "compiler/passes/stage_operands_impl.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Space;
using ir::ValueId;

std::string Staging::NewBuffer(const std::string& name, DType dtype, int64_t rows, int64_t cols, const std::string& purpose) {
  std::set<std::string> taken;
  for (const ir::Buffer& other : kernel_.buffers) taken.insert(other.name);
  for (const ir::Pipe& pipe : kernel_.pipes) {  // which get their slots later
    for (size_t i = 0; i < pipe.fields.size(); ++i) taken.insert(FieldBuffer(pipe, i));
  }
  ir::Buffer buffer;
  buffer.name = ir::FreeName(taken, name);
  buffer.dtype = dtype;
  buffer.rows = rows;
  buffer.cols = cols;
  buffer.instances = worker_.instances;
  buffer.purpose = purpose;
  kernel_.buffers.push_back(buffer);
  return kernel_.buffers.back().name;
}

ValueId Staging::NewView(const std::string& buffer, const std::string& name, ir::Type type, Region& out, Span span) {
  type.space = Space::kShared;
  Op view{OpCode::kView};
  view.symbol = buffer;
  view.span = span;
  view.results = {kernel_.AddValue(name, type)};
  out.push_back(view);
  return view.results[0];
}

std::optional<ValueId> Staging::JustLoaded(ValueId view, const Region& out) {
  for (auto op = out.rbegin(); op != out.rend(); ++op) {
    if (op->code == OpCode::kLoadShared && op->operands[0] == view) return op->results[0];
    if (op->code != OpCode::kLoadShared && op->code != OpCode::kConvert) break;
  }
  return std::nullopt;
}

ValueId Staging::InRegisters(ValueId value, Region& out, Span span) {
  const ValueId asked = value;
  value = Current(value);
  if (const auto place = pending_.find(value); place != pending_.end()) {
    out.push_back(place->second);
    TypeOf(value).space = Space::kRegister;
    pending_.erase(place);
    return value;
  }
  if (!IsShared(value)) return value;
  if (const auto loaded = JustLoaded(value, out)) return *loaded;
  ir::Type type = TypeOf(value);
  type.space = Space::kRegister;
  type.transposed = false;
  if (!FitsRows(asked) || !FitsCols(asked))
    ReportMatrixShape(worker_, type, span, diagnostics_)
        .Help(FitsRows(asked) ? "take its columns one by one: `x.cols(u)` with a `u` known here"
                              : "take its rows one by one: `x.rows(u)` with a `u` known here");
  return Load(value, kernel_.AddValueAfter(value, "_values", type), out, span);
}

ValueId Staging::InShared(ValueId value, Region& out, Span span) {
  value = Current(value);
  if (IsShared(value)) return value;
  const ir::Type type = TypeOf(value);
  const std::string& name = kernel_.values[value].name;
  if (const auto place = pending_.find(value); place != pending_.end() && place->second.code == OpCode::kRead) {
    // Straight from global to shared memory: the values are never needed in registers.
    const Op read = place->second;
    pending_.erase(place);
    const std::string buffer =
        NewBuffer(name + "_stage", type.dtype, type.rows, type.cols, fmt::format("staging of {}", read.symbol));
    const ValueId view = NewView(buffer, name + "_staged", type, out, span);
    Op copy{OpCode::kCopyToShared, {}, {view}, read.scalars};
    copy.symbol = read.symbol;
    copy.axes = read.axes;
    copy.span = span;
    out.push_back(copy);
    replaced_[value] = view;
    return view;
  }
  if (const auto place = staged_.find(value); place != staged_.end()) return place->second;
  value = InRegisters(value, out, span);
  const std::string buffer = NewBuffer(name + "_stage", type.dtype, type.rows, type.cols, fmt::format("staging of {}", name));
  const ValueId view = StoreTo(buffer, value, out, span);
  if (!kernel_.values[value].is_mutable) staged_[value] = view;
  return view;
}

void Staging::PlaceBefore(const Op& op, Region& out) {
  std::set<ValueId> in_registers, in_shared;
  for (const auto& [value, read] : pending_) {
    if (!Uses(op, value)) continue;
    bool is_operand = false;
    for (const Region& region : op.regions) {
      ForEachOp(region, [&, v = value](const Op& inner) { is_operand |= IsProduct(inner.code) && Uses(inner, v); });
    }
    (is_operand ? in_shared : in_registers).insert(value);
  }
  for (ValueId value : in_registers) InRegisters(value, out, op.span);
  for (ValueId value : in_shared) InShared(value, out, op.span);
}

bool Staging::IsTurnedStore(const Op& turn, const Op& store) {
  if (turn.code != OpCode::kTranspose || store.code != OpCode::kStore || !store.slot.empty()) return false;
  if (store.operands[0] != turn.results[0] || CountUses(worker_.body, turn.results[0]) != 1) return false;
  const ir::Type& type = TypeOf(turn.results[0]);
  const ValueId source = Current(turn.operands[0]);
  // A long column takes many registers of each thread: what is only turned is loaded as a row.
  if (type.rows == 1 && pending_.contains(source) && CountUses(worker_.body, source) == 1) return false;
  if (type.rows == 1 || type.cols == 1) return true;
  if (!multiplies_ || IsShared(source) || pending_.contains(source)) return false;
  if (!by_warps_) return true;  // chunks are turned on their way to the copy engine
  // Narrower elements are turned in shared memory where it has room for them beside what is not placed yet.
  constexpr int kWholeSectors = 4;           // bytes of an element
  constexpr int64_t kForScratch = 8 * 1024;  // partial results, chunks of stores
  const int64_t tile = type.rows * type.cols * Bytes(type.dtype) * worker_.instances;
  return Bytes(type.dtype) >= kWholeSectors || BytesBesideBuffers(kernel_, SharedLimit(kernel_, target_)) < tile + kForScratch;
}

void Staging::RewriteTranspose(const Op& op, Region& out) {
  const ValueId result = op.results[0];
  ValueId source = Current(op.operands[0]);
  if (const auto place = pending_.find(source); place != pending_.end()) {
    // A read or a column of positions turns around for free, on its way into registers.
    const bool is_vector = TypeOf(source).rows == 1 || TypeOf(source).cols == 1;
    if (place->second.code == OpCode::kPositions || is_vector) {
      Op turned = place->second;
      turned.results = {result};
      turned.slot =
          turned.code == OpCode::kPositions ? (turned.slot == "cols" ? "rows" : "cols") : (turned.slot.empty() ? "transposed" : "");
      pending_[result] = turned;
      // No product takes a vector: it is read where the source says.
      if (turned.code == OpCode::kRead) InRegisters(result, out, op.span);
      return;
    }
  }
  if (Exchanges(op, source)) return RewriteExchange(op, source, out);
  source = InShared(source, out, op.span);
  if (const auto under = transpose_of_.find(source); under != transpose_of_.end()) {
    replaced_[result] = under->second;
    return;
  }
  TypeOf(result).space = Space::kShared;
  TypeOf(result).transposed = true;
  transpose_of_[result] = source;
  Op view = op;
  view.operands = {source};
  out.push_back(view);
}

void Staging::RewritePart(Op op, Region& out) {
  const ValueId result = op.results[0];
  ValueId source = Current(op.operands[0]);
  if (!IsShared(source) && pending_.find(source) == pending_.end()) {
    if (StaysWithThreads(op)) {
      TypeOf(result).space = Space::kRegister;
      op.operands = {source};
      out.push_back(op);
      return;
    }
    if (Exchanges(op, source)) return RewriteExchange(std::move(op), source, out);
  }
  source = InShared(source, out, op.span);
  TypeOf(result).space = Space::kShared;
  if (const auto under = transpose_of_.find(source); under != transpose_of_.end()) {
    // The part of a transposed view is the transposed part of the view under it.
    ir::Type type = TypeOf(result);
    std::swap(type.rows, type.cols);
    type.transposed = false;
    Op part{OpCode::kPart, {kernel_.AddValueAfter(result, "", type)}, {under->second}, {op.scalars[1], op.scalars[0]}};
    part.span = op.span;
    Op turn{OpCode::kTranspose, {result}, {part.results[0]}};
    turn.span = op.span;
    TypeOf(result).transposed = true;
    transpose_of_[result] = part.results[0];
    NotePart(part);
    out.push_back(part);
    out.push_back(turn);
    return;
  }
  op.operands = {source};
  NotePart(op);
  out.push_back(op);
}

void Staging::RewriteExchange(Op op, ValueId source, Region& out) {
  const ValueId result = op.results[0];
  const Span span = op.span;
  ir::Type type = TypeOf(result);
  type.space = Space::kShared;
  type.transposed = op.code == OpCode::kTranspose;
  op.operands = {StoreTo(Exchange(TypeOf(source), false), source, out, span)};
  op.results = {kernel_.AddValueAfter(result, "_staged", type)};
  const ValueId view = op.results[0];
  out.push_back(std::move(op));
  Load(view, result, out, span);
}

bool Staging::Exchanges(const Op& op, ValueId source) {
  return !IsShared(source) && pending_.find(source) == pending_.end() && kernel_.values[source].is_mutable &&
         operands_.count(op.results[0]) == 0 && FitsRows(op.results[0]) && FitsCols(op.results[0]);
}

void Staging::NoteOperands() {
  std::vector<const Op*> moves;
  ForEachOp(worker_.body, [&](const Op& op) {
    if (IsProduct(op.code) || op.code == OpCode::kSend) operands_.insert(op.operands.begin(), op.operands.end());
    if (op.code == OpCode::kPart || op.code == OpCode::kTranspose) moves.push_back(&op);
  });
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    if (operands_.count((*move)->results[0]) > 0) operands_.insert((*move)->operands[0]);
  }
}

void Staging::NotePart(const Op& part) {
  const ValueId source = part.operands[0];
  const auto outer = place_of_.find(source);
  place_of_[part.results[0]] = outer == place_of_.end()
                                   ? Place{part.scalars[1], TypeOf(source)}
                                   : Place{symbolic::Add(outer->second.col, part.scalars[1]), outer->second.whole};
}

void Staging::ReduceByParts(const Op& op, Region& out) {
  const ValueId source = Current(op.operands[0]);
  const bool by_columns = op.slot == "rows";
  ir::Type type = TypeOf(source);
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
    const ir::Type result = TypeOf(op.results[0]);  // values move where some are added
    if (TypeOf(value).dtype != result.dtype) {
      Op convert{OpCode::kConvert, {kernel_.AddValueAfter(source, "_part", result)}, {value}};
      convert.span = op.span;
      TypeOf(value = convert.results[0]).space = Space::kRegister;
      out.push_back(std::move(convert));
    }
    if (sum == ir::kNone) {
      sum = value;
      continue;
    }
    Op add{OpCode::kBinary, {kernel_.AddValueAfter(op.results[0], "", result)}, {sum, value}};
    add.number = op.number;
    add.span = op.span;
    TypeOf(sum = add.results[0]).space = Space::kRegister;
    out.push_back(std::move(add));
  }
  replaced_[op.results[0]] = sum;
}

bool Staging::StaysWithThreads(ValueId whole_tile, ValueId part_tile, const std::vector<ir::Scalar>& place) const {
  const ir::Type &whole = kernel_.values[whole_tile].type, &part = kernel_.values[part_tile].type;
  const layout::RegisterLayout layout = DealtBy(LayoutOf(whole_tile)), dealt = layout.ForRows(whole.rows);
  int64_t row = 0, col = 0;
  if (!symbolic::IsInt(place[0], &row) || !symbolic::IsInt(place[1], &col)) return false;
  const bool rows_stay = part.rows == whole.rows || (dealt == layout.ForRows(part.rows) && part.rows % dealt.RowsPerBlock() == 0 &&
                                                     row % dealt.RowsPerBlock() == 0);
  const bool cols_stay = part.cols == whole.cols || (part.cols % dealt.ColsPerBlock() == 0 && col % dealt.ColsPerBlock() == 0);
  return rows_stay && cols_stay;
}

int64_t Staging::Stretches(ValueId tile, bool is_column) const {
  const ir::Type& type = kernel_.values[tile].type;
  const layout::RegisterLayout dealt = DealtBy(LayoutOf(tile)).ForRows(type.rows);
  return is_column ? type.rows / dealt.RowsPerBlock() : type.cols / dealt.ColsPerBlock();
}

const std::string& Staging::Scratch(const Op& op, int64_t lines) {
  const DType dtype = TypeOf(op.operands[0]).dtype;
  std::string& buffer =
      scratches_[{op.span.file, op.span.begin, op.span.end, static_cast<int>(op.code), static_cast<int>(dtype), lines}];
  if (!buffer.empty() && op.span.file != kNoSpan.file) return buffer;
  buffer = NewBuffer(ir::WithoutNumber(kernel_.values[op.results[0]].name) + "_scratch", dtype, ir::kWarpsOfInstance, lines,
                     fmt::format("one partial result a warp of a {} {}", op.slot == "cols" ? "column" : "row",
                                 op.code == OpCode::kCumsum ? "scan, for each stretch" : "reduction"));
  kernel_.buffers.back().is_scratch = true;
  return buffer;
}

void Staging::RewriteReduce(Op op, Region& out) {
  const ValueId tile = op.operands[0];
  if (const ValueId source = Current(op.operands[0]); IsShared(source)) {
    const bool is_short = op.slot == "rows" ? !FitsCols(tile) : !FitsRows(tile);
    if (is_short && op.code == OpCode::kReduce) return ReduceByParts(op, out);
  }
  op.operands[0] = InRegisters(op.operands[0], out, op.span);
  TypeOf(op.results[0]).space = Space::kRegister;
  if (worker_.layout.SpansWarps(op.slot)) {
    const bool is_column = op.slot == "cols", is_scan = op.code == OpCode::kCumsum;
    const ir::Type& type = TypeOf(op.operands[0]);
    const int64_t lines = is_column ? type.cols : type.rows;
    op.symbol = Scratch(op, is_scan ? lines * Stretches(tile, is_column) : lines);
  }
  out.push_back(std::move(op));
}

ValueId Staging::StoreTo(const std::string& buffer, ValueId value, Region& out, Span span) {
  const ValueId view = NewView(buffer, kernel_.values[value].name + "_staged", TypeOf(value), out, span);
  Op store{OpCode::kStoreShared, {}, {view, value}};
  store.span = span;
  out.push_back(std::move(store));
  return view;
}

const std::string& Staging::Exchange(const ir::Type& type, bool is_reshaped) {
  std::string& buffer = exchanges_[{static_cast<int>(type.dtype), type.rows, type.cols, is_reshaped}];
  if (buffer.empty()) buffer = NewBuffer("exchange", type.dtype, type.rows, type.cols, "tiles on their way to other threads");
  return buffer;
}

ValueId Staging::Load(ValueId view, ValueId result, Region& out, Span span) {
  ir::Type& type = TypeOf(result);
  type.space = Space::kRegister;
  Op load{OpCode::kLoadShared, {result}, {view}};
  load.span = span;
  out.push_back(std::move(load));
  return result;
}

void Staging::RewriteReshape(Op op, Region& out) {
  const ValueId value = op.operands[0] = InRegisters(op.operands[0], out, op.span), result = op.results[0];
  TypeOf(result).space = Space::kRegister;
  if (op.number == ir::kStaysInRegisters) return out.push_back(std::move(op));
  const std::string& buffer = Exchange(TypeOf(value), true);
  StoreTo(buffer, value, out, op.span);
  Load(NewView(buffer, kernel_.values[result].name + "_staged", TypeOf(result), out, op.span), result, out, op.span);
}

void Staging::RewriteCat(Op op, Region& out) {
  const ValueId result = op.results[0];
  bool stays = true;
  std::vector<symbolic::Scalar> place = {symbolic::Int(0), symbolic::Int(0)};
  std::vector<std::vector<symbolic::Scalar>> places;
  for (const ValueId part : op.operands) {
    stays &= StaysWithThreads(result, part, place);
    places.push_back(place);
    place[1] = symbolic::Add(place[1], symbolic::Int(TypeOf(part).cols));
  }
  for (ValueId& value : op.operands) value = InRegisters(value, out, op.span);
  TypeOf(result).space = Space::kRegister;
  if (stays) return out.push_back(std::move(op));
  const ValueId view =
      NewView(Exchange(TypeOf(result), false), kernel_.values[result].name + "_staged", TypeOf(result), out, op.span);
  for (size_t i = 0; i < op.operands.size(); ++i) StorePart(view, op.operands[i], places[i], out, op.span);
  Load(view, result, out, op.span);
}

void Staging::StorePart(ValueId view, ValueId value, const std::vector<symbolic::Scalar>& place, Region& out, Span span) {
  ir::Type type = TypeOf(value);
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
  if (stays) return out.push_back(std::move(op));
  // The whole, the part over it, and the whole again.
  const ValueId view = StoreTo(Exchange(TypeOf(variable), false), variable, out, op.span);
  StorePart(view, value, op.scalars, out, op.span);
  Op assign{
      OpCode::kAssign, {}, {variable, Load(view, kernel_.AddValueAfter(variable, "_values", TypeOf(variable)), out, op.span)}};
  assign.span = op.span;
  out.push_back(std::move(assign));
}

void Staging::RewriteOp(const Op& source, Region& out) {
  Op op = source;
  switch (op.code) {
    case OpCode::kReceive:
      for (ValueId value : op.results) TypeOf(value).space = Space::kShared;
      out.push_back(std::move(op));
      return;
    case OpCode::kRead:
      pending_[op.results[0]] = op;
      // Read where the source says, which may be long before it is used.
      if (movable_.count(op.results[0]) == 0) InRegisters(op.results[0], out, op.span);
      return;
    case OpCode::kPositions: pending_[op.results[0]] = op; return;
    case OpCode::kTranspose: return RewriteTranspose(op, out);
    case OpCode::kPart: return RewritePart(std::move(op), out);
    case OpCode::kMatmul:
    case OpCode::kAccumulate: return RewriteProduct(op, out);
    case OpCode::kReduce:
    case OpCode::kCumsum: return RewriteReduce(std::move(op), out);
    case OpCode::kReshape: return RewriteReshape(std::move(op), out);
    case OpCode::kCat: return RewriteCat(std::move(op), out);
    case OpCode::kAssignPart: return RewriteAssignPart(std::move(op), out);
    case OpCode::kFor:
    case OpCode::kIf:
      PlaceBefore(op, out);
      for (Region& region : op.regions) {
        const auto staged = staged_;
        region = Rewrite(region);
        staged_ = staged;  // what was staged inside is not known to have happened outside
      }
      out.push_back(std::move(op));
      return;
    default:
      for (ValueId& value : op.operands) value = InRegisters(value, out, op.span);
      for (ValueId value : op.results) TypeOf(value).space = Space::kRegister;
      out.push_back(std::move(op));
  }
}

Result<void> StageOperands(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (!RequireRoomForASlot(kernel, target, diagnostics)) return Failure{};
  const size_t errors = diagnostics.ErrorCount();
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCompute) worker.body = Staging(kernel, worker, target, diagnostics).Rewrite(worker.body);
  }
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

}  // namespace tkc::passes

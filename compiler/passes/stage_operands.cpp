// SPDX-License-Identifier: MIT
#include "compiler/passes/stage_operands.h"

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
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
  ir::TakenNames taken;
  for (const ir::Buffer& other : kernel_.buffers) taken.Take(other.name);
  for (const ir::Pipe& pipe : kernel_.pipes) {  // which get their slots later
    for (size_t i = 0; i < pipe.fields.size(); ++i) taken.Take(FieldBuffer(pipe, i));
  }
  ir::Buffer buffer;
  buffer.name = taken.Free(name);
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
    kernel_.TypeOf(value).space = Space::kRegister;
    pending_.erase(place);
    return value;
  }
  if (!IsShared(value)) return value;
  if (const auto loaded = JustLoaded(value, out)) return *loaded;
  ir::Type type = kernel_.TypeOf(value);
  type.space = Space::kRegister;
  type.transposed = false;
  if (!FitsRows(asked) || !FitsCols(asked))
    ReportMatrixShape(worker_, type, span, diagnostics_)
        .Help(FitsRows(asked) ? "take its columns one by one: `x.cols(u)` with a `u` known here"
                              : "take its rows one by one: `x.rows(u)` with a `u` known here");
  return Load(value, kernel_.AddValueAfter(value, "_values", type), out, span);
}

ValueId Staging::NewTransposed(ValueId view, ir::Type type, Region& out, Span span) {
  type.space = Space::kShared;
  type.transposed = true;
  Op turn{OpCode::kTranspose, {kernel_.AddValueAfter(view, "_turned", type)}, {view}};
  turn.span = span;
  transpose_of_[turn.results[0]] = view;
  out.push_back(std::move(turn));
  return out.back().results[0];
}

ValueId Staging::InShared(ValueId value, Region& out, Span span) {
  value = Current(value);
  if (IsShared(value)) return value;
  const ir::Type type = kernel_.TypeOf(value);
  const std::string& name = kernel_.values[value].name;
  if (const auto place = pending_.find(value); place != pending_.end() && place->second.code == OpCode::kRead) {
    // Straight from global to shared memory: the values are never needed in registers.
    const Op read = place->second;
    pending_.erase(place);
    const bool is_turned = read.IsTurned();
    ir::Type lying = type;
    if (is_turned) std::swap(lying.rows, lying.cols);
    const std::string buffer =
        NewBuffer(name + "_stage", lying.dtype, lying.rows, lying.cols, fmt::format("staging of {}", read.symbol));
    kernel_.buffers.back().stages = read.symbol;
    ValueId view = NewView(buffer, name + "_staged", lying, out, span);
    Op copy{OpCode::kCopyToShared, {}, {view}, read.scalars};
    copy.symbol = read.symbol;
    copy.axes = read.axes;
    copy.span = span;
    out.push_back(copy);
    if (is_turned) view = NewTransposed(view, type, out, span);
    replaced_[value] = view;
    return view;
  }
  if (const auto place = staged_.find(value); place != staged_.end()) return place->second;
  value = InRegisters(value, out, span);
  const std::string buffer = NewBuffer(name + "_stage", type.dtype, type.rows, type.cols, fmt::format("staging of {}", name));
  kernel_.buffers.back().stages = name;
  const ValueId view = StoreTo(buffer, value, out, span);
  if (!kernel_.values[value].is_mutable) staged_[value] = view;
  return view;
}

void Staging::PlaceBefore(const Op& op, Region& out) {
  std::set<ValueId> in_registers, in_shared;
  for (const auto& [value, read] : pending_) {
    if (!Uses(op, value)) continue;
    bool is_operand = false;
    const bool is_vector = kernel_.TypeOf(value).rows == 1 || kernel_.TypeOf(value).cols == 1;
    for (const Region& region : op.regions) {
      ForEachOp(region, [&, v = value](const Op& inner) {
        const bool in_shared =
            ir::IsProduct(inner.code) || inner.code == OpCode::kPart || (inner.code == OpCode::kTranspose && !is_vector);
        is_operand |= in_shared && Uses(inner, v);
      });
    }
    (is_operand ? in_shared : in_registers).insert(value);
  }
  for (ValueId value : in_registers) InRegisters(value, out, op.span);
  for (ValueId value : in_shared) InShared(value, out, op.span);
}

bool Staging::IsTurnedStore(const Op& turn, const Op& store) {
  if (turn.code != OpCode::kTranspose || store.code != OpCode::kStore || store.IsTurned()) return false;
  if (store.operands[0] != turn.results[0] || CountUses(worker_.body, turn.results[0]) != 1) return false;
  const ir::Type& type = kernel_.TypeOf(turn.results[0]);
  const ValueId source = Current(turn.operands[0]);
  // A long column takes many registers of each thread: what is only turned is loaded as a row.
  if (type.rows == 1 && pending_.contains(source) && CountUses(worker_.body, source) == 1) return false;
  if (type.rows == 1 || type.cols == 1) return true;
  if (!multiplies_ || IsShared(source) || pending_.contains(source)) return false;
  if (!FitsRows(turn.results[0]) || !FitsCols(turn.results[0])) return true;  // turned, it could not lie in registers
  const bool is_narrow_float = IsFloat(type.dtype) && Bytes(type.dtype) == 2;
  if (!by_warps_ && is_narrow_float) return true;  // in chunks, on their way to the copy engine
  // Narrower elements are turned in shared memory where it has room for them beside what is not placed yet.
  constexpr int kWholeSectors = 4;           // bytes of an element
  constexpr int64_t kForScratch = 8 * 1024;  // partial results, chunks of stores
  const int64_t tile = type.Bytes() * worker_.instances;
  return Bytes(type.dtype) >= kWholeSectors || BytesBesideBuffers(kernel_, SharedLimit(kernel_, target_)) < tile + kForScratch;
}

void Staging::NoteVector(const Op& op) {
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  if (type.rows == 1 || type.cols == 1) vectors_[op.results[0]] = op;
}

bool Staging::MayMakeAgain(const Op& op) const {
  return pending_.contains(op.results[0]) || op.code != OpCode::kRead || KeepsTensor(kernel_, op.symbol);
}

void Staging::MakeTurned(Op op, ValueId result, Region& out, Span span) {
  op.results = {result};
  op.code == OpCode::kPositions ? op.SetOfRows(!op.IsOfRows()) : op.SetTurned(!op.IsTurned());
  pending_[result] = vectors_[result] = op;
  // No product takes a vector: it is read where the source says.
  if (op.code == OpCode::kRead) InRegisters(result, out, span);
}

void Staging::RewriteTranspose(const Op& op, Region& out) {
  const ValueId result = op.results[0];
  ValueId source = Current(op.operands[0]);
  if (const auto made = vectors_.find(source); made != vectors_.end() && MayMakeAgain(made->second)) {
    // It turns around for free where it is made, which may be once for either way round. What is only read turned is read for each
    // use: share_reads knows where registers for it are left meanwhile.
    const auto turned = turned_.find(source);
    const bool is_held = made->second.code == OpCode::kPositions || !pending_.contains(source);
    if (is_held && turned != turned_.end() && !pending_.contains(turned->second)) {
      replaced_[result] = turned->second;
      return;
    }
    MakeTurned(made->second, result, out, op.span);
    turned_[source] = result;
    return;
  }
  if (Exchanges(op, source)) return RewriteExchange(op, source, out);
  source = InShared(source, out, op.span);
  if (const auto under = transpose_of_.find(source); under != transpose_of_.end()) {
    replaced_[result] = under->second;
    return;
  }
  kernel_.TypeOf(result).space = Space::kShared;
  kernel_.TypeOf(result).transposed = true;
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
      kernel_.TypeOf(result).space = Space::kRegister;
      op.operands = {source};
      out.push_back(op);
      return;
    }
    if (Exchanges(op, source)) return RewriteExchange(std::move(op), source, out);
  }
  source = InShared(source, out, op.span);
  kernel_.TypeOf(result).space = Space::kShared;
  if (const auto under = transpose_of_.find(source); under != transpose_of_.end()) {
    // The part of a transposed view is the transposed part of the view under it.
    ir::Type type = kernel_.TypeOf(result);
    std::swap(type.rows, type.cols);
    type.transposed = false;
    Op part{OpCode::kPart, {kernel_.AddValueAfter(result, "", type)}, {under->second}, {op.scalars[1], op.scalars[0]}};
    part.span = op.span;
    Op turn{OpCode::kTranspose, {result}, {part.results[0]}};
    turn.span = op.span;
    kernel_.TypeOf(result).transposed = true;
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

bool Staging::Exchanges(const Op& op, ValueId source) {
  return !IsShared(source) && pending_.find(source) == pending_.end() && kernel_.values[source].is_mutable &&
         operands_.count(op.results[0]) == 0 && FitsRows(op.results[0]) && FitsCols(op.results[0]);
}

void Staging::NoteOperands() {
  std::vector<const Op*> moves;
  ForEachOp(worker_.body, [&](const Op& op) {
    if (ir::IsProduct(op.code) || op.code == OpCode::kSend) operands_.insert(op.operands.begin(), op.operands.end());
    if (ir::IsPartOrTranspose(op.code)) moves.push_back(&op);
  });
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    if (operands_.count((*move)->results[0]) > 0) operands_.insert((*move)->operands[0]);
  }
}

void Staging::NotePart(const Op& part) {
  const ValueId source = part.operands[0];
  const auto outer = place_of_.find(source);
  place_of_[part.results[0]] = outer == place_of_.end()
                                   ? StagedPart{part.scalars[1], kernel_.TypeOf(source)}
                                   : StagedPart{symbolic::Add(outer->second.col, part.scalars[1]), outer->second.whole};
}

void Staging::RewriteRegions(Op& op, Region& out) {
  const bool is_loop = ir::IsLoop(op.code);
  if (is_loop) exchanged_.clear();  // an iteration may come behind another
  const auto exchanged = exchanged_;
  auto known = exchanged_;  // behind each of the regions
  for (Region& region : op.regions) {
    const auto staged = staged_;
    const auto turned = turned_;
    exchanged_ = exchanged;
    region = Rewrite(region);
    turned_ = turned;
    std::erase_if(known, [&](const auto& held) {
      const auto still = exchanged_.find(held.first);
      return still == exchanged_.end() || still->second != held.second;
    });
    if (is_loop)
      HoistStagings(op, staged, out);
    else
      staged_ = staged;  // what was staged inside is not known to have happened outside
  }
  exchanged_ = std::move(known);
}

void Staging::HoistStagings(Op& loop, const std::map<ValueId, ValueId>& before, Region& out) {
  Region& body = loop.regions[0];
  std::set<ValueId> made, views;
  ForEachOp(body, [&](const Op& op) { made.insert(op.results.begin(), op.results.end()); });
  std::erase_if(staged_, [&](const auto& staged) { return !before.contains(staged.first) && made.contains(staged.first); });
  for (const Op& op : body) {
    const bool stores = op.code == OpCode::kStoreShared && staged_.contains(op.operands[1]);
    if (stores && staged_.at(op.operands[1]) == op.operands[0]) views.insert(op.operands[0]);
  }
  std::erase_if(staged_, [&](const auto& staged) { return !before.contains(staged.first) && !views.contains(staged.second); });
  const auto leaves = [&](const Op& op) {
    const bool stages = op.code == OpCode::kView || op.code == OpCode::kStoreShared;
    return stages && views.contains(op.code == OpCode::kView ? op.results[0] : op.operands[0]);
  };
  std::copy_if(body.begin(), body.end(), std::back_inserter(out), leaves);
  std::erase_if(body, leaves);
}

void Staging::RewriteOp(const Op& source, Region& out) {
  Op op = source;
  switch (op.code) {
    case OpCode::kReceive:
      for (ValueId value : op.results) kernel_.TypeOf(value).space = Space::kShared;
      out.push_back(std::move(op));
      return;
    case OpCode::kRead:
      pending_[op.results[0]] = op;
      NoteVector(op);
      // Read where the source says, which may be long before it is used.
      if (movable_.count(op.results[0]) == 0) InRegisters(op.results[0], out, op.span);
      return;
    case OpCode::kPositions:
      pending_[op.results[0]] = op;
      NoteVector(op);
      return;
    case OpCode::kTranspose: return RewriteTranspose(op, out);
    case OpCode::kPart: return RewritePart(std::move(op), out);
    case OpCode::kMatmul:
    case OpCode::kAccumulate: return RewriteProduct(op, out);
    case OpCode::kReduce:
    case OpCode::kReduceThreads:
    case OpCode::kCumsum: return RewriteReduce(std::move(op), out);
    case OpCode::kReshape: return RewriteReshape(std::move(op), out);
    case OpCode::kCat: return RewriteCat(std::move(op), out);
    case OpCode::kAssignPart: return RewriteAssignPart(std::move(op), out);
    case OpCode::kFor:
    case OpCode::kIf:
      PlaceBefore(op, out);
      RewriteRegions(op, out);
      out.push_back(std::move(op));
      return;
    default:
      for (ValueId& value : op.operands) value = InRegisters(value, out, op.span);
      if (ir::Assigns(op.code)) ForgetExchanged(op.operands[0]);
      for (ValueId value : op.results) kernel_.TypeOf(value).space = Space::kRegister;
      out.push_back(std::move(op));
  }
}

Result<void> StageOperands(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (!RequireRoomForASlot(kernel, target, diagnostics)) return Failure{};
  const size_t errors = diagnostics.ErrorCount();
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) worker.body = Staging(kernel, worker, target, diagnostics).Rewrite(worker.body);
  }
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

}  // namespace tkc::passes

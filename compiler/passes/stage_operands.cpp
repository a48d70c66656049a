// SPDX-License-Identifier: MIT
#include "compiler/passes/stage_operands.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiler/layout/shared_tile.h"
#include "compiler/passes/select_layout.h"
#include "compiler/passes/walk.h"
#include "compiler/support/internal_error.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Space;
using ir::ValueId;

constexpr int64_t kMatrixRows = 64;   // of one warpgroup's matrix instruction
constexpr int64_t kMatrixCols = 8;    // granularity of N
constexpr int64_t kMatrixDepth = 16;  // K of one instruction, 16-bit operands

/// What a worker instance's product is made of: of one instruction of the warpgroup, or of one of each warp, side by side.
struct ProductUnit {
  int64_t rows = kMatrixRows, cols = kMatrixCols, depth = kMatrixDepth;
  int64_t wide = 0;  // K of a step where it divides the operands': their loads then bring 16 bytes a lane

  int64_t StepOf(int64_t k) const { return wide != 0 && k % wide == 0 ? wide : depth; }
};

ProductUnit UnitOf(const Target& target, const ir::RegisterLayout& l) {
  if (target.has_matrix_group) return {};
  return {l.RowsPerBlock(), l.ColsPerBlock(), kMatrixDepth, target.is_hip ? 2 * kMatrixDepth : 0};
}

/// The first column of a part of a tile in shared memory, and the shape of the tile.
struct Place {
  symbolic::Scalar col;
  ir::Type whole;
};

class Staging {
 public:
  Staging(ir::Kernel& kernel, ir::Worker& worker, const Target& target, Diagnostics& diagnostics)
      : kernel_(kernel),
        worker_(worker),
        by_warps_(!target.has_matrix_group),
        unit_(UnitOf(target, worker.layout)),
        diagnostics_(diagnostics) {
    ForEachOp(worker.body, [&](const Op& op) {
      const bool rearranges = op.code == OpCode::kTranspose || (op.code == OpCode::kPart && !StaysWithThreads(op));
      if (rearranges || IsProduct(op.code) || op.code == OpCode::kSend) movable_.insert(op.operands.begin(), op.operands.end());
    });
  }

  Region Rewrite(const Region& region) {
    Region out;
    for (size_t i = 0; i < region.size(); ++i) {
      if (i + 1 == region.size() || !IsTurnedStore(region[i], region[i + 1])) {
        RewriteOp(region[i], out);
        continue;
      }
      // A vector is stored as it is held, to the elements of the block turned around.
      Op store = region[i + 1];
      store.operands = region[i].operands;
      store.slot = "transposed";
      RewriteOp(store, out);
      ++i;
    }
    return out;
  }

 private:
  ir::Type& TypeOf(ValueId value) { return kernel_.values[value].type; }
  bool IsShared(ValueId value) { return TypeOf(value).space == Space::kShared; }
  ValueId Current(ValueId value) {
    const auto place = replaced_.find(value);
    return place == replaced_.end() ? value : place->second;
  }

  /// `turn` makes a row of a column, or the other way around, for the store behind it alone.
  bool IsTurnedStore(const Op& turn, const Op& store) {
    if (turn.code != OpCode::kTranspose || store.code != OpCode::kStore || !store.slot.empty()) return false;
    const ir::Type& type = TypeOf(turn.results[0]);
    if (store.operands[0] != turn.results[0] || (type.rows > 1 && type.cols > 1)) return false;
    int uses = 0;
    ForEachOp(worker_.body, [&](const Op& op) { uses += std::count(op.operands.begin(), op.operands.end(), turn.results[0]); });
    return uses == 1;
  }

  void RewriteOp(const Op& source, Region& out);
  /// Emits the pending reads that the regions of `op` use, so that they happen once and their values are in scope after it.
  void PlaceBefore(const Op& op, Region& out);
  void RewriteTranspose(const Op& op, Region& out);
  void RewritePart(Op op, Region& out);
  /// Notes where a part in shared memory begins in the tile it is taken from.
  void NotePart(const Op& part);
  /// Whether the matrix unit, or the loads of its operands, can begin where this tile in shared memory does.
  bool BeginsWell(ValueId shared);
  /// A tile in shared memory, copied to a place of its own if it begins where no operand can.
  ValueId WhereItBeginsWell(ValueId shared, Region& out, Span span);
  void RewriteProduct(const Op& op, Region& out);
  /// The product term by term, each of one instruction's depth, from fragments in registers.
  void ProductSteps(const Op& op, ValueId acc, ValueId a, ValueId b, Region& out);
  /// The part of an operand that step `step` multiplies: a fragment loaded from shared memory, or columns of a register tile.
  ValueId Fragment(ValueId operand, bool is_left, int64_t step, Region& out, Span span);
  void RewriteReduce(Op op, Region& out);
  /// A reduction along an axis too short for the layout, of a tile in shared memory: its columns (rows) are taken one by one.
  void ReduceByParts(const Op& op, Region& out);
  /// Whether the worker's layout holds tiles of this shape: that of a worker that multiplies holds whole fragments only.
  bool FitsRows(const ir::Type& type) const { return type.rows == 1 || type.rows % worker_.layout.RowUnit() == 0; }
  bool FitsCols(const ir::Type& type) const { return type.cols == 1 || type.cols % worker_.layout.ColUnit() == 0; }
  /// Columns of a register tile at a static place are registers of the same threads; any other part moves between threads.
  bool StaysWithThreads(const Op& part) const {
    const ir::Type &whole = kernel_.values[part.operands[0]].type, &type = kernel_.values[part.results[0]].type;
    const int64_t granule = worker_.layout.ColsPerBlock();
    int64_t col = 0;
    return type.rows == whole.rows && symbolic::IsInt(part.scalars[0]) && symbolic::IsInt(part.scalars[1], &col) &&
           col % granule == 0 && type.cols % granule == 0;
  }
  void CheckProduct(const Op& op);
  void NotYet(const Op& op, const std::string& what) {
    diagnostics_.Error(DiagnosticKind::kNotImplemented, op.span, what + " is specified, not yet implemented");
  }

  /// The value in registers: itself, or loaded from its slot. One load per use; the compiler of the output merges nothing here.
  ValueId InRegisters(ValueId value, Region& out, Span span);
  /// The value in shared memory: itself, or stored into a staging buffer.
  ValueId InShared(ValueId value, Region& out, Span span);
  ValueId NewView(const std::string& buffer, const std::string& name, ir::Type type, Region& out, Span span);
  std::string NewBuffer(const std::string& name, DType dtype, int64_t rows, int64_t cols, const std::string& purpose);

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  const bool by_warps_;  // each warp multiplies for itself, with operands in registers
  const ProductUnit unit_;
  Diagnostics& diagnostics_;
  std::map<ValueId, ValueId> replaced_;      // value -> the one that stands for it now
  std::map<ValueId, ValueId> staged_;        // register value -> the view of its copy in shared memory
  std::map<ValueId, ValueId> transpose_of_;  // shared transposed view -> the view under it
  std::map<ValueId, Place> place_of_;        // part in shared memory -> where it begins
  std::set<ValueId> movable_;                // what is turned, taken in parts, multiplied or sent: shared memory may be its place
  std::map<ValueId, Op> pending_;            // read or positions not emitted yet: their place depends on the use
};

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

ValueId Staging::InRegisters(ValueId value, Region& out, Span span) {
  value = Current(value);
  if (const auto place = pending_.find(value); place != pending_.end()) {
    out.push_back(place->second);
    TypeOf(value).space = Space::kRegister;
    pending_.erase(place);
    return value;
  }
  if (!IsShared(value)) return value;
  ir::Type type = TypeOf(value);
  type.space = Space::kRegister;
  type.transposed = false;
  if (!FitsRows(type) || !FitsCols(type))
    ReportMatrixShape(worker_, type, span, diagnostics_)
        .Help(FitsRows(type) ? "take its columns one by one: `x.cols(u)` with a `u` known here"
                             : "take its rows one by one: `x.rows(u)` with a `u` known here");
  Op load{OpCode::kLoadShared, {}, {value}};
  load.span = span;
  load.results = {kernel_.AddValueAfter(value, "_values", type)};
  out.push_back(load);
  return load.results[0];
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
  const ValueId view = NewView(buffer, name + "_staged", type, out, span);
  Op store{OpCode::kStoreShared, {}, {view, value}};
  store.span = span;
  out.push_back(store);
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

void Staging::NotePart(const Op& part) {
  const ValueId source = part.operands[0];
  const auto outer = place_of_.find(source);
  place_of_[part.results[0]] = outer == place_of_.end()
                                   ? Place{part.scalars[1], TypeOf(source)}
                                   : Place{symbolic::Add(outer->second.col, part.scalars[1]), outer->second.whole};
}

/// Loads of operands take 16 bytes of a row at once. A matrix unit that reads shared memory by itself goes on from its first
/// address by strides: no instruction's columns may lie in two panels, but for those that begin with a panel.
bool Staging::BeginsWell(ValueId shared) {
  constexpr int64_t kChunk = 16;  // bytes
  const auto under = transpose_of_.find(shared);
  const ValueId stored = under == transpose_of_.end() ? shared : under->second;
  const auto found = place_of_.find(stored);
  if (found == place_of_.end()) return true;
  const auto& [col, whole] = found->second;
  const auto is_multiple = [&](int64_t unit) { return symbolic::KnownDivisor(col) % unit == 0; };
  if (by_warps_) return is_multiple(kChunk / Bytes(whole.dtype));
  const int64_t cols = TypeOf(stored).cols;
  const layout::SharedTile tile{whole.dtype, whole.rows, whole.cols,
                                static_cast<int>(ChooseSwizzle(whole.dtype, whole.rows, whole.cols))};
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
  const ir::Type& a = TypeOf(op.operands[has_acc]);
  const ir::Type& b = TypeOf(op.operands[has_acc + 1]);
  const auto complain = [&](int64_t found, const char* what, int64_t unit) {
    diagnostics_
        .Error(
            DiagnosticKind::kMatrixShape, op.span,
            fmt::format("the product has {} {} in one worker instance; the matrix unit takes multiples of {}", found, what, unit))
        .Label(op.span, fmt::format("`{}[{}, {}] @ {}[{}, {}]`", Name(a.dtype), a.rows, a.cols, Name(b.dtype), b.rows, b.cols));
  };
  if (a.rows % unit_.rows != 0) complain(a.rows, "rows", unit_.rows);
  if (b.cols % unit_.cols != 0) complain(b.cols, "columns", unit_.cols);
  if (a.cols % unit_.depth != 0) complain(a.cols, "terms a sum", unit_.depth);
}

void Staging::RewriteProduct(const Op& op, Region& out) {
  CheckProduct(op);
  const bool has_acc = op.code == OpCode::kAccumulate;
  ValueId acc = has_acc ? Current(op.operands[0]) : op.results[0];
  ValueId a = Current(op.operands[has_acc]);
  // The left operand may stay in registers; one that was only read goes through shared memory.
  if (!IsShared(a) && pending_.find(a) != pending_.end()) a = InShared(a, out, op.span);
  if (!by_warps_ && IsShared(a) && !BeginsWell(a)) a = InRegisters(a, out, op.span);
  if (!IsShared(a) && !by_warps_) {
    // A copy that nothing else touches: the matrix unit reads it while the worker goes on.
    const ValueId operand = kernel_.AddValueAfter(a, "_operand", TypeOf(a), true);
    Op copy{OpCode::kVar, {operand}, {a}};
    copy.span = op.span;
    out.push_back(copy);
    a = operand;
  }
  if (by_warps_) a = IsShared(a) ? WhereItBeginsWell(a, out, op.span) : InRegisters(a, out, op.span);
  const ValueId b = WhereItBeginsWell(InShared(op.operands[has_acc + 1], out, op.span), out, op.span);
  if (!has_acc) {
    TypeOf(acc).space = Space::kRegister;
    kernel_.values[acc].is_mutable = true;
    Op declare{OpCode::kVar, {acc}};
    declare.span = op.span;
    out.push_back(declare);
  }
  if (by_warps_) return ProductSteps(op, acc, a, b, out);
  Op mma{OpCode::kMma, {}, {acc, a, b}};
  mma.number = has_acc ? op.number : 2;
  mma.span = op.span;
  out.push_back(mma);
}

ValueId Staging::Fragment(ValueId operand, bool is_left, int64_t step, Region& out, Span span) {
  ir::Type type = TypeOf(operand);
  const int64_t depth = unit_.StepOf(is_left ? type.cols : type.rows);
  const symbolic::Scalar zero = symbolic::Int(0), first = symbolic::Int(step * depth);
  const std::string number = fmt::format("_{}", step);
  (is_left ? type.cols : type.rows) = depth;
  const bool is_whole = type == TypeOf(operand);
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

void Staging::ProductSteps(const Op& op, ValueId acc, ValueId a, ValueId b, Region& out) {
  const bool has_acc = op.code == OpCode::kAccumulate;
  const int64_t steps = TypeOf(a).cols / unit_.StepOf(TypeOf(a).cols);
  ValueId left = Fragment(a, true, 0, out, op.span), right = Fragment(b, false, 0, out, op.span);
  for (int64_t step = 0; step < steps; ++step) {
    Op multiply{OpCode::kMultiply, {}, {acc, left, right}};
    multiply.number = has_acc ? op.number : step == 0 ? 2 : 0;
    multiply.span = op.span;
    // The operands of a step are on their way while the one before it is multiplied.
    if (step + 1 < steps) {
      left = Fragment(a, true, step + 1, out, op.span);
      right = Fragment(b, false, step + 1, out, op.span);
    }
    out.push_back(std::move(multiply));
  }
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
    const ir::Type& result = TypeOf(op.results[0]);
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

void Staging::RewriteReduce(Op op, Region& out) {
  if (const ValueId source = Current(op.operands[0]); IsShared(source)) {
    const bool is_short = op.slot == "rows" ? !FitsCols(TypeOf(source)) : !FitsRows(TypeOf(source));
    if (is_short) return ReduceByParts(op, out);
  }
  op.operands[0] = InRegisters(op.operands[0], out, op.span);
  TypeOf(op.results[0]).space = Space::kRegister;
  if (worker_.layout.SpansWarps(op.slot)) {
    const bool is_column = op.slot == "cols";
    const ir::Type& type = TypeOf(op.operands[0]);
    op.symbol = NewBuffer(ir::WithoutNumber(kernel_.values[op.results[0]].name) + "_scratch", type.dtype, 4,
                          is_column ? type.cols : type.rows,
                          fmt::format("one partial result a warp of a {} reduction", is_column ? "column" : "row"));
    kernel_.buffers.back().is_scratch = true;
  }
  out.push_back(std::move(op));
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
    case OpCode::kReduce: return RewriteReduce(std::move(op), out);
    case OpCode::kCumsum: return NotYet(op, "`cumsum`");
    case OpCode::kCat: return NotYet(op, "`cat`");
    case OpCode::kAssignPart: return NotYet(op, "assignment to a part of a tile");
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

}  // namespace

Result<void> StageOperands(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  const size_t errors = diagnostics.ErrorCount();
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCompute) worker.body = Staging(kernel, worker, target, diagnostics).Rewrite(worker.body);
  }
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

}  // namespace tkc::passes

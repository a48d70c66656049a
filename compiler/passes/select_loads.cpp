// SPDX-License-Identifier: MIT
// How slots are filled from memory: by the copy engine, by the threads that compute, or by a warp where the engine can't.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/passes/copy_pieces.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/select_transfer_impl.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kBoxPlace = 128;  // bytes: boxes lie in shared memory at multiples of this

bool IsZero(const ir::Scalar& scalar) {
  int64_t value = 1;
  if (scalar && scalar->kind == symbolic::Kind::kFloat) return scalar->float_value == 0;
  return !scalar || (symbolic::IsInt(scalar, &value) && value == 0);
}

/// Whether each panel of the tile begins where the engine can put a box.
static bool HasPlaces(const ir::Buffer& buffer) {
  const int64_t panel = layout::PanelBytes(buffer.swizzle);
  return panel == 0 || buffer.cols * Bytes(buffer.dtype) <= panel || buffer.rows * panel % kBoxPlace == 0;
}

/// Buffers of slots that products load from.
std::set<std::string> OperandsOfProducts(const ir::Kernel& kernel) {
  std::set<std::string> operands;
  for (const ir::Worker& worker : kernel.workers) {
    const auto buffers = BuffersOfViews(kernel, worker.body);
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code != OpCode::kLoadLeft && op.code != OpCode::kLoadRight) return;
      const auto buffer = buffers.find(op.operands[0]);
      if (buffer != buffers.end()) operands.insert(buffer->second);
    });
  }
  return operands;
}

using Obstacles = std::map<std::string, std::string>;  // what keeps the copy engine from moving something, and tensors

struct LoadSelection {
  CopyEngine& engine;
  ir::Worker& worker;
  ir::Kernel& kernel = engine.kernel;
  const Target& target = engine.target;
  std::set<std::string> operands = OperandsOfProducts(kernel);
  std::map<ValueId, Op> reads{};  // by result

  /// What keeps the engine from filling a field. `where` as of CopyEngine::Obstacle.
  std::string LoadObstacle(const Op& read, const ir::Buffer& buffer, std::vector<ir::Scalar>* where) const {
    const ir::Type& type = kernel.TypeOf(read.results[0]);
    if (!HasShapeOf(type, buffer)) return "it fills a part of a slot";
    return HasPlaces(buffer) ? engine.Obstacle(read, type, where) : "its panels are too short";
  }

  const ir::Buffer& FieldFilled(const Op& send, size_t operand) const {
    return FindBuffer(kernel, FieldBuffer(FindPipe(kernel, send.symbol), FieldOf(send, operand)));
  }

  /// Where the engine could fill fields of the slot but for ranges that may end inside a block: in which blocks it can. Null if it
  /// could none, or needs no condition.
  ir::Scalar WhereWhole(const Op& send) const;
  /// The copies of a tile of more rows than a box has into parts of its field.
  void FillByBoxes(const Op& read, const Op& copy, ValueId field, Region& out);
  /// The copies that fill the slot, or a part of it. `is_whole`: in blocks in which no range ends.
  Region Fill(Op send, bool is_whole);
  /// How a read fills a field's tile, or part of it. `obstacles`: of tensors that a warp copies, what keeps the engine from it.
  Op CopyOf(const Op& read, const std::string& pipe, const ir::Buffer& buffer, const std::string& obstacle, bool fills_field,
            Obstacles& obstacles);
  /// By the threads that compute, where there is no engine.
  Op FoldedCopy(const Op& read, const std::string& pipe, const ir::Buffer& buffer, bool fills_field) const;
  void Rewrite(Region& region);
};

Op LoadSelection::FoldedCopy(const Op& read, const std::string& pipe, const ir::Buffer& buffer, bool fills_field) const {
  Op copy{OpCode::kCopyToShared};
  copy.symbol = read.symbol;
  copy.axes = read.axes;
  copy.SetTurned(read.IsTurned());
  const bool is_zero_outside = read.scalars.empty() || IsZero(read.scalars[0]);
  const bool is_operand = operands.contains(buffer.name), is_turned = read.IsTurned();
  const ir::Type& tile = kernel.TypeOf(read.results[0]);
  const bool is_staged =
      is_zero_outside && fills_field && is_operand && GoesThroughRegisters(kernel, engine.facts, target, read, tile, is_turned);
  if (!is_staged && !(is_zero_outside && !read.IsTurned())) {
    copy.scalars = read.scalars;
    copy.Set(ir::kByBlock);
    return copy;
  }
  copy.code = OpCode::kCopyAsync;
  const bool in_pieces =
      fills_field && GoesInPieces(kernel, engine.facts, target, read, ThreadsOf(*FillerOf(kernel, pipe), target), is_operand);
  copy.Set(is_staged ? ir::kThroughRegisters : in_pieces ? ir::kInPieces : ir::kAnyBlock);
  if (!copy.Is(ir::kAnyBlock)) {
    for (ir::AxisRange& axis : copy.axes) axis.lo = axis.hi = {};  // which end with their blocks, or with the tensor
  }
  return copy;
}

Op LoadSelection::CopyOf(const Op& read, const std::string& pipe, const ir::Buffer& buffer, const std::string& obstacle,
                         bool fills_field, Obstacles& obstacles) {
  if (target.folds_copies) return FoldedCopy(read, pipe, buffer, fills_field);
  if (obstacle.empty()) {
    Op copy{OpCode::kLoadAsync};
    copy.symbol = engine.Map(read, buffer, false);
    copy.scalars = Coordinates(read);
    KeepSlices(read, copy);
    return copy;
  }
  worker.kind = ir::RoleKind::kCopyWarp;
  std::string& tensors = obstacles[obstacle];
  tensors += fmt::format("{}`{}`", tensors.empty() ? "" : ", ", read.symbol);
  Op copy{OpCode::kCopyToShared, {}, {}, read.scalars};
  copy.symbol = read.symbol;
  copy.axes = read.axes;
  copy.Set(ir::kByWarp);
  return copy;
}

ir::Scalar LoadSelection::WhereWhole(const Op& send) const {
  if (target.folds_copies || kernel.cluster > 1) return nullptr;
  std::vector<ir::Scalar> where;
  for (size_t i = 0; i < send.operands.size(); ++i) {
    std::vector<ir::Scalar> of_field;
    const bool is_moved = LoadObstacle(reads.at(send.operands[i]), FieldFilled(send, i), &of_field).empty();
    if (is_moved) where.insert(where.end(), of_field.begin(), of_field.end());
  }
  ir::Scalar all;
  for (size_t i = 0; i < where.size(); ++i) {
    const auto is_same = [&](const ir::Scalar& other) { return symbolic::Equal(other, where[i]); };
    if (std::any_of(where.begin(), where.begin() + static_cast<ptrdiff_t>(i), is_same)) continue;
    all = all ? symbolic::Make(symbolic::Kind::kAnd, DType::kBool, {all, where[i]}) : where[i];
  }
  return all;
}

void LoadSelection::FillByBoxes(const Op& read, const Op& copy, ValueId field, Region& out) {
  const ir::Type type = kernel.TypeOf(field);
  ir::Type box = type;
  box.rows = BoxRows(target, type.rows);
  const auto is_of_rows = [&](const ir::AxisRange& axis) { return !axis.dropped && axis.extent == type.rows; };
  const auto axis = static_cast<size_t>(std::find_if(read.axes.begin(), read.axes.end(), is_of_rows) - read.axes.begin());
  out.push_back(Explain(fmt::format("A box has at most {} rows.", target.copy_box_extent), copy.span));
  for (int64_t row = 0; row < type.rows; row += box.rows) {
    const ir::Scalar first = symbolic::Int(row);
    Op part{OpCode::kPart, {kernel.AddValueAfter(field, "_box", box)}, {field}, {first, symbolic::Int(0)}};
    part.span = copy.span;
    Op one = copy;
    one.operands = part.results;
    one.scalars[axis] = symbolic::Add(one.scalars[axis], first);
    if (!one.axes.empty()) one.axes[axis] = {.start = one.scalars[axis], .extent = box.rows, .is_slice = one.axes[axis].is_slice};
    out.push_back(std::move(part));
    out.push_back(std::move(one));
  }
}

Region LoadSelection::Fill(Op send, bool is_whole) {
  const ir::Pipe& pipe = FindPipe(kernel, send.symbol);
  Region out, copies;
  Obstacles obstacles;
  std::vector<ir::Scalar> known;
  for (size_t i = 0; i < send.operands.size(); ++i) {
    const Op& read = reads.at(send.operands[i]);
    const ir::Buffer& buffer = FieldFilled(send, i);
    const ir::Type type = kernel.TypeOf(read.results[0]);  // values move where some are added
    const bool fills_field = HasShapeOf(type, buffer);
    const std::string obstacle = LoadObstacle(read, buffer, is_whole ? &known : nullptr);
    Op copy = CopyOf(read, pipe.name, buffer, obstacle, fills_field, obstacles);
    copy.span = send.span;
    const ValueId slot = kernel.AddValue(buffer.name, ir::Type{buffer.dtype, buffer.rows, buffer.cols, ir::Space::kShared, false});
    Op view{OpCode::kView, {slot}};
    view.symbol = buffer.name;
    view.SetSlot(pipe.name);
    view.span = send.span;
    copies.push_back(view);
    ValueId place = slot;
    if (!fills_field) {
      place = kernel.AddValue(buffer.name + "_part", ir::Type{buffer.dtype, type.rows, type.cols, ir::Space::kShared, false});
      Op part{OpCode::kPart, {place}, {slot}, {send.scalars[0], send.scalars[1]}};
      part.span = send.span;
      copies.push_back(part);
    }
    copy.operands = {place};
    if (copy.code == OpCode::kLoadAsync && type.rows > target.copy_box_extent && type.cols > 1) {
      FillByBoxes(read, copy, place, copies);
    } else {
      copies.push_back(std::move(copy));
    }
  }
  for (const auto& [obstacle, tensors] : obstacles) {
    out.push_back(Explain(fmt::format("The warp copies {}, not the engine: {}.", tensors, obstacle), send.span));
  }
  send.operands.clear();
  send.regions = {std::move(copies)};
  out.push_back(std::move(send));
  return out;
}

/// A read that feeds a send becomes the copy that fills the field; `send` keeps the views it fills, in order.
void LoadSelection::Rewrite(Region& region) {
  Region out;
  for (Op& op : region) {
    for (Region& inner : op.regions) Rewrite(inner);
    if (op.code == OpCode::kRead) {
      reads[op.results[0]] = op;
    } else if (op.code != OpCode::kSend) {
      out.push_back(std::move(op));
    } else if (const ir::Scalar whole = WhereWhole(op)) {
      Region as_whole = Fill(op, true);
      out.push_back(If(whole, std::move(as_whole), Fill(op, false), op.span));
    } else {
      for (Op& filling : Fill(std::move(op), false)) out.push_back(std::move(filling));
    }
  }
  region = std::move(out);
}

}  // namespace

void SelectLoads(CopyEngine& engine, ir::Worker& worker) { LoadSelection{engine, worker}.Rewrite(worker.body); }

}  // namespace tkc::passes

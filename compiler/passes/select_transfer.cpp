// SPDX-License-Identifier: MIT
#include "compiler/passes/select_transfer.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/layout/conflict.h"
#include "compiler/passes/copy_pieces.h"
#include "compiler/passes/index_facts.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/select_layout.h"
#include "compiler/passes/sync_roles.h"
#include "compiler/passes/walk.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kMaxBox = 256;      // elements of a box along one dimension
constexpr int64_t kMaxAxis = 65536;   // elements of an access along one dimension, in several boxes
constexpr int64_t kCopyGranule = 16;  // bytes
constexpr int64_t kBoxPlace = 128;    // bytes: boxes lie in shared memory at multiples of this
constexpr size_t kMaxRank = 5;

constexpr int64_t kStagingBytes = 16384;  // for each instance of a worker: what the slots can spare

/// How many bytes of each row a staging chunk has: a swizzle's width that divides the columns. 0: none does. Many small chunks beat
/// few large ones, as the engine reads one while the next are written (4 of 4 KiB against 2 of 8 KiB: a 2048 x 2048 product gains
/// 1.1 % on an H200). Elements of 4 bytes are stored without matrix instructions, which takes the widest swizzle.
int64_t ChunkBytes(const ir::Type& tile, DType dtype) {
  for (int64_t bytes = tile.rows <= 64 && Bytes(dtype) > 2 ? 128 : 64; bytes >= 32; bytes /= 2) {
    if (tile.cols * Bytes(dtype) % bytes == 0) return bytes;
  }
  return 0;
}

/// A chunk's buffer comes round after this many chunks on every path, so that the wait before it is a static number. `most_bytes`:
/// of shared memory, for all of them.
int64_t StagingBuffers(int64_t chunks, int64_t chunk_bytes, int64_t most_bytes) {
  for (int64_t count = std::min<int64_t>(4, std::min(kStagingBytes, most_bytes) / chunk_bytes); count > 1; --count) {
    if (chunks % count == 0) return count;
  }
  return 1;
}

/// What is left of a block's shared memory beside the slots that the schedule asks for.
int64_t BytesBesideSlots(const ir::Kernel& kernel, const Target& target) {
  constexpr int64_t kForBarriers = 1024;
  int64_t bytes = target.SharedMemoryOfEach(std::max(1, kernel.resident)) - kForBarriers;
  for (const ir::Pipe& pipe : kernel.pipes) bytes -= SlotBytes(pipe) * pipe.rings * std::max(pipe.slots, pipe.least_slots);
  return bytes;
}

bool IsZero(const ir::Scalar& scalar) {
  int64_t value = 1;
  if (scalar && scalar->kind == symbolic::Kind::kFloat) return scalar->float_value == 0;
  return !scalar || (symbolic::IsInt(scalar, &value) && value == 0);
}

using Obstacles = std::map<std::string, std::string>;  // what keeps the copy engine from moving something, and tensors

struct Transfer {
  ir::Kernel& kernel;
  const Target& target;
  IndexFacts facts{kernel};
  std::map<ValueId, Op> reads{};       // of the copy role at hand, by result
  std::set<std::string> own_stages{};  // staging buffers of the computing role at hand
  std::set<std::string> operands{};    // buffers of slots that products load from

  /// What keeps the copy engine from moving this access; empty if nothing does. It clips by the tensor's own bounds only, rows then
  /// columns innermost, boxes in range, the first column of each box at a multiple of 16 bytes, and stores nothing before the first
  /// element. It takes other coordinates for an illegal instruction (measured on an H200).
  /// `where`: takes the conditions under which the engine serves a block of a range that may end inside one; without it, that is an
  /// obstacle.
  std::string EngineObstacle(const Op& access, const ir::Type& type, std::vector<ir::Scalar>* where = nullptr) const {
    const ir::AxisRange& last = access.axes.back();
    const int64_t bytes = Bytes(type.dtype);
    if (access.axes.size() > kMaxRank) return fmt::format("more than {} axes", kMaxRank);
    if (!access.scalars.empty()) return "what lies outside is not read as zero";
    if (access.slot == "transposed") return "it is turned on the way";
    size_t kept = 0;
    const std::vector<ir::Scalar>& extents = FindTensor(kernel, access.symbol).extents;
    for (size_t i = 0; i < access.axes.size(); ++i) {
      const ir::AxisRange& axis = access.axes[i];
      if (!ShowsAll(access, axis, extents[i], where)) return "the block may end before the tensor does";
      if (axis.extent > kMaxAxis) return fmt::format("more than {} elements along an axis", kMaxAxis);
      kept += !axis.dropped;
    }
    if (kept == 0 || last.dropped) return "elements do not lie behind each other";
    if (last.extent * bytes % kCopyGranule != 0)
      return fmt::format("rows of {} bytes are no multiples of {}", last.extent * bytes, kCopyGranule);
    if (facts.Divisor(last.start) * bytes % kCopyGranule != 0)
      return fmt::format("rows may begin between multiples of {} bytes", kCopyGranule);
    if (access.code == OpCode::kStore &&
        !std::all_of(access.axes.begin(), access.axes.end(), [&](const ir::AxisRange& a) { return facts.IsNonNegative(a.start); }))
      return "the block may begin in front of the tensor";
    // A row lies in one piece, so its boxes may be as wide as any; of several rows each box is a panel of a swizzle.
    const bool is_row = type.rows == 1 && access.code == OpCode::kRead;
    const bool fits = kept == 1 ? last.extent <= kMaxBox
                      : is_row  ? last.extent <= kMaxBox || last.extent % kMaxBox == 0
                                : type.rows <= kMaxBox && ChooseSwizzle(type.dtype, type.rows, type.cols) != ir::Swizzle::kNone;
    return fits ? "" : "no box has such a shape";
  }

  /// Whether each panel of the tile begins where the engine can put a box.
  static bool HasPlaces(const ir::Buffer& buffer) {
    const auto panel = static_cast<int64_t>(buffer.swizzle);  // bytes of a row in it
    return panel == 0 || buffer.cols * Bytes(buffer.dtype) <= panel || buffer.rows * panel % kBoxPlace == 0;
  }

  /// Whether the engine, which cuts a block where the tensor ends, shows all of it that is to be seen, and nothing else.
  bool ShowsAll(const Op& access, const ir::AxisRange& axis, const ir::Scalar& extent, std::vector<ir::Scalar>* where) const {
    if (access.code == OpCode::kStore) return !axis.lo && !axis.hi;
    const std::optional<std::vector<ir::Scalar>> ends = facts.EndsInsideBlocks(axis, extent);
    if (!ends || (!where && !ends->empty())) return false;
    const ir::Scalar end = symbolic::Add(axis.start, symbolic::Int(axis.extent));
    const ir::Scalar seen = symbolic::Make(symbolic::Kind::kMin, DType::kI64, {end, extent});
    for (const ir::Scalar& range_end : *ends)
      where->push_back(symbolic::Make(symbolic::Kind::kLe, DType::kBool, {seen, range_end}));
    return true;
  }

  /// What keeps the engine from filling a field. `where` as above.
  std::string LoadObstacle(const Op& read, const ir::Buffer& buffer, std::vector<ir::Scalar>* where) const {
    const ir::Type& type = kernel.values[read.results[0]].type;
    if (!HasShapeOf(type, buffer)) return "it fills a part of a slot";
    return HasPlaces(buffer) ? EngineObstacle(read, type, where) : "its panels are too short";
  }

  /// The name of a map for these boxes, made on first use.
  std::string Map(const Op& access, const ir::Buffer& buffer, bool is_store) {
    ir::TensorMap map;
    map.tensor = access.symbol;
    map.swizzle = buffer.swizzle;
    map.is_store = is_store;
    for (const ir::AxisRange& axis : access.axes) map.box.push_back(axis.dropped ? 1 : axis.extent);
    map.box.back() = buffer.swizzle == ir::Swizzle::kNone ? std::min(map.box.back(), kMaxBox)
                                                          : static_cast<int64_t>(buffer.swizzle) / Bytes(buffer.dtype);
    int same_tensor = 0;
    for (const ir::TensorMap& other : kernel.maps) {
      if (other.tensor != map.tensor) continue;
      if (other.box == map.box && other.swizzle == map.swizzle && other.is_store == map.is_store) return other.name;
      ++same_tensor;
    }
    map.name = same_tensor == 0 ? map.tensor + "_map" : fmt::format("{}_map_{}", map.tensor, same_tensor);
    kernel.maps.push_back(map);
    return map.name;
  }

  void NoteOperands(const ir::Worker& worker) {
    const auto buffers = BuffersOfViews(kernel, worker.body);
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code != OpCode::kLoadLeft && op.code != OpCode::kLoadRight) return;
      const auto buffer = buffers.find(op.operands[0]);
      if (buffer != buffers.end()) operands.insert(buffer->second);
    });
  }

  static std::vector<ir::Scalar> Coordinates(const Op& access) {
    std::vector<ir::Scalar> coordinates;
    for (const ir::AxisRange& axis : access.axes) coordinates.push_back(axis.start);
    return coordinates;
  }

  /// The engine is told where a block starts; that it is no block of a loop the certificate wants to know besides.
  static void KeepSlices(const Op& access, Op& copy) {
    if (std::any_of(access.axes.begin(), access.axes.end(), [](const ir::AxisRange& axis) { return axis.is_slice; }))
      copy.axes = access.axes;
  }

  const ir::Buffer& FieldFilled(const Op& send, size_t operand) const {
    const size_t field = send.number == ir::kAllFields ? operand : static_cast<size_t>(send.number);
    return FindBuffer(kernel, FieldBuffer(FindPipe(kernel, send.symbol), field));
  }

  /// Where the engine could fill the slot but for ranges that may end inside a block: in which blocks it can. Null elsewhere.
  ir::Scalar WhereWhole(const Op& send) const;
  /// The copies that fill the slot, or a part of it. `is_whole`: in blocks in which no range ends.
  Region Fill(Op send, ir::Worker& worker, bool is_whole);
  /// How a read fills a field's tile, or part of it. `obstacles`: of tensors that a warp copies, what keeps the engine from it.
  Op CopyOf(const Op& read, const std::string& pipe, const ir::Buffer& buffer, const std::string& obstacle, bool fills_field,
            ir::Worker& worker, Obstacles& obstacles);
  void CopyRole(ir::Worker& worker, Region& region);
  void ComputeRole(ir::Worker& worker, Region& region);
  ir::Buffer StagingBuffer(const ir::Worker& worker, const ir::Type& type, const ir::TensorParam& tensor, int64_t chunk_cols);
  Op StoreStaged(const Op& access, ValueId stage, const ir::Buffer& buffer);
  Region StagedStore(const ir::Worker& worker, const Op& store);
  Region DirectStore(const Op& store);
};

Op Transfer::CopyOf(const Op& read, const std::string& pipe, const ir::Buffer& buffer, const std::string& obstacle,
                    bool fills_field, ir::Worker& worker, Obstacles& obstacles) {
  Op copy{OpCode::kCopyToShared};
  if (!target.folds_copies && obstacle.empty()) {
    copy.code = OpCode::kLoadAsync;
    copy.symbol = Map(read, buffer, false);
    copy.scalars = Coordinates(read);
    KeepSlices(read, copy);
    return copy;
  }
  copy.symbol = read.symbol;
  copy.axes = read.axes;
  if (target.folds_copies) {
    const bool is_zero_outside = read.scalars.empty() || IsZero(read.scalars[0]);
    copy.slot = read.slot;
    const bool is_operand = operands.contains(buffer.name), is_turned = read.slot == "transposed";
    const ir::Type& tile = kernel.values[read.results[0]].type;
    const bool is_staged =
        is_zero_outside && fills_field && is_operand && GoesThroughRegisters(kernel, facts, target, read, tile, is_turned);
    if (is_staged || (is_zero_outside && read.slot.empty())) {
      copy.code = OpCode::kCopyAsync;
      const bool in_pieces =
          fills_field && GoesInPieces(kernel, facts, target, read, ThreadsOf(*FillerOf(kernel, pipe), target), is_operand);
      copy.number = is_staged ? ir::kThroughRegisters : in_pieces ? ir::kInPieces : ir::kAnyBlock;
    } else {
      copy.scalars = read.scalars;
      copy.number = ir::kByBlock;
    }
    return copy;
  }
  worker.kind = ir::RoleKind::kCopyWarp;
  std::string& tensors = obstacles[obstacle];
  tensors += fmt::format("{}`{}`", tensors.empty() ? "" : ", ", read.symbol);
  copy.scalars = read.scalars;
  copy.number = ir::kByWarp;
  return copy;
}

ir::Scalar Transfer::WhereWhole(const Op& send) const {
  if (target.folds_copies || kernel.cluster > 1) return nullptr;
  std::vector<ir::Scalar> where;
  for (size_t i = 0; i < send.operands.size(); ++i) {
    if (!LoadObstacle(reads.at(send.operands[i]), FieldFilled(send, i), &where).empty()) return nullptr;
  }
  ir::Scalar all;
  for (size_t i = 0; i < where.size(); ++i) {
    const auto is_same = [&](const ir::Scalar& other) { return symbolic::Equal(other, where[i]); };
    if (std::any_of(where.begin(), where.begin() + static_cast<ptrdiff_t>(i), is_same)) continue;
    all = all ? symbolic::Make(symbolic::Kind::kAnd, DType::kBool, {all, where[i]}) : where[i];
  }
  return all;
}

Region Transfer::Fill(Op send, ir::Worker& worker, bool is_whole) {
  const ir::Pipe& pipe = FindPipe(kernel, send.symbol);
  Region out, copies;
  Obstacles obstacles;
  std::vector<ir::Scalar> known;
  for (size_t i = 0; i < send.operands.size(); ++i) {
    const Op& read = reads.at(send.operands[i]);
    const ir::Buffer& buffer = FieldFilled(send, i);
    const ir::Type& type = kernel.values[read.results[0]].type;
    const bool fills_field = HasShapeOf(type, buffer);
    const std::string obstacle = LoadObstacle(read, buffer, is_whole ? &known : nullptr);
    Op copy = CopyOf(read, pipe.name, buffer, obstacle, fills_field, worker, obstacles);
    copy.span = send.span;
    const ValueId slot = kernel.AddValue(buffer.name, ir::Type{buffer.dtype, buffer.rows, buffer.cols, ir::Space::kShared, false});
    Op view{OpCode::kView, {slot}};
    view.symbol = buffer.name;
    view.slot = pipe.name;
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
    copies.push_back(std::move(copy));
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
void Transfer::CopyRole(ir::Worker& worker, Region& region) {
  Region out;
  for (Op& op : region) {
    for (Region& inner : op.regions) CopyRole(worker, inner);
    if (op.code == OpCode::kRead) {
      reads[op.results[0]] = op;
    } else if (op.code != OpCode::kSend) {
      out.push_back(std::move(op));
    } else if (const ir::Scalar whole = WhereWhole(op)) {
      Op branch{OpCode::kIf, {}, {}, {whole}};
      branch.span = op.span;
      branch.regions = {Fill(op, worker, true), Fill(op, worker, false)};
      out.push_back(std::move(branch));
    } else {
      for (Op& filling : Fill(std::move(op), worker, false)) out.push_back(std::move(filling));
    }
  }
  region = std::move(out);
}

/// The buffer in which the worker stages chunks of a tile of `type` for the tensor. A worker's stores of one shape take turns with
/// one buffer. Another worker, another shape of chunk or number of them has its own.
ir::Buffer Transfer::StagingBuffer(const ir::Worker& worker, const ir::Type& type, const ir::TensorParam& tensor,
                                   int64_t chunk_cols) {
  ir::Buffer buffer;
  buffer.name = tensor.name + "_stage";
  buffer.dtype = tensor.dtype;
  buffer.rows = type.rows;
  buffer.cols = chunk_cols;
  buffer.instances = worker.instances;
  if (!target.folds_copies) {
    buffer.count = StagingBuffers(type.cols / chunk_cols, type.rows * chunk_cols * Bytes(tensor.dtype),
                                  BytesBesideSlots(kernel, target) / buffer.instances);
  }
  buffer.swizzle = ChooseSwizzle(tensor.dtype, type.rows, chunk_cols);
  buffer.purpose = fmt::format("staging of {}, {} columns at a time", tensor.name, chunk_cols);
  const auto find = [&](const std::string& name) {
    return std::find_if(kernel.buffers.begin(), kernel.buffers.end(), [&](const ir::Buffer& b) { return b.name == name; });
  };
  const auto is_same = [&](const ir::Buffer& b) {
    return own_stages.count(b.name) != 0 && b.rows == buffer.rows && b.cols == buffer.cols && b.count == buffer.count;
  };
  auto same = find(buffer.name);
  for (int i = 1; same != kernel.buffers.end() && !is_same(*same); ++i) {
    buffer.name = fmt::format("{}_stage_{}", tensor.name, i);
    same = find(buffer.name);
  }
  if (same == kernel.buffers.end()) kernel.buffers.push_back(buffer);
  own_stages.insert(buffer.name);
  return buffer;
}

/// From the buffer to the columns of `access`: by the copy engine, or where there is none or the tensor rules it out by a guarded
/// copy.
Op Transfer::StoreStaged(const Op& access, ValueId stage, const ir::Buffer& buffer) {
  Op guarded{OpCode::kCopyToGlobal, {}, {stage}};
  guarded.symbol = access.symbol;
  guarded.axes = access.axes;
  guarded.span = access.span;
  if (target.folds_copies) return guarded;
  Op copy{OpCode::kStoreAsync, {}, {stage}, Coordinates(access)};
  copy.symbol = Map(access, buffer, true);
  KeepSlices(access, copy);
  copy.span = access.span;
  Op choice{OpCode::kIf, {}, {}, {symbolic::Name(copy.symbol + "_usable", DType::kBool)}};
  choice.regions = {{copy}, {guarded}};
  choice.span = access.span;
  return choice;
}

/// For each chunk of columns: convert, stage, store.
Region Transfer::StagedStore(const ir::Worker& worker, const Op& store) {
  const ValueId value = store.operands[0];
  const ir::Type type = kernel.values[value].type;
  const ir::TensorParam& tensor = FindTensor(kernel, store.symbol);
  const int64_t chunk_cols = ChunkBytes(type, tensor.dtype) / Bytes(tensor.dtype);
  Ensure(chunk_cols > 0, "a staged store whose columns no chunk divides", store.span);
  const int64_t chunks = type.cols / chunk_cols;
  const ir::Buffer buffer = StagingBuffer(worker, type, tensor, chunk_cols);
  const std::string counter = tensor.name + "_chunk";
  const ir::Scalar first = chunks == 1 ? symbolic::Int(0) : symbolic::Mul(symbolic::Name(counter), symbolic::Int(chunk_cols));

  Region body;
  const auto emit = [&](Op op) {
    op.span = store.span;
    body.push_back(std::move(op));
  };
  const ir::Type chunk_type{type.dtype, type.rows, chunk_cols, ir::Space::kRegister, false};
  ValueId part = value;
  if (chunks > 1) {
    part = kernel.AddValueAfter(value, "_chunk", chunk_type);
    emit({OpCode::kPart, {part}, {value}, {symbolic::Int(0), first}});
  }
  if (tensor.dtype != type.dtype) {
    ir::Type converted = chunk_type;
    converted.dtype = tensor.dtype;
    const ValueId rounded = kernel.AddValue(tensor.name + "_chunk_values", converted);
    emit({OpCode::kConvert, {rounded}, {part}});
    part = rounded;
  }
  const ValueId stage = kernel.AddValue("staged", ir::Type{tensor.dtype, type.rows, chunk_cols, ir::Space::kShared, false});
  Op view{OpCode::kView, {stage}};
  view.symbol = buffer.name;
  if (chunks > 1 && buffer.count >= chunks)
    view.scalars = {symbolic::Name(counter)};
  else if (buffer.count > 1)
    view.scalars = {symbolic::Make(symbolic::Kind::kMod, DType::kI64, {symbolic::Name(counter), symbolic::Int(buffer.count)})};
  emit(view);
  emit({OpCode::kStoreShared, {}, {stage, part}});
  Op access = store;
  // Single numbers may stand behind the axis that the columns are.
  const auto columns =
      std::find_if(access.axes.rbegin(), access.axes.rend(), [](const ir::AxisRange& axis) { return !axis.dropped; });
  columns->start = symbolic::Add(columns->start, first);
  columns->extent = chunk_cols;
  emit(StoreStaged(access, stage, buffer));
  if (chunks == 1) return body;
  Op loop{OpCode::kUnroll};
  loop.symbol = counter;
  loop.number = chunks;
  loop.span = store.span;
  loop.regions = {std::move(body)};
  return {loop};
}

/// A guarded store from registers, of the tensor's type.
Region Transfer::DirectStore(const Op& store) {
  ir::Type type = kernel.values[store.operands[0]].type;
  const DType dtype = FindTensor(kernel, store.symbol).dtype;
  if (type.dtype == dtype) return {store};
  type.dtype = dtype;
  Op convert{OpCode::kConvert, {kernel.AddValue(store.symbol + "_values", type)}, {store.operands[0]}};
  convert.span = store.span;
  Op rounded = store;
  rounded.operands = convert.results;
  return {convert, rounded};
}

void Transfer::ComputeRole(ir::Worker& worker, Region& region) {
  Region out;
  for (Op& op : region) {
    for (Region& inner : op.regions) ComputeRole(worker, inner);
    if (op.code == OpCode::kStore && worker.layout.IsFragment()) {
      const ir::Type type = kernel.values[op.operands[0]].type;
      const DType dtype = FindTensor(kernel, op.symbol).dtype;
      const bool is_plain = static_cast<typed::StoreOp>(op.number) == typed::StoreOp::kSet;
      const bool is_wide = ChunkBytes(type, dtype) > 0 && type.rows > 1;
      ir::Type stored = type;
      stored.dtype = dtype;
      // Without an engine, the four lanes of a row store whole sectors of 32 bytes unless elements are narrow.
      const bool pays = target.folds_copies ? Bytes(dtype) == 2 && op.slot.empty() : EngineObstacle(op, stored).empty();
      if (is_plain && is_wide && Bytes(dtype) >= 2 && IsFloat(dtype) && pays) {
        for (Op& staged : StagedStore(worker, op)) out.push_back(std::move(staged));
        continue;
      }
    }
    if (op.code == OpCode::kStore) {
      for (Op& direct : DirectStore(op)) out.push_back(std::move(direct));
      continue;
    }
    out.push_back(std::move(op));
  }
  region = std::move(out);
}

/// Whether a slot serves without a swizzle: it is loaded from memory, and all who receive it read rows of it as vectors that meet
/// no bank twice as they lie. What the matrix unit reads, and what is turned, wants one.
bool LiesAsItIs(const ir::Kernel& kernel, const Target& target, const ir::Pipe& pipe, size_t field) {
  const ir::PipeField& slot = pipe.fields[field];
  bool lies = target.lanes == layout::kLanes && slot.cols <= kMaxBox, is_read = false;
  for (const ir::Worker& worker : kernel.workers) {
    const ir::RegisterLayout& l = worker.layout;
    const layout::RegisterLayout registers{l.lanes, l.vec, l.halves, l.lane_rows, l.warp_rows, l.warp_cols};
    std::set<ValueId> views;
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kReceive && op.symbol == pipe.name) views.insert(op.results[field]);
      if (op.code == OpCode::kSend && op.symbol == pipe.name) lies &= worker.kind != ir::RoleKind::kCompute;
      const auto is_view = [&](ValueId operand) { return views.contains(operand); };
      if (std::none_of(op.operands.begin(), op.operands.end(), is_view)) return;
      if (op.code == OpCode::kPart) {
        views.insert(op.results[0]);
      } else if (op.code == OpCode::kLoadShared) {
        const ir::Type& type = kernel.values[op.results[0]].type;
        is_read = true;
        lies &= type.cols == slot.cols && layout::Conflicts(registers, {slot.dtype, type.rows, type.cols}, {}).degree <= 1;
      } else {
        lies = false;
      }
    });
  }
  return lies && is_read;
}

void MakePipeBuffers(ir::Kernel& kernel, const Target& target) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      const ir::PipeField& field = pipe.fields[i];
      ir::Buffer buffer;
      buffer.name = FieldBuffer(pipe, i);
      buffer.dtype = field.dtype;
      buffer.rows = field.rows;
      buffer.cols = field.cols;
      buffer.count = pipe.slots;
      if (!LiesAsItIs(kernel, target, pipe, i)) buffer.swizzle = ChooseSwizzle(field.dtype, field.rows, field.cols);
      buffer.purpose = pipe.fields.size() == 1
                           ? "pipe " + pipe.name
                           : fmt::format("pipe {}, field {}", pipe.name, field.name.empty() ? std::to_string(i) : field.name);
      kernel.buffers.push_back(std::move(buffer));
    }
  }
}

/// Those whose elements are also seen in other rows, which no swizzle may part.
std::set<std::string> ReshapedBuffers(const ir::Kernel& kernel) {
  std::set<std::string> buffers;
  for (const ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code != OpCode::kView || HasShapeOf(kernel.values[op.results[0]].type, FindBuffer(kernel, op.symbol))) return;
      buffers.insert(op.symbol);
    });
  }
  return buffers;
}

}  // namespace

Result<void> SelectTransfer(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const std::set<std::string> reshaped = ReshapedBuffers(kernel);
  for (ir::Buffer& buffer : kernel.buffers) {
    const bool is_tile = !buffer.is_scratch && !buffer.is_fragments && !reshaped.contains(buffer.name);
    if (is_tile) buffer.swizzle = ChooseSwizzle(buffer.dtype, buffer.rows, buffer.cols);
  }
  MakePipeBuffers(kernel, target);
  Transfer transfer{kernel, target};
  for (const ir::Worker& worker : kernel.workers) transfer.NoteOperands(worker);
  for (ir::Worker& worker : kernel.workers) {
    transfer.own_stages.clear();
    if (worker.kind == ir::RoleKind::kCompute)
      transfer.ComputeRole(worker, worker.body);
    else
      transfer.CopyRole(worker, worker.body);
  }
  return {};
}

}  // namespace tkc::passes

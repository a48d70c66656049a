// SPDX-License-Identifier: MIT
// How tiles get from registers to memory: staged in shared memory in chunks of columns, which the copy engine or all threads store
// whole lines of, or straight from where they are.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "compiler/ir/derived_names.h"
#include "compiler/ir/queries.h"
#include "compiler/layout/row_layout.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/select_transfer_impl.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/share_room.h"
#include "compiler/passes/shared_room.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kStagingBytes = 16384;  // at most, for each instance of a worker: what the slots can spare
constexpr int64_t kChunkBytes = 4096;     // of rows that are stored turned
constexpr int64_t kTurnedAtOnce = 16;     // columns of a tile in registers, by the instruction that stores four matrices

/// The lanes of a warp that hold a column store whole sectors, if elements have so many bytes; each of many rows of memory takes an
/// address, though, beside the tile.
constexpr int kBytesOfSectors = 4;
constexpr int64_t kManyRows = 64;

/// The rows of memory that `store` fills lie along the columns of its tile.
bool IsTurned(const Op& store) { return store.IsTurned(); }

/// How many columns of a register tile a staging chunk has. 0: no number of them makes chunks. Many small chunks beat few large
/// ones, as the engine reads one while the next are written (4 of 4 KiB against 2 of 8 KiB: a 2048 x 2048 product gains 1.1 % on an
/// H200). Of each row a swizzle's width; elements of 4 bytes are stored without matrix instructions, which takes the widest one. Of
/// a tile that is stored turned, whole rows, and as many as matrix instructions turn at once if that divides them.
int64_t ChunkCols(const Op& store, const ir::Type& tile, DType dtype) {
  if (IsTurned(store)) {
    if (Bytes(dtype) != 2 && (Bytes(dtype) != kBytesOfSectors || tile.cols < kManyRows)) return 0;
    for (const int64_t unit : {kTurnedAtOnce, kTurnedAtOnce / 2}) {
      for (int64_t cols = std::max(unit, kChunkBytes / (tile.rows * Bytes(dtype)) / unit * unit); cols >= unit; cols -= unit) {
        if (tile.cols % cols == 0) return cols;
      }
    }
    return 0;
  }
  for (int64_t bytes = tile.rows <= 64 && Bytes(dtype) > 2 ? 128 : 64; bytes >= 32; bytes /= 2) {
    if (tile.cols * Bytes(dtype) % bytes == 0) return bytes / Bytes(dtype);
  }
  return 0;
}

/// A chunk's buffer comes round after this many chunks on every path, so that the wait before it is a static number. `most_bytes`:
/// of shared memory, for all of them.
int64_t StagingBuffers(int64_t chunks, int64_t chunk_bytes, int64_t most_bytes) {
  for (int64_t count = std::min<int64_t>(4, most_bytes / chunk_bytes); count > 1; --count) {
    if (chunks % count == 0) return count;
  }
  return 1;
}

/// A block's shared memory, but for its barriers, and what tiles that lie over each other save of it.
int64_t BytesForTiles(const ir::Kernel& kernel, const Target& target) {
  constexpr int64_t kForBarriers = 1024;
  return SharedLimit(kernel, target) - kForBarriers + BytesSaved(kernel, target);
}

/// Open pipes that loops fill: a second slot of them is filled while the first is read.
std::set<std::string> PipesOfLoops(const ir::Kernel& kernel) {
  std::set<std::string> pipes;
  for (const ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](const Op& loop) {
      if (loop.code != OpCode::kFor || IsOverInstances(loop)) return;
      ForEachOp(loop.regions[0], [&](const Op& op) {
        if (op.code == OpCode::kSend && FindPipe(kernel, op.symbol).slots == 0) pipes.insert(op.symbol);
      });
    });
  }
  return pipes;
}

/// What is left of it beside the slots that the schedule asks for, those that a loop can't do without, if they fit beside `least`
/// for staging, and what else lies there.
int64_t BytesBesideSlots(const ir::Kernel& kernel, const std::set<std::string>& of_loops, int64_t for_tiles, int64_t least) {
  constexpr int64_t kSlotsOfLoop = 2;
  int64_t bytes = BytesBesideBuffers(kernel, for_tiles), for_loops = 0;
  for (const ir::Pipe& pipe : kernel.pipes) {
    const auto further = [&](int64_t slots) {
      return SlotBytes(pipe) * pipe.rings * std::max<int64_t>(0, slots - pipe.least_slots);
    };
    bytes -= further(pipe.slots);
    if (of_loops.contains(pipe.name)) for_loops += further(kSlotsOfLoop);
  }
  return bytes - for_loops >= least ? bytes - for_loops : bytes;
}

struct Stores {
  CopyEngine& engine;
  const ir::Worker& worker;
  ir::Kernel& kernel = engine.kernel;
  const Target& target = engine.target;
  const int64_t for_tiles = BytesForTiles(kernel, target);  // by the program as it was
  const std::set<std::string> of_loops = PipesOfLoops(kernel);
  std::map<std::string, bool> own_stages{};  // staging buffers of the worker, and whether the engine reads them

  ir::Buffer StagingBuffer(const ir::Type& chunk, const ir::TensorParam& tensor, int64_t chunks, int64_t most_bytes, bool by_engine,
                           const std::string& purpose);
  Op StoreStaged(const Op& access, ValueId stage, const ir::Buffer& buffer, bool by_engine);
  Region StagedStore(const Op& store);
  Region DirectStore(const Op& store);
  bool IsStaged(const Op& store) const;
  bool IsStoredByEngine(const Op& store) const;
  bool HasRoomToStage(int64_t chunk_bytes) const;
  void Rewrite(Region& region);
};

/// The buffer in which the worker stages the chunks of a tile for the tensor. A worker's stores of one shape take turns with one
/// buffer. Another worker, another shape of chunk or number of them has its own; and so have stores by threads beside those by the
/// engine, as the waits before a chunk count the latter only.
ir::Buffer Stores::StagingBuffer(const ir::Type& chunk, const ir::TensorParam& tensor, int64_t chunks, int64_t most_bytes,
                                 bool by_engine, const std::string& purpose) {
  ir::Buffer buffer;
  buffer.name = tensor.name + "_stage";
  buffer.dtype = tensor.dtype;
  buffer.rows = chunk.rows;
  buffer.cols = chunk.cols;
  buffer.instances = worker.instances;
  if (!target.folds_copies) {
    const int64_t bytes = BytesBesideSlots(kernel, of_loops, for_tiles, buffer.TileBytes() * buffer.instances);
    buffer.count = StagingBuffers(chunks, buffer.TileBytes(), std::min(most_bytes, bytes / buffer.instances));
  }
  buffer.swizzle = layout::ChooseSwizzle(tensor.dtype, chunk.rows, chunk.cols);
  buffer.purpose = purpose;
  const auto is_same = [&](const ir::Buffer& b) {
    const auto own = own_stages.find(b.name);
    return own != own_stages.end() && own->second == by_engine && b.rows == buffer.rows && b.cols == buffer.cols &&
           b.count == buffer.count;
  };
  const ir::Buffer* same = ir::FindNamed(kernel.buffers, buffer.name);
  for (int i = 1; same && !is_same(*same); ++i) {
    buffer.name = fmt::format("{}_stage_{}", tensor.name, i);
    same = ir::FindNamed(kernel.buffers, buffer.name);
  }
  if (!same) kernel.buffers.push_back(buffer);
  own_stages.emplace(buffer.name, by_engine);
  return buffer;
}

/// From the buffer to the columns of `access`: by the copy engine, or where it does not take them or the tensor rules it out by a
/// guarded copy.
Op Stores::StoreStaged(const Op& access, ValueId stage, const ir::Buffer& buffer, bool by_engine) {
  Op guarded{OpCode::kCopyToGlobal, {}, {stage}};
  guarded.symbol = access.symbol;
  guarded.axes = access.axes;
  guarded.span = access.span;
  if (!by_engine) return guarded;
  Op copy{OpCode::kStoreAsync, {}, {stage}, Coordinates(access)};
  copy.symbol = engine.Map(access, buffer, true);
  KeepSlices(access, copy);
  copy.span = access.span;
  return If(symbolic::Name(ir::UsableFlag(copy.symbol), DType::kBool), {copy}, {guarded}, access.span);
}

/// For each chunk of columns: convert, stage, store.
Region Stores::StagedStore(const Op& store) {
  const ValueId value = store.operands[0];
  const ir::Type type = kernel.TypeOf(value);
  const ir::TensorParam& tensor = FindTensor(kernel, store.symbol);
  const int64_t chunk_cols = ChunkCols(store, type, tensor.dtype);
  Ensure(chunk_cols > 0, "a staged store whose columns no chunk divides", store.span);
  const int64_t chunks = type.cols / chunk_cols;
  const bool is_turned = IsTurned(store);
  ir::Type staged{tensor.dtype, type.rows, chunk_cols, ir::Space::kShared, false};
  if (is_turned) std::swap(staged.rows, staged.cols);
  // What could as well be stored from registers takes less from the slots.
  const int64_t most_bytes = is_turned && Bytes(tensor.dtype) == kBytesOfSectors ? kStagingBytes / 2 : kStagingBytes;
  const bool by_engine = IsStoredByEngine(store);
  const ir::Buffer buffer =
      StagingBuffer(staged, tensor, chunks, most_bytes, by_engine,
                    fmt::format("staging of {}, {} {} at a time", tensor.name, chunk_cols, is_turned ? "rows" : "columns"));
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
  part = ConvertTo(kernel, part, tensor.dtype, tensor.name + "_chunk_values", store.span, body);
  const ValueId stage = kernel.AddValue("staged", staged);
  Op view{OpCode::kView, {stage}};
  view.symbol = buffer.name;
  if (chunks > 1 && buffer.count >= chunks)
    view.scalars = {symbolic::Name(counter)};
  else if (buffer.count > 1)
    view.scalars = {symbolic::Make(symbolic::Kind::kMod, DType::kI64, {symbolic::Name(counter), symbolic::Int(buffer.count)})};
  emit(view);
  ValueId as_held = stage;
  if (is_turned) {
    as_held = kernel.AddValue("staged_turned", ir::Type{tensor.dtype, type.rows, chunk_cols, ir::Space::kShared, true});
    emit({OpCode::kTranspose, {as_held}, {stage}});
  }
  emit({OpCode::kStoreShared, {}, {as_held, part}});
  Op access = store;
  access.SetTurned(false);
  // Single numbers may stand behind the axis that the columns are, and between it and the one that the rows are.
  const auto is_kept = [](const ir::AxisRange& axis) { return !axis.dropped; };
  auto cut = std::find_if(access.axes.rbegin(), access.axes.rend(), is_kept);
  if (is_turned) cut = std::find_if(cut + 1, access.axes.rend(), is_kept);
  cut->start = symbolic::Add(cut->start, first);
  cut->extent = chunk_cols;
  emit(StoreStaged(access, stage, buffer, by_engine));
  if (chunks == 1) return body;
  return {Unroll(counter, chunks, std::move(body), store.span)};
}

/// Whether a chunk of it for each instance fits beside the least slots and what else lies in shared memory. Else the tile is stored
/// from registers, in shorter pieces of lines: slower, where the alternative is not to be compiled at all.
bool Stores::HasRoomToStage(int64_t chunk_bytes) const {
  return BytesBesideBuffers(kernel, for_tiles) >= chunk_bytes * worker.instances;
}

/// A guarded store from registers, of the tensor's type.
Region Stores::DirectStore(const Op& store) {
  Region out;
  Op direct = store;
  direct.operands = {
      ConvertTo(kernel, store.operands[0], FindTensor(kernel, store.symbol).dtype, store.symbol + "_values", store.span, out)};
  out.push_back(std::move(direct));
  return out;
}

bool Stores::IsStoredByEngine(const Op& store) const {
  if (target.folds_copies) return false;
  ir::Type type = kernel.TypeOf(store.operands[0]);
  type.dtype = FindTensor(kernel, store.symbol).dtype;
  if (IsTurned(store)) std::swap(type.rows, type.cols);
  Op lying = store;
  lying.SetTurned(false);
  return engine.Obstacle(lying, type).empty();
}

bool Stores::IsStaged(const Op& store) const {
  if (!worker.layout.IsFragment() || !store.Is(typed::StoreOp::kSet)) return false;
  const ir::Type& type = kernel.TypeOf(store.operands[0]);
  const DType dtype = FindTensor(kernel, store.symbol).dtype;
  const int64_t chunk_cols = ChunkCols(store, type, dtype);
  if (type.rows == 1 || !IsFloat(dtype) || chunk_cols == 0) return false;
  if (!HasRoomToStage(type.rows * chunk_cols * Bytes(dtype))) return false;
  // Without the engine, the four lanes of a row store whole sectors of 32 bytes unless elements are narrow.
  if (Bytes(dtype) <= 2 && !IsTurned(store) && !store.axes.back().dropped) return true;
  return IsStoredByEngine(store);
}

void Stores::Rewrite(Region& region) {
  Region out;
  for (Op& op : region) {
    for (Region& inner : op.regions) Rewrite(inner);
    if (op.code != OpCode::kStore) {
      out.push_back(std::move(op));
      continue;
    }
    for (Op& store : IsStaged(op) ? StagedStore(op) : DirectStore(op)) out.push_back(std::move(store));
  }
  region = std::move(out);
}

}  // namespace

void SelectStores(CopyEngine& engine, ir::Worker& worker) { Stores{engine, worker}.Rewrite(worker.body); }

}  // namespace tkc::passes

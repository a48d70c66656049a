// SPDX-License-Identifier: MIT
#include "compiler/passes/conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "compiler/ir/queries.h"
#include "compiler/layout/bank_model.h"
#include "compiler/passes/operand_moves.h"
#include "compiler/passes/shared_moves.h"
#include "compiler/support/parallel.h"
#include "compiler/target/target.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;

constexpr int kWarp = layout::kLanes, kWarpgroup = ir::kWarpsOfInstance * kWarp;
constexpr int kPieces[] = {16, 8, 4};  // bytes: how wide a guarded copy may move

class Collector {
 public:
  Collector(const ir::Kernel& kernel, std::vector<SharedAccess>& out) : kernel_(kernel), out_(out) {
    const Target* target = FindTarget(kernel.target);
    if (target && target->lanes != layout::kLanes) waves_ = target;
  }

  void Role(const ir::Worker& role) {
    role_ = &role;
    alone_ = RightsBesideRegisters(kernel_, role);
    ForEachOp(role.body, [&](const Op& op) { Visit(op); });
  }

 private:
  void Visit(const Op& op);
  bool Wave(const Op& op);
  /// The windows of shared memory that values stand for.
  void Open(const Op& op);
  void Part(const Op& op);

  void Add(const Op& op, AccessClass kind, const Window& window, const MoveCost& cost, int row_alignment = 0) {
    if (cost.instructions == 0) return;
    out_.push_back({kind, window.buffer->name, window.buffer->dtype, window.rows, window.cols, cost.width, cost.instructions,
                    cost.wavefronts, cost.ideal, row_alignment, op.span, window.transposed});
  }
  void Registers(const Op& op, bool is_store);
  void Fragment(const Op& op);
  void Guarded(const Op& op, int64_t threads, AccessClass kind);
  /// Those that a copy by the whole role is dealt out to.
  int64_t ThreadsOfRole() const { return role_->instances * kWarpgroup; }
  void Engine(const Op& op, AccessClass kind);
  void Operands(const Op& op);
  void Scratch(const Op& op);
  void Fragments(const Op& op, bool is_store);

  const ir::Kernel& kernel_;
  std::vector<SharedAccess>& out_;
  const Target* waves_ = nullptr;  // of 64 lanes
  const ir::Worker* role_ = nullptr;
  std::set<ir::ValueId> alone_{};  // right operands whose left one is in registers
  std::map<ir::ValueId, Window> windows_;
};

/// Of waves of 64 lanes the loads of operands and the copies are told here; the rest is counted by the simulator.
bool Collector::Wave(const Op& op) {
  const bool is_left = op.code == OpCode::kLoadLeft, is_copy = op.code == OpCode::kCopyAsync;
  if (!is_left && !is_copy && op.code != OpCode::kLoadRight)
    return op.code != OpCode::kView && op.code != OpCode::kPart && op.code != OpCode::kTranspose;
  const auto window = windows_.find(op.operands[0]);
  if (window == windows_.end()) return true;
  if (is_copy)
    Add(op, AccessClass::kAsyncWrite, window->second, WaveCopyMove(*waves_, window->second));
  else
    Add(op, AccessClass::kOperandLoad, window->second,
        WaveOperandMove(role_->layout, *waves_, window->second, is_left, alone_.count(op.results[0]) != 0));
  return true;
}

void Collector::Visit(const Op& op) {
  if (waves_ && Wave(op)) return;
  // From here on warps of 32 lanes.
  switch (op.code) {
    case OpCode::kView:
    case OpCode::kTranspose:
    case OpCode::kPart: return Open(op);
    case OpCode::kLoadShared: return Registers(op, false);
    case OpCode::kStoreShared: return Registers(op, true);
    case OpCode::kLoadLeft:
    case OpCode::kLoadRight: return Fragment(op);
    case OpCode::kCopyToShared:
      return Guarded(op,
                     op.Is(ir::kByBlock)  ? ThreadsOfRole()
                     : op.Is(ir::kByWarp) ? kWarp
                                          : kWarpgroup,
                     AccessClass::kSharedStore);
    case OpCode::kCopyAsync: return Guarded(op, ThreadsOfRole(), AccessClass::kAsyncWrite);
    case OpCode::kCopyToGlobal: return Guarded(op, kWarpgroup, AccessClass::kSharedLoad);
    case OpCode::kLoadAsync:
    case OpCode::kLoadRows:
    case OpCode::kLoadMulticast:
    case OpCode::kLoadRowsMulticast: return Engine(op, AccessClass::kEngineWrite);
    case OpCode::kStoreAsync: return Engine(op, AccessClass::kEngineRead);
    case OpCode::kMma: return Operands(op);
    case OpCode::kReduce:
    case OpCode::kReduceThreads:
    case OpCode::kCumsum: return Scratch(op);
    case OpCode::kSplitSend: return Fragments(op, true);
    case OpCode::kSplitCollect: return Fragments(op, false);
    default: return;
  }
}

void Collector::Open(const Op& op) {
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  if (op.code == OpCode::kView) {
    const ir::Buffer& buffer = FindBuffer(kernel_, op.symbol);
    if (ir::HasShapeOf(type, buffer)) windows_[op.results[0]] = {&buffer, 0, 0, type.rows, type.cols, false};
    return;
  }
  const auto source = windows_.find(op.operands[0]);
  if (source == windows_.end()) return;  // a part of a register tile
  Window window = source->second;
  window.rows = type.rows;
  window.cols = type.cols;
  if (op.code == OpCode::kTranspose) window.transposed = !window.transposed;
  if (op.code == OpCode::kPart) {
    // A start that is known only at run time is a multiple of the part's size: as far as banks go, 0.
    int64_t row = 0, col = 0;
    symbolic::IsInt(op.scalars[0], &row);
    symbolic::IsInt(op.scalars[1], &col);
    if (window.transposed) std::swap(row, col);
    window.row0 += row;
    window.col0 += col;
  }
  windows_[op.results[0]] = window;
}

void Collector::Registers(const Op& op, bool is_store) {
  const auto window = windows_.find(op.operands[0]);
  if (window == windows_.end()) return;
  const MoveCost cost = RegisterMove(role_->layout, window->second, is_store);
  const AccessClass kind = cost.as_matrices ? (is_store ? AccessClass::kStoreMatrix : AccessClass::kLoadMatrix)
                                            : (is_store ? AccessClass::kSharedStore : AccessClass::kSharedLoad);
  Add(op, kind, window->second, cost);
  if (cost.instructions > 0) out_.back().held = role_->layout.vec;
}

void Collector::Fragment(const Op& op) {
  const auto window = windows_.find(op.operands[0]);
  if (window == windows_.end()) return;
  const bool is_left = op.code == OpCode::kLoadLeft;
  Add(op, AccessClass::kLoadMatrix, window->second,
      is_left ? LeftMove(role_->layout, window->second) : RightMove(role_->layout, window->second));
}

void Collector::Guarded(const Op& op, int64_t threads, AccessClass kind) {
  const auto window = windows_.find(op.operands[0]);
  if (window == windows_.end()) return;
  const bool is_store = kind != AccessClass::kSharedLoad;
  const int size = Bytes(window->second.buffer->dtype);
  std::vector<int> widths;
  for (const int width : kPieces) {
    if (width > size && TakesPieces(window->second, width)) widths.push_back(width);
  }
  // Asynchronous copies of less than a word go by ordinary stores, one by one.
  if (kind != AccessClass::kAsyncWrite || size >= 4 || widths.empty()) widths.push_back(size);
  for (const int width : widths) {
    // What is read from rows that are aligned to less than a word is shifted together to the widest pieces.
    const bool shifts = kind == AccessClass::kSharedStore && width < 4 && widths.front() > 2 * size;
    const int moved = shifts ? widths.front() : width;
    Add(op, kind, window->second, GuardedMove(window->second, threads, moved, is_store), widths.size() > 1 ? width : 0);
  }
}

void Collector::Engine(const Op& op, AccessClass kind) {
  const auto window = windows_.find(op.operands[0]);
  if (window == windows_.end()) return;
  constexpr int kLine = 128;
  MoveCost cost;
  cost.width = kLine;
  const int64_t lines = (window->second.buffer->TileBytes() + kLine - 1) / kLine;
  cost.instructions = cost.wavefronts = cost.ideal = lines;
  Add(op, kind, window->second, cost);
}

void Collector::Operands(const Op& op) {
  for (const ir::ValueId value : {op.operands[1], op.operands[2]}) {
    const auto window = windows_.find(value);
    if (window == windows_.end()) continue;  // a left operand in registers
    Add(op, AccessClass::kMatrixOperand, window->second, MatrixFetch(window->second));
  }
}

void Collector::Scratch(const Op& op) {
  if (op.symbol.empty()) return;
  const ir::Buffer& buffer = FindBuffer(kernel_, op.symbol);
  const Window window{&buffer, 0, 0, buffer.rows, buffer.cols, false};
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  const bool of_rows = op.IsOfRows();
  const int64_t lines = of_rows ? type.rows : type.cols;
  for (const bool is_store : {true, false}) {
    Add(op, is_store ? AccessClass::kSharedStore : AccessClass::kSharedLoad, window,
        ScratchMove(role_->layout, buffer.dtype, lines, buffer.cols / lines, of_rows, is_store));
  }
}

void Collector::Fragments(const Op& op, bool is_store) {
  const ir::Buffer& buffer = FindBuffer(kernel_, op.symbol);
  const int64_t others = op.Blocks() - 1, cols = is_store ? buffer.cols : buffer.cols / others, shares = is_store ? 1 : others;
  const Window window{&buffer, 0, 0, buffer.rows, cols, false};
  Add(op, is_store ? AccessClass::kSharedStore : AccessClass::kSharedLoad, window,
      FragmentMove(buffer.rows, cols, shares, is_store));
}

/// Whether threads move this tile between registers and shared memory in several ways.
bool MovesInSeveralWays(const std::vector<SharedAccess>& accesses, const SharedAccess& one) {
  const auto way = [](const SharedAccess& access) {
    return std::tuple(access.kind, access.transposed, access.rows, access.cols, access.width, access.held, access.wavefronts);
  };
  const auto is_by_threads = [](AccessClass kind) {
    return kind != AccessClass::kEngineWrite && kind != AccessClass::kEngineRead && kind != AccessClass::kAsyncWrite;
  };
  return std::any_of(accesses.begin(), accesses.end(), [&](const SharedAccess& other) {
    return other.buffer == one.buffer && is_by_threads(other.kind) && way(other) != way(one);
  });
}

/// What could be written instead, as far as the access and the others of its tile say.
std::string Advice(const ir::Kernel& kernel, const SharedAccess& access, const ir::Buffer& buffer,
                   const std::vector<SharedAccess>& accesses) {
  constexpr int kWidest = 16;  // bytes that a lane moves at once
  if (buffer.is_scratch) return "reduce along rows, which needs no shared memory";
  const bool is_elements = access.kind == AccessClass::kSharedLoad || access.kind == AccessClass::kSharedStore;
  if (access.transposed && is_elements)
    return "as an operand of `@` a transposed tile costs nothing; elsewhere its elements move one by one";
  if (access.held * Bytes(access.dtype) > kWidest)
    return fmt::format(
        "threads of this worker hold {} neighbours, {} bytes of its narrowest tensor: give it `{}` tensors only, or "
        "convert this tile before it moves",
        access.held, kWidest, tkc::Name(access.dtype));
  constexpr int64_t kNarrowestSwizzle = 32, kWidestSwizzle = 128;  // bytes of a row
  const int64_t row_bytes = buffer.cols * Bytes(buffer.dtype);
  if (buffer.rows > 1 && row_bytes % kWidestSwizzle == 0 && !IsField(kernel, buffer))
    return "the compiler stages this tile, and no swizzle serves both sides: where that costs, send it through a pipe to a worker "
           "that does the rest";
  if (buffer.rows > 1 && row_bytes % kWidestSwizzle == 0) {
    if (MovesInSeveralWays(accesses, access))
      return "no swizzle serves this access beside the others of the tile: have it sent twice, or let another worker do one of "
             "them";
    if (access.cols < buffer.cols && !access.transposed) return "send these columns alone, as a tile of their own";
    return "a worker holds all of its tiles alike, here to suit another one: let another worker do this";
  }
  // Rows are those of memory, which the label turns where the access does.
  const std::string tile = access.transposed ? fmt::format("the tile, which lies there as `{}[{}, {}]`,", tkc::Name(buffer.dtype),
                                                           buffer.rows, buffer.cols)
                                             : "the tile";
  if (buffer.rows > 1 && row_bytes % kNarrowestSwizzle == 0)
    return fmt::format("make the rows of {} a multiple of 128 bytes, so that the widest swizzle spreads them over the banks", tile);
  return fmt::format("make the rows of {} a multiple of 32 bytes, so that a swizzle spreads them over the banks", tile);
}

}  // namespace

std::string_view Name(AccessClass kind) {
  switch (kind) {
    case AccessClass::kSharedLoad: return "shared_load";
    case AccessClass::kSharedStore: return "shared_store";
    case AccessClass::kLoadMatrix: return "ldmatrix";
    case AccessClass::kStoreMatrix: return "stmatrix";
    case AccessClass::kOperandLoad: return "operand_load";
    case AccessClass::kAsyncWrite: return "copy_async";
    case AccessClass::kEngineWrite: return "engine_write";
    case AccessClass::kEngineRead: return "engine_read";
    case AccessClass::kMatrixOperand: return "matrix_operand";
  }
  return "";
}

std::vector<SharedAccess> SharedAccesses(const ir::Kernel& kernel) {
  std::vector<SharedAccess> accesses;
  Collector collector(kernel, accesses);
  for (const ir::Worker& role : kernel.workers) collector.Role(role);
  return accesses;
}

void WarnOfConflicts(const ir::Module& module, Diagnostics& diagnostics) {
  std::vector<std::vector<SharedAccess>> accesses(module.kernels.size());
  ForEachInParallel(accesses.size(), [&](size_t i) { accesses[i] = SharedAccesses(module.kernels[i]); });
  std::set<std::tuple<uint32_t, uint32_t, AccessClass>> reported;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const ir::Kernel& kernel = module.kernels[i];
    for (const SharedAccess& access : accesses[i]) {
      if (access.wavefronts <= access.ideal || access.rows == 1 || access.cols == 1) continue;
      if (!reported.insert({access.span.file, access.span.begin, access.kind}).second) continue;
      const ir::Buffer& buffer = FindBuffer(kernel, access.buffer);
      diagnostics
          .Warning(DiagnosticKind::kBankConflict, access.span,
                   fmt::format("{} shared memory with bank conflicts of degree {:.3g}: {} wavefronts, where {} would do",
                               access.kind == AccessClass::kSharedStore || access.kind == AccessClass::kStoreMatrix ||
                                       access.kind == AccessClass::kAsyncWrite
                                   ? "a tile is written to"
                                   : "a tile is read from",
                               access.Degree(), access.wavefronts, access.ideal))
          .Label(access.span, fmt::format("`{}[{}, {}]`, {} bytes a lane: {}", tkc::Name(access.dtype), access.rows, access.cols,
                                          access.width, buffer.purpose))
          .Help(Advice(kernel, access, buffer, accesses[i]));
    }
  }
}

}  // namespace tkc::passes

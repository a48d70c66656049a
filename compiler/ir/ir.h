// SPDX-License-Identifier: MIT
// The IR: one program per worker (tile level) or role (schedule level) of one kernel launch.
//
// Tile level says what: workers, pipes, tile operations. Nothing has a slot, a barrier, a lane or a place.
// Schedule level is explicit: one program per role; each operation is one call of the runtime or one piece of C++ control flow.
// Both use the same structures, operations (op.def says at which levels each may stand) and text (print.h, parse.h).
//
// A value is a tile (scalars are symbolic::Scalar trees inside operations). `var` makes a mutable value that `assign` and the
// matrix operations change in place; every other result is written once. Using a mutable value reads it at that point.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/ir/taken_names.h"
#include "compiler/layout/register_layout.h"
#include "compiler/layout/swizzle.h"
#include "compiler/sema/typed.h"
#include "compiler/support/dtype.h"
#include "compiler/support/floor_div.h"
#include "compiler/support/source.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::ir {

using layout::RegisterLayout;
using layout::Swizzle;

/// Where a tile lives: at tile level kAbstract; at schedule level in registers of the role's warpgroup, or in shared memory, of
/// which the value is a view. kLeft and kRight: one step of a product's operand, in registers as a warp's matrix instruction takes
/// it. kPieces is no tile: it says where in a tensor the pieces lie that each thread copies.
enum class Space : uint8_t { kAbstract, kRegister, kShared, kLeft, kRight, kPieces };

struct Type {
  DType dtype = DType::kF32;
  int64_t rows = 1, cols = 1;
  Space space = Space::kAbstract;
  bool transposed = false;  // kShared: a transposed view; rows and cols are those of the view

  int64_t Bytes() const { return rows * cols * tkc::Bytes(dtype); }
  bool operator==(const Type&) const = default;
};

struct Value {
  std::string name;  // unique in the kernel; from the source where there is one
  Type type;
  bool is_mutable = false;
  std::string base{};     // the name without its number, which code counts anew where two meet; empty: the name has none
  bool is_named = false;  // by the source

  bool IsOfSource() const { return is_named || base.empty(); }
  const std::string& Base() const { return base.empty() ? name : base; }
};

struct TensorParam {
  std::string name{};
  DType dtype = DType::kF32;
  std::vector<Scalar> extents{};  // over dims; a bare name binds that dim
  typed::TensorMode mode = typed::TensorMode::kIn;
  bool is_work = false;
  bool has_preset = false;
  double preset = 0;           // of a tensor of floats
  int64_t integer_preset = 0;  // of any other
  Span span{};
};

struct ScalarParam {
  std::string name;
  DType dtype = DType::kF32;
  Span span;
};

struct PipeField {
  std::string name;
  DType dtype = DType::kF32;
  int64_t rows = 1, cols = 1;
  int64_t Bytes() const { return rows * cols * tkc::Bytes(dtype); }
};

struct Pipe {
  std::string name;
  std::vector<PipeField> fields;
  int64_t slots = 0;        // 0 until plan_shared
  int64_t least_slots = 1;  // what the order of traffic needs
  int64_t rings = 1;
  std::string per_worker;  // "" or the worker whose instances own one ring each
  std::string ring_of{};   // the source's pipe, of which separate_rings made one for each instance; "": this is one
  std::string part_of{};   // the source's pipe, of which separate_pipes made several; "": this is one
  std::string
      fields_of{};  // the source's pipe, of which separate_fields made several, each with some of its fields; "": this is one
  // Found by expand_workers: how many instances fill and read a slot.
  int64_t senders = 0, receivers = 0;
  Span span;
  const std::string& SourceName() const {
    return !ring_of.empty() ? ring_of : !fields_of.empty() ? fields_of : part_of.empty() ? name : part_of;
  }
};

/// Warps of an instance that computes: each arrives once where it meets others.
inline constexpr int kWarpsOfInstance = 4;

enum class RoleKind : uint8_t {
  kUnassigned,  // tile level
  kCopyThread,  // one elected thread of one warp issues copies
  kCopyWarp,    // one warp: also guarded copies
  kCompute,     // `instances` warpgroups
};

/// A worker (tile level), then a role (schedule level).
struct Worker {
  std::string name;
  int64_t instances = 1;
  std::string instance_name;  // scalar name of the instance number, "" if unused
  bool in_turn = false;
  bool alternates = false;               // one of its two instances loads while the other multiplies
  Span alternates_span;                  // where the schedule says so
  bool turned = false;                   // its register tiles are the source's turned around; turn_products
  std::map<int64_t, int64_t> widened{};  // columns of its tiles in the source, and how many are held; widen_columns
  int64_t spread = 1;  // blocks of a cluster, each of which has `instances` of its own; spread_instances deals them out
  RoleKind kind = RoleKind::kUnassigned;
  int first_warp = 0;               // of the block; compute roles start at a multiple of 4
  int registers = 0;                // of a thread, by setmaxnreg; 0: as launched
  RegisterLayout layout;            // kCompute
  std::vector<std::string> folded;  // the workers whose copies it issues as well
  // Where each instance has a program of its own: the worker that this is an instance of ("": it is all of them), and which.
  std::string instance_of;
  int64_t number = 0;
  // Where the target has no named barriers: those in shared memory at which the warps of each instance (sync_role, reductions over
  // warps) and all of them (named_sync) meet. "": the block's own.
  std::string warps_meet, all_meet;
  Region body;  // tile level: one tile; schedule level: the whole role
  Span span;

  bool Computes() const { return kind == RoleKind::kCompute; }
  /// How many instances work on one tile: of those that take turns, each has tiles of its own.
  int64_t InstancesOfTile() const { return in_turn ? 1 : instances; }
  bool IsOneThread() const { return kind == RoleKind::kCopyThread; }
  /// As who wrote the source knows it: `compute[1]` for an instance with a program of its own.
  std::string SourceName() const { return instance_of.empty() ? name : instance_of + "[" + std::to_string(number) + "]"; }
  /// Of the block, from first_warp on.
  int64_t Warps() const { return Computes() ? instances * kWarpsOfInstance : 1; }
  /// Warpgroups with warps of it.
  int64_t Warpgroups() const { return Computes() ? instances : 1; }
};

struct GridAxis {
  std::string name;  // scalar name: the first element of the block
  Scalar lo, hi;
  int64_t step = 1;
  bool is_block = false;
};

/// Shared memory: `count` tiles of one shape. Schedule level.
struct Buffer {
  std::string name;
  DType dtype = DType::kF32;
  int64_t rows = 1, cols = 1;
  int64_t count = 1;
  int64_t instances = 1;  // > 1: one set per worker instance; indexed by the instance number first
  Swizzle swizzle = Swizzle::kNone;
  int64_t offset = 0;         // bytes from the start; plan_shared
  bool is_scratch = false;    // a tk::reduce_scratch (results of several warps), not a tile: rows = warps
  bool is_fragments = false;  // a tk::fragment_buffer (an accumulator as registers hold it), not a tile
  bool shares_room = false;   // lies over others that hold nothing while it holds something; share_room
  std::string stages{};       // of which tensor or value it takes tiles, one at a time; "": it is for one thing
  std::string purpose;        // a text for the shared-memory map: "pipe ab, field 0", "staging of C"
  /// Whole panels as wide as the swizzle: the last one may be partly unused.
  int64_t StoredCols() const {
    const int64_t panel = swizzle == Swizzle::kNone ? 1 : layout::PanelBytes(swizzle) / tkc::Bytes(dtype);
    return RoundUp(cols, panel);
  }
  int64_t TileBytes() const { return rows * StoredCols() * tkc::Bytes(dtype); }
  /// Of the tile's first byte: where the pattern of its swizzle starts.
  int64_t Alignment() const { return swizzle == Swizzle::kNone ? 128 : swizzle == Swizzle::kT128 ? 2048 : 1024; }
  int64_t Bytes() const { return TileBytes() * count * instances; }
  /// A tile as it lies in an array, where each begins aligned, and all of them.
  int64_t PlacedTileBytes() const { return RoundUp(TileBytes(), Alignment()); }
  int64_t PlacedBytes() const { return PlacedTileBytes() * count * instances; }
  int64_t End() const { return offset + PlacedBytes(); }
};

/// Whether share_room has laid the two over each other: a write into one destroys what the other holds.
inline bool OverlapInRoom(const Buffer& a, const Buffer& b) {
  return a.shares_room && b.shares_room && a.offset < b.End() && b.offset < a.End();
}

inline bool HaveOneShape(const Type& a, const Type& b) { return a.rows == b.rows && a.cols == b.cols; }
/// Whether a view of this type has the buffer's rows and columns, and does not arrange its elements in others.
inline bool HasShapeOf(const Type& view, const Buffer& buffer) { return view.rows == buffer.rows && view.cols == buffer.cols; }

constexpr int64_t kBarrierBytes = 8;              // of an mbarrier
constexpr int64_t kMostArrivals = (1 << 20) - 1;  // that it counts

/// An array of mbarriers. Schedule level.
struct Barrier {
  std::string name;
  int64_t count = 1;
  int64_t arrivals = 1;
  std::string purpose;
  int64_t instances = 1;  // > 1: one set per worker instance, as of a buffer
};

/// A descriptor for the copy engine: one tensor, one box, one swizzle. Schedule level.
struct TensorMap {
  std::string name;  // C++ parameter name
  std::string tensor;
  std::vector<int64_t> box;  // per tensor dimension; 1 for dropped axes
  Swizzle swizzle = Swizzle::kNone;
  bool is_store = false;  // a store map is used only where the tensor allows it; a load map forces a repack otherwise
};

/// The map for the same tiles in boxes of fewer rows, which load_rows needs besides.
inline std::string RowsMap(const std::string& map) { return map + "_rows"; }

/// Bytes that the engine brings for a tile of this type: whole boxes, each as wide as a panel.
inline int64_t EngineBytes(const TensorMap& map, const Type& type) {
  const int64_t panel = map.swizzle == Swizzle::kNone || map.box.empty() || map.box.back() < 1 ? 1 : map.box.back();
  return type.rows * RoundUp(type.cols, panel) * tkc::Bytes(type.dtype);
}

/// What the launcher compares of schedules that compete: `value`, of the names that a condition may use. Or what a function of the
/// source gives for `args`: then `value` is of its parameters, which have their names, and of `lets`, each of those before it.
struct Cost {
  std::string function{};
  Span declaration = kNoSpan;  // of the function
  std::vector<std::pair<std::string, Scalar>> args{}, lets{};
  Scalar value{};
  bool IsOfFunction() const { return !function.empty(); }
};

/// One kernel launch.
struct Kernel {
  std::string name;   // of the __global__ function
  std::string entry;  // the entry it serves
  std::string schedule;
  std::string target;
  std::vector<typed::StaticValue> bindings;  // of the compile-time parameters, for the comment
  std::vector<std::string> dims;
  std::vector<TensorParam> tensors;
  std::vector<ScalarParam> scalars;
  std::vector<Scalar> launch_requires;
  Scalar when;  // null: always; may mention `sms`, `aligned` and `contiguous`
  std::optional<Cost> cost;
  std::vector<GridAxis> axes;
  Region lets;  // grid-level scalars shared by all workers (tile level)
  bool persistent = false;
  bool dynamic = false;     // blocks take one tile each, and draw the others from a counter
  std::string drawn{};      // the work tensor that counts these
  std::string next_tile{};  // the pipe of one number through which who draws a tile hands it to all roles; draw_tiles
  bool is_uneven = false;   // some tiles take longer: those come first, and persistent blocks walk over the list there and back
  typed::GridOrder order = typed::GridOrder::kRows;
  int64_t group = 8;                // rows of blocks that kGrouped walks together
  int64_t cluster = 1;              // blocks of a cluster
  int64_t split = 1;                // blocks of a cluster among which a loop that sums is dealt out; split_sums
  int64_t depth = 1;                // products of earlier iterations that may be in flight; 0: each is waited for at once
  bool cluster_of_columns = false;  // the blocks of a cluster are neighbours along the last axis, not the one in front of it
  std::vector<Pipe> pipes;
  std::vector<Worker> workers;
  std::vector<Value> values;

  // Schedule level
  bool is_schedule = false;
  int threads = 0;
  int resident = 0;          // blocks that a multiprocessor is to hold at once: registers are dealt out for so many; 0: for one
  int launch_registers = 0;  // of a thread, where several are: the bound that the launch is compiled with; 0: that of one block
  std::vector<std::pair<std::string, Scalar>>
      launch_lets;  // scalars computed on the host side and passed to or recomputed in the kernel: m_blocks, n_blocks, tiles
  Scalar tiles;     // number of tiles (blocks of the grid, or work items of the persistent loop)
  std::vector<Buffer> buffers;
  std::vector<Barrier> barriers;
  std::vector<TensorMap> maps;
  int64_t shared_bytes = 0;
  Region setup, ending;          // the frame: what all threads of the block execute before and after the roles; insert_sync
  Span span;                     // where it stands in the source: of a kernel of several grids, this grid
  Span declaration;              // the whole kernel, whatever its grids
  Span schedule_span = kNoSpan;  // the declaration of the schedule set

  /// Of a thread of the role, where the schedule or the launch says it; else 0.
  int RegistersOf(const Worker& role) const { return role.registers != 0 ? role.registers : launch_registers; }
  /// Blocks of a cluster over which a worker's instances are spread, and which exchange every pipe.
  int64_t Spread() const;
  /// The blocks of a cluster take one tile together.
  bool SharesTile() const { return split > 1 || Spread() > 1; }
  /// No block of a cluster ends before the others; else none reaches into another one that may have ended.
  bool EndsTogether() const;
  /// The grid axis along which the blocks of a cluster take neighbouring tiles; none where there are no clusters, or these share
  /// tiles.
  std::optional<size_t> ClusterAxis() const;

  const Type& TypeOf(ValueId value) const { return values[static_cast<size_t>(value)].type; }
  Type& TypeOf(ValueId value) { return values[static_cast<size_t>(value)].type; }

  /// Whether the scalar is below zero for no extents of the tensors.
  bool IsNonNegative(const Scalar& scalar) const;
  /// How many steps a range of the source takes: none where it goes backwards.
  Scalar Steps(const Scalar& lo, const Scalar& hi, int64_t step) const;

  /// Makes the name unique; where it is printed each role numbers it among the names that it prints.
  ValueId AddValue(std::string name, Type type, bool is_mutable = false);
  /// The value has its name from the source, or from a text of the IR: where it is unique, no other has it.
  void KeepName(ValueId value);
  /// A value named after `of`, whose number is no part of the name that is printed.
  ValueId AddValueAfter(ValueId of, const std::string& suffix, Type type, bool is_mutable = false);
  void TakeNames();  // everything else that is a name in the output: no value is called so
  /// The names that scalars of a pass's own must avoid: all that the source gave, or a pass before.
  TakenNames UsedNames() const;
  /// What stands in one scope with values in the output, by name.
  TakenNames NamesBesideValues() const;
  std::map<std::string, std::string> numbered_scalars{};  // where the source has several of a name in a worker: that name
  TakenNames names_of_values;                             // AddValue's, with what stands beside values
  size_t known_values = 0;                                // of these the names are in names_of_values
};

/// Of a kernel's tensors, pipes, buffers, barriers or maps the one of that name, or null.
template <typename List>
auto* FindNamed(List& list, std::string_view name) {
  const auto item = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
  return item == list.end() ? nullptr : &*item;
}

/// An entry point and the launches it may choose among: alternatives[i] is the list of kernels (indices) run in order.
struct Entry {
  std::string name;
  std::vector<std::vector<int>> alternatives;
};

struct Module {
  std::vector<Kernel> kernels{};
  std::vector<Entry> entries{};
};

/// The two scalars that a kTilePosition defines: row and column.
std::pair<std::string, std::string> NamesOfPosition(const Op& op);

/// "sum" of "sum_2".
std::string WithoutNumber(const std::string& name);

/// How many parts the tensor's small structures have, if its last axis is known to count the parts of some; else 1.
int64_t StructureParts(const TensorParam& tensor);

/// Whether the kernel is launched only where rows of all tensors begin at multiples of 16 bytes: its condition says `aligned`.
bool IsAligned(const Kernel& kernel);
/// Whether it is launched only where all tensors begin at such places and have no gaps: its condition says `contiguous`.
bool IsContiguous(const Kernel& kernel);
/// Whether the launch writes the tensor.
bool IsWritten(const TensorParam& tensor);
/// Of a `work` tensor, whose rows begin at multiples of 16 bytes wherever it is: whether these are rows of elements. (Structures
/// would be padded each.)
bool HasAlignedRows(const TensorParam& work);
/// Elements from one index of an axis to the next, where the tensor has no gaps.
Scalar ContiguousStride(const TensorParam& tensor, size_t axis);

}  // namespace tkc::ir

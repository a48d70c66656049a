// SPDX-License-Identifier: MIT
// The typed tree: what sema makes of the AST for one kernel under one schedule set and one instance.
//
// Compile-time parameters are numbers, functions are inlined, names are ids, every index is a range of elements, receives are
// statements of their own in the order of evaluation, and every tile has a static shape. What stays symbolic: extents of the
// tensors (dims), launch scalars, grid and loop variables, and the number of a worker instance.
// The reference interpreter executes this tree; ir/from_ast lowers it. Neither looks at the AST.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/dtype.h"
#include "compiler/support/source.h"

namespace tkc::typed {

using VarId = int;    // index into Kernel::vars
using DimId = int;    // index into Kernel::dims
using ParamId = int;  // index into Kernel::params
using PipeId = int;   // index into Section::pipes
inline constexpr int kNone = -1;

/// Of a dimension (lang-spec, se-14): the last block of a walk still ends below 2^31.
/// What rows of tensors begin at multiples of where the condition of a set says `aligned`, and tensors where it says `contiguous`.
inline constexpr int64_t kAlignedBytes = 16;
inline constexpr int64_t kLargestExtent = (int64_t{1} << 31) - 65536;

/// Who can know a scalar: everybody at compile time; every worker of the block; only the worker that computed it.
enum class Level : uint8_t { kConst, kGrid, kWorker };

/// A scalar, or a tile of static shape. Integers of the language are mathematical: they have dtype kI64.
struct Type {
  bool is_tile = false;
  DType dtype = DType::kI64;
  int64_t rows = 1;  // tiles only
  int64_t cols = 1;

  bool operator==(const Type&) const = default;
  static Type Scalar(DType dtype) { return {false, dtype, 1, 1}; }
  static Type Tile(DType dtype, int64_t rows, int64_t cols) { return {true, dtype, rows, cols}; }
};

enum class ExprKind : uint8_t {
  kInt,      // int_value
  kFloat,    // float_value (dtype of type)
  kBool,     // int_value
  kDim,      // id: the extent named by a dimension
  kParam,    // id: a launch scalar
  kVar,      // id: let, var, loop, grid or instance variable, received value
  kElement,  // one element of tensor `id` at `axes` (all dropped): a scalar
  kRead,     // a tile of tensor `id` at `axes`; args[0], if present, is the fill (scalar, default 0)
  kGather,   // a tile of tensor `id` at `axes`, whose rows are those that columns choose: args: the columns [n, 1], in the order of
             // the axes that they are of; then the fill, if any
  kUnary,    // op; args[0]
  kBinary,   // op; args[0], args[1]; tiles broadcast ([R,C] with [R,1], [1,C], [1,1], scalar)
  kSelect,   // args: condition, value if true, value if false (all evaluated); tiles broadcast
  kCall,     // op is a function: exp, min, max, cdiv, ...; args
  kConvert,  // args[0] converted to type.dtype (nearest even; float to int truncates and saturates)
  kSplat,    // scalar args[0] as a tile of `type`
  kReduce,   // op kAdd, kMax, kMin, kAny, kAll over `axis` of args[0]: axis 1 gives [R,1], axis 0 gives [1,C]
  kCumsum,   // inclusive, along `axis`
  kTranspose,  // args[0] transposed
  kPart,       // rows [row, row + type.rows), columns [col, col + type.cols) of args[0]; args[1] = row, args[2] = col (scalars)
  kMatMul,     // args[0] @ args[1], f32 (i32 for 8-bit integers); adding it to something in the same expression may fuse
  kPositions,  // i32[n, 1]: args[0] + 0, 1, 2, ... (n = type.rows); of a block, args[1] ends its range, args[2] begins it
  kCat,        // args side by side (columns)
  kReshape,    // args[0], whose rows are cut into rows of equal length, or joined to such: element by element row by row the same
};

enum class Op : uint8_t {
  kNone,
  // unary
  kNeg,
  kNot,
  // binary; / and % are floor on integers
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  // functions (kCall)
  kMin,
  kMax,
  kCdiv,
  kAbs,
  kExp,
  kExp2,
  kLog,
  kLog2,
  kSqrt,
  kRsqrt,
  kTanh,
  kErf,
  kSigmoid,
  kFloor,
  kCeil,
  kRound,   // to the nearest integer, of two as near the even one
  kFinite,  // x, and 0 for infinities and NaN
  kPow,
  kSin,
  kCos,
  kRandom,  // of a key and a position: 32 random bits
  // reductions only
  kAny,
  kAll,
};

/// What a scalar of an element type is in a kernel: integers have no width there.
inline DType ScalarDType(DType dtype) { return IsInteger(dtype) ? DType::kI64 : dtype; }

inline bool IsComparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }

template <typename T>
bool Compare(Op comparison, T x, T y) {
  switch (comparison) {
    case Op::kEq: return x == y;
    case Op::kNe: return x != y;
    case Op::kLt: return x < y;
    case Op::kLe: return x <= y;
    case Op::kGt: return x > y;
    default: return x >= y;
  }
}

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// The part of one tensor axis that a read or store covers: elements start .. start + extent.
/// Elements outside the tensor, or outside lo..hi where given, do not exist (reads give the fill, writes are dropped).
struct AxisRange {
  ExprPtr start;          // integer scalar, grid level
  int64_t extent = 1;     // static
  bool dropped = false;   // an element index: extent 1, the axis does not appear in the tile
  ExprPtr lo, hi;         // both null when the tensor's own bounds suffice
  bool is_slice = false;  // `lo :+ n`, `lo .. hi by n`: no block of a loop or the grid
  bool chosen = false;    // kGather: dropped; row i has the element of number i of the next column, counted from `start`, 0
};

struct Expr {
  ExprKind kind;
  Op op = Op::kNone;
  Type type;
  Level level = Level::kConst;
  Span span;
  int id = kNone;
  int axis = 0;
  int64_t int_value = 0;
  double float_value = 0;
  std::vector<ExprPtr> args;
  /// kElement, kRead, kGather: one per tensor dimension; the kept ones are the tile's rows, then columns; with one kept axis the
  /// tile is a column [n, 1]. Of kGather the rows are chosen, and at most one axis is kept.
  std::vector<AxisRange> axes;
};

/// The first node of an expression, itself in front, for which `is` holds, or null. The places of reads are no part of it.
template <typename F>
const Expr* FindIn(const Expr& expr, const F& is) {
  if (is(expr)) return &expr;
  for (const ExprPtr& arg : expr.args) {
    if (const Expr* found = arg ? FindIn(*arg, is) : nullptr) return found;
  }
  return nullptr;
}

template <typename F>
bool Contains(const Expr& expr, const F& is) {
  return FindIn(expr, is) != nullptr;
}

enum class StmtKind : uint8_t {
  kLet,         // var = expr, once (also `var` declarations: Var::is_mutable)
  kAssign,      // var = expr
  kAssignPart,  // the part at (row, col) of var, of expr's shape, = expr
  kFor,         // for var = lo; var < hi; var += step
  kIf,          // if expr { body } else { orelse }
  kReceive,     // vars (one per pipe field) = <-pipe
  kSend,        // pipe <- values
  kStore,       // tensor at axes <- expr
};

enum class StoreOp : uint8_t { kSet, kAdd, kMax, kMin };

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;

struct Stmt {
  StmtKind kind;
  Span span;
  VarId var = kNone;                 // kLet, kAssign, kAssignPart, kFor
  ExprPtr expr;                      // kLet, kAssign, kAssignPart, kIf (condition), kStore (value)
  ExprPtr row, col;                  // kAssignPart; kSend of a part: offset of the part in its field
  ExprPtr lo, hi;                    // kFor; grid level
  int64_t step = 1;                  // kFor
  bool is_block_loop = false;        // kFor: iterates blocks (`by`), not integers
  Block body, orelse;                // kFor, kIf
  PipeId pipe = kNone;               // kReceive, kSend
  ExprPtr ring;                      // kReceive, kSend on a `per` pipe: which ring (const level, may use the instance variable)
  std::vector<VarId> received;       // kReceive: one per field
  int field = kNone;                 // kSend of one field or of a part of it; kNone: all fields, whole
  std::vector<ExprPtr> values;       // kSend: one per field sent
  ParamId tensor = kNone;            // kStore
  std::vector<AxisRange> axes;       // kStore
  StoreOp store_op = StoreOp::kSet;  // kStore
};

enum class VarKind : uint8_t { kLet, kMutable, kLoop, kGrid, kReceived, kInstance };

struct Var {
  std::string name;  // as in the source
  Type type;
  VarKind kind = VarKind::kLet;
  Level level = Level::kGrid;
  Span span;
};

struct Dim {
  std::string name;
  Span span;
};

enum class ParamKind : uint8_t { kTensor, kWork, kScalar };
enum class TensorMode : uint8_t { kIn, kOut, kInOut };

struct Param {
  std::string name;
  ParamKind kind = ParamKind::kTensor;
  DType dtype = DType::kF32;
  std::vector<ExprPtr> extents;  // tensors: integer scalars over dims and constants (a bare kDim binds that dim at launch)
  TensorMode mode = TensorMode::kIn;
  bool has_preset = false;     // `out T = x`, `work t: T = x`
  double preset = 0;           // of a tensor of floats
  int64_t integer_preset = 0;  // of any other
  Span span;
};

struct PipeField {
  std::string name;  // may be empty
  DType dtype;
  int64_t rows, cols;
};

struct Pipe {
  std::string name;
  std::vector<PipeField> fields;
  int64_t slots = 0;       // 0: the compiler chooses
  int per_worker = kNone;  // index of the worker in Section::workers whose instances own one ring each
  int64_t rings = 1;
  int64_t least_slots = 1;  // what the values that workers hold across receives need; slots, if given, is no less
  Span span;
};

struct Worker {
  std::string name;
  int64_t instances = 1;
  bool in_turn = false;        // instances take whole tiles alternately
  bool alternates = false;     // one instance loads while the other multiplies
  Span alternates_span;        // where that is said
  int64_t spread = 1;          // blocks of a cluster that share out the instances
  VarId instance_var = kNone;  // 0 .. instances - 1
  Block body;
  Span span;

  /// How many instances work on one tile: of those that take turns, each has tiles of its own.
  int64_t InstancesOfTile() const { return in_turn ? 1 : instances; }
};

struct GridAxis {
  VarId var;  // value: the first element of the block
  ExprPtr lo, hi;
  int64_t step = 1;
  bool is_block = false;  // `by`
  Span span;
};

enum class GridOrder : uint8_t { kRows, kColumns, kGrouped };

struct Section {
  std::vector<GridAxis> axes;  // outermost first
  Block lets;                  // grid-level values shared by all workers
  std::vector<Pipe> pipes;
  std::vector<Worker> workers;
  std::optional<bool> persistent;   // none: the compiler chooses
  bool dynamic = false;             // tiles are drawn from a counter
  std::optional<GridOrder> order;   // none: the compiler chooses
  int64_t group = 8;                // kGrouped: rows of blocks per super-row
  int64_t cluster = 1;              // blocks per cluster, along the last axis but one
  bool cluster_of_columns = false;  // along the last axis
  int64_t split = 1;                // ways to split sum loops over blocks
  int64_t depth = 1;                // matrix groups kept in flight
  int64_t resident = 0;             // blocks that a multiprocessor is to hold at once; 0: the compiler chooses
  bool leaves_out = false;          // compile-time conditions leave out some of its code
  Span span;
};

/// A cost that is the value of a `fn`: `body`, of what `lets` name, with args[i] for params[i].
struct CostFormula {
  std::string name;  // of the function
  Span declaration;  // the function's
  std::vector<std::pair<std::string, VarId>> params;
  std::vector<ExprPtr> args;
  Block lets;
  ExprPtr body;
};

/// What a compile-time parameter has been given.
struct StaticValue {
  std::string name;
  int64_t number = 0;
  bool is_bool = false;

  std::string Text() const { return !is_bool ? std::to_string(number) : number != 0 ? "true" : "false"; }
};

/// One kernel under one schedule set and one instance.
struct Kernel {
  std::string name;                   // the kernel's name in the source
  std::string schedule;               // the schedule set's name; empty for the kernel's own defaults
  Span schedule_span = kNoSpan;       // its declaration
  std::vector<StaticValue> bindings;  // of the compile-time parameters, in order
  std::vector<Dim> dims;
  std::vector<Param> params;  // in source order; `work` tensors last
  std::vector<Var> vars;
  std::vector<ExprPtr> requires_at_launch;  // booleans over dims, scalars
  ExprPtr when;  // condition of the schedule set; null: always. May use kParam/kDim and kVar sms_var to contiguous_var
  ExprPtr cost;  // of the schedule set, an integer of the same names; null: none
  std::optional<CostFormula> cost_formula;  // which gives the same
  VarId sms_var = kNone;                    // `sms`, the number of multiprocessors, where `when` or `cost` uses it
  VarId room_var = kNone;                   // `room`, the multiprocessors that the set's clusters find room on, likewise
  VarId aligned_var = kNone;                // `aligned`, whether rows of all tensors begin at multiples of 16 bytes, likewise
  VarId contiguous_var = kNone;             // `contiguous`, whether all tensors do and have no gaps, likewise
  std::vector<Section> sections;
  Span span;
};

/// One entry point: the kernels, one per schedule set, among which the launcher chooses (interp::Choose).
struct Entry {
  std::string name;  // kernel name, with the instance's values appended for instances (attention_128_causal)
  std::vector<Kernel> kernels;
};

struct Program {
  std::vector<Entry> entries;
};

}  // namespace tkc::typed

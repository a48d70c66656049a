// SPDX-License-Identifier: MIT
// The syntax tree: what was written, with names unresolved and types unknown. One struct per form, tagged by a kind;
// children are unique_ptrs, every node and every name has a Span. The parser guarantees: no null child except where
// said "may be null", no depth beyond kMaxTreeDepth (so recursion over the tree is safe), only well-formed trees
// reach the checker when Diagnostics has no error.
//
// Use: `switch (expr.kind)` with `Cast<BinaryExpr>(expr)`, or `if (const auto* call = DynCast<CallExpr>(expr))`.
//
// Forms that names must decide are one node here: `p <- x` is an ArrowStmt whether p is a pipe (send) or a tensor
// (store); `x += y` is an AssignStmt whether x is a var, a part of one, or a tensor; `a[i]` is an IndexExpr whether a
// is a tensor, a block (`h[u]`), a received tile (`x[i :+ n]`) or a `per` pipe. f32(x), where(..), exp(..) are CallExprs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/source.h"

namespace tkc::ast {

/// The deepest tree the parser builds; a chain `a + b + c ..` counts one level per operator.
inline constexpr int kMaxTreeDepth = 1000;

struct Name {
  std::string text;
  Span span;
  explicit operator bool() const { return !text.empty(); }
};

// ------------------------------------------------------------------------------------------------ expressions

enum class ExprKind : uint8_t {
  kInt,      // 64, 0x1f, 1_000
  kFloat,    // 1.5, 1e-3
  kBool,     // true, false
  kName,     // x, BM, inf, log2e, block, blocks
  kUnary,    // -x, not x
  kBinary,   // + - * / % @, comparisons, and, or
  kCall,     // f(x, y): fn, builtin or conversion
  kMethod,   // x.rows(w), x.cols(u)
  kField,    // x.T, k.number, d.0, f.re
  kIndex,    // A[m, k], X[m] else -inf, x[i :+ n], p[:]
  kTuple,    // (a, b)
  kIf,       // if c { a } else { b }
  kReceive,  // <-p, <-p[w]
};

enum class UnaryOp : uint8_t { kNegate, kNot };
enum class BinaryOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kMatMul,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
};

/// As written: "+", "@", "and".
std::string_view Spelling(UnaryOp op);
std::string_view Spelling(BinaryOp op);

struct Expr {
  ExprKind kind;
  bool parenthesized = false;  // written in parentheses; span includes them
  uint16_t depth = 1;          // levels of the tree under this node
  Span span;
  virtual ~Expr() = default;

 protected:
  Expr(ExprKind k, Span s) : kind(k), span(s) {}
};
using ExprPtr = std::unique_ptr<Expr>;

struct IntExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kInt;
  IntExpr(Span s, uint64_t v) : Expr(kKind, s), value(v) {}
  uint64_t value;
};
struct FloatExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kFloat;
  FloatExpr(Span s, double v) : Expr(kKind, s), value(v) {}
  double value;
};
struct BoolExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kBool;
  BoolExpr(Span s, bool v) : Expr(kKind, s), value(v) {}
  bool value;
};
struct NameExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kName;
  NameExpr(Span s, std::string n) : Expr(kKind, s), name(std::move(n)) {}
  std::string name;
};
struct UnaryExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kUnary;
  UnaryExpr(Span s, UnaryOp o, ExprPtr x) : Expr(kKind, s), op(o), operand(std::move(x)) {}
  UnaryOp op;
  ExprPtr operand;
};
struct BinaryExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kBinary;
  BinaryExpr(Span s, BinaryOp o, Span os, ExprPtr l, ExprPtr r)
      : Expr(kKind, s), op(o), op_span(os), left(std::move(l)), right(std::move(r)) {}
  BinaryOp op;
  Span op_span;
  ExprPtr left;
  ExprPtr right;
};
struct CallExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kCall;
  CallExpr(Span s, Name c, std::vector<ExprPtr> a) : Expr(kKind, s), callee(std::move(c)), arguments(std::move(a)) {}
  Name callee;
  std::vector<ExprPtr> arguments;
};
struct MethodExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kMethod;
  MethodExpr(Span s, ExprPtr b, Name m, std::vector<ExprPtr> a)
      : Expr(kKind, s), base(std::move(b)), method(std::move(m)), arguments(std::move(a)) {}
  ExprPtr base;
  Name method;  // rows, cols
  std::vector<ExprPtr> arguments;
};
struct FieldExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kField;
  FieldExpr(Span s, ExprPtr b, Name f) : Expr(kKind, s), base(std::move(b)), field(std::move(f)) {}
  ExprPtr base;
  Name field;                        // T, start, size, end, number, last, re, im, a tuple field's name, or digits
  std::optional<uint32_t> position;  // for `.0`, `.1`
};

/// One index of `A[..]`: an expression, `:` (all of the axis), or `lo :+ n`.
struct Index {
  enum class Kind : uint8_t { kExpr, kAll, kSlice, kBlock };
  Kind kind;
  Span span;
  ExprPtr expr;   // kExpr: the index; kSlice, kBlock: lo; kAll: null
  ExprPtr count;  // kSlice, kBlock: n; otherwise null
  ExprPtr end;    // kBlock: hi; otherwise null
};
struct IndexExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kIndex;
  IndexExpr(Span s, ExprPtr b, std::vector<Index> i) : Expr(kKind, s), base(std::move(b)), indices(std::move(i)) {}
  ExprPtr base;
  std::vector<Index> indices;
  ExprPtr fill;  // `else -inf`; may be null: zero
};
struct TupleExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kTuple;
  TupleExpr(Span s, std::vector<ExprPtr> e) : Expr(kKind, s), elements(std::move(e)) {}
  std::vector<ExprPtr> elements;  // at least two
};
/// `<-p` or `<-p[w]`.
struct ReceiveExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kReceive;
  ReceiveExpr(Span s, Name p, ExprPtr i) : Expr(kKind, s), pipe(std::move(p)), index(std::move(i)) {}
  Name pipe;
  ExprPtr index;  // may be null: a plain pipe
};

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;

/// `{ stmts [result] }`. `result` is set only in a fn body and in the branches of an if-expression.
struct Block {
  Span span;  // with the braces
  std::vector<StmtPtr> stmts;
  ExprPtr result;  // may be null
};

/// The value of `if c { a } else { b }`. Both branches have a result; their stmts are `let`s.
/// In `else if`, else_branch has no stmts and an IfExpr as its result.
struct IfExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kIf;
  IfExpr(Span s, ExprPtr c, Block t, Block e)
      : Expr(kKind, s), condition(std::move(c)), then_branch(std::move(t)), else_branch(std::move(e)) {}
  ExprPtr condition;
  Block then_branch;
  Block else_branch;
};

// ------------------------------------------------------------------------------------------------ types

/// bf16 | bf16[BM, BK] | (T, T) | (a: T, b: T) | (T x 4) | index of U | pair.
struct TypeExpr {
  enum class Kind : uint8_t {
    kElement,  // name: `bf16`, `i32`, .. : a scalar, or with dims a tile or tensor
    kTuple,    // fields
    kIndexOf,  // `index of U`: an index known to lie in 0 .. U
    kNamed,    // any other word: `pair` (two values .re .im of whatever type)
  };
  struct Field {
    Name name;  // empty when not named
    std::unique_ptr<TypeExpr> type;
    ExprPtr repeat;  // `T x 4`; may be null: once
  };
  Kind kind;
  Span span;
  Name name;                  // kElement, kNamed
  std::vector<ExprPtr> dims;  // kElement
  bool has_dims = false;      // brackets were written
  std::vector<Field> fields;  // kTuple
  ExprPtr of;                 // kIndexOf
};
using TypeExprPtr = std::unique_ptr<TypeExpr>;

// ------------------------------------------------------------------------------------------------ statements

enum class StmtKind : uint8_t { kLet, kVar, kAssign, kArrow, kFor, kIf, kEach };
enum class AssignOp : uint8_t { kSet, kAdd, kSubtract, kMultiply, kDivide, kMax, kMin };
/// "=", "+=", "max=".
std::string_view Spelling(AssignOp op);

/// `x` or `(a, b)`.
struct Pattern {
  Span span;
  bool is_tuple = false;
  std::vector<Name> names;  // one when not a tuple; `_` ignores
};

/// `lo .. hi by step`, `extent by step`, `extent`, `lo .. hi`.
struct Range {
  Span span;
  ExprPtr low;   // may be null: no `..` was written
  ExprPtr high;  // the end, or the whole range expression (an extent `M`, a number, a block index `g`, `range(z)`)
  ExprPtr step;  // may be null: single elements
};

struct Stmt {
  StmtKind kind;
  Span span;
  virtual ~Stmt() = default;

 protected:
  Stmt(StmtKind k, Span s) : kind(k), span(s) {}
};

struct LetStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kLet;
  explicit LetStmt(Span s) : Stmt(kKind, s) {}
  Pattern pattern;
  TypeExprPtr type;  // may be null
  ExprPtr value;
};
struct VarStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kVar;
  explicit VarStmt(Span s) : Stmt(kKind, s) {}
  Pattern pattern;
  TypeExprPtr type;  // may be null
  ExprPtr value;     // always written
};
/// target: a name, a tuple of names, a part (`s.rows(u)`), or a tensor access (`dQ[b, h, i]`, `dG[d].T`).
struct AssignStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kAssign;
  explicit AssignStmt(Span s) : Stmt(kKind, s) {}
  AssignOp op = AssignOp::kSet;
  Span op_span;
  ExprPtr target;
  ExprPtr value;
};
/// target `<-` value: a send when target is a pipe (`p`, `p[u]`, `p.rows(w)`, `p.name`), a store when a tensor access.
struct ArrowStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kArrow;
  explicit ArrowStmt(Span s) : Stmt(kKind, s) {}
  Span arrow_span;
  ExprPtr target;
  ExprPtr value;
};
struct ForStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kFor;
  explicit ForStmt(Span s) : Stmt(kKind, s) {}
  Name index;
  Range range;
  Block body;
};
struct IfStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kIf;
  explicit IfStmt(Span s) : Stmt(kKind, s) {}
  ExprPtr condition;
  Block then_branch;
  std::optional<Block> else_branch;  // `else if`: a block with one IfStmt
};
/// `each m, n { }`: opens the tile loop over these grid axes.
struct EachStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kEach;
  explicit EachStmt(Span s) : Stmt(kKind, s) {}
  std::vector<Name> axes;
  Block body;
};

// ------------------------------------------------------------------------------------------------ declarations

/// A name in `< >`: kernel parameter, with or without a default.
struct StaticParam {
  Name name;
  TypeExprPtr type;       // `causal: bool`; may be null
  ExprPtr default_value;  // may be null: set by `instance`, `-D` or a schedule set
  Span span;
};

enum class ParamMode : uint8_t { kIn, kOut, kInOut };

/// `A: bf16[M, K]`, `C: out f32[M, N] = 0`, `scale: f32`. With dims: a tensor; without: a scalar.
struct Param {
  Name name;
  ParamMode mode = ParamMode::kIn;
  Span mode_span;  // of the word; empty when not written
  TypeExprPtr type;
  ExprPtr preset;  // `= 0`; may be null
  Span span;
  bool IsTensor() const { return type->has_dims; }
};

/// `b in B`, `m in M by BM`, `i in off[e] .. off[e + 1] by BQ`.
struct GridAxis {
  Name name;
  Range range;
  Span span;
};

/// `pipe p[slots] per worker: type`.
struct PipeDecl {
  Name name;
  ExprPtr slots;  // may be null: chosen by the compiler or a schedule set
  Name per;       // empty: an ordinary pipe
  TypeExprPtr type;
  Span span;
};

/// `worker name[count] as w in turn { body }`.
struct WorkerDecl {
  Name name;
  ExprPtr count;  // may be null: one
  Name index;     // empty: no `as w`
  bool in_turn = false;
  Span in_turn_span;
  Block body;
  Span span;
};

/// `work t: f32[splits, B] = 0`.
struct WorkDecl {
  Name name;
  TypeExprPtr type;
  ExprPtr preset;  // may be null
  Span span;
};

/// One `grid` section: `grid [persistent] [dynamic] axes { .. }`, or without braces up to the next `grid` or the end.
struct GridSection {
  bool persistent = false;
  bool dynamic = false;
  Span flags_span;  // of the flag words; empty when none
  std::vector<GridAxis> axes;
  std::vector<StmtPtr> lets;  // LetStmts in source order, in scope in all pipes and workers below
  std::vector<PipeDecl> pipes;
  std::vector<WorkerDecl> workers;
  Span head_span;  // `grid` .. last axis
  Span span;
};

struct KernelDecl {
  std::string doc;  // `///` lines before it, joined with newlines
  Name name;
  bool deterministic = false;
  bool require_native = false;
  std::vector<StaticParam> static_params;
  std::vector<Param> params;
  std::vector<ExprPtr> requires_;  // each condition of `require a, b`
  std::vector<WorkDecl> works;
  std::vector<StmtPtr> lets;       // LetStmts before the first grid
  std::vector<GridSection> grids;  // run in this order
  Span head_span;                  // `kernel name`
  Span span;
};

struct FnParam {
  Name name;
  TypeExprPtr type;  // may be null: any
  Span span;
};

/// A pure function, inlined. body.result is its value (never null).
struct FnDecl {
  std::string doc;
  Name name;
  std::vector<FnParam> params;
  TypeExprPtr return_type;  // may be null: inferred
  Block body;
  Span span;
};

/// `import "path.tk"`.
struct ImportDecl {
  std::string path;  // as written
  Span path_span;
  Span span;
};

/// `name = value` in an instance.
struct Binding {
  Name name;
  ExprPtr value;
  Span span;
};

/// `instance attention<D = 128, causal = true>`.
struct InstanceDecl {
  Name kernel;
  std::vector<Binding> bindings;
  Span span;
};

struct ScheduleItem {
  enum class Kind : uint8_t {
    kParam,       // BM = 128          name, value
    kPersistent,  // persistent
    kDynamic,     // dynamic
    kSlots,       // slots ab = 4      name, value
    kOrder,       // order = rows | columns | grouped(8)   value: NameExpr or CallExpr
    kCluster,     // cluster = 2, cluster = (2, 1)
    kSplit,       // split = 4, split = stream
    kInTurn,      // in turn compute   name
    kDepth,       // depth = 1
    kResident,    // resident = 4
    kAlternate,   // alternate compute name
    kSpread,      // spread rows = 4   name, value
  };
  Kind kind;
  Name name;      // parameter, pipe or worker
  ExprPtr value;  // may be null where the form has none
  Span span;
};

/// `schedule name of kernel [for sm_90a, sm_100a] [when condition] { items }`.
struct ScheduleDecl {
  std::string doc;
  Name name;
  Name kernel;
  std::vector<Name> targets;  // empty: any
  ExprPtr condition;          // may be null: always
  std::vector<ScheduleItem> items;
  Span span;
};

/// One parsed file. `order` keeps the source order across kinds, for printing and for reports.
struct File {
  enum class DeclKind : uint8_t { kImport, kFn, kKernel, kInstance, kSchedule };
  struct Ref {
    DeclKind kind;
    uint32_t index;  // into the vector of that kind
  };
  uint32_t file = 0;  // in SourceManager
  std::vector<ImportDecl> imports;
  std::vector<FnDecl> fns;
  std::vector<KernelDecl> kernels;
  std::vector<InstanceDecl> instances;
  std::vector<ScheduleDecl> schedules;
  std::vector<Ref> order;
};

/// A program: the file given to tkc and everything it imports. files[0] is the given file; an imported file stands
/// once, however often it is imported; imports come after their importer.
struct Program {
  std::vector<File> files;
};

// ------------------------------------------------------------------------------------------------ casts

template <typename T, typename Node>
const T& Cast(const Node& node) {
  return static_cast<const T&>(node);
}
template <typename T, typename Node>
T& Cast(Node& node) {
  return static_cast<T&>(node);
}
template <typename T, typename Node>
const T* DynCast(const Node& node) {
  return node.kind == T::kKind ? static_cast<const T*>(&node) : nullptr;
}
template <typename T, typename Node>
T* DynCast(Node& node) {
  return node.kind == T::kKind ? static_cast<T*>(&node) : nullptr;
}

}  // namespace tkc::ast

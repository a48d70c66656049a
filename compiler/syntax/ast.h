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

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/ast_stmt.h"

namespace tkc::ast {

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
    kPersistent,  // persistent, persistent = value
    kDynamic,     // dynamic
    kSlots,       // slots ab = 4      name, value
    kOrder,       // order = rows | columns | grouped(8)   value: NameExpr or CallExpr
    kCluster,     // cluster = 2, cluster = (2, 1)
    kSplit,       // split = 4, split = stream
    kInTurn,      // in turn compute = 2  name, value
    kDepth,       // depth = 1
    kResident,    // resident = 4
    kAlternate,   // alternate compute name
    kSpread,      // spread rows = 4   name, value
    kCost,        // cost = cdiv(M, 128) * K
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
  std::vector<Name> kernels;
  std::vector<Name> targets;  // empty: any
  ExprPtr condition;          // may be null: always
  std::vector<ScheduleItem> items;
  Span span;
};

inline bool IsOf(const ScheduleDecl& schedule, const KernelDecl& kernel) {
  return std::any_of(schedule.kernels.begin(), schedule.kernels.end(),
                     [&](const Name& name) { return name.text == kernel.name.text; });
}

/// The set's item of this kind, for the parameter, pipe or worker `name` where it is of one; null if it has none.
inline const ScheduleItem* FindItem(const ScheduleDecl& schedule, ScheduleItem::Kind kind, std::string_view name = {}) {
  const auto item = std::find_if(schedule.items.begin(), schedule.items.end(),
                                 [&](const ScheduleItem& each) { return each.kind == kind && each.name.text == name; });
  return item == schedule.items.end() ? nullptr : &*item;
}

/// The value of the set's `cost`, null if it has none.
inline const Expr* CostOf(const ScheduleDecl& schedule) {
  const ScheduleItem* cost = FindItem(schedule, ScheduleItem::Kind::kCost);
  return cost == nullptr ? nullptr : cost->value.get();
}

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

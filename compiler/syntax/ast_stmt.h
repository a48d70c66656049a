// SPDX-License-Identifier: MIT
// The syntax tree (ast.h): statements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/syntax/ast_expr.h"

namespace tkc::ast {

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

}  // namespace tkc::ast

// SPDX-License-Identifier: MIT
// The syntax tree (ast.h): names, expressions and types, and the blocks that an `if` expression has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

}  // namespace tkc::ast

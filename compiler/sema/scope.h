// SPDX-License-Identifier: MIT
// Names in sight, and what an expression is to the checker: a typed expression, a tuple of values, or a block index.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/sema/fold.h"
#include "compiler/sema/typed.h"

namespace tkc::sema {

/// `m` of `m in M by BM`: elements start .. start + step, of which those in lo .. hi exist.
struct BlockIndex {
  typed::ExprPtr start;
  typed::ExprPtr lo, hi;
  int64_t step = 1;
  bool shifted = false;       // m + c: may lie outside lo .. hi
  typed::ExprPtr range_hi{};  // where its range ends, if `hi` may lie behind that: no block of the range itself reaches there
};

struct Value {
  enum class Kind : uint8_t { kError, kExpr, kTuple, kBlock };
  Kind kind = Kind::kError;
  typed::ExprPtr expr;
  std::vector<Value> elements;     // kTuple
  std::vector<std::string> names;  // kTuple: of the elements, may be empty
  std::shared_ptr<const BlockIndex> block;
  std::optional<DType> width{};   // of a scalar integer by `i32(..)`: the type of a tile that is made of it
  std::optional<Span> divisor{};  // of a scalar quotient of integers
  bool is_rounded = false;        // made of a quotient of known integers that is none
  int64_t count = 0;              // an index known to lie in 0 .. count: `w of W`, `u in 4`; 0: not known
  Span span;

  bool IsError() const { return kind == Kind::kError; }
  bool IsTile() const { return kind == Kind::kExpr && expr->type.is_tile; }
  bool IsScalar() const { return kind == Kind::kExpr && !expr->type.is_tile; }
  Value Clone() const;
};

Value ExprValue(typed::ExprPtr expr, Span span);
Value TupleValue(std::vector<Value> elements, Span span);

enum class SymbolKind : uint8_t { kValue, kTensor, kPipe };

struct Symbol {
  SymbolKind kind = SymbolKind::kValue;
  Value value;                      // kValue
  int id = typed::kNone;            // kTensor: ParamId; kPipe: PipeId
  typed::VarId var = typed::kNone;  // kValue: the mutable variable that it names
  bool has_declared_type = false;   // mutable variables: assignments convert
  bool can_be_hidden = true;        // false: pipes, tensors, dimensions, scalars, compile-time parameters
  std::string_view what = "name";   // of those that can't be hidden: "pipe", "dimension"
  Span span;
};

/// Nested scopes with constant-time lookup: per name the stack of its declarations.
class Scope {
 public:
  void Open() { frames_.emplace_back(); }
  void Close();
  /// The innermost declaration, or null.
  const Symbol* Find(const std::string& name) const;
  Symbol* Find(const std::string& name);
  /// The declaration that the innermost one hides, or null.
  const Symbol* FindHidden(const std::string& name) const;
  /// True if `name` was declared in the innermost scope.
  bool IsLocal(const std::string& name) const;
  Symbol& Declare(const std::string& name, Symbol symbol);
  /// All names in sight, in alphabetical order.
  std::vector<std::string> Names() const;
  /// Names in sight that `name` may be a slip of, the nearest one; empty if none is near.
  std::string Nearest(std::string_view name) const;

 private:
  std::unordered_map<std::string, std::vector<std::pair<size_t, Symbol>>> symbols_;  // frame depth, symbol
  std::vector<std::vector<std::string>> frames_;
};

}  // namespace tkc::sema

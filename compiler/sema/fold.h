// SPDX-License-Identifier: MIT
// Builders of typed scalar expressions that compute what is known: numbers, compile-time parameters, x + 0, x * 1.
// Integers are 64 bits wide here; a result that does not fit is left uncomputed, and whoever needs the number says so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/sema/typed.h"

namespace tkc::sema {

typed::ExprPtr MakeInt(int64_t value, Span span, DType dtype = DType::kI64);
typed::ExprPtr MakeFloat(double value, Span span);
typed::ExprPtr MakeBool(bool value, Span span);
/// The arguments of a node.
std::vector<typed::ExprPtr> Args(typed::ExprPtr a, typed::ExprPtr b = nullptr, typed::ExprPtr c = nullptr);
/// A node of `kind` whose level is the highest of its arguments'.
typed::ExprPtr MakeNode(typed::ExprKind kind, typed::Op op, typed::Type type, std::vector<typed::ExprPtr> args, Span span);
/// Same, for kUnary, kBinary, kCall and kSelect of scalars, computed where the arguments are numbers.
typed::ExprPtr MakeFolded(typed::ExprKind kind, typed::Op op, typed::Type type, std::vector<typed::ExprPtr> args, Span span);
/// Integer operation on scalars of the mathematical integers.
typed::ExprPtr MakeInteger(typed::Op op, typed::ExprPtr a, typed::ExprPtr b, Span span);
/// `expr` as `dtype`, of the same shape; numbers are converted here.
typed::ExprPtr MakeConvert(typed::ExprPtr expr, DType dtype);

typed::ExprPtr Clone(const typed::Expr& expr);
typed::AxisRange Clone(const typed::AxisRange& axis);

/// The integer or boolean that `expr` is, if it is one by now.
std::optional<int64_t> NumberOf(const typed::Expr& expr);
/// Nodes of the tree, counted up to `limit`.
int CountNodes(const typed::Expr& expr, int limit);

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/sema/views.h"

#include <algorithm>
#include <utility>

#include "compiler/sema/fold.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;
using typed::Type;

ExprPtr Transpose(ExprPtr expr, Span span) {
  if (expr->kind == ExprKind::kTranspose) return std::move(expr->args[0]);
  if (expr->type.rows == 1 && expr->type.cols == 1) return expr;
  const Type type = Type::Tile(expr->type.dtype, expr->type.cols, expr->type.rows);
  return MakeNode(ExprKind::kTranspose, Op::kNone, type, Args(std::move(expr)), span);
}

ExprPtr Part(ExprPtr expr, int axis, ExprPtr offset, int64_t extent, Span span) {
  Type type = expr->type;
  (axis == 0 ? type.rows : type.cols) = extent;
  if (type == expr->type) return expr;
  if (expr->kind == ExprKind::kTranspose)
    return Transpose(Part(std::move(expr->args[0]), 1 - axis, std::move(offset), extent, span), span);
  if (expr->kind == ExprKind::kConvert) {
    expr->args[0] = Part(std::move(expr->args[0]), axis, std::move(offset), extent, span);
    expr->type = type;
    return expr;
  }
  if (expr->kind == ExprKind::kGather && axis == 0) {
    for (ExprPtr& arg : expr->args) {
      if (arg->type.is_tile) arg = Part(std::move(arg), 0, Clone(*offset), extent, span);
    }
    expr->type = type;
    return expr;
  }
  if (expr->kind == ExprKind::kRead || expr->kind == ExprKind::kGather) {
    int kept = expr->kind == ExprKind::kGather ? 1 : 0;
    for (typed::AxisRange& range : expr->axes) {
      if (range.dropped || kept++ != axis) continue;
      range.start = MakeInteger(Op::kAdd, std::move(range.start), std::move(offset), span);
      range.extent = extent;
      expr->level = std::max(expr->level, range.start->level);
      break;
    }
    expr->type = type;
    expr->span = span;
    return expr;
  }
  if (expr->kind == ExprKind::kPart) {
    ExprPtr& old = expr->args[axis == 0 ? 1 : 2];
    old = MakeInteger(Op::kAdd, std::move(old), std::move(offset), span);
    expr->type = type;
    return expr;
  }
  ExprPtr row = axis == 0 ? std::move(offset) : MakeInt(0, span), col = axis == 0 ? MakeInt(0, span) : std::move(offset);
  return MakeNode(ExprKind::kPart, Op::kNone, type, Args(std::move(expr), std::move(row), std::move(col)), span);
}

}  // namespace tkc::sema

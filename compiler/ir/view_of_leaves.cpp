// SPDX-License-Identifier: MIT
#include "compiler/ir/view_of_leaves.h"

#include <utility>
#include <vector>

#include "compiler/sema/fold.h"

namespace tkc::ir {
namespace {

using typed::Expr;
using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;

/// Which elements of a tile a view shows. Axes of one element are repeated for all others and stay as they are.
struct View {
  bool turns = false;
  int64_t rows = 0, cols = 0;  // of a part
  const Expr* row = nullptr;   // where it begins
  const Expr* col = nullptr;

  static View Of(const Expr& view) {
    if (view.kind == ExprKind::kTranspose) return {true};
    return {false, view.type.rows, view.type.cols, view.args[1].get(), view.args[2].get()};
  }
  View Turned() const { return turns ? *this : View{false, cols, rows, col, row}; }
  typed::Type Of(typed::Type type) const {
    if (turns) {
      std::swap(type.rows, type.cols);
      return type;
    }
    if (type.rows > 1) type.rows = rows;
    if (type.cols > 1) type.cols = cols;
    return type;
  }
};

ExprPtr Taken(const View& view, const Expr& x);

ExprPtr Turned(ExprPtr x) {
  typed::Type type = x->type;
  std::swap(type.rows, type.cols);
  const Span span = x->span;
  std::vector<ExprPtr> args;
  args.push_back(std::move(x));
  return sema::MakeNode(ExprKind::kTranspose, Op::kNone, type, std::move(args), span);
}

/// A row is computed by more threads than a column.
bool IsAsCheapAsMove(const Expr& x) {
  switch (x.kind) {
    case ExprKind::kUnary:
    case ExprKind::kSelect:
    case ExprKind::kConvert: return true;
    case ExprKind::kBinary: return x.op != Op::kDiv && x.op != Op::kMod;
    case ExprKind::kCall: return x.op == Op::kMin || x.op == Op::kMax || x.op == Op::kAbs;
    default: return false;
  }
}

ExprPtr TakenOfOperands(const View& view, const Expr& x) {
  ExprPtr result = std::make_unique<Expr>(x.kind, x.op, view.Of(x.type), x.level, x.span, x.id, x.axis);
  for (const ExprPtr& arg : x.args) {
    result->args.push_back(Taken(view, *arg));
    if (result->args.back() == nullptr) return nullptr;
  }
  return result;
}

/// The view of `x`; null where it is none of what can be seen so.
ExprPtr Taken(const View& view, const Expr& x) {
  if (!x.type.is_tile || (x.type.rows == 1 && x.type.cols == 1)) return sema::Clone(x);
  if (IsAsCheapAsMove(x)) return TakenOfOperands(view, x);
  switch (x.kind) {
    case ExprKind::kTranspose: {
      if (view.turns) return sema::Clone(*x.args[0]);
      ExprPtr part = Taken(view.Turned(), *x.args[0]);
      return part == nullptr ? nullptr : Turned(std::move(part));
    }
    case ExprKind::kPart: {
      const ExprPtr part = Taken(View::Of(x), *x.args[0]);
      return part == nullptr ? nullptr : Taken(view, *part);
    }
    case ExprKind::kPositions: {
      ExprPtr positions = sema::Clone(x);
      if (view.turns) return Turned(std::move(positions));
      positions->type = view.Of(x.type);
      positions->args[0] = sema::MakeInteger(Op::kAdd, std::move(positions->args[0]), sema::Clone(*view.row), x.span);
      return positions;
    }
    case ExprKind::kSplat: {
      ExprPtr filled = sema::Clone(x);
      filled->type = view.Of(x.type);
      return filled;
    }
    case ExprKind::kRead: return view.turns && x.type.cols == 1 ? Turned(sema::Clone(x)) : nullptr;  // the checker took parts
    default: return nullptr;
  }
}

}  // namespace

ExprPtr ViewOfLeaves(const Expr& view) {
  const Expr& x = *view.args[0];
  const bool is_new =
      IsAsCheapAsMove(x) || x.kind == ExprKind::kPart || (x.kind == ExprKind::kPositions && view.kind == ExprKind::kPart);
  return is_new ? Taken(View::Of(view), x) : nullptr;
}

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
#include "compiler/sema/choose_grid.h"

#include <algorithm>
#include <vector>

namespace tkc::sema {
namespace {

using typed::ExprKind;
using typed::StmtKind;

/// Rows of tiles in a band, whose part of an operand a cache holds beside that of the columns under way.
constexpr int64_t kBand = 8;

bool Multiplies(const typed::Expr& expr) {
  return typed::Contains(expr, [](const typed::Expr& node) { return node.kind == ExprKind::kMatMul; });
}

bool Multiplies(const typed::Block& block) {
  return std::ranges::any_of(block, [](const typed::StmtPtr& stmt) {
    return (stmt->expr && Multiplies(*stmt->expr)) ||
           std::ranges::any_of(stmt->values, [](const typed::ExprPtr& value) { return Multiplies(*value); }) ||
           Multiplies(stmt->body) || Multiplies(stmt->orelse);
  });
}

/// The read whose tile the value is as it lies in the tensor, also a column as a row; null: it is computed.
const typed::Expr* ReadOf(const typed::Expr& value) {
  const bool is_row = value.kind == ExprKind::kTranspose && value.type.rows == 1;
  const typed::Expr& read = is_row ? *value.args[0] : value;
  return read.kind == ExprKind::kRead ? &read : nullptr;
}

/// Whether all that is sent is read from tensors as it lies there. Collects the reads.
bool OnlyLoads(const typed::Block& block, std::vector<const typed::Expr*>& reads) {
  return std::ranges::all_of(block, [&](const typed::StmtPtr& stmt) {
    switch (stmt->kind) {
      case StmtKind::kLet: return stmt->expr && !stmt->expr->type.is_tile;
      case StmtKind::kFor:
      case StmtKind::kIf: return OnlyLoads(stmt->body, reads) && OnlyLoads(stmt->orelse, reads);
      case StmtKind::kSend:
        return std::ranges::all_of(stmt->values, [&](const typed::ExprPtr& value) {
          const typed::Expr* const read = ReadOf(*value);
          if (read != nullptr) reads.push_back(read);
          return read != nullptr;
        });
      default: return false;
    }
  });
}

bool Mentions(const typed::Expr& read, typed::VarId var) {
  return std::ranges::any_of(read.axes, [&](const typed::AxisRange& axis) {
    return typed::Contains(*axis.start, [&](const typed::Expr& node) { return node.kind == ExprKind::kVar && node.id == var; });
  });
}

/// Whether some read is of the last axis and of none before, and another of one before and not of the last.
bool SharesBothWays(const typed::Section& section, const std::vector<const typed::Expr*>& reads) {
  if (section.axes.size() < 2) return false;
  bool of_last = false, of_others = false;
  for (const typed::Expr* read : reads) {
    const bool has_last = Mentions(*read, section.axes.back().var);
    const bool has_before = Mentions(*read, section.axes[section.axes.size() - 2].var);
    of_last |= has_last && !has_before;
    of_others |= has_before && !has_last;
  }
  return of_last && of_others;
}

}  // namespace

bool Multiplies(const typed::Section& section) {
  return std::ranges::any_of(section.workers, [](const typed::Worker& worker) { return Multiplies(worker.body); });
}

void ChooseGrid(typed::Section& section, const Target& target) {
  if (section.persistent || section.dynamic || section.split > 1 || section.resident > 0) return;
  if (target.folds_copies || !Multiplies(section)) return;
  std::vector<const typed::Expr*> loads;
  for (const typed::Worker& worker : section.workers) {
    std::vector<const typed::Expr*> reads;
    if (worker.instances == 1 && OnlyLoads(worker.body, reads)) loads.insert(loads.end(), reads.begin(), reads.end());
  }
  if (loads.empty()) return;
  section.persistent = true;
  if (section.order || !SharesBothWays(section, loads)) return;
  section.order = typed::GridOrder::kGrouped;
  section.group = kBand;
}

}  // namespace tkc::sema

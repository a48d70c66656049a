// SPDX-License-Identifier: MIT
#include "compiler/sema/analyses.h"

#include <algorithm>
#include <utility>

namespace tkc::sema {
namespace {

bool Varies(const typed::Kernel& kernel, const typed::Expr& expr) {
  return typed::Contains(expr, [&](const typed::Expr& node) {
    return node.kind == typed::ExprKind::kElement ||
           (node.kind == typed::ExprKind::kVar && kernel.vars[node.id].kind == typed::VarKind::kGrid);
  });
}

/// Ragged axes tell their tiles apart by the ranges of other axes, which the grid map does not see.
bool IsRagged(const typed::Kernel& kernel, const typed::Section& section) {
  return std::any_of(section.axes.begin(), section.axes.end(),
                     [&](const typed::GridAxis& axis) { return Varies(kernel, *axis.lo) || Varies(kernel, *axis.hi); });
}

}  // namespace

std::set<SourcePlace> Analyse(typed::Kernel& kernel, bool deterministic, Diagnostics& diagnostics) {
  for (typed::Section& section : kernel.sections) {
    Steps steps;
    CheckPipes(kernel, section, diagnostics, steps);
    if (diagnostics.HasErrors()) return std::move(steps.stuck);
    CheckHolds(kernel, section, diagnostics);
    if (!IsRagged(kernel, section)) CheckGridMap(kernel, section, deterministic, diagnostics);
    CheckInOut(kernel, section, steps, diagnostics);
    // Wants the names of loops that run in step.
    CheckFillTaint(kernel, section, steps, diagnostics);
    WarnOfTurnedTiles(kernel, section, diagnostics);
  }
  if (!diagnostics.HasErrors()) WarnOfUnstored(kernel, diagnostics);
  return {};
}

}  // namespace tkc::sema

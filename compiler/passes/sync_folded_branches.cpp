// SPDX-License-Identifier: MIT
// Branches of a program that issues its own copies. Where instances take different sides, all of them come to each barrier all the
// same.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/passes/sync_folded.h"

namespace tkc::passes::folded {
namespace {

/// Of all instances of the worker.
bool IsMeeting(const Op& op) { return op.code == OpCode::kSyncBlock || op.code == OpCode::kNamedSync; }

}  // namespace

bool FoldedSync::Diverges(const Op& op) const { return ir::MentionsAny(op.scalars, differs_); }

/// All instances execute a barrier of the block, whichever side of a branch they take: it stands between two branches on the same
/// condition, one for what is before it and one for what is behind.
Region FoldedSync::SplitAtBarriers(const Op& branch) {
  Region out;
  std::vector<Region::const_iterator> next, end;
  for (const Region& side : branch.regions) {
    next.push_back(side.begin());
    end.push_back(side.end());
    ForEachOp(side, [&](const Op& op) {
      for (const Region& inner : op.regions) {
        if (Contains(inner, OpCode::kSyncBlock) || Contains(inner, OpCode::kNamedSync)) Refuse(op.span);
      }
    });
  }
  std::set<ValueId> gone;  // defined in a branch before, as are the numbers
  std::set<std::string> names;
  while (true) {
    Op piece = branch;
    bool meets = false;
    Op meeting{OpCode::kSyncBlock};
    for (size_t i = 0; i < 2; ++i) {
      const auto barrier = std::find_if(next[i], end[i], IsMeeting);
      piece.regions[i].assign(next[i], barrier);
      meets |= barrier != end[i];
      if (barrier != end[i]) meeting = *barrier;
      next[i] = barrier == end[i] ? barrier : barrier + 1;
    }
    for (const Region& side : piece.regions) {
      ForEachOp(side, [&](const Op& op) {
        const auto is_gone = [&](ValueId value) { return gone.contains(value); };
        if (std::any_of(op.operands.begin(), op.operands.end(), is_gone) || NamesScalar(op, names)) Refuse(op.span);
      });
    }
    for (const Region& side : piece.regions) {
      ForEachOp(side, [&](const Op& op) {
        gone.insert(op.results.begin(), op.results.end());
        if (op.code == OpCode::kLet || op.code == OpCode::kTest) names.insert(op.symbol);
      });
    }
    if (!piece.regions[0].empty() || !piece.regions[1].empty()) out.push_back(std::move(piece));
    if (!meets) return out;
    out.push_back(meeting);
  }
}

void FoldedSync::Branch(Op op, State& state, Region& out) {
  const bool diverges = Diverges(op);
  divergent_ += diverges;
  State after[2] = {state, state};
  for (size_t i = 0; i < op.regions.size(); ++i) op.regions[i] = Walk(op.regions[i], after[i]);
  divergent_ -= diverges;
  const auto views = state.views;
  state = Join(std::move(after[0]), after[1]);
  state.views = views;
  if (!diverges) return out.push_back(std::move(op));
  for (Op& piece : SplitAtBarriers(op)) out.push_back(std::move(piece));
}

void FoldedSync::Refuse(Span span) {
  if (!has_failed_) {
    diagnostics_
        .Error(DiagnosticKind::kNotImplemented, span,
               fmt::format("for `{}`, a slot or buffer of the whole block used by some instances only is specified, not yet "
                           "implemented",
                           target_.name))
        .Help("`assign_roles` gives instances programs of their own where they hold something beyond a meeting");
  }
  has_failed_ = true;
}

}  // namespace tkc::passes::folded

// SPDX-License-Identifier: MIT
#include "compiler/passes/advance_copies.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/make_op.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using symbolic::Scalar;

class AdvancingCopies {
 public:
  explicit AdvancingCopies(ir::Kernel& kernel) : kernel_(kernel) {}

  void Rewrite(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
      if (op.code == OpCode::kFor) Loop(op, out);
      out.push_back(std::move(op));
    }
    region = std::move(out);
  }

 private:
  /// Rows and columns by which the copy's block moves in an iteration; nothing if that is not always the same.
  std::optional<std::vector<Scalar>> StepOf(const Op& copy, const Op& loop) const;
  void Loop(Op& loop, Region& before);
  /// Nothing if the copy stays as it is.
  std::optional<Op> Advance(Op& copy, const Op& loop, const std::string& buffer, Region& before);

  ir::Kernel& kernel_;
  std::set<std::string> changing_;  // names that the loop's body gives values to
};

std::optional<std::vector<Scalar>> AdvancingCopies::StepOf(const Op& copy, const Op& loop) const {
  const auto changes = [&](const Scalar& scalar) {
    return std::any_of(changing_.begin(), changing_.end(),
                       [&](const std::string& name) { return symbolic::Mentions(scalar, name); });
  };
  const auto is_fixed = [&](const Scalar& scalar) {
    return !scalar || (!changes(scalar) && !symbolic::Mentions(scalar, loop.symbol));
  };
  const Scalar next = symbolic::Add(symbolic::Name(loop.symbol), symbolic::Int(loop.Step()));
  std::vector<Scalar> step;
  for (const ir::AxisRange& axis : copy.axes) {
    if (!is_fixed(axis.lo) || !is_fixed(axis.hi) || changes(axis.start)) return std::nullopt;
    const auto moved = symbolic::ConstantDifference(symbolic::Substitute(axis.start, loop.symbol, next), axis.start);
    if (!moved || (axis.dropped && *moved != 0)) return std::nullopt;
    if (!axis.dropped) step.push_back(symbolic::Int(*moved));
  }
  if (step.size() != 2) return std::nullopt;
  return step;
}

std::optional<Op> AdvancingCopies::Advance(Op& copy, const Op& loop, const std::string& buffer, Region& before) {
  const std::optional<std::vector<Scalar>> step = StepOf(copy, loop);
  if (!step) return std::nullopt;
  ir::Type type = kernel_.TypeOf(copy.operands[0]);
  type.space = ir::Space::kPieces;
  Op pieces{OpCode::kPieces, {kernel_.AddValue(copy.symbol + "_pieces", type, true)}};
  pieces.symbol = copy.symbol;
  pieces.axes = copy.axes;
  pieces.SetBufferOfPieces(buffer);
  pieces.span = copy.span;
  Region first{pieces};
  Substitute(first, loop.symbol, loop.scalars[0]);
  before.push_back(std::move(first[0]));
  copy.operands.push_back(pieces.results[0]);
  Op move{OpCode::kMovePieces, {}, {pieces.results[0]}, *step};
  move.span = copy.span;
  return move;
}

void AdvancingCopies::Loop(Op& loop, Region& before) {
  changing_.clear();
  ForEachOp(loop.regions[0],
            [&](const Op& op) { ir::ForEachScalarDefined(op, [&](const std::string& name) { changing_.insert(name); }); });
  const auto buffers = BuffersOfViews(kernel_, loop.regions[0]);
  bool explained = false;
  for (Op& send : loop.regions[0]) {
    if (send.code != OpCode::kSend || send.regions.empty()) continue;
    Region out;
    for (Op& op : send.regions[0]) {
      const bool is_candidate = op.code == OpCode::kCopyAsync && op.Is(ir::kInPieces) && op.operands.size() == 1;
      if (is_candidate && !explained && StepOf(op, loop)) {
        before.push_back(Explain("Where each thread's pieces of the next copies lie, which moves on with the loop.", op.span));
        explained = true;
      }
      std::optional<Op> move = is_candidate ? Advance(op, loop, buffers.at(op.operands[0]), before) : std::nullopt;
      out.push_back(std::move(op));
      if (move) out.push_back(std::move(*move));
    }
    send.regions[0] = std::move(out);
  }
}

}  // namespace

Result<void> AdvanceCopies(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.advances_copies) return {};
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) AdvancingCopies(kernel).Rewrite(worker.body);
  }
  return {};
}

}  // namespace tkc::passes

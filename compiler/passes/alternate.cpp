// SPDX-License-Identifier: MIT
#include "compiler/passes/alternate.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/meetings.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// What an operation of an iteration belongs to.
enum class Part : uint8_t { kLoads, kProducts, kNeither };

class Alternating {
 public:
  explicit Alternating(ir::Kernel& kernel) : kernel_(kernel) {}

  /// Cuts the loops in two that can be.
  void Rewrite(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
      if (op.code != OpCode::kFor || !Receives(op.regions[0]) || !CanCut(op)) {
        out.push_back(std::move(op));
        continue;
      }
      const Span loop = op.span, receive = FirstReceive(op.regions[0]);
      Cut(op.regions[0]);
      out.push_back(MakeOp(OpCode::kAlternate, "", "", ir::kApart, receive));
      out.push_back(std::move(op));
      out.push_back(MakeOp(OpCode::kAlternate, "", "", ir::kTogether, loop));
      ++cut_;
    }
    region = std::move(out);
  }

  int cut() const { return cut_; }
  /// Why the first loop that could not be cut could not.
  Span span() const { return span_; }
  const std::string& reason() const { return reason_; }

 private:
  static bool Receives(const Region& body) {
    return std::any_of(body.begin(), body.end(), [](const Op& op) { return op.code == OpCode::kReceive; });
  }
  static Span FirstReceive(const Region& body) {
    return std::find_if(body.begin(), body.end(), [](const Op& op) { return op.code == OpCode::kReceive; })->span;
  }
  Part PartOf(const Op& op) const;
  bool CanCut(const Op& loop);
  void Cut(Region& body) const;
  bool Fail(Span span, std::string reason) {
    if (reason_.empty()) span_ = span, reason_ = std::move(reason);
    return false;
  }

  ir::Kernel& kernel_;
  int cut_ = 0;
  Span span_ = kNoSpan;
  std::string reason_;
};

Part Alternating::PartOf(const Op& op) const {
  if (ir::ComputesElements(op.code) || ir::Assigns(op.code)) return Part::kProducts;
  switch (op.code) {
    case OpCode::kReceive:
    case OpCode::kSend:
    case OpCode::kView:
    case OpCode::kLoadLeft:
    case OpCode::kLoadRight:
    case OpCode::kLoadShared:
    case OpCode::kLet:
    case OpCode::kComment:
    case OpCode::kMovePieces: return Part::kLoads;
    case OpCode::kPart:
    case OpCode::kTranspose: return kernel_.TypeOf(op.results[0]).space == ir::Space::kShared ? Part::kLoads : Part::kProducts;
    case OpCode::kMultiply:
    case OpCode::kVar:
    case OpCode::kAligned: return Part::kProducts;
    default: return Part::kNeither;
  }
}

bool Alternating::CanCut(const Op& loop) {
  const Region& body = loop.regions[0];
  std::set<ValueId> of_products;
  std::set<std::string> received, refilled;
  bool has_product = false, has_begun = false;
  for (const Op& op : body) {
    const Part part = PartOf(op);
    if (part == Part::kNeither || (!op.regions.empty() && op.code != OpCode::kSend))
      return Fail(op.span, "neither loads operands nor multiplies");
    if (op.code == OpCode::kReceive) {
      received.insert(op.symbol);
      if (has_begun) return Fail(op.span, "received behind the first operands");
    }
    has_begun |= ir::LoadsFragments(op.code) || op.code == OpCode::kMultiply;
    has_product |= op.code == OpCode::kMultiply;
    if (op.code == OpCode::kSend && ir::PlaceOfSlot(op.Slot()).where == ir::SlotPlace::Where::kPrevious) refilled.insert(op.symbol);
    if (part == Part::kProducts) {
      of_products.insert(op.results.begin(), op.results.end());
      for (const ValueId value : op.operands) {
        if (Writes(op, value)) of_products.insert(value);
      }
    } else if (std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId value) { return of_products.contains(value); })) {
      return Fail(op.span, "needs what is computed before in the same iteration");
    }
  }
  if (!has_product) return Fail(loop.span, "there is no product in this loop");
  if (received != refilled) return Fail(loop.span, "its slots are not filled ahead: two are needed, and a worker that loads");
  return true;
}

void Alternating::Cut(Region& body) const {
  const Span span = std::find_if(body.begin(), body.end(), [](const Op& op) { return op.code == OpCode::kMultiply; })->span;
  Region products;
  Region out;
  for (Op& op : body) (PartOf(op) == Part::kLoads ? out : products).push_back(std::move(op));
  out.push_back(MakeOp(OpCode::kAlternate, "", "", ir::kProducts, span));
  Append(out, std::move(products));
  out.push_back(MakeOp(OpCode::kAlternate, "", "", ir::kLoads, span));
  body = std::move(out);
}

}  // namespace

Result<void> Alternate(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.alternates) continue;
    const auto fail = [&](const std::string& why) {
      return diagnostics.Error(DiagnosticKind::kBadSchedule, worker.alternates_span,
                               fmt::format("`{}` can't alternate: {}", worker.name, why));
    };
    if (!target.alternates)
      return fail(fmt::format("warps of `{}` meet at a barrier only where all come to the same one", target.name))
          .Help("write `for gfx942, gfx950` in the head of the schedule set, or leave the item out");
    if (!IsWholeBlock(kernel, worker))
      return fail("another worker computes in the same block")
          .Help("let one worker compute, whose two instances have a part of the tile each");
    Alternating alternating(kernel);
    alternating.Rewrite(worker.body);
    if (alternating.cut() > 0) continue;
    if (alternating.reason().empty())
      return fail("no loop of it receives").Help("receive the operands from a pipe that another worker fills");
    return fail("no loop of it loads and then multiplies")
        .Note(alternating.span(), alternating.reason())
        .Help(
            "receive the operands at the start of an iteration, from a pipe of two or more slots that a worker which only loads "
            "fills");
  }
  return {};
}

}  // namespace tkc::passes

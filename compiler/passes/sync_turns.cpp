// SPDX-License-Identifier: MIT
// How instances that take turns hand them over, and what they pass over in tiles of others.
#include <algorithm>
#include <set>

#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

constexpr int64_t kTurnBarrier = 8;  // first of the named barriers for turns; the warpgroups' own are 1 and on

/// How many slots of the pipe are sent in the region at most; kMany: as many as a loop says.
int64_t MostSent(const Region& region, const std::string& pipe) {
  constexpr int64_t kMany = 1 << 20;
  int64_t most = 0;
  for (const Op& op : region) {
    most += op.code == OpCode::kSend && op.symbol == pipe;
    for (const Region& inner : op.regions) most += MostSent(inner, pipe) * (op.code == OpCode::kFor ? kMany : 1);
  }
  return std::min(most, kMany);
}

/// Receives, and sends, unless each instance finds slots of its own until its next turn.
std::set<std::string> PipesInTurn(const ir::Kernel& kernel, const ir::Worker& worker, const Region& own) {
  std::set<std::string> pipes;
  ForEachOp(own, [&](const Op& op) {
    if (op.code == OpCode::kReceive) pipes.insert(op.symbol);
    if (op.code == OpCode::kSend && MostSent(own, op.symbol) * worker.instances > FindPipe(kernel, op.symbol).slots)
      pipes.insert(op.symbol);
  });
  return pipes;
}

bool HasTraffic(const Op& op, const std::set<std::string>& pipes) {
  return ir::Holds(op, [&](const Op& each) {
    return (each.code == OpCode::kReceive || each.code == OpCode::kSend) && pipes.contains(each.symbol);
  });
}

/// Behind the last traffic, in each branch where that stands in branches.
void GiveOn(Region& region, const std::set<std::string>& pipes, const Region& handover) {
  const auto last = std::find_if(region.rbegin(), region.rend(), [&](const Op& op) { return HasTraffic(op, pipes); });
  if (last == region.rend() || last->code != OpCode::kIf) {
    region.insert(last.base(), handover.begin(), handover.end());
    return;
  }
  last->regions.resize(2);
  for (Region& branch : last->regions) GiveOn(branch, pipes, handover);
}

/// What an instance sends to itself has two rings, which go on together.
void PassSends(const RingsOfSends& rings, Region& region) {
  for (size_t i = 0; i < region.size(); ++i) {
    for (Region& inner : region[i].regions) PassSends(rings, inner);
    const auto ring = rings.find(region[i].symbol);
    if (region[i].code != OpCode::kAdvance || ring == rings.end()) continue;
    Op sent = region[i];
    sent.symbol = ring->second;
    region.insert(region.begin() + static_cast<std::ptrdiff_t>(++i), std::move(sent));
  }
}

}  // namespace

void TakeTurns(const ir::Kernel& kernel, const ir::Worker& worker, const RingsOfSends& rings, Op& tiles, Region& out) {
  const int64_t both = 2 * ir::kWarpsOfInstance * 32;
  const auto meet = [&](OpCode code, symbolic::Scalar instance) {
    Op op = MakeOp(code, "", "", both, worker.span);
    op.scalars = {symbolic::Add(symbolic::Int(kTurnBarrier), std::move(instance))};
    return op;
  };
  const symbolic::Scalar instance = symbolic::Name(worker.instance_name);
  const symbolic::Scalar next = symbolic::Make(symbolic::Kind::kMod, DType::kI64,
                                               {symbolic::Add(instance, symbolic::Int(1)), symbolic::Int(worker.instances)});
  Region &body = OwnTurn(tiles), &others = OthersTurns(tiles);
  PassSends(rings, others);
  if (!others.empty())
    others.insert(others.begin(), Explain("Another instance has this tile: its slots are passed over.", worker.span));
  const std::set<std::string> pipes = PipesInTurn(kernel, worker, body);
  const auto first = std::find_if(body.begin(), body.end(), [&](const Op& op) { return HasTraffic(op, pipes); });
  if (first == body.end()) return;
  const Region wait = {Explain("Wait until the previous instance hands over the turn.", worker.span),
                       meet(OpCode::kNamedSync, instance)};
  body.insert(first, wait.begin(), wait.end());
  GiveOn(body, pipes, {Explain("Hand over the turn.", worker.span), meet(OpCode::kNamedArrive, next)});
  // The first turn needs no one before it: the last instance gives it away.
  out.push_back(If(symbolic::Kind::kEq, instance, symbolic::Int(worker.instances - 1),
                   {meet(OpCode::kNamedArrive, symbolic::Int(0))}, worker.span));
}

}  // namespace tkc::passes

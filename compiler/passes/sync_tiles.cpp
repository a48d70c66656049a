// SPDX-License-Identifier: MIT
// Tiles drawn from a counter. One thread draws the next tile where the present one begins, so that the answer is there when it
// ends, and then hands the number to all roles through a slot with two barriers, as a pipe's: it waits until the slot is empty,
// puts the number there and arrives at the full one; every role, the drawing one too, waits there, takes the number and arrives at
// the empty one. A number behind the last tile's ends the loop of each.
//
// The blocks of a cluster have one number. The first block draws and sends it into the slots of all, whose full barriers count its
// bytes; all roles of all blocks give the slot back at the first block's empty barrier.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::RoleKind;

/// Who copies is the first to come to the end of a tile. Else it is the first instance of the first role that computes.
size_t Drawing(const ir::Kernel& kernel) {
  size_t drawing = 0;
  const auto rank = [](RoleKind kind) { return kind == RoleKind::kCopyThread ? 0 : kind == RoleKind::kCopyWarp ? 1 : 2; };
  for (size_t i = 1; i < kernel.workers.size(); ++i) {
    if (rank(kernel.workers[i].kind) < rank(kernel.workers[drawing].kind)) drawing = i;
  }
  return drawing;
}

class TileHanding {
 public:
  TileHanding(ir::Kernel& kernel, const ir::Worker& worker)
      : kernel_(kernel),
        worker_(worker),
        span_(worker.span),
        number_(kernel.next_tile),
        is_thread_(worker.IsOneThread()),
        computes_(worker.Computes()),
        is_cluster_(kernel.cluster > 1) {}

  Op Draw(const std::string& name) const {
    Op draw = MakeOp(OpCode::kDrawTile, name, kernel_.drawn, ir::kDrawnByWarpgroup, span_);
    if (!computes_) draw.Set(is_thread_ ? ir::kDrawnByThread : ir::kDrawnByWarp);
    draw.scalars = {symbolic::Call(is_cluster_ ? "cluster::count" : "block::count", DType::kI32, {})};
    ir::Scalar draws;
    if (HasOtherInstances()) draws = IsFirst(symbolic::Name(worker_.instance_name));
    if (is_cluster_) draws = draws ? symbolic::Make(symbolic::Kind::kAnd, DType::kBool, {draws, IsFirst(Rank())}) : IsFirst(Rank());
    if (draws) draw.scalars.push_back(std::move(draws));
    return draw;
  }

  void Put(const std::string& name, Region& out) const {
    Op put = is_cluster_ ? MakeOp(OpCode::kPutTileCluster, FullBarrier(number_), number_, kernel_.cluster, span_)
                         : MakeOp(OpCode::kPutTile, "", "", 0, span_);
    put.scalars = {symbolic::Name(name)};
    Region puts = {View(put), std::move(put)};
    // A warp waits as a whole, and what its elected thread has put there comes before its arrival.
    const bool is_warp = !computes_ && !is_thread_;
    if (is_warp) puts = Elected(std::move(puts), ir::kOfWarp);
    puts.insert(puts.begin(), MakeOp(OpCode::kWaitEmpty, EmptyBarrier(number_), number_, 0, span_));
    if (is_cluster_) {
      puts = {If(symbolic::Kind::kEq, Rank(), symbolic::Int(0), std::move(puts), span_)};
      const Op expect = MakeOp(OpCode::kExpect, FullBarrier(number_), number_, Bytes(DType::kI32), span_);
      puts.push_back(is_warp ? Elected({expect}, ir::kOfWarp)[0] : expect);
    } else {
      puts.push_back(MakeOp(OpCode::kArrive, FullBarrier(number_), number_, is_warp ? ir::kPerWarp : ir::kThisThread, span_));
    }
    if (computes_) puts = Elected(std::move(puts), ir::kOfWarpgroup);
    if (HasOtherInstances())
      puts = {If(symbolic::Kind::kEq, symbolic::Name(worker_.instance_name), symbolic::Int(0), std::move(puts), span_)};
    for (Op& op : puts) out.push_back(std::move(op));
  }

  void Take(const std::string& tile, Region& out) const {
    const int64_t who = is_thread_ ? ir::kThisThread : ir::kPerWarp;
    Op take = MakeOp(OpCode::kTakeTile, tile, "", who, span_);
    out.push_back(MakeOp(OpCode::kWaitFull, FullBarrier(number_), number_, 0, span_));
    out.push_back(View(take));
    out.push_back(std::move(take));
    Op gives_back = MakeOp(OpCode::kArrive, EmptyBarrier(number_), number_, who, span_);
    if (is_cluster_) {
      out.push_back(MakeOp(OpCode::kFenceAsync, "", "", 0, span_));  // what another block stores there comes behind the load
      gives_back.scalars = {symbolic::Int(0)};
    }
    out.push_back(std::move(gives_back));
    out.push_back(MakeOp(OpCode::kAdvance, number_, "", 0, span_));
  }

 private:
  bool HasOtherInstances() const { return computes_ && worker_.instances > 1; }
  static ir::Scalar Rank() { return symbolic::Call("cluster::rank", DType::kI32, {}); }
  static ir::Scalar IsFirst(ir::Scalar number) {
    return symbolic::Make(symbolic::Kind::kEq, DType::kBool, {std::move(number), symbolic::Int(0)});
  }
  Region Elected(Region region, ir::Threads of) const {
    Op elected = MakeOp(OpCode::kIfElected, "", "", of, span_);
    elected.regions = {std::move(region)};
    return {std::move(elected)};
  }
  /// The present slot, which `user` is given.
  Op View(Op& user) const {
    Op view = MakeOp(OpCode::kView, FieldBuffer(FindPipe(kernel_, number_), 0), number_, 0, span_);
    view.results = {kernel_.AddValue(view.symbol, ir::Type{DType::kI32, 1, 1, ir::Space::kShared, false})};
    user.operands = view.results;
    return view;
  }

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const Span span_;
  const std::string& number_;  // the pipe
  const bool is_thread_, computes_, is_cluster_;
};

}  // namespace

void HandOnTiles(ir::Kernel& kernel) {
  if (kernel.next_tile.empty()) return;
  const size_t drawing = Drawing(kernel);
  int64_t takers = 0;
  for (size_t i = 0; i < kernel.workers.size(); ++i) {
    ir::Worker& worker = kernel.workers[i];
    const auto loop =
        std::find_if(worker.body.begin(), worker.body.end(), [](const Op& op) { return op.code == OpCode::kForTiles; });
    Ensure(loop != worker.body.end(), "a role that does not walk over the tiles that are drawn", worker.span);
    takers += worker.Warps();
    const ir::TakenNames used = kernel.UsedNames();
    if (i == drawing && worker.instances > 1 && worker.instance_name.empty()) worker.instance_name = used.Free("w");
    const TileHanding handing(kernel, worker);
    Region& body = loop->regions[0];
    if (i == drawing) {
      const std::string name = used.Free("drawn");
      body.insert(body.begin(), handing.Draw(name));
      body.push_back(Explain(
          fmt::format("The next tile, drawn when this one began, goes to all roles{}.", kernel.cluster > 1 ? " of all blocks" : ""),
          worker.span));
      handing.Put(name, body);
    }
    handing.Take(loop->symbol, body);
  }
  AddSlotBarriers(kernel, FindPipe(kernel, kernel.next_tile), 1, takers * kernel.cluster);
}

}  // namespace tkc::passes

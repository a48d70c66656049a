// SPDX-License-Identifier: MIT
// Shared memory and what moves through it: accesses, copies by threads and by the engine, barriers, pipes.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_op.h"
#include "compiler/codegen/mangle.h"
#include "compiler/ir/op_traits.h"
#include "compiler/support/internal_error.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

using ir::Op;
using ir::OpCode;

using Where = ir::SlotPlace::Where;

namespace {

std::string AheadOf(const ir::SlotPlace& place) {
  return place.ahead_name.empty() ? fmt::format("{}", place.ahead) : Mangle(place.ahead_name);
}

}  // namespace

/// `array[slot]`: the element that the operation's slot (or the scalar at `scalar`) names; just `array` where there is only one.
std::string OpEmitter::Element(const std::string& array, int64_t count, const Op& op, size_t scalar) const {
  if (count <= 1) return array;
  if (op.Slot().empty()) {
    Ensure(op.scalars.size() > scalar, "an element of an array without an index", op.span);
    return fmt::format("{}[{}]", array, scalars_.Text(op.scalars[scalar]));
  }
  const ir::SlotPlace place = ir::PlaceOfSlot(op.Slot());
  if (!uses_.rings.contains(place.ring)) return fmt::format("{}[{}]", array, Mangle(op.Slot()));
  const std::string which = place.where == Where::kPresent    ? "slot"
                            : place.where == Where::kPrevious ? "previous()"
                                                              : fmt::format("ahead({})", AheadOf(place));
  return fmt::format("{}[{}.{}]", array, Mangle(place.ring), which);
}

namespace {

/// Rows of a tile that one box of load_rows has.
int64_t BoxRows(const ir::Kernel& kernel, const std::string& map) {
  const auto is_rows = [&](const ir::TensorMap& m) { return m.name == ir::RowsMap(map); };
  const auto found = std::find_if(kernel.maps.begin(), kernel.maps.end(), is_rows);
  return found->box[found->box.size() - 2];
}

}  // namespace

std::string OpEmitter::Barrier(const Op& op, size_t scalar) const {
  const auto found = barriers_.find(op.symbol);
  Ensure(found != barriers_.end(), "no barrier of this name: " + op.symbol, op.span);
  const ir::Barrier& barrier = kernel_.barriers[found->second];
  const std::string set = barrier.instances > 1 ? fmt::format("[{}]", scalars_.NameOf(ir::PlaceOfSlot(op.Slot()).instance)) : "";
  return Element("shared." + Mangle(op.symbol) + set, barrier.count, op, scalar);
}

/// The buffer, or the set of one worker instance: of this one, if `instance` does not say whose.
std::string OpEmitter::Buffer(const std::string& name, const std::string& instance) const {
  const auto found = buffers_.find(name);
  Ensure(found != buffers_.end(), "no buffer of this name: " + name);
  const ir::Buffer& buffer = kernel_.buffers[found->second];
  const bool is_set = buffer.instances > 1;
  return "shared." + Mangle(name) + (PlaceInUnion(kernel_, buffer) > 0 ? ".tile" : "") +
         (is_set ? fmt::format("[{}]", instance.empty() ? instance_ : scalars_.NameOf(instance)) : "");
}

/// The barrier in shared memory of this instance's warps.
std::string OpEmitter::WarpsMeet() const {
  const std::string name = "shared." + Mangle(role_->warps_meet);
  return role_->instances > 1 ? fmt::format("{}[{}]", name, instance_) : name;
}

/// The role's: how many, and from which of the block on.
std::string OpEmitter::CopyingThreads() const {
  const int64_t lanes = TargetOf(kernel_).lanes, threads = role_->instances * ir::kWarpsOfInstance * lanes;
  return role_->first_warp == 0 ? fmt::format("{}", threads) : fmt::format("{}, {}", threads, role_->first_warp * lanes);
}

bool OpEmitter::EmitShared(const Op& op) {
  switch (op.code) {
    case OpCode::kStoreShared:
      out_.Line(fmt::format("tk::warpgroup::store_shared({}, {});", Argument(op.operands[0]), Argument(op.operands[1])));
      return true;
    case OpCode::kStoreCluster:
      out_.Line(fmt::format("tk::warpgroup::store_cluster<{}>({}, {}, {});", op.Blocks(), Argument(op.operands[0]),
                            Argument(op.operands[1]), Barrier(op)));
      return true;
    case OpCode::kCopyToGlobal:
      out_.Line(fmt::format("tk::warpgroup::copy_shared_to_global({}, {});", Block(op), Argument(op.operands[0])));
      return true;
    case OpCode::kStoreAsync:
      out_.Line(fmt::format("tk::store_async({}, {}{});", Mangle(op.symbol), Argument(op.operands[0]),
                            Coordinates(op, op.scalars.size())));
      return true;
    case OpCode::kCommitStores: out_.Line("tk::commit_stores();"); return true;
    case OpCode::kWaitStores:
      out_.Line(fmt::format("tk::wait_stores{}<{}>();", op.WaitsUntilDone() ? "" : "_read", op.Unfinished()));
      return true;
    case OpCode::kFenceAsync:
      quoter_.LineWithRemark("tk::fence_async_proxy();",
                             "orders what threads read and wrote before what the copy engine or matrix unit does next");
      return true;
    default: return false;
  }
}

/// The block of the tensor as it lies: how a copy turns it is not said of the block.
std::string OpEmitter::PlainBlock(const Op& op) const {
  Op block = op;
  if (block.IsTurned()) block.SetTurned(false);
  return Block(block);
}

/// Copies into shared memory by the block's threads.
bool OpEmitter::EmitCopy(const Op& op) {
  switch (op.code) {
    case OpCode::kCopyToShared: CopyToShared(op); return true;
    case OpCode::kPieces: {
      const bool is_array = kernel_.buffers[buffers_.find(op.BufferOfPieces())->second].count > 1;
      out_.Line(fmt::format("auto {} = tk::block::pieces<{}>({}{}, {});", Name(op.results[0]), CopyingThreads(),
                            Buffer(op.BufferOfPieces()), is_array ? "[0]" : "", PlainBlock(op)));
      return true;
    }
    case OpCode::kMovePieces:
      out_.Line(
          fmt::format("{}.move({}, {});", Argument(op.operands[0]), scalars_.Text(op.scalars[0]), scalars_.Text(op.scalars[1])));
      return true;
    case OpCode::kCopyAsync: {
      const bool has_pieces = op.operands.size() == 2;
      out_.Line(fmt::format("tk::block::copy_{}<{}>({}, {});", op.Is(ir::kInPieces) || has_pieces ? "pieces" : "async",
                            CopyingThreads(), Argument(op.operands[0]), has_pieces ? Argument(op.operands[1]) : Block(op)));
      return true;
    }
    case OpCode::kCommitCopies: out_.Line("tk::commit_copies();"); return true;
    case OpCode::kWaitCopies: out_.Line(fmt::format("tk::wait_copies<{}>();", op.Unfinished())); return true;
    default: return false;
  }
}

/// Of a block of a tensor, or of what was fetched of it.
void OpEmitter::CopyToShared(const Op& op) {
  if (op.operands.size() == 2)
    return out_.Line(
        fmt::format("tk::block::put<{}>({}, {});", kernel_.threads, Argument(op.operands[0]), Argument(op.operands[1])));
  const std::string fill = op.scalars.empty() || !op.scalars[0] ? "" : ", " + scalars_.Text(op.scalars[0]);
  const std::string scope = op.Is(ir::kByWarpgroup) ? "warpgroup" : op.Is(ir::kByWarp) ? "warp" : "block";
  const std::string threads = op.Is(ir::kByBlock) ? fmt::format("<{}>", CopyingThreads()) : "";
  out_.Line(fmt::format("tk::{}::copy_global_to_shared{}({}, {}{});", scope, threads, Argument(op.operands[0]), Block(op), fill));
}

bool OpEmitter::EmitMeeting(const Op& op) {
  switch (op.code) {
    case OpCode::kSyncBlock: out_.Line("tk::block::sync();"); return true;
    case OpCode::kPriority: out_.Line(fmt::format("tk::warp::set_priority<{}>();", op.Priority())); return true;
    case OpCode::kSyncRole:
      if (op.Is(ir::kOfWarp)) {
        out_.Line("tk::warp::sync();");
      } else if (!role_->warps_meet.empty()) {
        out_.Line(fmt::format("tk::warp::meet({});", WarpsMeet()));
      } else {
        const std::string id = op.scalars.empty() ? "" : scalars_.Text(symbolic::Add(symbolic::Int(1), op.scalars[0]));
        out_.Line(fmt::format("tk::warpgroup::sync({});", id));
      }
      return true;
    case OpCode::kNamedSync:
      if (!role_->all_meet.empty()) {
        out_.Line(fmt::format("tk::warp::meet(shared.{});", Mangle(role_->all_meet)));
        return true;
      }
      [[fallthrough]];
    case OpCode::kNamedArrive:
      out_.Line(fmt::format("tk::named_barrier_{}({}, {});", op.code == OpCode::kNamedSync ? "sync" : "arrive",
                            scalars_.Text(op.scalars[0]), op.MeetingThreads()));
      return true;
    case OpCode::kWaitPrevious:
      out_.Line(fmt::format("{}tk::grid::wait_previous();  // programmatic dependent launch: waits for the previous kernel",
                            op.scalars.empty() ? "" : fmt::format("if ({}) ", scalars_.Text(op.scalars[0]))));
      return true;
    case OpCode::kClusterWait: out_.Line("tk::cluster::wait();"); return true;
    case OpCode::kClusterSync: out_.Line("tk::cluster::sync();"); return true;
    default: return false;
  }
}

/// Full slots of the first lap have parity 0; a slot is empty when the phase of the lap before is over.
void OpEmitter::Wait(const Op& op) {
  const ir::SlotPlace place = ir::PlaceOfSlot(op.Slot());
  Ensure(uses_.rings.contains(place.ring), "a wait needs a ring's phase", op.span);
  const bool is_empty = op.code == OpCode::kWaitEmpty;
  std::string parity = Mangle(place.ring);
  switch (place.where) {
    case Where::kPresent: parity += ".phase"; break;
    case Where::kPrevious: parity += ".phase_of_previous()"; break;
    default: parity += fmt::format(".phase_ahead({})", AheadOf(place));
  }
  if (is_empty) parity += " ^ 1";
  if (still_rings_.contains(place.ring)) parity = is_empty ? "/*parity=*/1" : "/*parity=*/0";
  const std::string wait = fmt::format("tk::wait({}, {});", Barrier(op), parity);
  if (!is_empty) return out_.Line(wait);
  quoter_.LineWithRemark(wait, "emptied in the lap before; in the first lap all are empty");
}

void OpEmitter::Arrive(const Op& op) {
  if (op.Is(ir::kInAllBlocks)) return out_.Line(fmt::format("tk::warp::arrive_cluster({}, {});", Barrier(op), kernel_.cluster));
  const std::string_view scope = op.Is(ir::kPerWarp) ? "warp::" : "";
  if (op.scalars.empty()) return out_.Line(fmt::format("tk::{}arrive({});", scope, Barrier(op)));
  out_.Line(fmt::format("tk::{}arrive_remote({}, {});", scope, Barrier(op), scalars_.Text(op.scalars[0])));
}

bool OpEmitter::EmitPipe(const Op& op) {
  switch (op.code) {
    case OpCode::kRing:
      quoter_.LineWithRemark(fmt::format("tk::ring<{}> {};", op.Slots(), Mangle(op.symbol)),
                             waited_rings_.contains(op.symbol) ? "the slot at hand, and the parity of this lap: phase" : "");
      return true;
    case OpCode::kAdvance:
      if (op.scalars.empty())
        out_.Line(fmt::format("{}.advance();", Mangle(op.symbol)));
      else
        out_.Line(fmt::format("{}.skip({});", Mangle(op.symbol), Coordinate(op.scalars[0])));
      return true;
    case OpCode::kWaitFull:
    case OpCode::kWaitEmpty: Wait(op); return true;
    case OpCode::kDrawTile: {
      constexpr std::string_view kScopes[] = {"", "warp::", "warpgroup::"};
      const std::string condition = op.scalars.size() < 2 ? "" : ", " + scalars_.Text(op.scalars[1]);
      out_.Line(fmt::format("const int {} = tk::{}draw_tile({}, {}{});", Mangle(op.symbol), kScopes[op.As<ir::Drawer>()],
                            Mangle(op.Counter()), scalars_.Text(op.scalars[0]), condition));
      return true;
    }
    case OpCode::kPutTileCluster:
      out_.Line(fmt::format("tk::put_tile_cluster<{}>({}, {}, {});", op.Blocks(), Argument(op.operands[0]),
                            scalars_.Text(op.scalars[0]), Barrier(op)));
      return true;
    case OpCode::kPutTile:
      out_.Line(fmt::format("tk::put_tile({}, {});", Argument(op.operands[0]), scalars_.Text(op.scalars[0])));
      return true;
    case OpCode::kTakeTile:
      out_.Line(fmt::format("{} = tk::{}take_tile({});", Mangle(op.symbol), op.Is(ir::kPerWarp) ? "warp::" : "",
                            Argument(op.operands[0])));
      return true;
    case OpCode::kExpect: out_.Line(fmt::format("tk::expect_bytes({}, {});", Barrier(op), op.Bytes())); return true;
    case OpCode::kArrive: Arrive(op); return true;
    case OpCode::kLoadAsync:
    case OpCode::kLoadRows:
    case OpCode::kLoadMulticast:
    case OpCode::kLoadRowsMulticast: {
      const bool is_multicast = ir::IsMulticast(op.code), by_rows = ir::LoadsRows(op.code);
      const size_t coordinates = op.scalars.size() - is_multicast - by_rows;
      Op full{OpCode::kArrive};  // the barrier is named by its number
      full.symbol = kernel_.barriers[static_cast<size_t>(op.Barrier())].name;
      full.SetSlot(op.Slot());
      full.span = op.span;
      std::string last;  // the rows that exist, the blocks
      for (size_t i = coordinates; i < op.scalars.size(); ++i) last += ", " + scalars_.Text(op.scalars[i]);
      const std::string rows = by_rows ? fmt::format("<{}>", BoxRows(kernel_, op.symbol)) : "";
      const std::string maps = Mangle(op.symbol) + (by_rows ? ", " + Mangle(ir::RowsMap(op.symbol)) : "");
      out_.Line(fmt::format("tk::{}{}({}, {}, {}{}{});", ir::OpText(op.code), rows, Argument(op.operands[0]), maps, Barrier(full),
                            last, Coordinates(op, coordinates)));
      return true;
    }
    default: return false;
  }
}

}  // namespace tkc::codegen

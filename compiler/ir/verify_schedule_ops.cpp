// SPDX-License-Identifier: MIT
// Operations of the schedule level: views, barriers, the copy engine, named barriers.

#include <algorithm>

#include <fmt/ranges.h>

#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/verify_impl.h"

namespace tkc::ir {

void Verifier::CheckScheduleOp(const Op& op) {
  switch (op.code) {
    case OpCode::kView: return CheckView(op);
    case OpCode::kLoadShared:
    case OpCode::kStoreShared:
    case OpCode::kStoreCluster:
    case OpCode::kCopyToShared:
    case OpCode::kCopyAsync:
    case OpCode::kCopyToGlobal: return CheckSharedAccess(op);
    case OpCode::kFetch: return CheckFetch(op);
    case OpCode::kPieces:
    case OpCode::kMovePieces: return CheckPieces(op);
    case OpCode::kLoadLeft:
    case OpCode::kLoadRight: return CheckFragment(op);
    case OpCode::kWaitCopies:
      if (op.Unfinished() < 0) OpFault(op, "{} groups unfinished", op.Unfinished());
      return;
    case OpCode::kRing:
      if (op.Slots() < 1) OpFault(op, "a ring of {} slots", op.Slots());
      return;
    case OpCode::kAdvance:
      // Passes before insert_sync may turn rings that it declares.
      if (level_ == Level::kSchedule && rings_.count(op.symbol) == 0) OpFault(op, "the role has no ring `{}`", op.symbol);
      return;
    case OpCode::kWaitFull:
    case OpCode::kWaitEmpty:
    case OpCode::kExpect:
    case OpCode::kArrive: return CheckBarrierOp(op);
    case OpCode::kLoadAsync:
    case OpCode::kLoadRows:
    case OpCode::kLoadMulticast:
    case OpCode::kLoadRowsMulticast:
    case OpCode::kStoreAsync: return CheckEngineCopy(op);
    case OpCode::kSyncRole:
    case OpCode::kNamedSync:
    case OpCode::kNamedArrive: return CheckNamedBarrier(op);
    case OpCode::kMmaWait:
      if (op.Unfinished() < 0) OpFault(op, "{} groups in flight", op.Unfinished());
      return;
    case OpCode::kWaitStores:
      if (op.Unfinished() < 0) OpFault(op, "{} groups in flight", op.Unfinished());
      return;
    case OpCode::kTilePosition:
      if (!Counts(op, 0, 0, 3, 3)) return;
      if (op.symbol.find(' ') == std::string::npos) OpFault(op, "two names are wanted, separated by a space");
      if (op.Group() < 1) OpFault(op, "groups of {}", op.Group());
      return;
    case OpCode::kDrawTile:
      if (!Counts(op, 0, 0, 1, 2)) return;
      if (!FindTensor(op.Counter())) OpFault(op, "there is no tensor `{}`", op.Counter());
      return;
    case OpCode::kPutTile:
    case OpCode::kPutTileCluster:
    case OpCode::kTakeTile: return CheckNumberOfTile(op);
    case OpCode::kSplitSend:
    case OpCode::kSplitCollect: return CheckShares(op);
    case OpCode::kSplitWait:
    case OpCode::kInitBarrier:
      if (Counts(op, 0, 0, 0, 0)) IsBarrier(op, op.symbol);
      return;
    case OpCode::kPrefetchMap:
      if (!FindMap(op.symbol)) OpFault(op, "there is no map `{}`", op.symbol);
      return;
    default: return;
  }
}

void Verifier::CheckView(const Op& op) {
  if (!Counts(op, 1, 0, 0, 2)) return;
  const Buffer* buffer = FindBuffer(op.symbol);
  if (!buffer) return OpFault(op, "there is no buffer `{}`", op.symbol);
  const Type& view = kernel_.TypeOf(op.results[0]);
  if (!HasShapeOf(view, *buffer) &&
      (view.rows * view.cols != buffer->rows * buffer->cols || buffer->swizzle != Swizzle::kNone || !op.Slot().empty())) {
    OpFault(op, "{} x {} is no way to see a buffer of {} x {}", view.rows, view.cols, buffer->rows, buffer->cols);
  }
  if (view.dtype != buffer->dtype) OpFault(op, "a view of {} on a buffer of {}", Name(view.dtype), Name(buffer->dtype));
  if (view.space != Space::kShared) OpFault(op, "a view lies in shared memory");
  buffer_of_[op.results[0]] = buffer;
  CheckSlot(op);
  int64_t index = 0;
  if (op.Slot().empty() && buffer->count > 1 && op.scalars.empty()) OpFault(op, "which of the {} is not said", buffer->count);
  if (op.Slot().empty() && !op.scalars.empty() && symbolic::IsInt(op.scalars[0], &index) && (index < 0 || index >= buffer->count)) {
    OpFault(op, "index {} of {}", index, buffer->count);
  }
}

/// `ring`, `ring.previous`, `ring+2` or `ring+name`; `ring[w]` of an instance's own. Where bytes are announced without a ring, a
/// scalar may say at which barrier of an array.
void Verifier::CheckSlot(const Op& op) {
  const SlotPlace place = PlaceOfSlot(op.Slot());
  const std::string& ring = place.ring;
  std::string rest = op.Slot().substr(ring.size());
  if (!place.instance.empty()) {
    rest = rest.substr(std::min(rest.size(), place.instance.size() + 2));
    if (scalars_.count(place.instance) == 0) OpFault(op, "which instance is meant: there is no `{}`", place.instance);
  }
  // The passes before insert_sync name a ring that it declares; an array of one slot needs none.
  const Buffer* buffer = FindBuffer(op.symbol);
  const bool needs_ring = !ring.empty() && level_ == Level::kSchedule && (!buffer || buffer->count > 1);
  const bool is_element = op.code == OpCode::kExpect && scalars_.count(ring) != 0;
  if (needs_ring && !is_element && rings_.count(ring) == 0) OpFault(op, "the role has no ring `{}`", ring);
  if (rest.empty() || rest == ".previous") return;
  const std::string ahead = rest.substr(1);
  const bool is_number = ahead.find_first_not_of("0123456789") == std::string::npos;
  if (rest[0] == '.' || ahead.empty() || (!is_number && scalars_.count(ahead) == 0)) OpFault(op, "a ring has no `{}`", ahead);
}

/// One step of an operand, from shared memory.
void Verifier::CheckFragment(const Op& op) {
  if (!Counts(op, 1, 1, 0, 0)) return;
  const Type &view = kernel_.TypeOf(op.operands[0]), &fragment = kernel_.TypeOf(op.results[0]);
  const bool is_left = op.code == OpCode::kLoadLeft;
  if (view.space != Space::kShared) OpFault(op, "`%{}` is not in shared memory", kernel_.values[op.operands[0]].name);
  if (fragment.space != (is_left ? Space::kLeft : Space::kRight))
    OpFault(op, "the result is no {} operand", is_left ? "left" : "right");
  if (fragment.dtype != view.dtype) OpFault(op, "{} from {}", Name(fragment.dtype), Name(view.dtype));
  Same(op, view, fragment);
}

void Verifier::CheckSharedAccess(const Op& op) {
  const bool loads = op.code == OpCode::kLoadShared;
  const bool copies = op.code == OpCode::kCopyToShared || op.code == OpCode::kCopyToGlobal || op.code == OpCode::kCopyAsync;
  if (op.code == OpCode::kStoreCluster && !GoesToCluster(op)) return;
  const bool is_put = op.code == OpCode::kCopyToShared && op.Is(kByBlock) && op.operands.size() == 2;
  const bool by_pieces = op.code == OpCode::kCopyAsync && op.Is(kInPieces) && op.operands.size() == 2;
  if (!Counts(op, loads, (loads || copies) && !is_put && !by_pieces ? 1 : 2, 0, op.code == OpCode::kCopyToShared)) return;
  const Type& view = kernel_.TypeOf(op.operands[0]);
  if (view.space != Space::kShared) OpFault(op, "`%{}` is not in shared memory", kernel_.values[op.operands[0]].name);
  if (copies) {
    const TensorParam* tensor = AccessedTensor(op);
    if (!tensor) return;
    if (tensor->dtype != view.dtype) OpFault(op, "{} copied into {}", Name(tensor->dtype), Name(view.dtype));
    Type covered = Covered(op.axes);
    if (op.IsTurned()) std::swap(covered.rows, covered.cols);
    Same(op, covered, view);
    if (is_put || by_pieces) Same(op, view, kernel_.TypeOf(op.operands[1]));
    if (by_pieces && kernel_.TypeOf(op.operands[1]).space != Space::kPieces)
      OpFault(op, "the second operand is no place of pieces");
    return;
  }
  const Type& tile = kernel_.TypeOf(loads ? op.results[0] : op.operands[1]);
  Same(op, view, tile);
  if (tile.dtype != view.dtype)
    OpFault(op, "{} in registers, {} in shared memory: this converts nothing", Name(tile.dtype), Name(view.dtype));
  if (tile.space != Space::kRegister) OpFault(op, "the tile is not in registers");
}

/// False, and a fault, for a barrier that should be declared and is not.
bool Verifier::IsBarrier(const Op& op, const std::string& name) {
  if (FindBarrier(name) || !IsScheduleLevel()) return true;
  OpFault(op, "there is no barrier `{}`", name);
  return false;
}

/// Stored into all blocks of the cluster, whose barriers count the bytes.
bool Verifier::GoesToCluster(const Op& op) {
  const bool has_barrier = IsBarrier(op, op.symbol);
  if (op.Blocks() != kernel_.cluster) OpFault(op, "into {} blocks of a cluster of {}", op.Blocks(), kernel_.cluster);
  CheckSlot(op);
  return has_barrier;
}

/// A slot of one number.
void Verifier::CheckNumberOfTile(const Op& op) {
  const bool puts = op.code != OpCode::kTakeTile;
  if (op.code == OpCode::kPutTileCluster && !GoesToCluster(op)) return;
  if (!Counts(op, 0, 1, puts, puts)) return;
  const Type& view = kernel_.TypeOf(op.operands[0]);
  if (view.space != Space::kShared || view.dtype != DType::kI32 || view.rows * view.cols != 1)
    OpFault(op, "`%{}` is no number in shared memory", kernel_.values[op.operands[0]].name);
  if (!puts && scalars_.count(op.symbol) == 0) OpFault(op, "there is no variable `{}`", op.symbol);
}

void Verifier::CheckFetch(const Op& op) {
  if (!Counts(op, 1, 0, 0, 0)) return;
  const TensorParam* tensor = AccessedTensor(op);
  if (!tensor) return;
  if (tensor->dtype != kernel_.TypeOf(op.results[0]).dtype)
    OpFault(op, "{} fetched as {}", Name(tensor->dtype), Name(kernel_.TypeOf(op.results[0]).dtype));
}

/// Where the pieces of a block lie, and on to another one.
void Verifier::CheckPieces(const Op& op) {
  const bool moves = op.code == OpCode::kMovePieces;
  if (!Counts(op, !moves, moves, moves ? 2 : 0, moves ? 2 : 0)) return;
  const ValueId value = moves ? op.operands[0] : op.results[0];
  const Type& type = kernel_.TypeOf(value);
  if (type.space != Space::kPieces) OpFault(op, "`%{}` is no place of pieces", kernel_.values[value].name);
  if (!kernel_.values[value].is_mutable) OpFault(op, "`%{}` is not mutable", kernel_.values[value].name);
  if (moves) return;
  const TensorParam* tensor = AccessedTensor(op);
  if (!tensor) return;
  if (tensor->dtype != type.dtype) OpFault(op, "pieces of {} for a tensor of {}", Name(type.dtype), Name(tensor->dtype));
  const Buffer* buffer = FindBuffer(op.BufferOfPieces());
  if (!buffer) return OpFault(op, "there is no buffer `{}`", op.BufferOfPieces());
  if (buffer->rows != type.rows || buffer->cols != type.cols || buffer->dtype != type.dtype)
    OpFault(op, "`{}` holds tiles of another type", op.BufferOfPieces());
}

/// Each block of the cluster sends the others what it has of their columns of a sum, and collects its own of all.
void Verifier::CheckShares(const Op& op) {
  const bool sends = op.code == OpCode::kSplitSend;
  if (!Counts(op, !sends, 1, 0, 0)) return;
  const Buffer* buffer = FindBuffer(op.symbol);
  if (!IsScheduleLevel()) return;
  if (!buffer) return OpFault(op, "there is no buffer `{}`", op.symbol);
  IsBarrier(op, SharesBarrier(op.symbol));
  if (op.Blocks() != kernel_.cluster) OpFault(op, "among {} blocks of a cluster of {}", op.Blocks(), kernel_.cluster);
  const Type& tile = kernel_.TypeOf(op.operands[0]);
  if (op.Blocks() < 2 || tile.rows != buffer->rows || tile.cols / op.Blocks() * (op.Blocks() - 1) != buffer->cols)
    return OpFault(op, "of {} x {} in {} parts `{}` has {} x {}", tile.rows, tile.cols, op.Blocks(), buffer->name, buffer->rows,
                   buffer->cols);
  if (sends) return;
  const Type& part = kernel_.TypeOf(op.results[0]);
  if (part.rows != tile.rows || part.cols * op.Blocks() != tile.cols)
    OpFault(op, "{} x {} as one of {} parts of {} x {}", part.rows, part.cols, op.Blocks(), tile.rows, tile.cols);
}

void Verifier::CheckBarrierOp(const Op& op) {
  if (!IsBarrier(op, op.symbol)) return;
  const Barrier* barrier = FindBarrier(op.symbol);
  CheckSlot(op);
  if (barrier && op.Slot().empty() && barrier->count > 1) OpFault(op, "which of the {} is not said", barrier->count);
  if (barrier && barrier->instances > 1 && PlaceOfSlot(op.Slot()).instance.empty())
    OpFault(op, "of which instance `{}` is meant is not said", op.symbol);
  if (op.code == OpCode::kExpect && op.Bytes() < 1) OpFault(op, "{} bytes", op.Bytes());
  if (op.code == OpCode::kArrive && !op.scalars.empty() && (op.Is(kInAllBlocks) || !Counts(op, 0, 0, 1, 1)))
    OpFault(op, "in one block and in all");
}

void Verifier::CheckEngineCopy(const Op& op) {
  if (op.operands.size() != 1 || !op.results.empty()) return OpFault(op, "one view is copied");
  const Type& view = kernel_.TypeOf(op.operands[0]);
  if (view.space != Space::kShared || view.transposed)
    OpFault(op, "`%{}` is no tile as it lies in shared memory", kernel_.values[op.operands[0]].name);
  const bool loads = op.code != OpCode::kStoreAsync;
  if (loads && IsScheduleLevel() && (op.Barrier() < 0 || op.Barrier() >= static_cast<int64_t>(kernel_.barriers.size()))) {
    OpFault(op, "it completes on barrier {} of {}", op.Barrier(), kernel_.barriers.size());
  }
  const TensorMap* map = FindMap(op.symbol);
  if (!map) return OpFault(op, "there is no map `{}`", op.symbol);
  const bool by_rows = LoadsRows(op.code);
  const size_t scalars = map->box.size() + by_rows + IsMulticast(op.code);
  if (op.scalars.size() != scalars) OpFault(op, "{} coordinates, not {}", op.scalars.size(), scalars);
  if (map->is_store == loads) OpFault(op, "`{}` is made for {}", map->name, loads ? "stores" : "loads");
  const auto place = buffer_of_.find(op.operands[0]);
  if (place != buffer_of_.end() && place->second->swizzle != map->swizzle) {
    OpFault(op, "a buffer of swizzle {}, a map of {}", layout::Name(place->second->swizzle), layout::Name(map->swizzle));
  }
  if (by_rows) {
    if (op.code == OpCode::kLoadRows && (place == buffer_of_.end() || !HasShapeOf(view, *place->second)))
      OpFault(op, "it is no whole tile");
    const TensorMap* rows = FindMap(RowsMap(map->name));
    const auto fits = [&] {
      if (!rows || rows->tensor != map->tensor || rows->swizzle != map->swizzle || rows->box.size() != map->box.size())
        return false;
      std::vector<int64_t> box = rows->box;
      if (box.size() < 2 || box[box.size() - 2] < 1 || view.rows % box[box.size() - 2] != 0) return false;
      box[box.size() - 2] = view.rows;
      return box == map->box;
    };
    if (!fits()) OpFault(op, "no map `{}` with boxes of fewer rows", RowsMap(map->name));
  }
  if (!Fills(*map, view)) OpFault(op, "boxes of [{}] do not fill {} x {}", fmt::join(map->box, ", "), view.rows, view.cols);
}

bool Verifier::Fills(const TensorMap& map, const Type& view) {
  if (map.box.empty() || std::any_of(map.box.begin(), map.box.end(), [](int64_t extent) { return extent < 1; })) return false;
  const int64_t width = map.box.back();
  int64_t rows = 1;
  for (const int64_t extent : map.box) rows *= extent;
  rows /= width;
  // A panel is as wide as the swizzle, and the last one may be partly unused.
  if (map.swizzle != Swizzle::kNone) return rows == view.rows && width * Bytes(view.dtype) == static_cast<int64_t>(map.swizzle);
  const bool is_column = rows == 1 && view.cols == 1 && view.rows % width == 0;
  return is_column || (rows == view.rows && (width == view.cols || (rows == 1 && view.cols % width == 0)));
}

/// The frame has operations of its own, and few others: none that moves data or asks whose turn it is.
void Verifier::CheckFrameOp(const Op& op) {
  const bool is_in_role = worker_ != nullptr, elects_in_frame = op.code == OpCode::kIfElected && op.Is(kOfBlock);
  const bool is_of_frame = IsOfFrame(op.code) || elects_in_frame;
  if (is_in_role && is_of_frame) OpFault(op, "it stands in front of the roles, not in one");
  const bool is_of_both = op.code == OpCode::kSyncBlock || op.code == OpCode::kClusterSync || op.code == OpCode::kComment;
  if (in_frame_ && !is_of_frame && !is_of_both) OpFault(op, "it stands in a role, not in the frame around them");
}

void Verifier::CheckNamedBarrier(const Op& op) {
  const bool is_sync_role = op.code == OpCode::kSyncRole;
  if (is_sync_role && op.Is(kOfWarp)) return;  // a warp needs no barrier
  if (!Counts(op, 0, 0, is_sync_role ? 0 : 1, 1)) return;
  if (!is_sync_role && (op.MeetingThreads() < 32 || op.MeetingThreads() % 32 != 0 ||
                        (kernel_.threads > 0 && op.MeetingThreads() > kernel_.threads))) {
    OpFault(op, "{} threads of {}", op.MeetingThreads(), kernel_.threads);
  }
}

}  // namespace tkc::ir

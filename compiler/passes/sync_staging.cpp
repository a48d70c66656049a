// SPDX-License-Identifier: MIT
#include "compiler/passes/sync_staging.h"

#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

StagingSync::StagingSync(const ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel) {
  ForEachOp(worker.body, [&](const Op& op) {
    switch (op.code) {
      case OpCode::kView:
        buffer_of_[op.results[0]] = op.symbol;
        if (!op.scalars.empty()) index_of_view_[op.results[0]] = op.scalars[0];
        break;
      case OpCode::kPart:
      case OpCode::kTranspose:
        if (const std::string* buffer = BufferOf(op.operands[0])) buffer_of_[op.results[0]] = *buffer;
        if (const auto index = index_of_view_.find(op.operands[0]); index != index_of_view_.end())
          index_of_view_[op.results[0]] = index->second;
        break;
      case OpCode::kStoreAsync: stored_from_.insert(buffer_of_.at(op.operands[0])); [[fallthrough]];
      case OpCode::kMma:
        for (const ValueId operand : op.operands) {
          if (const std::string* buffer = BufferOf(operand)) read_by_units_.insert(*buffer);
        }
        break;
      default: break;
    }
  });
}

const std::string* StagingSync::BufferOf(ValueId view) const {
  const auto buffer = buffer_of_.find(view);
  return buffer == buffer_of_.end() ? nullptr : &buffer->second;
}

bool StagingSync::Overwrites(const std::string& buffer, const std::set<std::string>& others) const {
  return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
    return other == buffer || ir::OverlapInRoom(FindBuffer(kernel_, other), FindBuffer(kernel_, buffer));
  });
}

void StagingSync::NoteReads(const Op& op) {
  if (ir::IsPartOrTranspose(op.code)) return;
  for (size_t i = ir::FillsShared(op.code) ? 1 : 0; i < op.operands.size(); ++i) {
    if (const std::string* buffer = BufferOf(op.operands[i])) in_use_.insert(*buffer);
  }
}

void StagingSync::EnterLoop(const Op& loop) {
  ++depth_;
  chunk_ = loop.code == OpCode::kUnroll ? loop.symbol : "";
  before_loops_.push_back(in_use_);
  // The iteration before may have read whatever this one reads.
  ForEachOp(loop.regions[0], [&](const Op& op) { NoteReads(op); });
}

void StagingSync::LeaveLoop() {
  --depth_;
  chunk_.clear();
  in_use_.merge(before_loops_.back());
  before_loops_.pop_back();
}

/// Whether the only loop around the operation at hand is an unrolled one that takes another buffer of the array in each turn.
bool StagingSync::IsNewEachTurn(ValueId view) const {
  const auto index = index_of_view_.find(view);
  return depth_ == 1 && !chunk_.empty() && index != index_of_view_.end() && index->second->kind == symbolic::Kind::kName &&
         index->second->name == chunk_;
}

/// What units read is done behind a wait, which not every warp is behind at a meeting.
bool StagingSync::IsReused(const std::string& buffer, ValueId view) const {
  const bool is_read_by_warps = !read_by_units_.contains(buffer) && !FindBuffer(kernel_, buffer).shares_room;
  if (depth_ > 0 && IsNewEachTurn(view)) return Overwrites(buffer, written_);
  return is_read_by_warps ? in_use_.contains(buffer) : depth_ > 0 || Overwrites(buffer, written_);
}

void StagingSync::Meet(Span span, Region& out) {
  out.push_back(MakeOp(OpCode::kSyncRole, "", "", ir::kOfWarpgroup, span));
  in_use_.clear();
}

void StagingSync::Store(Op op, bool is_beside, Region& out) {
  const std::string buffer = buffer_of_.at(op.operands[0]);
  if (!is_beside && Overwrites(buffer, batch_.buffers)) Publish(out);
  const Span span = op.span;
  const bool is_reused = !is_beside && IsReused(buffer, op.operands[0]);
  const bool is_stored_from = stored_from_.contains(buffer);
  if (is_reused && is_stored_from) {
    out.push_back(Explain("This buffer is free once the copy engine has read what it held and all warps know it.", span));
    out.push_back(MakeOp(OpCode::kWaitStores, "", "read", FindBuffer(kernel_, buffer).count - 1, span));
  }
  if (is_reused && (is_stored_from || !batch_.has_met)) {
    if (!is_stored_from) out.push_back(Explain("This buffer is free once all warps have read what it held.", span));
    Meet(span, out);
    batch_.has_met = true;
  }
  out.push_back(std::move(op));
  written_.insert(buffer);
  batch_.buffers.insert(buffer);
  batch_.is_fenced |= read_by_units_.contains(buffer);
  batch_.span = span;
}

void StagingSync::Before(OpCode code, Region& out) {
  const bool is_view = code == OpCode::kView || ir::IsPartOrTranspose(code);
  if (!is_view && code != OpCode::kStoreShared && code != OpCode::kCopyToShared) Publish(out);
}

void StagingSync::Publish(Region& out) {
  if (batch_.buffers.empty()) return;
  if (batch_.is_fenced) out.push_back(MakeOp(OpCode::kFenceAsync, "", "", 0, batch_.span));
  Meet(batch_.span, out);
  batch_ = {};
}

}  // namespace tkc::passes

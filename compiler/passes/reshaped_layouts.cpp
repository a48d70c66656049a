// SPDX-License-Identifier: MIT
#include "compiler/passes/reshaped_layouts.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::RegisterLayout;
using ir::ValueId;

/// The two tiles of a reshape, the one with the longer rows first.
struct Sides {
  ValueId joined, cut;
};

Sides SidesOf(const ir::Kernel& kernel, const Op& op) {
  const ValueId from = op.operands[0], to = op.results[0];
  return kernel.TypeOf(from).rows < kernel.TypeOf(to).rows ? Sides{from, to} : Sides{to, from};
}

}  // namespace

std::optional<RegisterLayout> CutLayout(const RegisterLayout& layout, int64_t cols, int64_t cut_cols) {
  const int64_t lanes = cut_cols / layout.vec, blocks = cols / layout.ColsPerBlock();
  if (layout.warp_cols != 1 || layout.columns_first || layout.apart != 1) return std::nullopt;
  if (cut_cols % layout.vec != 0 || lanes > layout.lanes || layout.lanes % lanes != 0) return std::nullopt;
  if (cols % layout.ColsPerBlock() != 0 || (blocks > 1 && layout.halves * layout.lane_rows > 1)) return std::nullopt;
  RegisterLayout cut = layout;
  cut.lanes = static_cast<int>(lanes);
  cut.lane_rows = layout.lane_rows * (layout.lanes / cut.lanes);
  if (blocks > 1) cut.halves = static_cast<int>(blocks);
  return cut;
}

std::optional<RegisterLayout> JoinedColumnLayout(const RegisterLayout& layout, int64_t count) {
  if (layout.warp_cols != 1 || layout.columns_first || layout.apart != 1) return std::nullopt;
  RegisterLayout joined = layout;
  joined.vec = 1;
  joined.apart = layout.lanes;
  joined.lanes = static_cast<int>(std::min<int64_t>(count, layout.lane_rows));
  if (count == int64_t{layout.halves} * layout.lane_rows)
    joined.halves = joined.lane_rows = 1;
  else if (count <= layout.lane_rows && layout.lane_rows % count == 0)
    joined.lane_rows = layout.lane_rows / joined.lanes;
  else
    return std::nullopt;
  return joined;
}

ReshapedLayouts::ReshapedLayouts(const ir::Kernel& kernel, const ir::Worker& worker) {
  const auto stays = [](const Op& op) { return op.code == OpCode::kReshape && op.Is(ir::kStaysInRegisters); };
  bool is_needed = false;
  ForEachOp(worker.body, [&](const Op& op) { is_needed |= stays(op); });
  if (!is_needed) return;
  groups_.resize(kernel.values.size());
  std::iota(groups_.begin(), groups_.end(), 0);
  ForEachOp(worker.body, [&](const Op& op) {
    // What is turned goes through shared memory: its two sides may be dealt in two ways.
    if (op.code != OpCode::kReshape && op.code != OpCode::kTranspose) Unite(op);
  });
  const auto each_reshape = [&](auto visit) {
    ForEachOp(worker.body, [&](const Op& op) {
      if (!stays(op)) return;
      const Sides sides = SidesOf(kernel, op);
      visit(op, sides, kernel.TypeOf(sides.joined), kernel.TypeOf(sides.cut));
    });
  };
  each_reshape([&](const Op& op, Sides sides, const ir::Type&, const ir::Type& cut) {
    kinds_.emplace(GroupOf(sides.cut), &op);
    if (cut.cols == 1) kinds_.emplace(GroupOf(sides.joined), &op);
  });
  each_reshape([&](const Op& op, Sides sides, const ir::Type& joined, const ir::Type& cut) {
    if (cut.cols == 1) return;
    Assign(op, sides.cut, IsOfWorker(sides.joined) ? CutLayout(worker.layout, joined.cols, cut.cols) : std::nullopt);
  });
  each_reshape([&](const Op& op, Sides sides, const ir::Type& joined, const ir::Type& cut) {
    if (cut.cols != 1) return;
    const RegisterLayout* column = Find(sides.cut);
    Assign(op, sides.joined, column ? JoinedColumnLayout(*column, joined.cols) : std::nullopt);
  });
  CheckShapes(kernel);
}

/// What meets a reshaped tile may have a shape that its layout does not hold: a column of eight numbers that is turned to a row
/// beside columns of 256.
void ReshapedLayouts::CheckShapes(const ir::Kernel& kernel) {
  for (ValueId value = 0; static_cast<size_t>(value) < groups_.size() && !fault_; ++value) {
    const RegisterLayout* const layout = Find(value);
    const ir::Type& type = kernel.TypeOf(value);
    if (layout && !(layout->HoldsRows(type.rows) && layout->HoldsCols(type.cols))) fault_ = kinds_.at(GroupOf(value));
  }
}

const RegisterLayout* ReshapedLayouts::Find(ValueId value) const {
  if (static_cast<size_t>(value) >= groups_.size()) return nullptr;
  const auto place = layouts_.find(GroupOf(value));
  return place == layouts_.end() ? nullptr : &place->second;
}

bool ReshapedLayouts::AreDealtAlike(ValueId one, ValueId other) const {
  const RegisterLayout *of_one = Find(one), *of_other = Find(other);
  return of_one && of_other ? *of_one == *of_other : of_one == of_other;
}

/// What an operation reads and makes is dealt alike.
void ReshapedLayouts::Unite(const Op& op) {
  ValueId first = ir::kNone;
  for (const auto* values : {&op.operands, &op.results}) {
    for (const ValueId value : *values) {
      if (first == ir::kNone) first = value;
      groups_[GroupOf(value)] = GroupOf(first);
    }
  }
}

ValueId ReshapedLayouts::GroupOf(ValueId value) const {
  while (groups_[value] != value) value = groups_[value];
  return value;
}

void ReshapedLayouts::Assign(const Op& reshape, ValueId value, const std::optional<RegisterLayout>& layout) {
  const bool fits = layout && layouts_.emplace(GroupOf(value), *layout).first->second == *layout;
  if (!fits && !fault_) fault_ = &reshape;
}

}  // namespace tkc::passes

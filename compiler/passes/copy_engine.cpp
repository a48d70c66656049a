// SPDX-License-Identifier: MIT
#include "compiler/passes/copy_engine.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/layout/row_layout.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;

namespace {

constexpr int64_t kMaxAxis = 65536;  // elements of an access along one dimension, in several boxes

}  // namespace

int64_t BoxRows(const Target& target, int64_t rows) {
  if (rows <= target.copy_box_extent) return rows;
  int64_t box = target.copy_box_extent;
  while (box > 0 && rows % box != 0) box -= kSwizzleRows;
  return box;
}

std::string CopyEngine::Obstacle(const Op& access, const ir::Type& type, std::vector<ir::Scalar>* where) const {
  const ir::AxisRange& last = access.axes.back();
  const int64_t bytes = Bytes(type.dtype), granule = target.copy_granule, most = target.copy_box_extent;
  if (std::ssize(access.axes) > target.copy_rank) return fmt::format("more than {} axes", target.copy_rank);
  if (!access.scalars.empty()) return "what lies outside is not read as zero";
  if (access.IsTurned()) return "it is turned on the way";
  size_t kept = 0;
  const std::vector<ir::Scalar>& extents = FindTensor(kernel, access.symbol).extents;
  for (size_t i = 0; i < access.axes.size(); ++i) {
    const ir::AxisRange& axis = access.axes[i];
    if (!ShowsAll(axis, extents[i], where)) return "the block may end before the tensor does";
    if (axis.extent > kMaxAxis) return fmt::format("more than {} elements along an axis", kMaxAxis);
    kept += !axis.dropped;
  }
  if (kept == 0 || last.dropped) return "elements do not lie behind each other";
  if (last.extent * bytes % granule != 0)
    return fmt::format("rows of {} bytes are no multiples of {}", last.extent * bytes, granule);
  if (facts.Divisor(last.start) * bytes % granule != 0) return fmt::format("rows may begin between multiples of {} bytes", granule);
  if (access.code == OpCode::kStore &&
      !std::all_of(access.axes.begin(), access.axes.end(), [&](const ir::AxisRange& a) { return facts.IsNonNegative(a.start); }))
    return "the block may begin in front of the tensor";
  // A row or a column lies in one piece, so its boxes may be as wide as any; of several rows each box is a panel of a swizzle.
  const bool is_read = access.code == OpCode::kRead, is_one_piece = kept == 1 || (type.rows == 1 && is_read);
  const bool fits = is_one_piece ? last.extent <= most || (is_read && last.extent % most == 0)
                                 : (type.rows <= most || (kept == 2 && is_read && BoxRows(target, type.rows) > 0)) &&
                                       layout::ChooseSwizzle(type.dtype, type.rows, type.cols) != ir::Swizzle::kNone;
  return fits ? "" : "no box has such a shape";
}

/// Whether the engine, which cuts a block where the tensor ends, shows all of it that is to be seen, and nothing else.
bool CopyEngine::ShowsAll(const ir::AxisRange& axis, const ir::Scalar& extent, std::vector<ir::Scalar>* where) const {
  const std::optional<std::vector<ir::Scalar>> ends = facts.EndsInsideBlocks(axis, extent);
  if (!ends || (!where && !ends->empty())) return false;
  const ir::Scalar end = symbolic::Add(axis.start, symbolic::Int(axis.extent));
  const ir::Scalar seen = symbolic::Make(symbolic::Kind::kMin, DType::kI64, {end, extent});
  for (const ir::Scalar& range_end : *ends) where->push_back(symbolic::Make(symbolic::Kind::kLe, DType::kBool, {seen, range_end}));
  return true;
}

std::string CopyEngine::Map(const Op& access, const ir::Buffer& buffer, bool is_store) {
  ir::TensorMap map;
  map.tensor = access.symbol;
  map.swizzle = buffer.swizzle;
  map.is_store = is_store;
  for (const ir::AxisRange& axis : access.axes) map.box.push_back(axis.dropped ? 1 : BoxRows(target, axis.extent));
  map.box.back() = buffer.swizzle == ir::Swizzle::kNone ? std::min(access.axes.back().extent, target.copy_box_extent)
                                                        : layout::PanelBytes(buffer.swizzle) / Bytes(buffer.dtype);
  int same_tensor = 0;
  for (const ir::TensorMap& other : kernel.maps) {
    if (other.tensor != map.tensor) continue;
    if (other.box == map.box && other.swizzle == map.swizzle && other.is_store == map.is_store) return other.name;
    ++same_tensor;
  }
  map.name = same_tensor == 0 ? map.tensor + "_map" : fmt::format("{}_map_{}", map.tensor, same_tensor);
  kernel.maps.push_back(map);
  return map.name;
}

std::vector<ir::Scalar> Coordinates(const Op& access) {
  std::vector<ir::Scalar> coordinates;
  for (const ir::AxisRange& axis : access.axes) coordinates.push_back(axis.start);
  return coordinates;
}

void KeepSlices(const Op& access, Op& copy) {
  if (std::any_of(access.axes.begin(), access.axes.end(), [](const ir::AxisRange& axis) { return axis.is_slice; }))
    copy.axes = access.axes;
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/load_rows.h"

#include <algorithm>
#include <string>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/index_facts.h"
#include "compiler/passes/missing_rows.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;

// Rows of a box of a tile that lacks some: the engine has few to write zero for, and not many boxes to start. A multiple of the 8
// rows in which a swizzle repeats.
constexpr int64_t kBoxRows = 16;

class Rewriting {
 public:
  explicit Rewriting(ir::Kernel& kernel) : kernel_(kernel), facts_(kernel) {}

  void Rewrite(ir::Worker& worker) {
    const auto buffers = BuffersOfViews(kernel_, worker.body);
    ForEachOp(worker.body, [&](Op& op) {
      if (ir::IsEngineLoad(op.code)) Rewrite(op, FindBuffer(kernel_, buffers.at(op.operands[0])));
    });
  }

 private:
  void Rewrite(Op& load, const ir::Buffer& buffer) {
    const ir::TensorMap map = FindMap(kernel_, load.symbol);
    if (!MayLackRows(load, map, buffer)) return;
    const MissingRows rows = MissingRowsOf(kernel_, load);
    if (!AreNeverStored(kernel_, rows)) return;
    AddMapByRows(map);
    const bool is_share = ir::IsMulticast(load.code);
    load.code = is_share ? OpCode::kLoadRowsMulticast : OpCode::kLoadRows;
    load.scalars.insert(load.scalars.end() - (is_share ? 1 : 0), symbolic::Sub(rows.extent, rows.first));
  }

  /// Whether it is a whole tile, or a share of one, that comes as well in boxes of few rows, and of which some may be missing. A
  /// share pays that is one box: a block of the cluster may have nothing to copy.
  bool MayLackRows(const Op& load, const ir::TensorMap& map, const ir::Buffer& buffer) const {
    if (map.box.size() < 2 || !load.axes.empty()) return false;
    const size_t axis = map.box.size() - 2;
    const ir::Type& tile = kernel_.TypeOf(load.operands[0]);
    const bool is_share = ir::IsMulticast(load.code);
    const bool is_whole = (is_share || ir::HasShapeOf(tile, buffer)) && map.box[axis] == tile.rows;
    const bool has_boxes =
        buffer.swizzle != ir::Swizzle::kNone && tile.rows >= (is_share ? 1 : 2) * kBoxRows && tile.rows % kBoxRows == 0;
    return is_whole && has_boxes && facts_.Divisor(FindTensor(kernel_, map.tensor).extents[axis]) % buffer.rows != 0;
  }

  void AddMapByRows(ir::TensorMap map) {
    const auto whole = std::find_if(kernel_.maps.begin(), kernel_.maps.end(), [&](const auto& m) { return m.name == map.name; });
    map.name = ir::RowsMap(map.name);
    map.box.end()[-2] = kBoxRows;
    const bool is_there = whole + 1 != kernel_.maps.end() && whole[1].name == map.name;
    if (!is_there) kernel_.maps.insert(whole + 1, map);
  }

  ir::Kernel& kernel_;
  IndexFacts facts_;
};

}  // namespace

Result<void> LoadRows(ir::Kernel& kernel, Diagnostics&) {
  if (kernel.maps.empty()) return {};
  Rewriting rewriting(kernel);
  for (ir::Worker& worker : kernel.workers) rewriting.Rewrite(worker);
  return {};
}

}  // namespace tkc::passes

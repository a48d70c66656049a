// SPDX-License-Identifier: MIT
#include "compiler/passes/load_rows.h"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/ir/op_traits.h"
#include "compiler/passes/block_scalars.h"
#include "compiler/passes/index_facts.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

// Rows of a box of a tile that lacks some: the engine has few to write zero for, and not many boxes to start. A multiple of the 8
// rows in which a swizzle repeats.
constexpr int64_t kBoxRows = 16;

class Rewriting {
 public:
  explicit Rewriting(ir::Kernel& kernel) : kernel_(kernel), facts_(kernel), fillers_(FillersOfBuffers(kernel)) {
    for (const ir::Worker& worker : kernel.workers) {
      for (const auto& [view, buffer] : BuffersOfViews(kernel, worker.body)) buffers_[view] = buffer;
      ForEachOp(worker.body, [&](const Op& op) {
        if (ir::IsEngineLoad(op.code)) ++loads_[op.symbol];
      });
    }
  }

  void Rewrite(ir::Worker& worker) {
    const BlockScalars scalars(worker.body);
    ForEachOp(worker.body, [&](Op& op) {
      if (op.code == OpCode::kLoadAsync) Rewrite(op, scalars);
    });
  }

 private:
  std::string BufferOf(const Op& op) const {
    const auto found = buffers_.find(op.operands[0]);
    return found == buffers_.end() ? "" : found->second;
  }

  void Rewrite(Op& load, const BlockScalars& scalars) {
    const std::string name = BufferOf(load);
    const auto buffer =
        std::find_if(kernel_.buffers.begin(), kernel_.buffers.end(), [&](const ir::Buffer& b) { return b.name == name; });
    const auto map =
        std::find_if(kernel_.maps.begin(), kernel_.maps.end(), [&](const ir::TensorMap& m) { return m.name == load.symbol; });
    if (buffer == kernel_.buffers.end() || map == kernel_.maps.end() || map->box.size() < 2 || !load.axes.empty()) return;
    const size_t axis = map->box.size() - 2;
    const int64_t rows = buffer->rows;
    const bool is_whole = ir::HasShapeOf(kernel_.values[load.operands[0]].type, *buffer) && map->box[axis] == rows;
    const bool is_alone = fillers_.at(name) == 1 && loads_[load.symbol] == 1 && buffer->instances == 1;
    if (!is_whole || !is_alone || buffer->swizzle == ir::Swizzle::kNone || rows < 2 * kBoxRows || rows % kBoxRows != 0) return;
    const Scalar& extent = FindTensor(kernel_, map->tensor).extents[axis];
    if (facts_.Divisor(extent) % rows == 0) return;  // all rows exist
    const Scalar existing = symbolic::Sub(extent, load.scalars[axis]), expanded = scalars.Expanded(existing);
    if (!scalars.IsConstant(expanded)) return;
    ir::TensorMap by_rows = *map;
    by_rows.name = ir::RowsMap(map->name);
    by_rows.box[axis] = kBoxRows;
    kernel_.maps.insert(map + 1, by_rows);
    buffer->zero_from = expanded;
    load.code = OpCode::kLoadRows;
    load.scalars.push_back(existing);
  }

  ir::Kernel& kernel_;
  IndexFacts facts_;
  const std::map<std::string, int> fillers_;    // of each buffer
  std::map<ir::ValueId, std::string> buffers_;  // of views
  std::map<std::string, int> loads_;            // by each map
};

}  // namespace

Result<void> LoadRows(ir::Kernel& kernel, Diagnostics&) {
  const bool has_one_tile =
      !kernel.persistent && std::none_of(kernel.workers.begin(), kernel.workers.end(),
                                         [](const ir::Worker& worker) { return worker.in_turn || worker.spread > 1; });
  if (!has_one_tile || kernel.maps.empty()) return {};
  Rewriting rewriting(kernel);
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) rewriting.Rewrite(worker);
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Which buffers there are for the slots and how they lie; then the loads and the stores of each worker, which have files of their
// own.
#include "compiler/passes/select_transfer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/layout/conflict.h"
#include "compiler/layout/row_layout.h"
#include "compiler/passes/select_transfer_impl.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::ValueId;

/// Whether a slot serves without a swizzle: it is loaded from memory, and all who receive it read rows of it as vectors that meet
/// no bank twice as they lie. What the matrix unit reads, and what is turned, wants one.
bool LiesAsItIs(const ir::Kernel& kernel, const Target& target, const ir::Pipe& pipe, size_t field) {
  const ir::PipeField& slot = pipe.fields[field];
  bool lies = target.lanes == layout::kLanes && slot.cols <= target.copy_box_extent, is_read = false;
  for (const ir::Worker& worker : kernel.workers) {
    std::set<ValueId> views;
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kReceive && op.symbol == pipe.name) views.insert(op.results[field]);
      if (op.code == OpCode::kSend && op.symbol == pipe.name) lies &= !worker.Computes();
      const auto is_view = [&](ValueId operand) { return views.contains(operand); };
      if (std::none_of(op.operands.begin(), op.operands.end(), is_view)) return;
      if (op.code == OpCode::kPart) {
        views.insert(op.results[0]);
      } else if (op.code == OpCode::kLoadShared) {
        const ir::Type& type = kernel.TypeOf(op.results[0]);
        is_read = true;
        lies &= type.cols == slot.cols && layout::Conflicts(worker.layout, {slot.dtype, type.rows, type.cols}, {}).degree <= 1;
      } else {
        lies = false;
      }
    });
  }
  return lies && is_read;
}

void MakePipeBuffers(ir::Kernel& kernel, const Target& target) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      const ir::PipeField& field = pipe.fields[i];
      ir::Buffer buffer;
      buffer.name = FieldBuffer(pipe, i);
      buffer.dtype = field.dtype;
      buffer.rows = field.rows;
      buffer.cols = field.cols;
      buffer.count = pipe.slots;
      buffer.instances = pipe.rings;
      if (!LiesAsItIs(kernel, target, pipe, i)) buffer.swizzle = layout::ChooseSwizzle(field.dtype, field.rows, field.cols);
      buffer.purpose = pipe.fields.size() == 1
                           ? "pipe " + pipe.name
                           : fmt::format("pipe {}, field {}", pipe.name, field.name.empty() ? std::to_string(i) : field.name);
      kernel.buffers.push_back(std::move(buffer));
    }
  }
}

/// Those whose elements are also seen in other rows, which no swizzle may part.
std::set<std::string> ReshapedBuffers(const ir::Kernel& kernel) {
  std::set<std::string> buffers;
  for (const ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code != OpCode::kView || HasShapeOf(kernel.TypeOf(op.results[0]), FindBuffer(kernel, op.symbol))) return;
      buffers.insert(op.symbol);
    });
  }
  return buffers;
}

}  // namespace

Result<void> SelectTransfer(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const std::set<std::string> reshaped = ReshapedBuffers(kernel);
  for (ir::Buffer& buffer : kernel.buffers) {
    const bool is_tile = !buffer.is_scratch && !buffer.is_fragments && !reshaped.contains(buffer.name);
    if (is_tile) buffer.swizzle = layout::ChooseSwizzle(buffer.dtype, buffer.rows, buffer.cols);
  }
  MakePipeBuffers(kernel, target);
  CopyEngine engine{kernel, target};
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes())
      SelectStores(engine, worker);
    else
      SelectLoads(engine, worker);
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/draw_tiles.h"

#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

/// Who copies comes to later tiles before the others do, by as many as this: about as far as the slots of pipes let it.
constexpr int64_t kTilesAhead = 4;

}  // namespace

Result<void> DrawTiles(ir::Kernel& kernel, const Target&, Diagnostics&) {
  if (!kernel.dynamic) return {};
  const ir::TakenNames used = kernel.UsedNames();
  ir::TensorParam counter;
  counter.name = kernel.drawn = used.Free("tiles_drawn");
  counter.dtype = DType::kI32;
  counter.extents = {symbolic::Int(1)};
  counter.is_work = counter.has_preset = true;
  counter.span = kernel.span;
  kernel.tensors.push_back(std::move(counter));
  ir::Pipe pipe;
  pipe.name = kernel.next_tile = used.Free("next_tile");
  pipe.fields = {{"", DType::kI32, 1, 1}};
  pipe.slots = kTilesAhead;
  pipe.senders = 1;
  for (const ir::Worker& worker : kernel.workers) pipe.receivers += worker.instances;
  pipe.span = kernel.span;
  ir::Buffer number;
  number.name = FieldBuffer(pipe, 0);
  number.dtype = DType::kI32;
  number.count = pipe.slots;
  number.purpose = "numbers of tiles";
  kernel.buffers.push_back(std::move(number));
  kernel.pipes.push_back(std::move(pipe));
  return {};
}

}  // namespace tkc::passes

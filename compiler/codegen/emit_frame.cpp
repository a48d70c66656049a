// SPDX-License-Identifier: MIT
// The frame around the roles: what all threads of the block execute. Its operations come from the kernel as a whole, so that no
// statement is quoted, and have no values.
#include <fmt/format.h>

#include "compiler/codegen/emit_op.h"
#include "compiler/codegen/mangle.h"
#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/support/internal_error.h"

namespace tkc::codegen {

using ir::Op;
using ir::OpCode;

void OpEmitter::Frame(const ir::Region& region) {
  for (size_t i = 0; i < region.size();) {
    const Op& op = region[i];
    if (op.code == OpCode::kInitBarrier) {
      i = InitBarriers(region, i);
      continue;
    }
    ++i;
    switch (op.code) {
      case OpCode::kIfElected:
        out_.Open("if (tk::thread::index() == 0)");
        Frame(op.regions[0]);
        out_.Close();
        break;
      case OpCode::kPrefetchMap: {
        const std::string usable = ir::UsableFlag(op.symbol);
        out_.Line(fmt::format("{}tk::prefetch({});", uses_.names.contains(usable) ? fmt::format("if ({}) ", Mangle(usable)) : "",
                              Mangle(op.symbol)));
        break;
      }
      case OpCode::kFenceBarrierInit: out_.Line("tk::fence_barrier_init();"); break;
      case OpCode::kClusterArrive: out_.Line("tk::cluster::arrive();"); break;
      default: {
        const bool is_known = EmitControl(op) || EmitMeeting(op);
        Ensure(is_known, fmt::format("`{}` can't be printed around the roles", ir::OpText(op.code)), op.span);
      }
    }
  }
}

/// Neighbours with as many elements share a loop. Returns where these end.
size_t OpEmitter::InitBarriers(const ir::Region& region, size_t begin) {
  const auto barrier = [&](const Op& op) -> const ir::Barrier& { return kernel_.barriers[barriers_.find(op.symbol)->second]; };
  const int64_t count = barrier(region[begin]).count, instances = barrier(region[begin]).instances;
  if (instances > 1) out_.Open(fmt::format("for (int instance = 0; instance < {}; ++instance)", instances));
  if (count > 1) out_.Open(fmt::format("for (int slot = 0; slot < {}; ++slot)", count));
  size_t end = begin;
  for (; end < region.size() && region[end].code == OpCode::kInitBarrier; ++end) {
    const ir::Barrier& each = barrier(region[end]);
    if (each.count != count || each.instances != instances) break;
    out_.Line(fmt::format("tk::init(shared.{}{}{}, {});", Mangle(each.name), instances > 1 ? "[instance]" : "",
                          count > 1 ? "[slot]" : "", each.arrivals));
  }
  if (count > 1) out_.Close();
  if (instances > 1) out_.Close();
  return end;
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
#include "compiler/passes/established.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

std::optional<Lack> LackOfRole(const ir::Kernel& kernel) {
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kUnassigned) return Lack{fmt::format("worker `{}` has no role", worker.name), worker.span};
  }
  return std::nullopt;
}

std::optional<Lack> LackOfPlace(const ir::Kernel& kernel) {
  std::optional<Lack> lack;
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) continue;
    ForEachOp(worker.body, [&](const ir::Op& op) {
      for (const ir::ValueId value : op.results) {
        if (!lack && kernel.values[value].type.space == ir::Space::kAbstract)
          lack = Lack{fmt::format("`%{}` has no place", kernel.values[value].name), op.span};
      }
    });
  }
  return lack;
}

std::optional<Lack> LackOfBuffer(const ir::Kernel& kernel) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t field = 0; field < pipe.fields.size(); ++field) {
      const std::string name = FieldBuffer(pipe, field);
      if (std::ranges::none_of(kernel.buffers, [&](const ir::Buffer& buffer) { return buffer.name == name; }))
        return Lack{fmt::format("pipe `{}` has no buffer `{}`", pipe.name, name), pipe.span};
    }
  }
  return std::nullopt;
}

std::optional<Lack> LackOfSlots(const ir::Kernel& kernel) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (pipe.slots == 0) return Lack{fmt::format("pipe `{}` has no number of slots", pipe.name), pipe.span};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Lack> LackOf(const ir::Kernel& kernel, Established what) {
  switch (what) {
    case Established::kRoles: return LackOfRole(kernel);
    case Established::kPlaces: return LackOfPlace(kernel);
    case Established::kBuffers: return LackOfBuffer(kernel);
    case Established::kSlots: return LackOfSlots(kernel);
  }
  return std::nullopt;
}

}  // namespace tkc::passes

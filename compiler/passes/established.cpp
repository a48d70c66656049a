// SPDX-License-Identifier: MIT
#include "compiler/passes/established.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

std::optional<Sign> LackOfRole(const ir::Kernel& kernel) {
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kUnassigned)
      return Sign{fmt::format("worker `{}` has no role", worker.SourceName()), worker.span};
  }
  return std::nullopt;
}

/// The first result of who computes that is abstract, or the first that is not.
std::optional<Sign> FindPlace(const ir::Kernel& kernel, bool is_abstract, const char* text) {
  std::optional<Sign> found;
  for (const ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) continue;
    ForEachOp(worker.body, [&](const ir::Op& op) {
      for (const ir::ValueId value : op.results) {
        if (!found && (kernel.TypeOf(value).space == ir::Space::kAbstract) == is_abstract)
          found = Sign{fmt::format("`%{}` has {}", kernel.values[value].name, text), op.span};
      }
    });
  }
  return found;
}

std::optional<Sign> LackOfBuffer(const ir::Kernel& kernel) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t field = 0; field < pipe.fields.size(); ++field) {
      const std::string name = FieldBuffer(pipe, field);
      if (std::ranges::none_of(kernel.buffers, [&](const ir::Buffer& buffer) { return buffer.name == name; }))
        return Sign{fmt::format("pipe `{}` has no buffer `{}`", pipe.name, name), pipe.span};
    }
  }
  return std::nullopt;
}

std::optional<Sign> LackOfSlots(const ir::Kernel& kernel) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (pipe.slots == 0) return Sign{fmt::format("pipe `{}` has no number of slots", pipe.name), pipe.span};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Sign> LackOf(const ir::Kernel& kernel, Established what) {
  switch (what) {
    case Established::kRoles: return LackOfRole(kernel);
    case Established::kPlaces: return FindPlace(kernel, true, "no place");
    case Established::kBuffers: return LackOfBuffer(kernel);
    case Established::kSlots: return LackOfSlots(kernel);
  }
  return std::nullopt;
}

std::optional<Sign> DoneIn(const ir::Kernel& kernel, Established what) {
  return what == Established::kPlaces ? FindPlace(kernel, false, "its place already") : std::nullopt;
}

}  // namespace tkc::passes

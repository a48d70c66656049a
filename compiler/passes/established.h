// SPDX-License-Identifier: MIT
// What some passes make true of a kernel, and all passes behind them rely on. In a whole compile it holds by the order of the
// passes; a pass that is run alone, on the text of some IR, has it verified first.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

enum class Established : uint8_t {
  kRoles,    // every worker has its role
  kPlaces,   // every tile of who computes is in registers or in shared memory
  kBuffers,  // every field of a pipe has the buffer of its slots
  kSlots,    // every pipe has as many slots as fit
};

struct Sign {
  std::string what;  // "worker `load` has no role"
  Span span;
};

/// The first thing that is against it.
std::optional<Sign> LackOf(const ir::Kernel& kernel, Established what);

/// The first thing that tells that it was made true already, where that can't be done twice.
std::optional<Sign> DoneIn(const ir::Kernel& kernel, Established what);

}  // namespace tkc::passes

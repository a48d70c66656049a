// SPDX-License-Identifier: MIT
// Layouts of register tiles in the output.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace tkc::codegen {

/// `using name = tk::layout<..>;`, and what its numbers come to.
std::string LayoutLine(const std::string& name, const ir::RegisterLayout& layout);

}  // namespace tkc::codegen

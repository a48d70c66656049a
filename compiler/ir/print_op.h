// SPDX-License-Identifier: MIT
// Printing of operations; print.cpp prints what surrounds them.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace tkc::ir {

/// Appends the operations of a region, one a line, indented by `indent` spaces.
void PrintRegion(const Kernel& kernel, const Region& region, int indent, std::string& out);

/// A name as it is, or quoted where it would not read back as one.
std::string NameText(const std::string& name);

}  // namespace tkc::ir

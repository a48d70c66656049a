// SPDX-License-Identifier: MIT
// Statements of C++ that are too long for one line. They are broken behind commas and operators, the outermost first, and go on
// below what these separate; what can't be broken is left long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tkc::codegen {

/// The lines of a statement that begins behind `indent`, of at most `columns` characters where that can be.
std::vector<std::string> BreakStatement(std::string indent, std::string_view statement, size_t columns);

}  // namespace tkc::codegen

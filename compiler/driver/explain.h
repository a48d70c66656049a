// SPDX-License-Identifier: MIT
// `tkc --explain CODE`: the page of a diagnostic, from lang-spec/diagnostics.md as it was when tkc was built.
#pragma once

#include <string_view>

namespace tkc {

/// Prints the page; false when there is no such code.
bool Explain(std::string_view code);

}  // namespace tkc

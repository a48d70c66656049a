// SPDX-License-Identifier: MIT
// What --target accepts.
#pragma once

#include <string_view>

namespace tkc {

/// Prints the targets, one a line; kExitOk.
int ListTargets();
bool IsTarget(std::string_view name);

}  // namespace tkc

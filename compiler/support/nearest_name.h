// SPDX-License-Identifier: MIT
// What somebody may have meant who wrote a name that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tkc {

/// The candidate nearest to `name`, at most a third of its letters away; ties: the longest common beginning, then alphabetical
/// order. Empty if none is near.
std::string NearestName(std::string_view name, std::vector<std::string> candidates);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// What somebody may have meant who wrote a name that does not exist, and which names there are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tkc {

/// The candidate nearest to `name`: the same but for capitals, else at most a third of its letters away; ties: the longest common
/// beginning, then alphabetical order. Empty if none is near.
std::string NearestName(std::string_view name, std::vector<std::string> candidates);

/// "it has `A`, `B`", or "it has none": the end of a message that somebody has no such thing.
std::string WhatItHas(std::span<const std::string> names);

}  // namespace tkc

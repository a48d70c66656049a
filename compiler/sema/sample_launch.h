// SPDX-License-Identifier: MIT
// Launches that a kernel does not refuse and its schedule set takes, of few blocks along each range: what is true of one is true of
// a launch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/sema/typed.h"

namespace tkc::sema {

/// The extent of each dimension, by its name in formulas.
using Launch = std::map<std::string, int64_t, std::less<>>;

/// Of the first, blocks at the end of ranges are short where no condition forbids it; a second one has dimensions just beyond whole
/// blocks, where ranges end at parts of them. Nothing if none of those tried satisfies all conditions; what they ask of launch
/// scalars counts as satisfied.
std::vector<Launch> SampleLaunches(const typed::Kernel& kernel);

}  // namespace tkc::sema

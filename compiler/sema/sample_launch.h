// SPDX-License-Identifier: MIT
// A launch that a kernel does not refuse and its schedule set takes, of few blocks along each range: what is true of it is true of
// a launch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "compiler/sema/typed.h"

namespace tkc::sema {

/// The extent of each dimension, by its name in formulas.
using Launch = std::map<std::string, int64_t, std::less<>>;

/// Blocks at the end of ranges are short where no condition forbids it. Nothing if none of those tried satisfies all conditions;
/// what they ask of launch scalars counts as satisfied.
std::optional<Launch> SampleLaunch(const typed::Kernel& kernel);

}  // namespace tkc::sema

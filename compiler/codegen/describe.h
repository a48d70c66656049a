// SPDX-License-Identifier: MIT
// Parts of DescribeKernel (emit_kernel.h): what a reader should know before the code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::codegen {

/// `1 slot`, `2 slots`
std::string Plural(int64_t count, std::string_view what);
/// In what order tiles are taken: `row by row`, `column by column`, `in bands of 8 rows`
std::string OrderText(const ir::Kernel& kernel);
/// `load, compute[0..1]`
std::string RoleNames(const std::vector<const ir::Worker*>& roles);
/// Draws each pipe: who fills and who reads its slots, and what tells them when they may.
void DescribePipes(const ir::Kernel& kernel, std::vector<std::string>& lines);

}  // namespace tkc::codegen

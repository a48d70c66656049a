// SPDX-License-Identifier: MIT
// What the launcher asks of the arguments of an entry before anything else: types, ranks, extents, requirements, overlaps.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/ir/ir.h"

namespace tkc::codegen {

/// `TK_BF16`
std::string_view DTypeEnum(DType dtype);

/// Inside `check()`. `first` has the parameters of all `kernels` of the entry.
void EmitChecks(const ir::Kernel& first, const std::vector<const ir::Kernel*>& kernels, const ScalarPrinter& host, CodeWriter& out);

/// Where the schedule of `kernel` has been chosen: what only some of `kernels` require, by the values that their sets give.
void EmitOwnRequires(const ir::Kernel& kernel, const std::vector<const ir::Kernel*>& kernels, const ScalarPrinter& host,
                     CodeWriter& out);

}  // namespace tkc::codegen

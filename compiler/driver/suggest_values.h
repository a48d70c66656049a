// SPDX-License-Identifier: MIT
// Where shared memory or registers do not suffice: which parameter to halve, and how often, until they do; or to double, as what is
// small may count workers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace tkc {

/// Whether the passes come to an end with another value of a parameter.
using FitsWithValue = std::function<bool(const std::string& name, int64_t value)>;

/// A help beside the first error that has been reported and depends on sizes, if there is one and a value that fits. Of the
/// parameters of the kernels `failed`: others may have some of these names, with values of their own.
void SuggestValues(const ast::Program& program, const std::vector<const ir::Kernel*>& failed, const FitsWithValue& fits_with,
                   Diagnostics& diagnostics);

}  // namespace tkc

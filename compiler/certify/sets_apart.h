// SPDX-License-Identifier: MIT
// Slots that each instance has for itself, as arrays of their own: `row_full[2]` is a barrier like any other, which only those know
// who use it.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace tkc::certify {

/// Whether instances have sets of slots, with barriers, for themselves.
bool HasSets(const ir::Kernel& kernel);
ir::Kernel WithSetsApart(ir::Kernel kernel);
/// The name of one set's array, that of all together, and the rest.
std::string NameInSet(const std::string& array, int64_t instance);
std::string WithoutSet(const std::string& array);
std::string SetOf(const std::string& array);

}  // namespace tkc::certify

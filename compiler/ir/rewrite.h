// SPDX-License-Identifier: MIT
// Changes to operations and regions that passes have in common.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::ir {

/// Moves the operations behind those of `to`.
void Append(Region& to, Region more);

/// Each operand that is a key of `instead` becomes the value found there: of the operation alone, or of all in the region at any
/// depth.
void ReplaceOperands(Op& op, const std::map<ValueId, ValueId>& instead);
void ReplaceOperands(Region& region, const std::map<ValueId, ValueId>& instead);

/// Replaces a scalar name everywhere in the region.
void Substitute(Region& region, const std::string& name, const Scalar& value);

/// The region with new values for all that it defines, so that it can stand in several places. The new names end in `suffix`.
Region Copied(Kernel& kernel, const Region& region, const std::string& suffix = "");

}  // namespace tkc::ir

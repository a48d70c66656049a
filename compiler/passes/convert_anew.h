// SPDX-License-Identifier: MIT
// Where tiles in use at once take more registers than the schedule leaves to a thread, those that were only converted to a wider
// type are kept as they were, and converted anew wherever they are used:
//
//     x = convert X                  becomes     s = reduce (convert X)
//     s = reduce x; .. store x - s               .. store (convert_anew X) - s
//
// A conversion is an instruction or less for an element; a wide copy of a row that waits for a reduction is half of all registers.
#pragma once

#include <cstdint>
#include <map>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// The conversions that may be done anew wherever their results, by which they are listed, are used.
std::map<ir::ValueId, const ir::Op*> FindWidening(const ir::Kernel& kernel, const ir::Worker& worker);

/// Where tiles in use at once take more than `registers`.
void ConvertAnewWithin(ir::Kernel& kernel, ir::Worker& worker, int64_t registers);

Result<void> ConvertAnew(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Reads the text that Print writes, so that a pass can be run and tested alone. Reports the first fault of a text, with its place.
// Spans of operations point into the IR's text.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::ir {

/// `file`: the number of the text in the SourceManager (kNoFile: faults then have no place).
Result<Module> Parse(std::string_view text, uint32_t file, Diagnostics& diagnostics);

}  // namespace tkc::ir

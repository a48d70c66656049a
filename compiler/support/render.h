// SPDX-License-Identifier: MIT
// Diagnostics as text for people and as JSON for editors.
#pragma once

#include <string>

#include "compiler/support/diagnostic.h"
#include "compiler/support/source_manager.h"

namespace tkc {

/// All diagnostics in source order, at most Diagnostics::kShown errors, then a line that counts the rest.
std::string RenderText(const Diagnostics& diagnostics, const SourceManager& sources);

/// One object per line and diagnostic, with the ranges of the Language Server Protocol
/// (lines and UTF-16 columns from 0) and edits as `newText`.
std::string RenderJson(const Diagnostics& diagnostics, const SourceManager& sources);

/// `file:line:column`.
std::string RenderPlace(const SourceManager& sources, Span span);

/// A JSON string literal with its quotes.
std::string JsonString(std::string_view text);

}  // namespace tkc

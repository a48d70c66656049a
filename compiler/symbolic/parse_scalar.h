// SPDX-License-Identifier: MIT
// Reads the text that ToString writes: ToString(Parse(ToString(x))) == ToString(x), with the same simplifications as Make.
#pragma once

#include <functional>
#include <string_view>

#include "compiler/symbolic/scalar.h"
#include "compiler/symbolic/text_lexer.h"

namespace tkc::symbolic {

/// The type of a name or of a tensor's elements. What the text does not declare is a mathematical integer: return kI64.
using DTypeOf = std::function<DType(std::string_view name)>;

/// Reads one scalar and leaves the lexer behind it. Null after an error, which has been reported.
Scalar ParseScalar(TextLexer& lexer, const DTypeOf& dtype_of);

/// A whole text that is one scalar.
Scalar ParseScalar(std::string_view text, const DTypeOf& dtype_of, Diagnostics& diagnostics);

}  // namespace tkc::symbolic

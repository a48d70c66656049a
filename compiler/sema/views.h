// SPDX-License-Identifier: MIT
// Views of tiles, as short as they can be said: what is transposed twice is as it was, parts of parts are parts.
#pragma once

#include "compiler/sema/typed.h"

namespace tkc::sema {

typed::ExprPtr Transpose(typed::ExprPtr expr, Span span);

/// `extent` rows (`axis` 0) or columns (1) of a tile from `offset` on. Parts of accesses are smaller accesses, also behind a
/// transpose or a conversion.
typed::ExprPtr Part(typed::ExprPtr expr, int axis, typed::ExprPtr offset, int64_t extent, Span span);

}  // namespace tkc::sema

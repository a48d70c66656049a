// SPDX-License-Identifier: MIT
// What the language specifies and this tkc does not carry out yet, in one place: the checker understands these forms, finds
// their errors, and reports `not-implemented` only where a kernel is otherwise right. A phase that learns one flips it here.
#pragma once

namespace tkc::sema {

inline constexpr bool kHasInTurn = true;          // workers whose instances take whole tiles alternately
inline constexpr bool kHasPartSends = true;       // slots filled by several sends
inline constexpr bool kHasPerPipes = false;       // one ring for each instance of a worker
inline constexpr bool kHasRaggedGrids = false;    // an axis whose range depends on other axes or on an index tensor
inline constexpr bool kHasDataConditions = true;  // `any(..)`, `all(..)`: one truth value of a tile

}  // namespace tkc::sema

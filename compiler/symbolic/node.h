// SPDX-License-Identifier: MIT
// How nodes of scalars are made, for the files of symbolic/: everyone else builds scalars with the functions of scalar.h.
#pragma once

#include <memory>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

/// For who builds scalars: filled in, it becomes one.
inline std::shared_ptr<Node> NewNode(Kind kind, DType dtype) { return std::make_shared<Node>(kind, dtype); }

}  // namespace tkc::symbolic

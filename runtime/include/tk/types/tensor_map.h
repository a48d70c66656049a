// SPDX-License-Identifier: MIT
// The driver's description of a tensor for the copy engine.
#pragma once

#include <cstdint>

namespace tk {

/// 128 bytes (CUtensorMap), passed to kernels as TK_TENSOR_MAP.
struct alignas(64) tensor_map {
    uint64_t opaque[16];
};

}  // namespace tk

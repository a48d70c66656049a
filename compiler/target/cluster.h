// SPDX-License-Identifier: MIT
#pragma once

namespace tkc {

/// Of a cluster, on every target that has them: what a schedule may ask for, and what kernels may count on.
inline constexpr int kMostBlocksOfCluster = 8;

}  // namespace tkc

// SPDX-License-Identifier: MIT
// How many blocks a cluster has at most: for sema, too, which checks schedules without asking a target.
#pragma once

namespace tkc {

/// Of a cluster, on every target that has them: what a schedule may ask for, and what kernels may count on.
inline constexpr int kMostBlocksOfCluster = 8;

}  // namespace tkc

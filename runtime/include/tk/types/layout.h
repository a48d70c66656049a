// SPDX-License-Identifier: MIT
// Where the elements of a warpgroup's register tile live: which thread, which register.
#pragma once

#include "tk/types/integer.h"

namespace tk {

/// A thread's position in its warpgroup.
struct lane_position {
    int warp;  // 0..3
    int lane;  // 0..31
};

/// A place in a tile's register array: row block i, column block j, half h, vector element e.
struct place {
    int i, j, h, e;
};

/// How a tile is dealt to the 128 threads of a warpgroup.
///
/// `Lanes` neighbouring lanes share a row, each holding `Vec` neighbouring columns at a time; `LaneRows`
/// such rows lie in a warp, `Halves` times over; `WarpRows` warps lie below each other:
///
///     row = (i * WarpRows + warp % WarpRows) * (Halves * LaneRows) + h * LaneRows + (lane / Lanes) % LaneRows
///     col = (j * Lanes + lane % Lanes) * Vec + e
///
/// Lanes and warps left over hold copies of the same elements (`owner` tells them from the first).
template <int Lanes_, int Vec_, int Halves_, int LaneRows_, int WarpRows_>
struct layout {
    static constexpr int Lanes = Lanes_, Vec = Vec_, Halves = Halves_, LaneRows = LaneRows_, WarpRows = WarpRows_;
    static_assert(Lanes * LaneRows <= 32 && (Lanes & (Lanes - 1)) == 0 && (LaneRows & (LaneRows - 1)) == 0);
    static_assert(WarpRows == 1 || WarpRows == 2 || WarpRows == 4);

    /// Rows and columns covered by one (i, j).
    static constexpr int block_rows = WarpRows * Halves * LaneRows;
    static constexpr int block_cols = Lanes * Vec;

    static TK_HOST_DEVICE constexpr int row(lane_position at, int i, int h) {
        return i * block_rows + h * LaneRows + (at.warp % WarpRows) * (Halves * LaneRows) + (at.lane / Lanes) % LaneRows;
    }
    static TK_HOST_DEVICE constexpr int col(lane_position at, int j, int e) {
        return j * block_cols + e + (at.lane % Lanes) * Vec;
    }

    /// True in the first of the threads that hold the same rows.
    static TK_HOST_DEVICE constexpr bool owns_rows(lane_position at) {
        return at.warp < WarpRows && at.lane < Lanes * LaneRows;
    }
    static TK_HOST_DEVICE constexpr bool owns_first_row(lane_position at) { return at.warp == 0 && at.lane < Lanes; }
    static TK_HOST_DEVICE constexpr bool owns_first_col(lane_position at) { return at.lane % Lanes == 0; }
};

/// The accumulator fragment of wgmma, repeated for every 64 rows.
using mma_layout = layout<4, 2, 2, 8, 4>;

}  // namespace tk

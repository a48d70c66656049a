// SPDX-License-Identifier: MIT
// Orders in which a grid of output tiles is walked.
#pragma once

#include "tk/types/integer.h"

namespace tk {

struct tile_position {
    int m, n;
};

/// Tile `number` of tiles_m x tiles_n in super-rows of `group` tile rows, column by column within each: tiles
/// that run at the same time share few rows of A and columns of B, so both stay in L2. A bijection.
TK_HOST_DEVICE constexpr tile_position grouped_order(int number, int tiles_m, int tiles_n, int group) {
    const int per_group = group * tiles_n;
    const int first = number / per_group * group;
    const int rows = min(tiles_m - first, group);
    const int inside = number % per_group;
    return {first + inside % rows, inside / rows};
}

/// What block `number` of `count` takes where blocks go to `chiplets` in turn, each with a cache of its own: every chiplet has a
/// run of neighbours in the list of tiles, the first count % chiplets of them one more than the others. A bijection.
TK_HOST_DEVICE constexpr int chiplet_order(int number, int count, int chiplets) {
    const int chiplet = number % chiplets;
    return chiplet * (count / chiplets) + min(chiplet, count % chiplets) + number / chiplets;
}

/// What a block that took `number` of a list takes next, where each lap over the `count` blocks goes the other way than the one before:
/// who was last comes first. In each lap a bijection.
TK_HOST_DEVICE constexpr int there_and_back(int number, int count) { return number + 2 * (count - number % count) - 1; }

}  // namespace tk

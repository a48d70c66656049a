// SPDX-License-Identifier: MIT
#include "runtime/sim/tensor_box.h"

#include <algorithm>

namespace tk::sim {

box_row row_of_box(const tensor_map_fields& map, const int* at, uint32_t number, bool for_store) {
    const int64_t size = map.element_bytes, width = map.box[0];
    box_row row{int64_t(at[0]) * size, number * box_pitch(map), 0, 0};
    bool exists = true;
    for (int d = 1; d < map.rank; ++d) {
        const int64_t index = int64_t(at[d]) + number % map.box[d];
        number /= map.box[d];
        exists = exists && index >= 0 && index < int64_t(map.extent[d]);
        row.global += index * int64_t(map.stride[d]);
    }
    int64_t limit = int64_t(map.extent[0]);
    if (for_store) limit = (limit * size + 15) / 16 * 16 / size;
    const int64_t begin = std::clamp<int64_t>(-int64_t(at[0]), 0, width),
                  end = std::clamp<int64_t>(limit - at[0], begin, width);
    if (exists) row.begin = uint32_t(begin), row.end = uint32_t(end);
    return row;
}

}  // namespace tk::sim

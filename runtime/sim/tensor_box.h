// SPDX-License-Identifier: MIT
// Where the elements of a copy engine's box lie, row by row of its innermost dimension: a row is
// `pitch` bytes of shared memory, before swizzling, and the elements begin .. end - 1 of it exist in the tensor.
#pragma once

#include <cstdint>

#include "runtime/sim/tensor_map.h"

namespace tk::sim {

struct box_row {
    int64_t global;       // byte offset of the row's element 0 from the map's base; that element may not exist
    uint32_t shared;      // byte offset of the row in the box, before swizzling
    uint32_t begin, end;  // elements of the row that exist; begin == end: none
};

/// All bytes of the box: what a barrier counts, outside the tensor too.
inline uint32_t box_bytes(const tensor_map_fields& map) {
    uint32_t bytes = uint32_t(map.element_bytes);
    for (int d = 0; d < map.rank; ++d) bytes *= map.box[d];
    return bytes;
}

/// Bytes from row to row of the box in shared memory: a box narrower than the swizzle keeps the swizzle's width.
inline uint32_t box_pitch(const tensor_map_fields& map) {
    return map.swizzle ? uint32_t(map.swizzle) : map.box[0] * uint32_t(map.element_bytes);
}

inline uint32_t box_rows(const tensor_map_fields& map) {
    uint32_t rows = 1;
    for (int d = 1; d < map.rank; ++d) rows *= map.box[d];
    return rows;
}

/// Row `number` of the box at coordinates `at`, innermost dimension first. `for_store`: the innermost dimension is
/// clipped to whole 16 bytes only, so elements behind the tensor's last can be written (seen on an H200).
box_row row_of_box(const tensor_map_fields& map, const int* at, uint32_t number, bool for_store);

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// What the simulator keeps in a tk::tensor_map's 128 bytes, in place of the driver's secret format: the same facts,
// checked by the same rules as cuTensorMapEncodeTiled. Dimensions are innermost first.
#pragma once

#include <cstdint>

namespace tk::sim {

struct tensor_map_fields {
    uint64_t base = 0;        // address of element 0
    int dtype = 0;            // tk_dtype
    int element_bytes = 0;    // from dtype
    int rank = 0;             // 1 to 5
    int swizzle = 0;          // 0, 32, 64 or 128 bytes
    uint64_t extent[5] = {};  // elements
    uint64_t stride[5] = {};  // bytes; [0] is element_bytes
    uint32_t box[5] = {};     // elements
};

/// Bytes of an element of a tk_dtype; 0 if there is no such type.
int element_bytes(int dtype);

/// Writes the map. Null, or why the driver would refuse the description.
const char* encode(uint64_t (&opaque)[16], const tensor_map_fields& fields);

/// False if the 128 bytes are not a map that `encode` wrote.
bool decode(const uint64_t (&opaque)[16], tensor_map_fields& fields);

}  // namespace tk::sim

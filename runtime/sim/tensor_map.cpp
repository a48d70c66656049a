// SPDX-License-Identifier: MIT
// Packing: words 0 mark, 1 base, 2 rank | dtype | swizzle, 3 boxes - 1 in bytes, 4-8 extents, 9-12 outer strides, 13
// check sum.
#include "runtime/sim/tensor_map.h"

#include "tk/host/abi.h"

namespace tk::sim {

namespace {

constexpr uint64_t kMark = 0x70616d2d6d69732d;  // "-sim-map"

uint64_t check_sum(const uint64_t (&words)[16]) {
    uint64_t sum = 0;
    for (int i = 0; i < 13; ++i) sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
    return sum;
}

const char* refusal(const tensor_map_fields& f) {
    if (f.rank < 1 || f.rank > 5) return "the rank is not 1 to 5";
    const uint64_t size = uint64_t(element_bytes(f.dtype));
    if (size == 0) return "no such element type";
    if (f.base == 0 || f.base % 16 != 0) return "the tensor does not start at a multiple of 16 bytes";
    if (f.swizzle != 0 && f.swizzle != 32 && f.swizzle != 64 && f.swizzle != 128) return "no such swizzle";
    for (int d = 0; d < f.rank; ++d) {
        if (f.extent[d] < 1 || f.extent[d] > uint64_t(1) << 32) return "an extent is not 1 to 2^32";
        if (f.box[d] < 1 || f.box[d] > 256) return "a dimension of the box is not 1 to 256";
        if (d > 0 && f.stride[d] % 16 != 0) return "a stride is not a multiple of 16 bytes";
        if (d > 0 && f.stride[d] >= uint64_t(1) << 40) return "a stride is 2^40 bytes or more";
    }
    if (f.box[0] * size % 16 != 0) return "the box's rows are not a multiple of 16 bytes";
    if (f.swizzle != 0 && f.box[0] * size > uint64_t(f.swizzle)) return "the box's rows are wider than the swizzle";
    return nullptr;
}

}  // namespace

int element_bytes(int dtype) {
    switch (dtype) {
        case TK_BF16:
        case TK_F16: return 2;
        case TK_F32:
        case TK_I32:
        case TK_U32: return 4;
        case TK_I64:
        case TK_U64: return 8;
        case TK_BOOL:
        case TK_E4M3:
        case TK_E5M2:
        case TK_I8:
        case TK_U8: return 1;
        default: return 0;
    }
}

const char* encode(uint64_t (&opaque)[16], const tensor_map_fields& fields) {
    if (const char* reason = refusal(fields)) return reason;
    for (uint64_t& word : opaque) word = 0;
    opaque[0] = kMark;
    opaque[1] = fields.base;
    opaque[2] = uint64_t(fields.rank) | uint64_t(fields.dtype) << 8 | uint64_t(fields.swizzle) << 16;
    for (int d = 0; d < fields.rank; ++d) {
        opaque[3] |= uint64_t(fields.box[d] - 1) << 8 * d;
        opaque[4 + d] = fields.extent[d];
        if (d > 0) opaque[8 + d] = fields.stride[d];
    }
    opaque[13] = check_sum(opaque);
    return nullptr;
}

bool decode(const uint64_t (&opaque)[16], tensor_map_fields& fields) {
    if (opaque[0] != kMark || opaque[13] != check_sum(opaque)) return false;
    fields = {};
    fields.base = opaque[1];
    fields.rank = int(opaque[2] & 0xff);
    fields.dtype = int(opaque[2] >> 8 & 0xff);
    fields.swizzle = int(opaque[2] >> 16);
    fields.element_bytes = element_bytes(fields.dtype);
    for (int d = 0; d < fields.rank; ++d) {
        fields.box[d] = uint32_t(opaque[3] >> 8 * d & 0xff) + 1;
        fields.extent[d] = opaque[4 + d];
        fields.stride[d] = d > 0 ? opaque[8 + d] : uint64_t(fields.element_bytes);
    }
    return true;
}

}  // namespace tk::sim

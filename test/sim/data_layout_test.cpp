// SPDX-License-Identifier: MIT
// Where data lie: tensor maps, boxes over the edge of a tensor, descriptors, fragments. The runtime's own addressing
// (tk::shared_view, tk::matrix_descriptor, tk::layout) was proved on the hardware, so the simulator's is compared with
// it.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "runtime/sim/fragment.h"
#include "runtime/sim/matrix_descriptor.h"
#include "runtime/sim/reduction.h"
#include "runtime/sim/tensor_box.h"
#include "runtime/sim/tensor_map.h"
#include "tk/host/abi.h"
#include "tk/ops/warpgroup_mma.h"
#include "tk/sim/sm80/convert.h"
#include "tk/sim/sm80/math.h"

namespace tk::sim {
namespace {

tensor_map_fields matrix_map(uint64_t rows, uint64_t columns, uint64_t pitch, uint32_t box_rows, uint32_t box_columns,
                             int width) {
    tensor_map_fields map;
    map.base = 4096, map.dtype = TK_BF16, map.element_bytes = 2, map.rank = 2, map.swizzle = width;
    map.extent[0] = columns, map.extent[1] = rows;
    map.stride[0] = 2, map.stride[1] = pitch;
    map.box[0] = box_columns, map.box[1] = box_rows;
    return map;
}

TEST(TensorMap, IsReadBackAsWritten) {
    tensor_map_fields map;
    map.base = 0x7f0012345680, map.dtype = TK_F32, map.rank = 5, map.swizzle = 64;
    for (int d = 0; d < 5; ++d) {
        map.extent[d] = uint64_t(1) << (32 - d), map.box[d] = d == 0 ? 16 : uint32_t(256 - d);
        map.stride[d] = d == 0 ? 4 : (uint64_t(1) << 40) - 16 * uint64_t(d);
    }
    uint64_t opaque[16];
    ASSERT_EQ(encode(opaque, map), nullptr);
    tensor_map_fields read;
    ASSERT_TRUE(decode(opaque, read));
    EXPECT_EQ(read.base, map.base);
    EXPECT_EQ(read.element_bytes, 4);
    EXPECT_EQ(read.swizzle, 64);
    for (int d = 0; d < 5; ++d) {
        EXPECT_EQ(read.extent[d], map.extent[d]);
        EXPECT_EQ(read.stride[d], map.stride[d]);
        EXPECT_EQ(read.box[d], map.box[d]);
    }
    opaque[5] ^= 1;
    EXPECT_FALSE(decode(opaque, read));
    const uint64_t nothing[16] = {};
    EXPECT_FALSE(decode(nothing, read));
}

TEST(TensorMap, RefusesWhatTheDriverRefuses) {
    uint64_t opaque[16];
    const auto accepted = [&](auto change) {
        tensor_map_fields map = matrix_map(100, 64, 128, 64, 64, 128);
        change(map);
        return encode(opaque, map) == nullptr;
    };
    EXPECT_TRUE(accepted([](auto&) {}));
    EXPECT_FALSE(accepted([](auto& m) { m.base += 8; }));
    EXPECT_FALSE(accepted([](auto& m) { m.rank = 6; }));
    EXPECT_FALSE(accepted([](auto& m) { m.extent[1] = 0; }));
    EXPECT_FALSE(accepted([](auto& m) { m.box[1] = 257; }));
    EXPECT_FALSE(accepted([](auto& m) { m.box[0] = 72; }));  // wider than the swizzle
    EXPECT_TRUE(accepted([](auto& m) { m.box[0] = 72, m.swizzle = 0; }));
    EXPECT_FALSE(accepted([](auto& m) { m.box[0] = 4, m.swizzle = 0; }));  // 8 bytes
    EXPECT_FALSE(accepted([](auto& m) { m.stride[1] = 136; }));
    EXPECT_FALSE(accepted([](auto& m) { m.stride[1] = uint64_t(1) << 40; }));
}

TEST(TensorBox, InsideTheTensor) {
    const tensor_map_fields map = matrix_map(100, 200, 416, 4, 64, 128);
    const int at[] = {64, 10};
    EXPECT_EQ(box_bytes(map), 4u * 64 * 2);
    const box_row row = row_of_box(map, at, 3, false);
    EXPECT_EQ(row.global, 13 * 416 + 128);
    EXPECT_EQ(row.shared, 3u * 128);
    EXPECT_EQ(row.begin, 0u);
    EXPECT_EQ(row.end, 64u);
}

TEST(TensorBox, OverEveryEdge) {
    const tensor_map_fields map = matrix_map(10, 20, 48, 8, 16, 0);
    const int low[] = {-5, -2};
    EXPECT_EQ(row_of_box(map, low, 0, false).end, 0u);  // tensor row -2
    EXPECT_EQ(row_of_box(map, low, 2, false).begin, 5u);
    EXPECT_EQ(row_of_box(map, low, 2, false).end, 16u);
    EXPECT_EQ(row_of_box(map, low, 2, false).global, -10);
    const int high[] = {16, 6};
    EXPECT_EQ(row_of_box(map, high, 3, false).end, 4u);
    EXPECT_EQ(row_of_box(map, high, 4, false).end, 0u);  // tensor row 10
    const int away[] = {1 << 30, 0};
    EXPECT_EQ(row_of_box(map, away, 0, false).end, 0u);
    EXPECT_EQ(box_bytes(map), 8u * 16 * 2);  // counted in full, always
}

TEST(TensorBox, StoresAreClippedToWhole16Bytes) {
    const tensor_map_fields narrow = matrix_map(10, 1, 32, 8, 8, 0), even = matrix_map(10, 24, 48, 8, 16, 0);
    const int origin[] = {0, 0}, last[] = {16, 0};
    EXPECT_EQ(row_of_box(narrow, origin, 0, false).end, 1u);
    EXPECT_EQ(row_of_box(narrow, origin, 0, true).end, 8u);
    EXPECT_EQ(row_of_box(even, last, 0, true).end, 8u);
}

TEST(TensorBox, NarrowBoxesKeepTheSwizzlesPitch) {
    const tensor_map_fields map = matrix_map(10, 24, 48, 8, 24, 64);
    const int at[] = {0, 0};
    EXPECT_EQ(row_of_box(map, at, 2, false).shared, 128u);
    EXPECT_EQ(box_bytes(map), 8u * 24 * 2);
}

TEST(TensorBox, FiveDimensions) {
    tensor_map_fields map;
    map.base = 64, map.dtype = TK_F32, map.element_bytes = 4, map.rank = 5;
    const uint64_t strides[] = {4, 64, 640, 6400, 64000};
    for (int d = 0; d < 5; ++d)
        map.extent[d] = d == 0 ? 16 : 10, map.box[d] = d == 0 ? 4 : 2, map.stride[d] = strides[d];
    const int at[] = {8, 1, 2, 3, 9};
    const box_row row = row_of_box(map, at, 5, false);  // 5 = 1 + 0 * 2 + 1 * 4
    EXPECT_EQ(row.global, 32 + 2 * 64 + 2 * 640 + 4 * 6400 + 9 * 64000);
    EXPECT_EQ(row.end, 4u);
    EXPECT_EQ(row_of_box(map, at, 8, false).end, 0u);  // the outermost index would be 10
}

/// The simulator finds element (mn, k) of the view, through the runtime's descriptor, where the runtime puts it.
template <class View, bool KMajor>
void expect_same_addresses(const View& view, int extent, int contraction) {
    const tk::detail::matrix_descriptor<View, KMajor> descriptor(view);
    for (int step = 0; step < contraction; step += 16) {
        const auto fields = decode_descriptor(descriptor.at(0, step));
        ASSERT_EQ(fields.unused, 0u);
        ASSERT_EQ(fields.base_offset, 0);
        for (int mn = 0; mn < extent; ++mn)
            for (int k = 0; k < 16; ++k) {
                const int within = KMajor ? k % 8 : mn % 8;
                const uint32_t chunk = chunk_address(fields, !KMajor, uint32_t(KMajor ? mn : mn - within),
                                                     uint32_t(KMajor ? k - within : k));
                const uint32_t expected = KMajor ? view.address(mn, step + k) : view.address(step + k, mn);
                ASSERT_EQ(chunk + uint32_t(within) * 2, expected) << mn << ", " << step + k;
            }
    }
}

template <class T, int R, int C, tk::swizzle S>
using whole_view = shared_view<T, R, C, S, R, C>;

TEST(Descriptor, NamesTheElementsOfTiles) {
    using tk::swizzle;
    for (uint32_t base : {0u, 1024u, 128u * 37}) {
        expect_same_addresses<whole_view<bf16, 64, 64, swizzle::b128>, true>({base, 0, 0}, 64, 64);
        expect_same_addresses<whole_view<bf16, 256, 128, swizzle::b128>, true>({base, 0, 0}, 256, 128);
        expect_same_addresses<whole_view<bf16, 64, 32, swizzle::b64>, true>({base, 0, 0}, 64, 32);
        expect_same_addresses<whole_view<bf16, 64, 16, swizzle::b32>, true>({base, 0, 0}, 64, 16);
        expect_same_addresses<whole_view<bf16, 64, 256, swizzle::b128>, false>({base, 0, 0}, 256, 64);
        expect_same_addresses<whole_view<bf16, 32, 64, swizzle::b64>, false>({base, 0, 0}, 64, 32);
        expect_same_addresses<whole_view<bf16, 16, 48, swizzle::b32>, false>({base, 0, 0}, 48, 16);
    }
}

TEST(Descriptor, WithoutSwizzle) {
    const uint64_t bits = uint64_t(4096 >> 4) | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
    const auto fields = decode_descriptor(bits);
    EXPECT_EQ(fields.start, 4096u);
    EXPECT_EQ(chunk_address(fields, false, 9, 8), 4096u + 256 + 128 + 16);
    EXPECT_EQ(chunk_address(fields, true, 8, 9), 4096u + 256 + 128 + 16);
    EXPECT_NE(decode_descriptor(bits | uint64_t(1) << 15).unused, 0u);
    EXPECT_EQ(decode_descriptor(bits | uint64_t(2) << 49).base_offset, 2);
}

TEST(Fragment, AccumulatorsLieAsTheRuntimesLayoutSays) {
    for (int thread = 0; thread < 128; ++thread)
        for (int n = 0; n < 128; ++n) {
            const lane_position at{thread / 32, thread % 32};
            const element_place place = accumulator_place(thread, n);
            EXPECT_EQ(place.row, mma_layout::row(at, 0, n / 2 % 2));
            EXPECT_EQ(place.col, mma_layout::col(at, n / 4, n % 2));
        }
}

TEST(Fragment, EachElementOfAIsInOneRegister) {
    std::set<std::pair<int, int>> seen;
    for (int thread = 0; thread < 128; ++thread)
        for (int r = 0; r < 4; ++r)
            for (int half = 0; half < 2; ++half) {
                const element_place at = operand_place(thread, r, half);
                seen.insert({at.row, at.col});
                // Sixteen columns of an accumulator become a register operand in place.
                EXPECT_EQ(at.row, accumulator_place(thread, 2 * r + half).row);
                EXPECT_EQ(at.col, accumulator_place(thread, 2 * r + half).col);
            }
    EXPECT_EQ(seen.size(), 64u * 16);
}

TEST(Reduction, SumsOfFloatsAreRoundedOnce) {
    // 1 + 2^-8 is a tie in bf16 (8 bits); a little more must not be lost on the way.
    EXPECT_EQ(add_bf16(0x3f80, 0x3b80), 0x3f80);  // 1 + 2^-8: to even
    EXPECT_EQ(add_bf16(0x3f80, 0x3b81), 0x3f81);
    EXPECT_EQ(add_bf16(0x3f81, 0x3b80), 0x3f82);  // to even, upwards
    EXPECT_EQ(add_bf16(0x0001, 0x0001), 0x0002);  // subnormals stay
    EXPECT_EQ(add_bf16(0x7f7f, 0x7f7f), 0x7f80);  // overflow
    EXPECT_EQ(add_bf16(0x5f80, 0x1f81), 0x5f80);  // 2^64 + 2^-64
    EXPECT_EQ(add_f16(0x3c00, 0x1000), 0x3c00);   // 1 + 2^-11: to even
    EXPECT_EQ(add_f16(0x3c00, 0x1001), 0x3c01);
    EXPECT_EQ(add_f16(0x0001, 0x03ff), 0x0400);
    EXPECT_EQ(add_f16(0x7bff, 0x7bff), 0x7c00);
    EXPECT_EQ(add_f32(0x1p-130f, 1.0f), 1.0f);
    EXPECT_EQ(add_f32(0x1p-130f, 0x1p-130f), 0.0f);
    EXPECT_TRUE(std::signbit(add_f32(-0x1p-130f, -0x1p-130f)));
}

TEST(Reduction, NaNsHaveNoPayload) {
    const auto sum = [](uint32_t x, uint32_t y) {
        return __builtin_bit_cast(uint32_t, add_f32(__builtin_bit_cast(float, x), __builtin_bit_cast(float, y)));
    };
    EXPECT_EQ(sum(0xffd155eb, 0x3f800000), 0x7fffffffu);  // a quiet one
    EXPECT_EQ(sum(0x3f800000, 0x7f812345), 0x7fffffffu);  // a signalling one
    EXPECT_EQ(sum(0x7f800000, 0xff800000), 0x7fffffffu);  // inf - inf
    EXPECT_EQ(sum(0x7f800000, 0x7f7fffff), 0x7f800000u);
    EXPECT_EQ(add_bf16(0xffc1, 0x3f80), 0x7fff);
    EXPECT_EQ(add_f16(0x7c00, 0xfc00), 0x7fff);
}

TEST(Conversion, EverySixteenBitValueComesBack) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const float f = widen_f16(uint16_t(bits)), b = __builtin_bit_cast(float, bits << 16);
        EXPECT_EQ(round_to_f16(f), std::isnan(f) ? 0x7fff : bits);
        EXPECT_EQ(round_to_bf16(b), std::isnan(b) ? 0x7fff : bits);
    }
}

TEST(Math, SubnormalsCountAsZero) {
    EXPECT_EQ(sm80::ex2_approx(-127.0f), 0.0f);
    EXPECT_EQ(sm80::ex2_approx(-126.0f), 0x1p-126f);
    EXPECT_EQ(sm80::rcp_approx(-0x1p-130f), -HUGE_VALF);
    EXPECT_EQ(sm80::rcp_approx(0x1p127f), 0.0f);
}

}  // namespace
}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// The tensor core's sums: what truncation does, and that the fast way gives the definition's bits.
#include "runtime/sim/tensor_core.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "tk/sim/sm80/convert.h"

namespace tk::sim {
namespace {

/// The sum of the products first[k] * 1 and c.
float sum_of(std::initializer_list<float> first, float c, operand_type type = operand_type::bf16) {
    float a[16] = {}, b[16];
    std::copy(first.begin(), first.end(), a);
    std::fill(b, b + 16, 1.0f);
    return tensor_core_sum(a, b, c, type);
}

TEST(TensorCore, AddendsKeep25BitsBelowTheLargest) {
    EXPECT_EQ(sum_of({0x1p-25f, 0x1p-25f, 0x1p-25f, 0x1p-25f}, 1.0f), 1.0f + 0x1p-23f);
    EXPECT_EQ(sum_of({0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f}, 1.0f), 1.0f);
    // A lost addend is lost whatever its sign.
    EXPECT_EQ(sum_of({-0x1p-26f, -0x1p-26f, -0x1p-26f}, 1.0f), 1.0f);
}

TEST(TensorCore, SumsAreTruncatedTowardsZero) {
    EXPECT_EQ(sum_of({0x1p-24f}, 1.0f), 1.0f);            // rounding to nearest would have a tie
    EXPECT_EQ(sum_of({0x1p-24f, 0x1p-25f}, 1.0f), 1.0f);  // rounding to nearest would go up
    EXPECT_EQ(sum_of({-0x1p-25f}, 1.0f), 1.0f - 0x1p-24f);
    EXPECT_EQ(sum_of({0x1p-25f}, -1.0f), -(1.0f - 0x1p-24f));
}

TEST(TensorCore, TheAccumulatorIsAnAddendLikeTheProducts) {
    EXPECT_EQ(sum_of({1.0f}, 0x1.fffffep-26f), 1.0f);
    EXPECT_EQ(sum_of({256.0f, -256.0f}, 0x1p-17f), 0x1p-17f);
    EXPECT_EQ(sum_of({256.0f, -256.0f}, 0x1p-18f), 0.0f);  // below 2^(8 - 25)
}

TEST(TensorCore, SpecialValues) {
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(sum_of({infinity}, 1.0f), infinity);
    EXPECT_EQ(sum_of({-infinity}, 1.0f), -infinity);
    EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity}, 1.0f)));
    EXPECT_TRUE(std::isnan(sum_of({infinity}, -infinity)));
    EXPECT_TRUE(std::isnan(sum_of({nan}, 0.0f)));
    EXPECT_TRUE(std::isnan(sum_of({}, nan)));
    float a[16] = {infinity}, b[16] = {};
    EXPECT_TRUE(std::isnan(tensor_core_sum(a, b, 0, operand_type::bf16)));
    const float largest = std::numeric_limits<float>::max();
    EXPECT_EQ(sum_of({0x1p127f, 0x1p127f}, 0), infinity);
    EXPECT_EQ(sum_of({0x1p100f}, largest), largest);
    EXPECT_EQ(std::bit_cast<uint32_t>(sum_of({}, -0.0f)), 0u);
}

TEST(TensorCore, SubnormalsCount) {
    EXPECT_EQ(sum_of({0x1p-133f, 0x1p-133f}, 0), 0x1p-132f);
    EXPECT_EQ(sum_of({0x1p-24f, 0x1p-24f}, 0, operand_type::f16), 0x1p-23f);
    EXPECT_EQ(sum_of({}, 0x1p-149f), 0x1p-149f);
}

/// A random value of the type: `kind` 0 normal, 1 wide exponents, 2 many zeros, 3 everything, subnormals, infinities
/// and NaN too.
float random_value(std::mt19937& generator, operand_type type, int kind) {
    std::normal_distribution<float> normal;
    float x = normal(generator);
    if (kind == 1) x = std::ldexp(x, int(generator() % 24) - 12);
    if (kind == 2 && generator() % 3 == 0) x = 0;
    uint16_t bits = type == operand_type::bf16 ? round_to_bf16(x) : round_to_f16(x);
    if (kind == 3 && generator() % 4 == 0) bits = uint16_t(generator());
    return operand_value(bits, type);
}

TEST(TensorCore, TheFastWayGivesTheBitsOfTheDefinition) {
    std::mt19937 generator(7);
    const auto operands = std::make_unique<product_operands>();
    std::vector<float> d(64 * 256), before;
    for (operand_type type : {operand_type::bf16, operand_type::f16})
        for (int kind = 0; kind < 4; ++kind) {
            const int columns = kind == 0 ? 256 : 8 * int(1 + generator() % 6);
            for (auto& row : operands->a)
                for (float& x : row) x = random_value(generator, type, kind);
            for (auto& row : operands->b)
                for (float& x : row) x = random_value(generator, type, kind);
            for (float& x : d) x = random_value(generator, operand_type::bf16, kind) * 1.0001f;
            before = d;
            const bool accumulate = kind != 2;
            multiply_accumulate(*operands, 64, columns, accumulate, d.data(), type);
            for (int r = 0; r < 64; ++r)
                for (int c = 0; c < 256; ++c) {
                    float b[16];
                    for (int k = 0; k < 16; ++k) b[k] = operands->b[k][c];
                    const size_t at = size_t(r) * 256 + size_t(c);
                    const float expected = c >= columns
                                               ? before[at]
                                               : tensor_core_sum(operands->a[r], b, accumulate ? before[at] : 0, type);
                    ASSERT_EQ(std::bit_cast<uint32_t>(d[at]), std::bit_cast<uint32_t>(expected))
                        << "kind " << kind << ", " << r << ", " << c;
                }
        }
}

TEST(TensorCore, IntegersAreExact) {
    std::mt19937 generator(3);
    for (int n = 0; n < 1000; ++n) {
        float a[16], b[16];
        const int c = int(generator() % 20001) - 10000;
        int64_t exact = c;
        for (int k = 0; k < 16; ++k) {
            const int x = int(generator() % 257) - 128, y = int(generator() % 257) - 128;
            a[k] = float(x), b[k] = float(y), exact += x * y;
        }
        EXPECT_EQ(tensor_core_sum(a, b, float(c), operand_type::bf16), float(exact));
    }
}

}  // namespace
}  // namespace tk::sim

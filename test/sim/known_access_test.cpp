// SPDX-License-Identifier: MIT
// What a kernel presumes of an access (tk::aligned, tk::inside) it does not ask any more, and where it does not hold the simulator says
// so. What the launcher calls aligned (tk::host) is what kernels presume.
#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

using lanes = layout<32, 4, 1, 1, 1, 4>;
constexpr int kRows = 4, kCols = 512;

/// Copies one row of blocks, and of parts of pairs.
TK_KERNEL(128)
copies(const tensor<const float, 2> in, const tensor<float, 2> out, int row) {
    grid::wait_previous();
    const auto x = warpgroup::load<1, kCols, lanes>(aligned(in.block(inside<1>(row), all<kCols>())));
    warpgroup::store(aligned(out.block(inside<1>(row), all<kCols>())), x);
}
TK_KERNEL(128)
copies_parts(const tensor<const float, 3> in, const tensor<float, 3> out, int row) {
    grid::wait_previous();
    const auto [a, b] = warpgroup::load_parts<2, 1, kCols, lanes>(aligned(in.parts(inside<1>(row), all<kCols>())));
    warpgroup::store_parts(aligned(out.parts(inside<1>(row), all<kCols>())), a, b);
}
TK_KERNEL(128)
copies_parts_of_one(const tensor<const float, 3> in, const tensor<float, 3> out, int row) {
    grid::wait_previous();
    const auto [a, b] = warpgroup::load_parts<2, 1, kCols, lanes>(aligned(transposed(in.parts(inside(row), all<kCols>()))));
    warpgroup::store_parts(aligned(transposed(out.parts(inside(row), all<kCols>()))), a, b);
}

/// Random bits of numbers that follow each other, known to begin at a multiple of four.
TK_KERNEL(128)
draws(const tensor<uint32_t, 2> out, index first) {
    grid::wait_previous();
    const auto at = row_positions<1, lanes, index>(0) * 1 + (col_positions<kCols, lanes, index>(0) + first);
    warpgroup::store(out.block(inside<1>(0), all<kCols>()), random(1, aligned(at)));
}
TEST(KnownAccess, numbers) {
    for (const index first : {8, 6}) {
        fresh_machine(1);
        const tensor<uint32_t, 2> out{tensor_memory<uint32_t>("out", kCols, true, 0u), {1, kCols}, {kCols, 1}};
        const outcome o = run<draws>(1, 128, 0, out, first);
        EXPECT_EQ(o.has("misaligned"), first % 4 != 0) << o.text();
        EXPECT_EQ(out.data[5], philox(1, uint64_t(first + 5) / 4).word[(first + 5) % 4]);
    }
}

/// The same bytes, as rows of elements or of pairs, from element `offset` on.
template <auto Kernel, int Parts>
outcome run_copy(int row, int offset) {
    constexpr int row_elements = kCols * Parts, elements = kRows * row_elements;
    fresh_machine(1);
    const float* in = tensor_memory<float>("in", elements + 4, true, 3.0f) + offset;
    float* out = tensor_memory<float>("out", elements + 4, true, 0.0f) + offset;
    if constexpr (Parts == 1) {
        return run<Kernel>(1, 128, 0, tensor<const float, 2>{in, {kRows, kCols}, {kCols, 1}},
                           tensor<float, 2>{out, {kRows, kCols}, {kCols, 1}}, row);
    } else {
        return run<Kernel>(1, 128, 0, tensor<const float, 3>{in, {kRows, kCols, Parts}, {row_elements, Parts, 1}},
                           tensor<float, 3>{out, {kRows, kCols, Parts}, {row_elements, Parts, 1}}, row);
    }
}
template <auto Kernel, int Parts>
void expect_faults() {
    for (int row = 0; row < kRows; ++row) {
        const outcome o = run_copy<Kernel, Parts>(row, 0);
        EXPECT_TRUE(o.findings.empty()) << o.text();
    }
    EXPECT_TRUE((run_copy<Kernel, Parts>(1, 2).has("misaligned")));
    EXPECT_TRUE((run_copy<Kernel, Parts>(kRows, 0).has("out-of-bounds")));
}
TEST(KnownAccess, blocks) { expect_faults<copies, 1>(); }
TEST(KnownAccess, parts) { expect_faults<copies_parts, 2>(); }
TEST(KnownAccess, parts_of_one_row) { expect_faults<copies_parts_of_one, 2>(); }

tk_tensor described(uint64_t at, tk_dtype dtype, std::initializer_list<int64_t> extent, std::initializer_list<int64_t> stride) {
    tk_tensor t{reinterpret_cast<void*>(at), dtype, int(extent.size()), {}, {}};
    std::copy(extent.begin(), extent.end(), t.extent);
    std::copy(stride.begin(), stride.end(), t.stride);
    return t;
}
TEST(KnownAccess, launcher_asks_for_rows) {
    const auto holds = [](tk_tensor t) { return host::rows_aligned(&t); };
    EXPECT_TRUE(holds(described(4096, TK_BF16, {5, 7}, {8, 1})));
    EXPECT_FALSE(holds(described(4098, TK_BF16, {5, 7}, {8, 1})));
    EXPECT_FALSE(holds(described(4096, TK_BF16, {5, 7}, {7, 1})));
    EXPECT_FALSE(holds(described(4096, TK_BF16, {5, 7}, {16, 2})));
    EXPECT_TRUE(holds(described(4096, TK_BF16, {1, 7}, {7, 1})));
}
TEST(KnownAccess, launcher_asks_for_structures) {
    const auto holds = [](tk_tensor t) { return host::structures_aligned(&t); };
    EXPECT_TRUE(holds(described(4096, TK_BF16, {3, 5, 64, 2}, {640, 128, 2, 1})));
    EXPECT_TRUE(holds(described(4096, TK_BF16, {3, 5, 63, 2}, {1000, 128, 2, 1})));
    EXPECT_TRUE(holds(described(4096, TK_BF16, {3, 2}, {2, 1})));
    EXPECT_TRUE(holds(described(4096, TK_BF16, {3, 1, 2}, {8, 999, 1})));           // one structure a row
    EXPECT_TRUE(holds(described(4096, TK_BF16, {3, 0, 2}, {8, 999, 1})));           // none
    EXPECT_FALSE(holds(described(4100, TK_BF16, {3, 5, 64, 2}, {640, 128, 2, 1})));
    EXPECT_FALSE(holds(described(4096, TK_BF16, {3, 5, 64, 2}, {640, 128, 1, 64})));   // parts apart
    EXPECT_FALSE(holds(described(4096, TK_BF16, {3, 5, 64, 2}, {2560, 512, 8, 1})));   // structures apart
    EXPECT_FALSE(holds(described(4096, TK_BF16, {3, 5, 63, 2}, {630, 126, 2, 1})));    // rows of 252 bytes
}

}  // namespace
}  // namespace tk::sim_test

// SPDX-License-Identifier: MIT
// Coordinates of the copy engine's boxes: what an H200 takes for an illegal instruction is found, all else is silent
// and moves what exists.
#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

constexpr int kRows = 8, kColumns = 20, kBoxRows = 4, kBoxColumns = 8;  // f32: 4 columns are 16 bytes

enum class copy { load, multicast, store };

struct place {
    int at[2];  // innermost first
};

struct coordinates_shared {
    alignas(128) float box[kBoxRows * kBoxColumns];
    barrier full;
};

/// One box, whose elements are 1, moved by thread 0; a loaded box is copied to `seen`.
template <copy C>
TK_DEVICE void move_box(const tensor_map& map, place where, float* seen) {
    auto& shared = block::shared<coordinates_shared>();
    grid::wait_previous();
    const int t = thread::index();
    const uint32_t box = sm80::shared_address(&shared.box), full = sm80::shared_address(&shared.full);
    if (t == 0) {
        init(shared.full, 1);
        fence_barrier_init();
    }
    sm80::store_shared(box + uint32_t(t) * 4, 1.0f);
    fence_async_proxy();
    block::sync();
    if (t == 0) {
        if constexpr (C == copy::load || C == copy::multicast) expect_bytes(shared.full, sizeof shared.box);
        if constexpr (C == copy::load) sm90::tensor_copy<2>::load(box, &map, where.at, full);
        if constexpr (C == copy::multicast) sm90::tensor_copy<2>::load_multicast(box, &map, where.at, full, 1);
        if constexpr (C == copy::store) sm90::tensor_copy<2>::store(&map, where.at, box);
        commit_stores();
        wait_stores_read<0>();
        sm90::bulk_wait_group<0>();
    }
    if constexpr (C == copy::load || C == copy::multicast) {
        wait(shared.full, 0);
        sm80::store_global(seen + t, sm80::load_shared<float>(box + uint32_t(t) * 4));
    }
}

template <copy C>
TK_KERNEL(32)
move_kernel(TK_TENSOR_MAP map, const place where, float* seen) {
    move_box<C>(map, where, seen);
}

/// The tensor is 2 everywhere. Checks what was moved.
template <copy C>
outcome move_at(uint64_t seed, int column, int row) {
    fresh_machine(seed);
    float* tensor = tensor_memory<float>("tensor", kRows * kColumns, true, 2.0f);
    float* seen = tensor_memory<float>("seen", kBoxRows * kBoxColumns, true, -1.0f);
    tensor_map map{};
    const host::map_description d{tensor,       TK_F32, 2, {kColumns, kRows}, {kColumns * 4}, {kBoxColumns, kBoxRows},
                                  swizzle::none};
    EXPECT_EQ(host::encode_map(map, d).code, TK_OK);
    const outcome result = run<move_kernel<C>>(1, 32, sizeof(coordinates_shared), map, place{{column, row}}, seen);
    if (!result.findings.empty()) return result;
    for (int r = 0; r < kRows; ++r)
        for (int c = 0; c < kColumns; ++c) {
            const bool inside = r >= row && r < row + kBoxRows && c >= column && c < column + kBoxColumns;
            const float moved = C == copy::store ? 1.0f : 2.0f;
            EXPECT_EQ(tensor[r * kColumns + c], inside ? moved : 2.0f) << r << ", " << c;
        }
    for (int n = 0; (C == copy::load || C == copy::multicast) && n < kBoxRows * kBoxColumns; ++n) {
        const int r = row + n / kBoxColumns, c = column + n % kBoxColumns;
        EXPECT_EQ(seen[n], r >= 0 && r < kRows && c >= 0 && c < kColumns ? 2.0f : 0.0f) << n;
    }
    return result;
}

template <copy C>
void silent(int column, int row) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        const outcome result = move_at<C>(seed, column, row);
        EXPECT_TRUE(result.findings.empty()) << column << ", " << row << "\n" << result.text();
    }
}

template <copy C>
void found(const std::string& kind, const std::string& part, int column, int row) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        const outcome result = move_at<C>(seed, column, row);
        EXPECT_NE(result.story(kind).find(part), std::string::npos) << column << ", " << row << "\n" << result.text();
        EXPECT_EQ(result.findings.size(), 1u) << column << ", " << row << "\n" << result.text();
    }
}

template <copy C>
void silent_inside_and_behind_the_end() {
    for (const place& p : {place{{0, 0}}, {{4, 3}}, {{12, 4}}, {{16, 6}}, {{20, 0}}, {{24, 2}}, {{0, 8}}, {{400, 90}}})
        silent<C>(p.at[0], p.at[1]);
}

TEST(TensorCoordinates, multiples_of_16_bytes) {
    silent_inside_and_behind_the_end<copy::load>();
    silent_inside_and_behind_the_end<copy::multicast>();
    silent_inside_and_behind_the_end<copy::store>();
}

TEST(TensorCoordinates, loads_may_begin_before_the_tensor) {
    for (const place& p : {place{{-4, 0}}, {{0, -1}}, {{-4, -3}}, {{-8, 0}}, {{-400, -50}}, {{16, -2}}}) {
        silent<copy::load>(p.at[0], p.at[1]);
        silent<copy::multicast>(p.at[0], p.at[1]);
    }
}

TEST(TensorCoordinates, innermost_inside_16_bytes) {
    found<copy::load>("misaligned", "a tensor load at innermost coordinate 13, which is 52 bytes", 13, 0);
    found<copy::load>("misaligned", "a tensor load at innermost coordinate -1, which is -4 bytes", -1, 0);
    found<copy::load>("misaligned", "a tensor load at innermost coordinate 402, which is 1608 bytes", 402, 0);
    found<copy::multicast>("misaligned", "a multicast tensor load at innermost coordinate 2, which is 8 bytes", 2, 1);
    found<copy::store>("misaligned", "a tensor store at innermost coordinate 3, which is 12 bytes", 3, 0);
    found<copy::store>("misaligned", "a tensor store at innermost coordinate 21, which is 84 bytes", 21, 0);
}

TEST(TensorCoordinates, stores_before_the_tensor) {
    found<copy::store>("out-of-bounds", "a tensor store at the negative coordinate -4 in dimension 0", -4, 0);
    found<copy::store>("out-of-bounds", "a tensor store at the negative coordinate -1 in dimension 1", 0, -1);
    found<copy::store>("out-of-bounds", "a tensor store at the negative coordinate -8 in dimension 0", -8, 20);
}

}  // namespace
}  // namespace tk::sim_test

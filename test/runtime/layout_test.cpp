// SPDX-License-Identifier: MIT
// Register layouts: every element has a place, its owner is unique, copies agree, and mma_layout is the fragment
// of the matrix instruction.
#include "check.h"
#include "tk/sm90.h"

#include <map>
#include <utility>
#include <vector>

namespace {

using tk::lane_position;

/// Each element of an R x C tile has one owner and as many copies as the layout says.
template <int R, int C, class L>
void CheckCover() {
    using tile = tk::register_tile<float, R, C, L>;
    std::map<std::pair<int, int>, int> owners, holders;
    for (int thread = 0; thread < 128; ++thread) {
        const lane_position at{thread / 32, thread % 32};
        const bool owns = (R == 1 ? L::owns_first_row(at) : L::owns_rows(at)) && (C > 1 || L::owns_first_col(at));
        for (int n = 0; n < tile::size; ++n) {
            const tk::place p = tile::place_of(n);
            CHECK(tile::number_of(p) == n);
            const int r = R == 1 ? 0 : L::row(at, p.i, p.h), c = C == 1 ? 0 : L::col(at, p.j, p.e);
            CHECK(r >= 0 && r < R && c >= 0 && c < C);
            ++holders[{r, c}];
            owners[{r, c}] += owns;
        }
    }
    CHECK(int(owners.size()) == R * C);
    for (const auto& [element, count] : owners) CHECK(count == 1);
    for (const auto& [element, count] : holders) CHECK(count * R * C == 128 * tile::size);
}

/// Rows and columns of the accumulator as the hardware documents them.
void CheckFragment() {
    using tile = tk::register_tile<float, 128, 32, tk::mma_layout>;
    for (int thread = 0; thread < 128; ++thread) {
        const lane_position at{thread / 32, thread % 32};
        for (int n = 0; n < tile::size; ++n) {
            const tk::place p = tile::place_of(n);
            const int block = n / 16, j = n / 4 % 4, h = n / 2 % 2, e = n % 2;
            CHECK(tk::mma_layout::row(at, p.i, p.h) == 64 * block + 16 * at.warp + at.lane / 4 + 8 * h);
            CHECK(tk::mma_layout::col(at, p.j, p.e) == 8 * j + 2 * (at.lane % 4) + e);
        }
    }
}

/// Broadcasting reads the register of the same row or column.
void CheckBroadcast() {
    using L = tk::layout<8, 4, 2, 4, 2>;
    tk::register_tile<float, 32, 64, L> x;
    tk::register_tile<float, 32, 1, L> column;
    tk::register_tile<float, 1, 64, L> row;
    const lane_position at{1, 13};
    for (int n = 0; n < x.size; ++n) x.data[n] = float(n);
    for (int n = 0; n < column.size; ++n) column.data[n] = float(1000 * L::row(at, column.place_of(n).i, column.place_of(n).h));
    for (int n = 0; n < row.size; ++n) row.data[n] = float(L::col(at, row.place_of(n).j, row.place_of(n).e));
    const auto sum = x * 0 + column + row;
    static_assert(decltype(sum)::rows == 32 && decltype(sum)::cols == 64);
    for (int n = 0; n < sum.size; ++n) {
        const tk::place p = sum.place_of(n);
        CHECK(sum.data[n] == float(1000 * L::row(at, p.i, p.h) + L::col(at, p.j, p.e)));
    }
    const auto mask = (row >= 8) & (column < 1000.0f);
    static_assert(decltype(mask)::rows == 32 && decltype(mask)::cols == 64);
    const auto chosen = tk::where(mask, x, -1);
    for (int n = 0; n < x.size; ++n) CHECK(chosen.data[n] == (mask.data[n] ? x.data[n] : -1.0f));
    const auto part = tk::columns<32>(x, 32);
    for (int n = 0; n < part.size; ++n) {
        tk::place p = part.place_of(n);
        CHECK(part.data[n] == x.data[x.number_of({p.i, p.j + 1, p.h, p.e})]);
    }
}

/// Cut and joined rows are the same registers, and neighbouring lanes with copies own an element once.
void CheckReshape() {
    using rows = tk::layout<32, 16, 1, 1, 4>;
    using cut = tk::layout<8, 16, 2, 4, 4>;
    using numbers = tk::layout<4, 1, 1, 1, 4, 1, false, 8>;
    static_assert(tk::detail::holds_the_same<tk::register_tile<float, 4, 1024, rows>, tk::register_tile<float, 32, 128, cut>>());
    static_assert(tk::detail::holds_the_same<tk::register_tile<float, 4, 8, numbers>, tk::register_tile<float, 32, 1, cut>>());
    static_assert(!tk::detail::holds_the_same<tk::register_tile<float, 4, 1024, rows>,
                                              tk::register_tile<float, 32, 128, tk::layout<8, 16, 1, 4, 4>>>());
    CheckCover<4, 8, numbers>();
    CheckCover<8, 16, tk::layout<4, 1, 2, 2, 2, 1, false, 4>>();
    CheckCover<1, 16, tk::layout<4, 1, 1, 2, 1, 1, false, 4>>();
    CheckCover<8, 1, tk::layout<4, 1, 2, 2, 2, 1, false, 4>>();
    CheckCover<16, 4, tk::layout<2, 2, 1, 4, 4, 1, true, 2>>();
    tk::register_tile<float, 4, 1024, rows> x;
    for (int n = 0; n < x.size; ++n) x.data[n] = float(n);
    const auto y = tk::reshape<32, 128, cut>(x);
    for (int n = 0; n < y.size; ++n) CHECK(y.data[n] == float(n));
}

}  // namespace

int main() {
    CheckCover<64, 64, tk::mma_layout>();
    CheckCover<192, 8, tk::mma_layout>();
    CheckCover<64, 1, tk::mma_layout>();
    CheckCover<1, 64, tk::mma_layout>();
    CheckCover<16, 256, tk::layout<32, 4, 1, 1, 4>>();
    CheckCover<8, 32, tk::layout<32, 1, 2, 1, 1>>();
    CheckCover<32, 16, tk::layout<4, 4, 1, 4, 2>>();
    CheckCover<8, 1, tk::layout<4, 4, 1, 4, 2>>();
    // Warps side by side; columns first.
    CheckCover<64, 64, tk::layout<4, 2, 2, 8, 2, 2>>();
    CheckCover<16, 64, tk::layout<4, 2, 2, 8, 1, 4>>();
    CheckCover<64, 1, tk::layout<4, 2, 2, 8, 2, 2>>();
    CheckCover<1, 64, tk::layout<4, 2, 2, 8, 2, 2>>();
    CheckCover<32, 32, tk::layout<2, 4, 1, 16, 2, 2, true>>();
    CheckCover<32, 1, tk::layout<2, 4, 1, 16, 2, 1, true>>();
    CheckCover<1, 32, tk::layout<2, 4, 1, 16, 1, 2, true>>();
    CheckFragment();
    CheckBroadcast();
    CheckReshape();
    return 0;
}

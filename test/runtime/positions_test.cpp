// SPDX-License-Identifier: MIT
// Numbers along rows: what they are, sums with numbers for rows, and comparisons with bounds before, within, behind and far from them,
// each against the same done element by element.
#include "check.h"
#include "tk/sm90.h"

#include <climits>

namespace {

using layout = tk::layout<8, 4, 1, 4, 4>;
using numbers = tk::row_numbers<int, 1, 64, layout>;

numbers From(int first) { return numbers(tk::fill<int, 1, 1, layout>(first)); }

void CheckSums() {
    const numbers columns = From(5);
    tk::register_tile<int, 16, 1, layout> rows;
    for (int n = 0; n < rows.size; ++n) rows.data[n] = 100 * n;
    const auto moved = columns + 7;
    const auto back = columns - 7;
    const auto all = rows + columns;
    static_assert(decltype(all)::rows == 16 && decltype(all)::cols == 64);
    for (int n = 0; n < columns.size; ++n) {
        const tk::place p = columns.place_of(n);
        const int expected = 5 + p.j * layout::block_cols + p.e;
        CHECK(columns.data[n] == expected);
        CHECK(moved.data[n] == expected + 7);
        CHECK(back.data[n] == expected - 7);
    }
    for (int n = 0; n < all.size; ++n) {
        const tk::place p = all.place_of(n);
        CHECK(all.data[n] == rows.data[rows.number_of(p)] + columns.data[columns.number_of(p)]);
    }
}

template <class F>
void CheckComparison(F compare) {
    for (const int first : {0, -7, 1000, INT_MAX - 64, INT_MIN}) {
        const numbers columns = From(first);
        for (const int64_t bound : {int64_t(first) - 1, int64_t(first), int64_t(first) + 3, int64_t(first) + 63, int64_t(first) + 64,
                                    int64_t(INT_MAX), int64_t(INT_MIN), int64_t(0)}) {
            if (bound != int(bound)) continue;
            const auto mask = compare(columns, int(bound));
            const auto of_tile = compare(columns, tk::fill<int, 16, 1, layout>(int(bound)));
            for (int n = 0; n < columns.size; ++n) CHECK(mask.data[n] == compare(columns.data[n], int(bound)));
            for (int n = 0; n < of_tile.size; ++n)
                CHECK(of_tile.data[n] == compare(columns.data[columns.number_of(of_tile.place_of(n))], int(bound)));
        }
    }
}

}  // namespace

int main() {
    CheckSums();
    CheckComparison([](const auto& a, const auto& b) { return a < b; });
    CheckComparison([](const auto& a, const auto& b) { return a <= b; });
    CheckComparison([](const auto& a, const auto& b) { return a > b; });
    CheckComparison([](const auto& a, const auto& b) { return a >= b; });
    CheckComparison([](const auto& a, const auto& b) { return a == b; });
    CheckComparison([](const auto& a, const auto& b) { return a != b; });
}

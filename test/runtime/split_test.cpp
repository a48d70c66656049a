// SPDX-License-Identifier: MIT
// Sums split over a cluster: the buffer is a bijection, warps meet no bank twice, and the parts of all others fill it.
#include "check.h"
#include "tk/ops/split.h"

#include <set>
#include <vector>

using buffer = tk::fragment_buffer<128, 64>;
using whole = buffer::tile;

/// Element (r, c) of the tile as number of its float in the buffer.
static std::vector<int> Places() {
    std::vector<int> result(128 * 64, -1);
    for (int thread = 0; thread < 128; ++thread)
        for (int n = 0; n < whole::size; ++n) {
            const tk::lane_position at{thread / 32, thread % 32};
            const tk::place p = whole::place_of(n);
            const int row = tk::mma_layout::row(at, p.i, p.h), col = tk::mma_layout::col(at, p.j, p.e);
            result[size_t(row * 64 + col)] = buffer::offset(thread, p.i, p.j) / 4 + n % 4;
        }
    return result;
}

int main() {
    const std::vector<int> place = Places();
    const std::set<int> all(place.begin(), place.end());
    CHECK(all.size() == place.size() && *all.begin() == 0 && *all.rbegin() == 128 * 64 - 1 && buffer::bytes == 4 * 128 * 64);
    // The four registers that move together are neighbours in the register array.
    for (int n = 0; n < whole::size; n += 4)
        CHECK(whole::number_of({whole::place_of(n).i, whole::place_of(n).j, 0, 0}) == n);

    // A quarter-warp's 16 bytes each are 128 bytes in a row.
    for (int thread = 0; thread < 128; ++thread)
        CHECK(buffer::offset(thread, 1, 3) - buffer::offset(thread / 8 * 8, 1, 3) == thread % 8 * 16);

    // What block 1 of 4 has of the columns of block 2, which follows block 0, found in its buffer as `collect` finds it: of an
    // accumulator of 128 columns, of which the buffer has 96, columns 64 to 95.
    using shares = tk::fragment_buffer<128, 96>;
    using accumulator = tk::register_tile<float, 128, 128, tk::mma_layout>;
    constexpr int J = accumulator::J / 4;
    CHECK(tk::split::place_of<J>(2, 1) == J && tk::split::place_of<J>(0, 1) == 0 && tk::split::place_of<J>(3, 1) == 2 * J);
    std::set<int> taken;
    for (int rank : {0, 2, 3})
        for (int thread = 0; thread < 128; ++thread)
            for (int i = 0; i < accumulator::I; ++i)
                for (int j = 0; j < J; ++j) {
                    const int at = shares::offset(thread, 0, tk::split::place_of<J>(rank, 1)) + shares::offset(0, i, j);
                    CHECK(at == shares::offset(thread, i, tk::split::place_of<J>(rank, 1) + j));
                    taken.insert(at);
                }
    CHECK(int(taken.size()) * 16 == shares::bytes && *taken.rbegin() == shares::bytes - 16);
}

// SPDX-License-Identifier: MIT
// Register tiles to and from shared tiles. Tiles of 16-bit elements that lie as the matrix unit leaves them, or transposed, move as
// 8x8 matrices where there are instructions for it (ops/matrix_move.h), all others as vectors along the columns.
#pragma once

#include "tk/ops/matrix_move.h"
#include "tk/ops/scope.h"
#include "tk/ops/vector.h"
#include "tk/types/register_tile.h"
#include "tk/types/shared_tile.h"

namespace tk {

namespace detail {

/// Pairs of 32-bit values of mma_layout move 8 bytes a lane, four rows at a time, 32 bytes of each. The XOR of a wide swizzle only
/// exchanges the halves of those 32 bytes from one row to the next (128) or second next (64), so that rows would meet two by two
/// at the banks. Instead every other of them takes column blocks in another order. Columns by which it is off; 0: no need.
template <class Tile, class View>
TK_HOST_DEVICE constexpr int turned_columns() {
    if constexpr (is_transposed<View>) return 0;
    else if constexpr (!std::is_same_v<typename Tile::layout_type, mma_layout> || sizeof(typename Tile::value_type) != 4) return 0;
    else if constexpr (Tile::rows == 1 || View::cols != View::parent_cols || View::cols % View::geometry::panel_cols != 0) return 0;
    else return View::swizzling == swizzle::b128 ? 16 : View::swizzling == swizzle::b64 ? 8 : 0;
}

/// The rows of this thread are among those.
template <int Columns>
TK_DEVICE bool turns(lane_position at) { return Columns == 16 ? at.lane / 4 % 2 : Columns == 8 ? at.lane / 8 % 2 : false; }

/// f(first register, address) for each run of neighbouring columns, V values long, of the thread at `at`.
template <int V, class Tile, class View, class F>
TK_DEVICE void for_each_shared_vector(lane_position at, const View& view, F f) {
    using L = typename Tile::dealt;
    TK_UNROLL
    for (int i = 0; i < Tile::I; ++i)
        TK_UNROLL
        for (int h = 0; h < Tile::H; ++h) {
            constexpr int turn = turned_columns<Tile, View>();
            const int col = Tile::cols == 1 ? 0 : L::col(at, 0, 0) + (turns<turn>(at) ? turn : 0);
            const auto walk = Tile::rows == 1 ? view.walk(0, col) : view.walk(L::row(at, 0, 0), col, L::row({}, i, h));
            TK_UNROLL
            for (int j = 0; j < Tile::J; ++j)
                TK_UNROLL
                for (int e = 0; e < Tile::E; e += V) f(Tile::number_of({i, j, h, e}), walk(j * L::block_cols + e));
        }
}

/// Runs of V neighbouring columns, each by one load.
template <int V, class Tile, class View>
TK_DEVICE void load_vectors(Tile& to, const View& view) {
    using T = typename Tile::value_type;
    for_each_shared_vector<V, Tile>(warpgroup::position(), view, [&](int n, uint32_t address) {
        const auto bits = arch::load_shared<typename word<V * int(sizeof(T))>::type>(address);
        TK_UNROLL
        for (int e = 0; e < V; ++e) to.data[n + e] = element_of<T, V>(bits, e);
    });
}

/// Exchanges the column blocks that lie `Columns` apart in the threads that turn, so that registers and addresses agree again.
template <int Columns, class Tile>
TK_DEVICE void turn_blocks(Tile& tile) {
    constexpr int apart = Columns / 8;
    const bool turned = turns<Columns>(warpgroup::position());
    TK_UNROLL
    for (int n = 0; n < Tile::size; ++n) {
        const place p = Tile::place_of(n);
        if (p.j & apart) continue;
        const int other = Tile::number_of({p.i, p.j + apart, p.h, p.e});
        const auto a = tile.data[n], b = tile.data[other];
        tile.data[n] = turned ? b : a;
        tile.data[other] = turned ? a : b;
    }
}

/// This thread is the one among those with copies that stores.
template <class Tile>
TK_DEVICE bool stores() {
    using L = typename Tile::dealt;
    const lane_position at = warpgroup::position();
    return (Tile::rows == 1 ? L::owns_first_row(at) : L::owns_rows(at)) && (Tile::cols > 1 || L::owns_first_col(at));
}

/// Runs of V neighbouring columns, each by one store.
template <int V, class View, class Tile>
TK_DEVICE void store_vectors(const View& view, const Tile& from) {
    if (!stores<Tile>()) return;
    for_each_shared_vector<V, Tile>(warpgroup::position(), view, [&](int n, uint32_t address) {
        arch::store_shared(address, word_of<typename Tile::value_type, V>(from.data + n));
    });
}

/// Columns neighbour in the memory of a view, but not of a transposed one.
template <class Tile, class View>
inline constexpr int shared_vector =
    is_transposed<View> ? 1 : min(vector_length<typename Tile::value_type, Tile::E>, stored_run<View>);
/// Matrices are moved by rows of 16 bytes.
template <class View>
inline constexpr bool has_matrix_rows = stored_run<View> * int(sizeof(typename View::value_type)) == 16;

}  // namespace detail

namespace warpgroup {

/// The tile in a shared tile, view or transposed view, dealt as Layout.
template <class Layout, class From>
TK_DEVICE auto load_shared(const From& from) {
    const auto view = as_view(from);
    using View = std::remove_const_t<decltype(view)>;
    using T = typename View::value_type;
    using result_tile = register_tile<T, View::rows, View::cols, Layout>;
    constexpr bool as_matrices = detail::has_matrix_rows<View> && detail::loads_as_matrices<T, Layout, View::rows, View::cols>;
    constexpr bool as_turned_matrices = detail::has_matrix_rows<View> && detail::loads_as_turned_matrices<T, Layout, View::rows, View::cols, View>;
    constexpr int V = as_matrices || as_turned_matrices ? 16 / int(sizeof(T)) : detail::shared_vector<result_tile, View>;
    result_tile result;
    if (!begins_at_multiple<V>(view)) {
        detail::load_vectors<1>(result, view);
    } else if constexpr (as_matrices) {
        detail::load_matrices(result, view, position());
    } else if constexpr (as_turned_matrices) {
        detail::load_turned_matrices(result, view, position());
    } else {
        detail::load_vectors<V>(result, view);
        if constexpr (constexpr int turn = detail::turned_columns<result_tile, View>(); turn > 0) detail::turn_blocks<turn>(result);
    }
    return result;
}

/// Writes a register tile of the same element type and extents; each element once.
template <class To, class T, int R, int C, class L>
TK_DEVICE void store_shared(const To& to, const register_tile<T, R, C, L>& from) {
    const auto view = as_view(to);
    using View = std::remove_const_t<decltype(view)>;
    using from_tile = register_tile<T, R, C, L>;
    static_assert(std::is_same_v<T, typename View::value_type> && View::rows == R && View::cols == C);
    constexpr bool as_matrices = detail::has_matrix_rows<View> && detail::stores_as_matrices<T, L, R, C>;
    constexpr int V = as_matrices ? 16 / int(sizeof(T)) : detail::shared_vector<from_tile, View>;
    if (!begins_at_multiple<V>(view)) {
        detail::store_vectors<1>(view, from);
    } else if constexpr (as_matrices) {
        detail::store_matrices(view, from, position());
    } else if constexpr (constexpr int turn = detail::turned_columns<from_tile, View>(); turn > 0) {
        from_tile turned = from;
        detail::turn_blocks<turn>(turned);
        detail::store_vectors<V>(view, turned);
    } else {
        detail::store_vectors<V>(view, from);
    }
}

}  // namespace warpgroup

}  // namespace tk

// SPDX-License-Identifier: MIT
// Tiles moved by the tensor copy engine. Called by one thread (`if (tk::warp::elect())`).
//
// Coordinates are tensor indices in tensor order, outermost dimension first, the tile's columns last. The
// engine's boxes are one swizzle panel wide, so a tile is one copy for each of its panels; a row or a column, which
// lies in one piece, goes in boxes of 256 elements, the widest there are. What lies outside
// the tensor reads as zero and is not written; the barrier counts the full bytes of the tile in any case.
#pragma once

#include "tk/cuda/sm90/fence.h"
#include "tk/cuda/sm90/tma.h"
#include "tk/ops/cluster_barrier.h"
#include "tk/ops/vector.h"
#include "tk/types/shared_tile.h"

namespace tk {

namespace detail {

/// Coordinates of panel `panel` of a tile at `at`, innermost first.
template <int Rank>
struct box_position {
    int c[Rank];
    TK_DEVICE box_position(const int (&at)[Rank], int columns) {
        TK_UNROLL
        for (int d = 0; d < Rank; ++d) c[d] = at[Rank - 1 - d];
        c[0] += columns;
    }
};

/// f(shared-memory address, coordinates) for each panel of the view.
template <class View, int Rank, class F>
TK_DEVICE void for_each_panel(const View& view, const int (&at)[Rank], F f) {
    using geometry = typename View::geometry;
    constexpr bool is_column = geometry::panel_cols == 1;
    constexpr int widest = 256, across = is_column ? View::rows : geometry::panel_cols, width = across < widest ? across : widest;
    constexpr int elements = is_column ? View::rows : View::cols;
    static_assert(is_column || View::rows <= widest, "a box has at most 256 rows");
    static_assert(width == across || ((is_column || View::rows == 1) && elements % width == 0), "boxes side by side");
    constexpr int panels = cdiv(elements, width);
    TK_UNROLL
    for (int p = 0; p < panels; ++p)
        f(is_column ? view.linear_address(p * width, 0) : view.linear_address(0, p * width), box_position<Rank>(at, p * width).c);
}

/// Whether a tile of which so many rows exist is copied at once: the engine writes zero for 24 rows in the time that it takes to start
/// more boxes (H200).
template <class View>
TK_DEVICE bool comes_whole(const View&, index existing) {
    return existing >= (View::rows > 24 ? View::rows - 24 : 1);
}

/// load(address, coordinates) for each box of Rows rows of which some exist, skip(address, bytes) for what lies behind, in each panel.
template <int Rows, class View, int Rank, class Load, class Skip>
TK_DEVICE void for_each_box(const View& view, const int (&at)[Rank], index existing, Load load, Skip skip) {
    int r = 0;
    for (; r < View::rows && r < existing; r += Rows) {
        int position[Rank];
        TK_UNROLL
        for (int d = 0; d < Rank; ++d) position[d] = at[d] + (d == Rank - 2 ? r : 0);
        for_each_panel(rows<Rows>(view, r), position, load);
    }
    if (r == View::rows) return;
    for_each_panel(rows<Rows>(view, r), at, [&](uint32_t address, const auto&) {
        skip(address, uint32_t((View::rows - r) * View::geometry::pitch));
    });
}

}  // namespace detail

/// Fetches a map before its first use.
TK_DEVICE void prefetch(const tensor_map& map) { sm90::prefetch_tensor_map(&map); }

/// Tensor to shared tile or view; completes `bytes` of the tile on `full`.
template <class To, class... Coordinate>
TK_DEVICE void load_async(const To& to, const tensor_map& map, barrier& full, Coordinate... at) {
    const int position[] = {int(at)...};
    const uint32_t barrier_address = arch::shared_address(&full);
    detail::for_each_panel(as_view(to), position, [&](uint32_t address, const auto& c) {
        sm90::tensor_copy<sizeof...(at)>::load(address, &map, c, barrier_address);
    });
}

/// load_async of a tile of which the first `existing` rows, along the last dimension but one, exist. Where many do not it comes in boxes
/// of Rows rows, for which `by_rows` is made, and boxes without any are not copied, as the engine takes longer for a row that does not
/// exist than for one that does: these rows hold anything. `full` gets their bytes at once.
template <int Rows, class To, class... Coordinate>
TK_DEVICE void load_rows(const To& to, const tensor_map& map, const tensor_map& by_rows, barrier& full, index existing, Coordinate... at) {
    const auto view = as_view(to);
    const int position[] = {int(at)...};
    const uint32_t barrier_address = arch::shared_address(&full);
    if (detail::comes_whole(view, existing)) return load_async(to, map, full, at...);
    detail::for_each_box<Rows>(
        view, position, existing,
        [&](uint32_t address, const auto& c) { sm90::tensor_copy<sizeof...(at)>::load(address, &by_rows, c, barrier_address); },
        [&](uint32_t address, uint32_t bytes) { sm90::skip_load(address, bytes, barrier_address); });
}

/// load_async into the same place of every block in the bit mask `blocks`; each block's barrier gets the bytes.
template <class To, class... Coordinate>
TK_DEVICE void load_multicast(const To& to, const tensor_map& map, barrier& full, uint32_t blocks, Coordinate... at) {
    const int position[] = {int(at)...};
    const uint32_t barrier_address = arch::shared_address(&full);
    detail::for_each_panel(as_view(to), position, [&](uint32_t address, const auto& c) {
        sm90::tensor_copy<sizeof...(at)>::load_multicast(address, &map, c, barrier_address, uint16_t(blocks));
    });
}

/// load_multicast of a tile of which the first `existing` rows exist, as load_rows: what is not copied holds anything in all `blocks`, and
/// the barrier of each gets its bytes at once.
template <int Rows, class To, class... Coordinate>
TK_DEVICE void load_rows_multicast(const To& to, const tensor_map& map, const tensor_map& by_rows, barrier& full, index existing,
                                   uint32_t blocks, Coordinate... at) {
    const auto view = as_view(to);
    const int position[] = {int(at)...};
    const uint32_t barrier_address = arch::shared_address(&full);
    if (detail::comes_whole(view, existing)) return load_multicast(to, map, full, blocks, at...);
    detail::for_each_box<Rows>(
        view, position, existing,
        [&](uint32_t address, const auto& c) {
            sm90::tensor_copy<sizeof...(at)>::load_multicast(address, &by_rows, c, barrier_address, uint16_t(blocks));
        },
        [&](uint32_t address, uint32_t bytes) { sm90::skip_load_multicast(address, bytes, barrier_address, blocks); });
}

/// Shared tile or view to tensor. The writers of the tile must have executed fence_async_proxy and then met.
template <class From, class... Coordinate>
TK_DEVICE void store_async(const tensor_map& map, const From& from, Coordinate... at) {
    const int position[] = {int(at)...};
    detail::for_each_panel(as_view(from), position, [&](uint32_t address, const auto& c) {
        sm90::tensor_copy<sizeof...(at)>::store(&map, c, address);
    });
}

/// Closes a group of the calling thread's stores.
TK_DEVICE void commit_stores() { sm90::bulk_commit_group(); }
/// Until all but the newest N groups of the calling thread have been read: their tiles may be overwritten.
template <int N>
TK_DEVICE void wait_stores_read() { sm90::bulk_wait_group_read<N>(); }
/// Until all but the newest N groups of the calling thread are written.
template <int N>
TK_DEVICE void wait_stores() { sm90::bulk_wait_group<N>(); }

/// Between ordinary writes to shared memory and the copy engine or tensor core; by every writer.
TK_DEVICE void fence_async_proxy() { sm90::fence_proxy_async_shared(); }

}  // namespace tk

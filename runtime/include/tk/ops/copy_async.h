// SPDX-License-Identifier: MIT
// Tiles from global to shared memory by all threads of a block, asynchronously (cp.async).
//
//     block::copy_async<256>(slot, A.block(...));    // any number of tiles; copy_pieces where rows are whole pieces of 16 bytes
//     commit_copies();                               // closes a group
//     wait_copies<2>();  block::sync();              // all but the newest two groups are there, for all threads
//
// Elements outside the block arrive as zeros. A piece has 16 bytes, or 8 or 4 where the alignment of the global block allows
// no more; elements that can't be copied in such pieces go through registers, and are there at once. Threads take neighbouring
// pieces of a row. Their rows lie as far apart as swizzling repeats, so that one address serves all pieces of a thread.
#pragma once

#include "tk/arch.h"
#include "tk/cuda/sm80/async_copy.h"
#include "tk/ops/copy_guarded.h"
#include "tk/ops/scope.h"

namespace tk {

namespace detail {

inline constexpr int most_unrolled = 32;  // copies of a thread

/// How R x C pieces of V elements are dealt to `Threads` threads: piece n of a thread lies n * step rows below its first.
template <class View, int V, int Threads>
struct piece_order {
    static constexpr int per_row = View::cols / V, pieces = View::rows * per_row;
    static constexpr int rounds = (pieces + Threads - 1) / Threads, step = Threads / per_row;
    using geometry = typename View::geometry;
    static constexpr int repeats = View::swizzling == swizzle::none ? 1 : 8;  // rows
    /// Else rows and columns of each piece are computed one by one.
    static constexpr bool regular = Threads % per_row == 0 && (step % repeats == 0 || rounds == 1);
    /// Row r of round n is one of the tile's.
    static TK_DEVICE bool has(int r, int n) { return View::rows % step == 0 || r + n * step < View::rows; }
};

/// Copies V elements at row r, column c of the block to `to`; what is not there becomes zero.
template <int V, class T>
TK_DEVICE void copy_piece_async(uint32_t to, const global_block<T>& from, const void* place, int r, int c) {
    constexpr int size = int(sizeof(T));
    // Pieces are aligned in the tensor, whose rows begin with one: only the end of a row may cut a piece.
    const int there = from.has_row(r) && c >= from.col_lo ? min(max(from.col_hi - c, 0), V) : 0;
    arch::copy_async<V * size>(to, place, uint32_t(there * size));
}

template <int V, int Threads, class View, class T>
TK_DEVICE void copy_pieces_async(const View& to, const global_block<T>& from, int thread) {
    using order = piece_order<View, V, Threads>;
    constexpr int bytes = V * int(sizeof(T));
    if constexpr (order::regular) {
        const int r = int(uint32_t(thread) / order::per_row), c = int(uint32_t(thread) % order::per_row) * V;
        const uint32_t address = to.address(r, c);
        // Columns follow each other, but perhaps those of single elements.
        const uint64_t along = V == 1 ? uint64_t(uint32_t(c)) * uint64_t(from.col_stride) : uint32_t(c);
        const T* place = from.origin + (uint64_t(uint32_t(r)) * uint64_t(from.row_stride) + along);
        const int64_t step = from.row_stride * order::step;
        // Narrow pieces are many, and so are those of few threads: one loop for all of them, with conditions.
        if (bytes == 16 && order::rounds <= most_unrolled && from.contains(View::rows, View::cols)) {
            TK_UNROLL
            for (int n = 0; n < order::rounds; ++n, place += step)
                if (order::has(r, n)) arch::copy_async<bytes>(address + uint32_t(n * order::step * order::geometry::pitch), place, bytes);
        } else {
            TK_NO_UNROLL
            for (int n = 0; n < order::rounds; ++n, place += step)
                if (order::has(r, n))
                    copy_piece_async<V>(address + uint32_t(n * order::step * order::geometry::pitch), from, place, r + n * order::step, c);
        }
    } else {
        for_each_piece<V, View::rows, View::cols>(thread, Threads, [&](int r, int c) {
            copy_piece_async<V>(to.address(r, c), from, from.at(r, c), r, c);
        });
    }
}

/// One by one, through registers.
template <int Threads, class View, class T>
TK_DEVICE void copy_elements(const View& to, const global_block<T>& from, int thread) {
    using value = std::remove_const_t<T>;
    for_each_piece<1, View::rows, View::cols>(thread, Threads, [&](int r, int c) {
        const bool there = from.has_row(r) && from.has_col(c);
        store_shared_vector(to.address(r, c), vector<value, 1>{{there ? arch::load_global(from.at(r, c)) : convert<value>(0.0f)}});
    });
}

template <int Threads, class View, class T>
TK_DEVICE void copy_view_async(const View& to, const global_block<T>& from, int thread) {
    with_widest_piece<View>(from, [&](auto width) {
        constexpr int V = decltype(width)::value;
        // Pieces that begin outside the block, and elements of 2 bytes: through registers.
        if constexpr (V * sizeof(T) >= 4) {
            if (from.col_lo <= 0 || from.col_lo >= View::cols || from.col_lo % V == 0)
                return copy_pieces_async<V, Threads>(to, from, thread);
        } else if constexpr (constexpr int W = widest_piece<View>(); shifts_runs<std::remove_const_t<T>, W>) {
            if (from.col_stride == 1) return copy_in_shifted<1, W>(to, from, 0.0f, thread, Threads);
        }
        copy_elements<Threads>(to, from, thread);
    });
}

/// Any block to any view, by `Threads` threads.
template <int Threads, class To, template <class> class Block, class T>
TK_DEVICE void copy_tile_async(const To& to, const Block<T>& block, int thread) {
    const auto view = as_view(to);
    using View = std::remove_const_t<decltype(view)>;
    const global_block<T>& from = readable<View>(block);
    if constexpr (is_transposed<View>) {
        copy_view_async<Threads>(view.view, transposed(from), thread);
    } else if constexpr (View::cols == 1 && View::parent_cols == 1 && View::swizzling == swizzle::none) {
        // A column lies in shared memory as a row does.
        const shared_view<typename View::value_type, 1, View::rows, swizzle::none, 1, View::parent_rows> row{view.base, 0, view.row0};
        copy_view_async<Threads>(row, transposed(from), thread);
    } else {
        copy_view_async<Threads>(view, from, thread);
    }
}

/// Where a thread's pieces of a block lie: 16 bytes each, in the order of the tile's storage, dealt to threads in turn. Where panels
/// and rounds are multiples of each other, those of a thread differ in a whole number of rows and panels, the same for all threads,
/// and one address serves all of them.
template <int Threads, class View, class T>
struct block_pieces {
    using geometry = typename View::geometry;
    static constexpr int size = int(sizeof(T)), round = Threads * 16, rounds = cdiv(geometry::bytes, round), repeats = 1024;
    static constexpr bool in_panel = geometry::panel_bytes % round == 0 && round % geometry::pitch == 0;
    static constexpr bool whole = rounds == 1 || (round % repeats == 0 && (in_panel || round % geometry::panel_bytes == 0));

    const T* origin;      // of the thread's first piece
    int64_t row_stride;   // in elements
    int rows, cols;       // of the block, from there on
    uint32_t first;       // the thread's first piece in the tile, in bytes, before swizzling

    static TK_DEVICE int row_of(uint32_t place) { return int(place % geometry::panel_bytes / geometry::pitch); }
    static TK_DEVICE int col_of(uint32_t place) {
        return int(place / geometry::panel_bytes * geometry::panel_cols + place % geometry::pitch / size);
    }

    TK_DEVICE block_pieces(const global_block<T>& from, int thread) : row_stride(from.row_stride), first(uint32_t(thread) * 16) {
        const int row = row_of(first), col = col_of(first);
        origin = from.origin + (uint64_t(uint32_t(row)) * uint64_t(from.row_stride) + uint32_t(col));
        rows = from.row_hi - row, cols = from.col_hi - col;
    }

    /// To the block that lies so far on.
    TK_DEVICE void move(int down, int across) {
        origin += down * row_stride + across;
        rows -= down, cols -= across;
    }

    /// From row to row one addition: compilers would keep a register pair for each row's distance from the first.
    TK_DEVICE void copy(const View& to) const {
        const uint32_t address = to.base + swizzled<View::swizzling>(first);
        const T* row = origin;
        int reached = 0;
        TK_UNROLL
        for (int n = 0; n < rounds; ++n) {
            const uint32_t place = first + uint32_t(n * round);
            if (geometry::bytes % round != 0 && place >= geometry::bytes) return;
            const int down = whole ? n * round % geometry::panel_bytes / geometry::pitch : row_of(place) - row_of(first);
            const int across = whole ? n * round / geometry::panel_bytes * geometry::panel_cols : col_of(place) - col_of(first);
            if (down == 0) row = origin;
            else if (down != reached) row += (down - reached) * row_stride;
            reached = down;
            arch::copy_async_or_zeros(whole ? address + uint32_t(n * round) : to.base + swizzled<View::swizzling>(place), row + across,
                                      down < rows && across < cols);
        }
    }
};

/// A whole tile.
template <class To>
TK_DEVICE auto tile_of_pieces(const To& to) {
    const auto view = as_view(to);
    using View = std::remove_const_t<decltype(view)>;
    static_assert(View::rows == View::parent_rows && View::cols == View::parent_cols && View::cols * sizeof(typename View::value_type) % 16 == 0);
    return view;
}

}  // namespace detail

namespace block {

/// Where the pieces of a block lie, of 16 bytes, that `Threads` threads of the block, from number `First` on, copy into a whole tile
/// like `to`: for copy_pieces, again and again. The block's rows start at multiples of a piece and end at one; launchers pack tensors
/// where that is not so (host::launcher::pieces).
template <int Threads, int First = 0, class To, class T>
TK_DEVICE auto pieces(const To& to, const global_block<T>& from) {
    const auto view = detail::tile_of_pieces(to);
    using View = std::remove_const_t<decltype(view)>;
#ifdef TK_SIM
    const uint64_t bits = reinterpret_cast<uint64_t>(from.origin) | uint64_t(from.row_stride) * sizeof(T);
    const int64_t end = cdiv(max(from.col_hi, 0) * int(sizeof(T)), 16) * 16 / int(sizeof(T));  // of a row: zeros behind the last column
    const bool ends = from.col_hi >= View::cols || from.row_hi <= 0 || from.row_stride >= end;
    if (from.col_stride != 1 || bits % 16 != 0 || from.row_lo > 0 || from.col_lo > 0 || !ends) sim::report_misuse("a block that can't be copied in pieces");
#endif
    return detail::block_pieces<Threads, View, T>(from, thread::index() - First);
}

/// Issues the copy of these pieces into a whole tile. Without a branch, so that what is computed next to it can lie between its
/// instructions.
template <int Threads, int First = 0, class To, class View, class T>
TK_DEVICE void copy_pieces(const To& to, const detail::block_pieces<Threads, View, T>& from) {
    const View view = detail::tile_of_pieces(to);
    from.copy(view);
}

/// The same of a block that is copied once.
template <int Threads, int First = 0, class To, class T>
TK_DEVICE void copy_pieces(const To& to, const global_block<T>& from) {
    copy_pieces<Threads, First>(to, pieces<Threads, First>(to, from));
}

/// The same for any block and view.
template <int Threads, int First = 0, class To, template <class> class Block, class T>
TK_DEVICE void copy_async(const To& to, const Block<T>& from) {
    detail::copy_tile_async<Threads>(to, from, thread::index() - First);
}

}  // namespace block

/// Closes a group of the calling thread's copies.
TK_DEVICE void commit_copies() { arch::copy_async_commit(); }
/// Until all but the newest N groups of the calling thread are complete. Other threads see the data behind a barrier.
template <int N>
TK_DEVICE void wait_copies() {
    arch::copy_async_wait<N>();
}

namespace warp {
/// A block to a tile by the lanes of a warp; elements outside the block become zeros. All pieces are under way at once, and those of
/// the calling lane are there when it returns. Before the tensor core or the copy engine reads the tile: fence_async_proxy in every
/// lane, then an arrival or a barrier.
template <class To, template <class> class Block, class T>
TK_DEVICE void copy_global_to_shared(const To& to, const Block<T>& from) {
    detail::copy_tile_async<arch::lanes>(to, from, lane());
    commit_copies();
    wait_copies<0>();
}
}  // namespace warp

}  // namespace tk

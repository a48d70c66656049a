// SPDX-License-Identifier: MIT
// Tiles in shared memory, swizzled as the copy engine and the tensor core swizzle: by XOR on absolute address
// bits. All parts of the runtime address through `shared_view`, so a tile needs no alignment beyond 128 bytes
// for correctness; 1024 keeps every view at the start of the pattern.
#pragma once

#include "tk/arch.h"
#include "tk/types/integer.h"

namespace tk {

/// The name is the width in bytes of the rows that are swizzled; t128 (128 bytes) is for AMD's transposing loads.
enum class swizzle { none = 0, b32 = 32, b64 = 64, b128 = 128, t128 = 129 };

/// 16-byte chunks are permuted within each row: b128: address bits 4-6 ^= bits 7-9, b64: 4-5 ^= 7-8, b32: 4 ^= 7; t128: 5 ^= 8,
/// 6 ^= 10, so that 16 lanes which read 32 bytes of rows 0-3 and 16 which read those of rows 8-11 meet no bank twice.
template <swizzle S>
TK_HOST_DEVICE constexpr uint32_t swizzled(uint32_t address) {
    if constexpr (S == swizzle::t128) return address ^ ((address >> 3) & 0x20) ^ ((address >> 4) & 0x40);
    constexpr uint32_t mask = S == swizzle::none ? 0 : uint32_t(S) - 16;
    return address ^ ((address >> 3) & mask);
}

/// The place of elements in a tile: panels side by side, each as wide as the swizzle (none: one panel).
template <class T, int R, int C, swizzle S>
struct shared_geometry {
    static constexpr int size = int(sizeof(T));
    static constexpr int panel_cols = S == swizzle::none ? C : int(S) / 32 * 32 / size;
    static constexpr int panels = cdiv(C, panel_cols);
    static constexpr int pitch = panel_cols * size;  // bytes from row to row
    static constexpr int panel_bytes = R * pitch;    // bytes from panel to panel
    static constexpr int bytes = panels * panel_bytes;
    /// Runs of so many elements, 16 bytes at most, lie at multiples of their size in every row where they do in the first.
    static constexpr int run = R == 1 || pitch % 16 == 0 ? 16 / size : pitch % 8 == 0 ? 8 / size : pitch % 4 == 0 && size < 4 ? 4 / size : 1;
    /// The pattern repeats from panel to panel.
    static constexpr bool panels_repeat = panel_bytes % (S == swizzle::t128 ? 2048 : 8 * pitch) == 0;

    /// Byte offset of element (r, c) before swizzling.
    static TK_HOST_DEVICE constexpr uint32_t offset(uint32_t r, uint32_t c) {
        constexpr uint32_t width = panel_cols;  // unsigned: division is a shift
        return c / width * panel_bytes + r * pitch + c % width * size;
    }
};

/// A window of R x C elements at (row0, col0) of a ParentR x ParentC tile.
template <class T, int R, int C, swizzle S, int ParentR, int ParentC>
struct shared_view {
    using value_type = T;
    using geometry = shared_geometry<T, ParentR, ParentC, S>;
    static constexpr int rows = R, cols = C, parent_rows = ParentR, parent_cols = ParentC;
    static constexpr swizzle swizzling = S;
    /// Where a view begins at a multiple of so many columns, no bit of its first column in a panel meets one of a column of its own.
    static constexpr int column_unit = geometry::panel_cols % C == 0 && (C & (C - 1)) == 0 ? C : geometry::panel_cols;

    uint32_t base;  // shared-memory address of the parent's element (0, 0)
    int row0, col0;

    /// Address of element (r, c) as the copy engine and the tensor core count it: before swizzling.
    TK_HOST_DEVICE constexpr uint32_t linear_address(int r, int c) const {
        return base + geometry::offset(uint32_t(row0 + r), uint32_t(col0 + c));
    }

    /// Address of element (r, c). 16 bytes of a row that start at a multiple of 16 stay together.
    TK_HOST_DEVICE constexpr uint32_t address(int r, int c) const { return swizzled<S>(linear_address(r, c)); }

    /// Addresses along row r: walk(r, c)(d) is that of element (r, c + d), for constant d whose bits are 0 in c.
    /// In a whole tile whose panels repeat that costs one instruction for each d, as swizzling is linear in XOR.
    struct row_walk {
        shared_view view;
        int r, c;
        uint32_t start;
        TK_HOST_DEVICE constexpr uint32_t operator()(int d) const {
            if constexpr (S == swizzle::none) return start + uint32_t(d * geometry::size);
            else if constexpr (C != ParentC || !geometry::panels_repeat) return view.address(r, c + d);
            else return (start ^ geometry::offset(0, d % geometry::panel_cols)) + geometry::offset(0, d / geometry::panel_cols * geometry::panel_cols);
        }
    };
    /// Row r + below: what is known at compile time is given as `below`, and without a swizzle added last, so that the compiler sees
    /// where windows that begin a few rows apart have the same elements, and reads and converts them once.
    TK_HOST_DEVICE constexpr row_walk walk(int r, int c, int below = 0) const {
        if constexpr (S == swizzle::none)
            return {*this, r + below, c, base + geometry::offset(uint32_t(r), uint32_t(col0 + c)) + uint32_t((row0 + below) * geometry::pitch)};
        else return {*this, r + below, c, address(r + below, c)};
    }
};

/// A view with rows and columns exchanged: element (r, c) is element (c, r) of `view`.
template <class View>
struct transposed_view {
    using value_type = typename View::value_type;
    static constexpr int rows = View::cols, cols = View::rows;
    View view;

    TK_HOST_DEVICE constexpr uint32_t address(int r, int c) const { return view.address(c, r); }

    struct row_walk {
        View view;
        int r, c;
        TK_HOST_DEVICE constexpr uint32_t operator()(int d) const { return view.address(c + d, r); }
    };
    TK_HOST_DEVICE constexpr row_walk walk(int r, int c, int below = 0) const { return {view, r + below, c}; }
};

namespace detail {
template <class View>
inline constexpr bool is_transposed = false;
template <class View>
inline constexpr bool is_transposed<transposed_view<View>> = true;
}  // namespace detail

namespace detail {
/// Of the tile that a view shows something of.
template <class View>
inline constexpr int stored_run = View::geometry::run;
template <class View>
inline constexpr int stored_run<transposed_view<View>> = View::geometry::run;
}  // namespace detail

/// Whether runs of V elements of a stored row lie at multiples of their size, as they do in whole tiles: a part may begin anywhere, at a
/// column that is known when the program is compiled.
template <int V, class View>
TK_HOST_DEVICE constexpr bool begins_at_multiple(const View& view) {
    if constexpr (detail::is_transposed<View>) return view.view.col0 % V == 0;
    else return view.col0 % V == 0;
}

/// Storage of an R x C tile. shared_tile<T, R, 1, swizzle::none> is a contiguous column.
template <class T, int R, int C, swizzle S = swizzle::none>
struct alignas(S == swizzle::none ? 128 : S == swizzle::t128 ? 2048 : 1024) shared_tile {
    using value_type = T;
    using view_type = shared_view<T, R, C, S, R, C>;
    static constexpr int rows = R, cols = C;
    static constexpr int bytes = view_type::geometry::bytes;

    unsigned char storage[bytes];

    TK_DEVICE view_type view() const { return {arch::shared_address(storage), 0, 0}; }
    TK_DEVICE operator view_type() const { return view(); }
};

/// A tile, or an array of them, so many bytes behind where a union begins: tiles that are never needed at once share room.
template <int Bytes, class T>
struct behind {
    alignas(T) unsigned char before[Bytes];
    T tile;
};

// `as_view` lets every operation take tiles, views and transposed views alike.
template <class T, int R, int C, swizzle S>
TK_DEVICE auto as_view(const shared_tile<T, R, C, S>& tile) { return tile.view(); }
template <class T, int R, int C, swizzle S, int PR, int PC>
TK_HOST_DEVICE constexpr auto as_view(const shared_view<T, R, C, S, PR, PC>& view) { return view; }
template <class View>
TK_HOST_DEVICE constexpr auto as_view(const transposed_view<View>& view) { return view; }

template <int N, class T, int R, int C, swizzle S, int PR, int PC>
TK_HOST_DEVICE constexpr auto rows_of_view(const shared_view<T, R, C, S, PR, PC>& v, int row0) {
    static_assert(N <= R);
    return shared_view<T, N, C, S, PR, PC>{v.base, v.row0 + row0, v.col0};
}
template <int N, class View>
TK_HOST_DEVICE constexpr auto rows_of_view(const transposed_view<View>& v, int row0);

template <int N, class T, int R, int C, swizzle S, int PR, int PC>
TK_HOST_DEVICE constexpr auto cols_of_view(const shared_view<T, R, C, S, PR, PC>& v, int col0) {
    static_assert(N <= C);
    return shared_view<T, R, N, S, PR, PC>{v.base, v.row0, v.col0 + col0};
}
template <int N, class View>
TK_HOST_DEVICE constexpr auto cols_of_view(const transposed_view<View>& v, int col0) {
    auto inner = rows_of_view<N>(v.view, col0);
    return transposed_view<decltype(inner)>{inner};
}
template <int N, class View>
TK_HOST_DEVICE constexpr auto rows_of_view(const transposed_view<View>& v, int row0) {
    auto inner = cols_of_view<N>(v.view, row0);
    return transposed_view<decltype(inner)>{inner};
}

/// N rows from row0 on, of a tile or view.
template <int N, class X>
TK_DEVICE auto rows(const X& x, int row0) { return rows_of_view<N>(as_view(x), row0); }

/// N columns from col0 on. For a matrix instruction: col0 a multiple of the panel width, or of 16 along K.
template <int N, class X>
TK_DEVICE auto cols(const X& x, int col0) { return cols_of_view<N>(as_view(x), col0); }

/// The elements of a tile without a swizzle, row by row, as one of R rows.
template <int R, int C, class T, int FromR, int FromC>
TK_DEVICE auto reshaped(const shared_tile<T, FromR, FromC, swizzle::none>& tile) {
    static_assert(R * C == FromR * FromC);
    return shared_view<T, R, C, swizzle::none, R, C>{tile.view().base, 0, 0};
}

template <class View>
TK_HOST_DEVICE constexpr View transposed(const transposed_view<View>& v) { return v.view; }
/// A stored column is a row as it lies: neighbours can be moved together.
template <class T, int R, int C, swizzle S, int PR, int PC>
TK_HOST_DEVICE constexpr auto transposed(const shared_view<T, R, C, S, PR, PC>& v) {
    if constexpr (PC == 1 && S == swizzle::none) return shared_view<T, 1, R, S, 1, PR>{v.base, 0, v.row0};
    else return transposed_view<shared_view<T, R, C, S, PR, PC>>{v};
}
template <class T, int R, int C, swizzle S>
TK_DEVICE auto transposed(const shared_tile<T, R, C, S>& tile) { return transposed(tile.view()); }

}  // namespace tk

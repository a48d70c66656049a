// SPDX-License-Identifier: MIT
// Asynchronous copies of blocks of global memory into shared tiles by all threads of a block: buffer loads to shared memory, 16 bytes
// a lane on gfx950, 4 on gfx942. Such an instruction writes shared memory in the order of the lanes, so the swizzle goes into the
// global addresses. It is complete for its own wave behind wait_copies, for the others behind a barrier after that.
#pragma once

#include "tk/hip/gfx9/buffer.h"
#include "tk/ops/copy_guarded.h"
#if TK_HAS_GFX950
#include "tk/hip/gfx950/buffer.h"
#endif

namespace tk {

namespace detail {

/// Bytes of a lane's piece.
inline constexpr int copy_piece = TK_HAS_GFX950 ? 16 : 4;
/// Elements that it holds; 1 where it is a part of one.
template <class T>
inline constexpr int piece_elements = int(sizeof(T)) < copy_piece ? copy_piece / int(sizeof(T)) : 1;

TK_DEVICE void copy_piece_to_shared(uint32_t to, const gfx9::buffer& from, uint32_t offset, uint32_t more) {
#if TK_HAS_GFX950
    gfx950::copy_buffer_to_shared_b128(to, from, offset, more);
#else
    gfx9::copy_buffer_to_shared_b32(to, from, offset, more);
#endif
}

/// Instructions that each wave issues for a tile of `bytes` bytes; 0: it goes by ordinary loads and stores.
TK_HOST_DEVICE constexpr int copy_instructions(int bytes, int threads) {
    return bytes % (copy_piece * threads) == 0 ? bytes / (copy_piece * threads) : 0;
}

/// The block's rows from its origin on can be read in pieces, and ranges end where pieces do. The same in all threads.
template <int C, class T>
TK_DEVICE bool copies_in_pieces(const global_block<T>& from, int rows) {
    constexpr int V = piece_elements<T>;
    const int64_t last = (rows - 1) * from.row_stride + C;
    const uint64_t bits = reinterpret_cast<uint64_t>(from.origin) | uint64_t(from.row_stride) * sizeof(T);
    return from.col_stride == 1 && bits % copy_piece == 0 && from.row_stride >= 0 && last * int64_t(sizeof(T)) < int64_t(1) << 31 && from.row_lo <= 0 &&
           from.col_lo <= 0 && (from.col_hi >= C || (from.col_hi % V == 0 && from.row_stride >= from.col_hi)) &&
           (from.row_hi >= rows || from.row_stride >= min(from.col_hi, C));
}

constexpr uint32_t nowhere = 0x80000000u;  // an offset beyond every buffer

/// R x C elements of the block. Rows beyond the last one lie beyond the buffer's size, as a row holds all columns of the tile; columns are
/// to be compared. Multiplied first and chosen then, so that there is no branch, in scalar registers.
template <int R, int C, class T>
TK_DEVICE gfx9::buffer buffer_of(const global_block<T>& from) {
    const uint32_t row_bytes = uint32_t(from.row_stride) * uint32_t(sizeof(T));
    const uint32_t some = uint32_t(from.row_hi) * row_bytes, all = uint32_t(R - 1) * row_bytes + uint32_t(C * sizeof(T));
    return gfx9::make_buffer(from.origin, from.row_hi >= R ? all : from.row_hi > 0 ? some : 0);
}

/// Where a piece lies in it.
template <class T>
TK_DEVICE uint32_t offset_in(const global_block<T>& from, int r, int c) {
    return c < from.col_hi ? uint32_t(r) * uint32_t(from.row_stride) * uint32_t(sizeof(T)) + uint32_t(c) * uint32_t(sizeof(T)) : nowhere;
}

/// The pieces of a thread lie Threads pieces apart in the tile's storage. Where a panel is a multiple of that, they differ in a whole
/// number of rows and panels, which is the same for all threads.
template <int Threads, class View, class T>
TK_DEVICE void copy_pieces(const View& to, const global_block<T>& from, int thread) {
    using geometry = typename View::geometry;
    constexpr int size = int(sizeof(T)), round = Threads * copy_piece, rounds = geometry::bytes / round;
    const uint32_t first = uint32_t(thread) * copy_piece;
    const uint32_t wave = arch::broadcast_first(uint32_t(thread) / arch::lanes) * uint32_t(arch::lanes * copy_piece);
    // What a lane writes at `place` of the storage is the element whose swizzled place that is; the XOR is its own inverse. Tiles start
    // where its pattern does.
    const auto place_of = [](uint32_t place) { return swizzled<View::swizzling>(place); };
    const auto row_of = [](uint32_t offset) { return int(offset % geometry::panel_bytes / geometry::pitch); };
    const auto col_of = [](uint32_t offset) {
        return int(offset / geometry::panel_bytes * geometry::panel_cols + offset % geometry::pitch / size);
    };
    const auto part_of = [](uint32_t offset) { return size > copy_piece ? offset % size : 0; };  // of the element
    const uint32_t row_bytes = uint32_t(from.row_stride) * size;
    const auto source = buffer_of<View::rows, View::cols>(from);
    const uint32_t offset = place_of(first);
    const int row = row_of(offset), col = col_of(offset);
    // What a panel has behind the tile's last column is not read: half a piece there may belong to no element.
    const int cols = View::cols % geometry::panel_cols == 0 ? from.col_hi : min(from.col_hi, View::cols);
    TK_UNROLL
    for (int n = 0; n < rounds; ++n) {
        constexpr int pattern = View::swizzling == swizzle::t128 ? 2048 : 1024;
        constexpr bool whole = geometry::panel_bytes % round == 0 && round % geometry::pitch == 0 && round % pattern == 0;
        int c = col, r = row;
        uint32_t part = part_of(offset), more = 0;
        if constexpr (whole) {
            const int down = n * round % geometry::panel_bytes / geometry::pitch, across = n * round / geometry::panel_bytes * geometry::panel_cols;
            more = uint32_t(down) * row_bytes + uint32_t(across * size);
            c = col + across;
        } else {
            const uint32_t here = place_of(first + uint32_t(n * round));
            r = row_of(here), c = col_of(here), part = part_of(here);
        }
        const uint32_t at = uint32_t(r) * row_bytes + uint32_t((whole ? col : c) * size) + part;
        copy_piece_to_shared(to.base + uint32_t(n * round) + wave, source, c < cols ? at : nowhere, more);
    }
}

/// Element by element by ordinary loads and stores, complete when it returns. Code of a few lines, as it stands beside every copy.
template <class View, class T>
TK_DEVICE void copy_elements(const View& to, const global_block<T>& from, int thread, int threads) {
    using value = std::remove_const_t<T>;
    TK_NO_UNROLL
    for (int n = thread; n < View::rows * View::cols; n += threads) {
        const int r = n / View::cols, c = n % View::cols;
        const bool exists = from.has_row(r) && from.has_col(c);
        arch::store_shared(to.address(r, c), exists ? arch::load_global<value>(from.at(r, c)) : value());
    }
    gfx9::wait_vector_memory<0>();
}

}  // namespace detail

namespace block {

/// Issues the copy of an R x C block into a shared tile, in pieces; what the block does not have becomes 0. Threads threads of the
/// block take part, from number First on. The block's rows start at multiples of a piece and end at one, if need be behind zeros: launchers pack tensors
/// where that is not so (host::launcher::pieces). There is no branch, so that what is computed next to it can lie between its instructions.
template <int Threads, int First = 0, class To, class T>
TK_DEVICE void copy_pieces(const To& to, const global_block<T>& from) {
    const auto view = as_view(to);
    using View = std::remove_const_t<decltype(view)>;
    static_assert(View::rows == View::parent_rows && View::cols == View::parent_cols && detail::copy_instructions(View::geometry::bytes, Threads) > 0);
#ifdef TK_SIM
    global_block<T> padded = from;  // behind the last column there are zeros up to the end of a piece
    padded.col_hi = min(padded.col_hi, View::cols);
    padded.col_hi += -padded.col_hi & (detail::piece_elements<T> - 1);
    if (!detail::copies_in_pieces<View::cols>(padded, View::rows)) sim::report_misuse("a block that can't be copied in pieces");
#endif
    detail::copy_pieces<Threads>(view, from, thread::index() - First);
}

/// The same for any block. Tiles and tensors that no piece fits go by ordinary loads and stores, with everything issued before complete behind them,
/// so that whoever counts instructions for a wait never waits for too few.
template <int Threads, int First = 0, class To, class T>
TK_DEVICE void copy_async(const To& to, const global_block<T>& from) {
    const auto view = as_view(to);
    using View = std::remove_const_t<decltype(view)>;
    if constexpr (!detail::is_transposed<View>) {
        if constexpr (View::rows == View::parent_rows && View::cols == View::parent_cols && View::cols % detail::piece_elements<T> == 0 &&
                      detail::copy_instructions(View::geometry::bytes, Threads) > 0)
            if (detail::copies_in_pieces<View::cols>(from, View::rows)) return detail::copy_pieces<Threads>(view, from, thread::index() - First);
    }
    detail::copy_elements(view, from, thread::index() - First, Threads);
}

}  // namespace block

/// At most the newest N copy instructions of this wave are unfinished.
template <int N>
TK_DEVICE void wait_copies() { gfx9::wait_vector_memory<N>(); }
/// The counter counts instructions: there are no groups to close.
TK_DEVICE void commit_copies() {}

}  // namespace tk

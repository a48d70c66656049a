// SPDX-License-Identifier: MIT
// Copies a tensor of any strides and alignment into a dense one with rows padded to 16 bytes, which the copy engine
// can read. Bound by memory: each element is read and written once, written 16 bytes at a time.
#pragma once

#include "tk/host/driver.h"
#include "tk/host/overlap.h"
#include "tk/host/tensor.h"
#include "tk/ops/scope.h"
#include "tk/ops/unaligned_rows.h"
#include "tk/ops/vector.h"

namespace tk::host::inline TK_MACHINE {

/// Rows are all indices but the last dimension's, counted row-major. T is a word as wide as the elements.
template <class T>
struct repack_arguments {
    const T* from;
    T* to;
    int rank;
    int extent[TK_MAX_RANK];
    int64_t stride[TK_MAX_RANK];
    int64_t rows, pitch;  // of the result, pitch in elements
};

constexpr int repack_threads = 256;

namespace detail {

/// Where the row number `row` of dimensions 0 .. last starts.
template <class T>
TK_DEVICE const T* row_start(const repack_arguments<T>& a, int64_t row, int last) {
    const T* result = a.from;
    TK_NO_UNROLL
    for (int d = last; d > 0; --d) {
        result += row % a.extent[d] * a.stride[d];
        row /= a.extent[d];
    }
    return last < 0 ? result : result + row * a.stride[0];
}

}  // namespace detail

/// Columns contiguous, elements of any size (extent, stride and pitch of the last dimension in bytes): each thread
/// makes pieces of 16 bytes, out of the words around them, or byte by byte at the ends of a row.
template <class T>
TK_KERNEL(repack_threads)
repack_rows(const repack_arguments<T> a) {
    overlap();
    static_assert(sizeof(T) == 1);
    constexpr int V = 16;
    const auto zeros = tk::detail::filled_word<T, V>(T(0));
    const int per_row = int(a.pitch / V), threads = block::count() * repack_threads, first = block::index() * repack_threads + thread::index();
    // Neither divides within the loop.
    const int rows_on = threads / per_row, pieces_on = threads % per_row;
    int64_t row = first / per_row;
    int piece = first % per_row;
    while (row < a.rows) {
        const global_block<const T> bytes{detail::row_start(a, row, a.rank - 2), 0, 1, 0, 1, 0, a.extent[a.rank - 1]};
        const tk::detail::shifted_row<V, const T> from(bytes, 0, piece * V);
        const auto word = from.has(0) ? from.load_one(0, zeros) : tk::detail::load_elements<V>(bytes, 0, piece * V, zeros);
        arch::store_global(reinterpret_cast<std::remove_const_t<decltype(zeros)>*>(a.to + row * a.pitch + piece * V), word);
        row += rows_on, piece += pieces_on;
        if (piece >= per_row) ++row, piece -= per_row;
    }
}

/// Any strides: squares of 64 x 64 elements turned in shared memory, read along the rows and written along the
/// columns. The rows of a square differ in the last dimension but one.
template <class T>
TK_KERNEL(repack_threads)
repack_squares(const repack_arguments<T> a) {
    overlap();
    constexpr int side = 64, V = 16 / int(sizeof(T));
    using padded = T[side][side + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];  // turning meets different banks
    TK_STATIC_SHARED(padded, square);
    const int rows = a.rank > 1 ? a.extent[a.rank - 2] : 1, cols = a.extent[a.rank - 1];
    const int64_t row_stride = a.rank > 1 ? a.stride[a.rank - 2] : 0, col_stride = a.stride[a.rank - 1];
    const int64_t down = cdiv(rows, side), across = cdiv(cols, side), squares = a.rows / rows * down * across;
    for (int64_t s = block::index(); s < squares; s += block::count()) {
        const int row0 = int(s / across % down) * side, col0 = int(s % across) * side;
        const int64_t outer = s / (across * down);
        const T* from = detail::row_start(a, outer, a.rank - 3);
        TK_UNROLL_FOUR
        for (int n = thread::index(); n < side * side; n += repack_threads) {
            const int r = n % side, c = n / side;
            const bool inside = row0 + r < rows && col0 + c < cols;
            const T x = inside ? arch::load_global(from + ((row0 + r) * row_stride + (col0 + c) * col_stride)) : T(0);
            arch::store_shared_variable(square[r][c], x);
        }
        block::sync();
        TK_NO_UNROLL
        for (int n = thread::index(); n < side * side / V; n += repack_threads) {
            const int r = n / (side / V), c = n % (side / V) * V;
            if (row0 + r < rows && col0 + c < a.pitch) {
                tk::detail::vector<T, V> v;
                TK_UNROLL
                for (int e = 0; e < V; ++e) v.value[e] = arch::load_shared_variable(square[r][c + e]);
                tk::detail::store_vector(a.to + (outer * rows + row0 + r) * a.pitch + col0 + c, v);
            }
        }
        block::sync();
    }
}

namespace detail {

template <class T>
repack_arguments<T> describe(const tk_tensor& from, const tk_tensor& to) {
    repack_arguments<T> a{static_cast<const T*>(from.data), static_cast<T*>(to.data), from.rank, {}, {}, 1, 0};
    const int64_t scale = dtype_bytes(from.dtype) / int64_t(sizeof(T)), last = from.rank - 1;
    for (int d = 0; d <= last; ++d) {
        a.extent[d] = int(from.extent[d] * (d == last ? scale : 1));
        a.stride[d] = from.extent[d] == 1 ? 0 : from.stride[d] * scale;  // of one element it may be anything
        if (d < last) a.rows *= from.extent[d];
    }
    a.pitch = cdiv<int64_t>(a.extent[last] * int64_t(sizeof(T)), 16) * 16 / int64_t(sizeof(T));
    return a;
}

/// As many blocks as have work, at most 8 on each processor: 2048 threads.
inline launch_shape repack_shape(int64_t work, const device_info& info, host::stream on, bool overlaps) {
    return {int(min<int64_t>(work, int64_t(info.processors) * 8)), repack_threads, 0, on, overlaps};
}

template <class T>
tk_status repack_strided(const tk_tensor& from, const tk_tensor& to, int device, const device_info& info, host::stream on, bool overlaps) {
    const auto a = describe<T>(from, to);
    const int64_t rows = from.rank > 1 ? from.extent[from.rank - 2] : 1;
    const int64_t squares = a.rows / rows * cdiv<int64_t>(rows, 64) * cdiv<int64_t>(from.extent[from.rank - 1], 64);
    return launch<repack_squares<T>>(device, repack_shape(squares, info, on, overlaps), a);
}

}  // namespace detail

/// Copies `from` to `to`, which packed_like made. Both have elements.
inline tk_status repack(const tk_tensor& from, const tk_tensor& to, int device, host::stream on, bool overlaps) {
    device_info info{};
    const tk_status status = cached_device(device, info);
    if (status.code != TK_OK) return status;
    const int last = from.rank - 1, size = dtype_bytes(from.dtype);
    if ((from.extent[last] == 1 || from.stride[last] == 1) && from.extent[last] * size < int64_t(1) << 31) {
        const auto a = detail::describe<uint8_t>(from, to);
        return launch<repack_rows<uint8_t>>(device, detail::repack_shape(cdiv<int64_t>(a.rows * a.pitch / 16, repack_threads), info, on, overlaps), a);
    }
    switch (size) {
        case 1: return detail::repack_strided<uint8_t>(from, to, device, info, on, overlaps);
        case 2: return detail::repack_strided<uint16_t>(from, to, device, info, on, overlaps);
        case 4: return detail::repack_strided<uint32_t>(from, to, device, info, on, overlaps);
        default: return detail::repack_strided<uint64_t>(from, to, device, info, on, overlaps);
    }
}

}  // namespace tk::host

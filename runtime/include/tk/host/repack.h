// SPDX-License-Identifier: MIT
// Copies a tensor of any strides and alignment into a dense one with rows padded to 16 bytes, which the copy engine
// can read. Bound by memory: each element is read and written once, written 16 bytes at a time.
#pragma once

#include "tk/host/driver.h"
#include "tk/host/overlap.h"
#include "tk/host/tensor.h"
#include "tk/ops/scope.h"
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
    for (int d = last; d >= 0; --d) {
        result += row % a.extent[d] * a.stride[d];
        row /= a.extent[d];
    }
    return result;
}

/// 16 bytes from any address, out of the aligned words around them.
TK_DEVICE tk::detail::vector<uint32_t, 4> load_unaligned(const void* from) {
    const uint64_t address = reinterpret_cast<uint64_t>(from);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uint64_t(3));
    const uint32_t shift = uint32_t(address & 3) * 8;
    uint32_t word[5];
    TK_UNROLL
    for (int i = 0; i < 5; ++i) word[i] = i < 4 || shift > 0 ? arch::load_global(words + i) : 0;
    tk::detail::vector<uint32_t, 4> result;
    TK_UNROLL
    for (int i = 0; i < 4; ++i) result.value[i] = uint32_t((uint64_t(word[i + 1]) << 32 | word[i]) >> shift);
    return result;
}

}  // namespace detail

/// Columns contiguous, elements of any size (extent, stride and pitch of the last dimension in bytes): each thread
/// makes pieces of 16 bytes. Where the words around a piece may not belong to the tensor, it goes byte by byte.
template <class T>
TK_KERNEL(repack_threads)
repack_rows(const repack_arguments<T> a) {
    overlap();
    static_assert(sizeof(T) == 1);
    const int64_t row_bytes = a.extent[a.rank - 1], per_row = a.pitch / 16, pieces = a.rows * per_row;
    const int64_t step = int64_t(block::count()) * repack_threads;
    for (int64_t piece = int64_t(block::index()) * repack_threads + thread::index(); piece < pieces; piece += step) {
        const int64_t at = piece % per_row * 16;
        const T* from = detail::row_start(a, piece / per_row, a.rank - 2) + at;
        T* to = a.to + piece * 16;
        // From any other address five words are read: the last ends so many bytes behind the piece.
        const int before = int(reinterpret_cast<uint64_t>(from) % 4), behind = before == 0 ? 0 : 4 - before;
        if ((before == 0 || at > 0) && at + 16 + behind <= row_bytes) {
            tk::detail::store_vector(to, detail::load_unaligned(from));
        } else {
            TK_NO_UNROLL
            for (int b = 0; b < 16; ++b) arch::store_global(to + b, at + b < row_bytes ? arch::load_global(from + b) : T(0));
        }
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
        a.stride[d] = from.stride[d] * scale;
        if (d < last) a.rows *= from.extent[d];
    }
    a.pitch = cdiv<int64_t>(a.extent[last] * int64_t(sizeof(T)), 16) * 16 / int64_t(sizeof(T));
    return a;
}

/// As many blocks as have work, at most 8 on each processor: 2048 threads.
inline launch_shape repack_shape(int64_t work, const device_info& info, host::stream stream, bool overlaps) {
    return {int(min<int64_t>(work, int64_t(info.processors) * 8)), repack_threads, 0, stream, overlaps};
}

template <class T>
tk_status repack_strided(const tk_tensor& from, const tk_tensor& to, int device, const device_info& info, host::stream stream, bool overlaps) {
    const auto a = describe<T>(from, to);
    const int64_t rows = from.rank > 1 ? from.extent[from.rank - 2] : 1;
    const int64_t squares = a.rows / rows * cdiv<int64_t>(rows, 64) * cdiv<int64_t>(from.extent[from.rank - 1], 64);
    return launch<repack_squares<T>>(device, repack_shape(squares, info, stream, overlaps), a);
}

}  // namespace detail

/// Copies `from` to `to`, which packed_like made. Both have elements.
inline tk_status repack(const tk_tensor& from, const tk_tensor& to, int device, host::stream stream, bool overlaps) {
    const device_info* info = nullptr;
    const tk_status status = cached_device(device, info);
    if (status.code != TK_OK) return status;
    const int last = from.rank - 1, size = dtype_bytes(from.dtype);
    if ((from.extent[last] == 1 || from.stride[last] == 1) && from.extent[last] * size < int64_t(1) << 31) {
        const auto a = detail::describe<uint8_t>(from, to);
        return launch<repack_rows<uint8_t>>(device, detail::repack_shape(cdiv<int64_t>(a.rows * a.pitch / 16, repack_threads), *info, stream, overlaps), a);
    }
    switch (size) {
        case 1: return detail::repack_strided<uint8_t>(from, to, device, *info, stream, overlaps);
        case 2: return detail::repack_strided<uint16_t>(from, to, device, *info, stream, overlaps);
        case 4: return detail::repack_strided<uint32_t>(from, to, device, *info, stream, overlaps);
        default: return detail::repack_strided<uint64_t>(from, to, device, *info, stream, overlaps);
    }
}

}  // namespace tk::host

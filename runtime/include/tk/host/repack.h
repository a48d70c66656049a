// SPDX-License-Identifier: MIT
// Copies a tensor of any strides and alignment into a dense one with rows padded to 16 bytes, which the copy engine
// can read. Bound by memory: each element is read and written once, written 16 bytes at a time.
#pragma once

#include "tk/host/driver.h"
#include "tk/host/tensor.h"
#include "tk/ops/scope.h"
#include "tk/ops/vector.h"

namespace tk::host {

/// Rows are all indices but the last dimension's, counted row-major.
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

/// The element (dimension `last` down to 0 of) row number `row` starts at.
template <class T>
TK_DEVICE const T* row_start(const repack_arguments<T>& a, int64_t row, int last) {
    const T* result = a.from;
    for (int d = last; d >= 0; --d) {
        result += row % a.extent[d] * a.stride[d];
        row /= a.extent[d];
    }
    return result;
}

/// 16 bytes from an address aligned to elements only, out of the aligned words around them.
TK_DEVICE tk::detail::vector<uint32_t, 4> load_unaligned(const void* from) {
    const uint64_t address = reinterpret_cast<uint64_t>(from);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uint64_t(3));
    const uint32_t shift = uint32_t(address & 3) * 8;
    tk::detail::vector<uint32_t, 4> result;
    uint32_t low = words[0];
    TK_UNROLL
    for (int i = 0; i < 4; ++i) {
        const uint32_t high = shift ? words[i + 1] : 0;
        result.value[i] = shift ? low >> shift | high << (32 - shift) : low;
        low = shift ? high : words[i < 3 ? i + 1 : 3];
    }
    return result;
}

}  // namespace detail

/// Columns contiguous: each thread makes pieces of 16 bytes. The first and last piece of a row go element by
/// element, as the words around them may not belong to the tensor.
template <class T>
TK_KERNEL(repack_threads)
repack_rows(const repack_arguments<T> a) {
    constexpr int V = 16 / int(sizeof(T));
    const int cols = a.extent[a.rank - 1];
    const int64_t per_row = a.pitch / V, pieces = a.rows * per_row;
    const int64_t step = int64_t(block::count()) * repack_threads;
    for (int64_t piece = int64_t(block::index()) * repack_threads + thread::index(); piece < pieces; piece += step) {
        const int col = int(piece % per_row) * V;
        const T* from = detail::row_start(a, piece / per_row, a.rank - 2) + col;
        T* to = a.to + piece * V;
        if (col > 0 && col + V < cols) {
            tk::detail::store_vector(to, detail::load_unaligned(from));
        } else {
            tk::detail::vector<T, V> v;
            TK_UNROLL
            for (int e = 0; e < V; ++e) v.value[e] = col + e < cols ? from[e] : T(0);
            tk::detail::store_vector(to, v);
        }
    }
}

/// Any strides: squares of 64 x 64 elements turned in shared memory, read along the rows and written along the
/// columns. The rows of a square differ in the last dimension but one.
template <class T>
TK_KERNEL(repack_threads)
repack_squares(const repack_arguments<T> a) {
    constexpr int side = 64, V = 16 / int(sizeof(T));
    TK_STATIC_SHARED T square[side][side + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];  // padded: turning meets different banks
    const int rows = a.rank > 1 ? a.extent[a.rank - 2] : 1, cols = a.extent[a.rank - 1];
    const int64_t row_stride = a.rank > 1 ? a.stride[a.rank - 2] : 0, col_stride = a.stride[a.rank - 1];
    const int64_t down = cdiv(rows, side), across = cdiv(cols, side), squares = a.rows / rows * down * across;
    for (int64_t s = block::index(); s < squares; s += block::count()) {
        const int row0 = int(s / across % down) * side, col0 = int(s % across) * side;
        const int64_t outer = s / (across * down);
        const T* from = detail::row_start(a, outer, a.rank - 3);
        for (int n = thread::index(); n < side * side; n += repack_threads) {
            const int r = n % side, c = n / side;
            const bool inside = row0 + r < rows && col0 + c < cols;
            square[r][c] = inside ? from[(row0 + r) * row_stride + (col0 + c) * col_stride] : T(0);
        }
        block::sync();
        for (int n = thread::index(); n < side * side / V; n += repack_threads) {
            const int r = n / (side / V), c = n % (side / V) * V;
            if (row0 + r < rows && col0 + c < a.pitch) {
                tk::detail::vector<T, V> v;
                TK_UNROLL
                for (int e = 0; e < V; ++e) v.value[e] = square[r][c + e];
                tk::detail::store_vector(a.to + (outer * rows + row0 + r) * a.pitch + col0 + c, v);
            }
        }
        block::sync();
    }
}

template <class T>
tk_status repack_as(const tk_tensor& from, const tk_tensor& to, int device, cudaStream_t stream) {
    const device_info* info = nullptr;
    const tk_status status = cached_device(device, info);
    if (status.code != TK_OK) return status;
    repack_arguments<T> a{static_cast<const T*>(from.data), static_cast<T*>(to.data), from.rank, {}, {}, 1, 0};
    for (int d = 0; d < from.rank; ++d) {
        a.extent[d] = int(from.extent[d]);
        a.stride[d] = from.stride[d];
        if (d + 1 < from.rank) a.rows *= from.extent[d];
    }
    constexpr int64_t V = 16 / int64_t(sizeof(T));
    const int64_t cols = from.extent[from.rank - 1];
    a.pitch = cdiv(cols, V) * V;
    const bool contiguous = cols == 1 || from.stride[from.rank - 1] == 1;
    const int64_t work = contiguous ? cdiv<int64_t>(a.rows * a.pitch / V, repack_threads) : a.rows * cdiv<int64_t>(cols, 64);
    const launch_shape shape{int(min<int64_t>(work, int64_t(info->processors) * 8)), repack_threads, 0, stream};
    return contiguous ? launch<repack_rows<T>>(device, shape, a) : launch<repack_squares<T>>(device, shape, a);
}

/// Copies `from` to `to`, which packed_like made.
inline tk_status repack(const tk_tensor& from, const tk_tensor& to, int device, cudaStream_t stream) {
    switch (dtype_bytes(from.dtype)) {
        case 1: return repack_as<uint8_t>(from, to, device, stream);
        case 2: return repack_as<uint16_t>(from, to, device, stream);
        case 4: return repack_as<uint32_t>(from, to, device, stream);
        default: return repack_as<uint64_t>(from, to, device, stream);
    }
}

}  // namespace tk::host

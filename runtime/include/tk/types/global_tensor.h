// SPDX-License-Identifier: MIT
// Tensors in global memory as kernels receive them, and the blocks of them that tiles are read from.
#pragma once

#include "tk/arch.h"
#include "tk/types/integer.h"

namespace tk {

/// Which part of one tensor dimension a block takes.
struct axis {
    int start;    // tensor index of the block's element 0
    int lo, hi;   // tensor indices that may be touched, before clipping to the extent
    bool dropped; // one index, no axis in the block
    bool exists = false;  // the dimension is known to have all of lo .. hi
};

/// A place along an axis that was computed in 64 bits. No tensor is as long as the furthest: where nothing is, nothing is found.
TK_HOST_DEVICE constexpr int coordinate(index place) {
    constexpr index furthest = 0x7fff0000;
    return int(place > furthest ? furthest : place < -furthest ? -furthest : place);
}

/// One index: the dimension does not appear in the block. Out of range: the block is empty.
TK_HOST_DEVICE constexpr axis at(int i) { return {i, i, i + 1, true}; }
/// From `start` on, to the end of the tensor.
TK_HOST_DEVICE constexpr axis span(int start) { return {start, 0, 0x7fffffff, false}; }
/// From `start` on, only tensor indices lo .. hi - 1.
TK_HOST_DEVICE constexpr axis span(int start, int lo, int hi) { return {start, lo, hi, false}; }

/// One index that the dimension is known to have.
TK_HOST_DEVICE constexpr axis inside(int i) { return {i, i, i + 1, true, true}; }
/// Extent indices from `start` on, all of which the dimension is known to have.
template <int Extent>
TK_HOST_DEVICE constexpr axis inside(int start) { return {start, start, start + Extent, false, true}; }

/// All of a dimension of this extent: nothing is left to be asked when the kernel runs.
template <int Extent>
TK_HOST_DEVICE constexpr axis all() { return {0, 0, Extent, false, true}; }

/// A two-dimensional window. Element (r, c) exists iff row_lo <= r < row_hi and col_lo <= c < col_hi; what
/// does not exist reads as the fill value and is dropped on writing. `origin` itself may not exist.
template <class T>
struct global_block {
    T* origin;
    int64_t row_stride, col_stride;  // in elements
    int row_lo, row_hi, col_lo, col_hi;
    bool is_aligned = false;  // columns follow each other, and each row is known to begin at a multiple of 16 bytes

    TK_HOST_DEVICE constexpr bool has_row(int r) const { return r >= row_lo && r < row_hi; }
    TK_HOST_DEVICE constexpr bool has_col(int c) const { return c >= col_lo && c < col_hi; }
    /// All of rows x cols elements from (0, 0) on exist.
    TK_HOST_DEVICE constexpr bool contains(int rows, int cols) const {
        return row_lo <= 0 && row_hi >= rows && col_lo <= 0 && col_hi >= cols;
    }
    TK_HOST_DEVICE constexpr T* at(int r, int c) const { return origin + (r * row_stride + c * col_stride); }
};

/// A window with rows and columns exchanged. Where it has several of both, it is the rows whose elements follow each other.
template <class T>
struct turned_block : global_block<T> {};
template <class T>
TK_HOST_DEVICE constexpr turned_block<T> transposed(const global_block<T>& b) {
    return {{b.origin, b.col_stride, b.row_stride, b.col_lo, b.col_hi, b.row_lo, b.row_hi}};
}

/// A window of a vector, as a column, and the same as a row. What rows of a matrix share (weights, say) is read from wherever the part
/// at hand begins, which need not be a multiple of anything.
template <class T>
struct vector_column : global_block<T> {};
template <class T>
struct vector_row : global_block<T> {};
template <class T>
TK_HOST_DEVICE constexpr vector_row<T> transposed(const vector_column<T>& b) {
    return {transposed(static_cast<const global_block<T>&>(b))};
}

/// A window of a tensor of which other parts are written meanwhile, or were not written yet: no element beside those asked for is read.
template <class T>
struct exact_block : global_block<T> {};
template <class T>
TK_HOST_DEVICE constexpr exact_block<T> exact(const global_block<T>& block) { return {block}; }
template <class T>
struct exact_turned_block : turned_block<T> {};
template <class T>
TK_HOST_DEVICE constexpr exact_turned_block<T> exact(const turned_block<T>& block) { return {block}; }

/// The block, of which is known that it is aligned; of a vector, that it begins at a multiple of 16 bytes: nothing is left to be asked
/// when the kernel runs.
template <class Block>
TK_HOST_DEVICE constexpr Block aligned(Block block) {
    block.is_aligned = true;
    return block;
}

/// Windows of the parts of small structures: part p of structure (r, c) is element (r, c) of part(p).
template <class T>
struct global_parts {
    global_block<T> first;  // part 0
    int64_t stride;         // from one part to the next, in elements

    TK_HOST_DEVICE constexpr global_block<T> part(int p) const {
        global_block<T> result = first;
        result.origin += p * stride;
        return result;
    }
};

/// The parts, of which is known that they make up structures which follow each other, rows of them from multiples of 16 bytes on.
template <class T>
TK_HOST_DEVICE constexpr global_parts<T> aligned(global_parts<T> parts) {
    parts.first.is_aligned = true;
    return parts;
}

template <class T>
TK_HOST_DEVICE constexpr global_parts<T> transposed(const global_parts<T>& parts) { return {transposed(parts.first), parts.stride}; }

template <class T>
struct exact_parts : global_parts<T> {};
template <class T>
TK_HOST_DEVICE constexpr exact_parts<T> exact(const global_parts<T>& parts) { return {parts}; }

/// A tensor of fixed rank: passed to kernels by value. Strides count elements.
template <class T, int Rank>
struct tensor {
    T* data;
    int extent[Rank];
    int64_t stride[Rank];

    /// The window given by one axis for each dimension. The first kept axis becomes the rows, the second the
    /// columns; with one kept axis the block is a column [n, 1], with none [1, 1].
    template <class... Axis>
    TK_HOST_DEVICE constexpr auto block(Axis... axes) const {
        static_assert(sizeof...(Axis) == Rank, "one axis for each dimension");
        const axis all[] = {axes...};
        global_block<T> result{data, 0, 0, 0, 1, 0, 1};
        int kept = 0;
        bool empty = false;
        TK_UNROLL
        for (int d = 0; d < Rank; ++d) {
            const axis a = all[d];
            const int lo = (a.exists ? a.lo : max(a.lo, 0)) - a.start, hi = (a.exists ? a.hi : min(a.hi, extent[d])) - a.start;
            result.origin += a.start * stride[d];
            if (a.dropped) {
                empty |= hi <= lo;
            } else if (kept++ == 0) {
                result.row_lo = lo, result.row_hi = hi;
                result.row_stride = stride[d];
            } else {
                result.col_lo = lo, result.col_hi = hi;
                result.col_stride = stride[d];
            }
        }
        if (empty) result.row_hi = result.row_lo;
        if constexpr (Rank == 1) return vector_column<T>{result};
        else return result;
    }

    /// A tensor of structures, whose last dimension counts their parts: the window given by the axes before it.
    template <class... Axis>
    TK_HOST_DEVICE constexpr global_parts<T> parts(Axis... axes) const {
        return {block(axes..., axis{0, 0, 1, true, true}), stride[Rank - 1]};
    }

    /// One element, the same for all threads of a warp, of a tensor that the launch leaves as it is; zero outside the tensor.
    template <class... Index>
    TK_HOST_DEVICE constexpr T element(Index... indices) const {
        const T* place = place_of(indices...);
        return place ? arch::load_uniform(place) : T();
    }

    /// One element; `missing` outside the tensor.
    template <class... Index>
    TK_HOST_DEVICE constexpr T element_or(T missing, Index... indices) const {
        const T* place = place_of(indices...);
        return place ? arch::load_global(place) : missing;
    }

    /// Null outside the tensor.
    template <class... Index>
    TK_HOST_DEVICE constexpr const T* place_of(Index... indices) const {
        static_assert(sizeof...(Index) == Rank, "one index for each dimension");
        const int64_t all[] = {int64_t(indices)...};
        const T* place = data;
        for (int d = 0; d < Rank; ++d) {
            if (all[d] < 0 || all[d] >= extent[d]) return nullptr;
            place += all[d] * stride[d];
        }
        return place;
    }
};

}  // namespace tk

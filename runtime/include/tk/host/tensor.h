// SPDX-License-Identifier: MIT
// Questions about a tensor's description: where its elements lie, and what the copy engine can serve.
#pragma once

#include <initializer_list>

#include "tk/host/abi.h"
#include "tk/types/global_tensor.h"

namespace tk::host::inline TK_MACHINE {

inline int dtype_bytes(int dtype) {
    switch (dtype) {
        case TK_BF16: case TK_F16: return 2;
        case TK_F32: case TK_I32: case TK_U32: return 4;
        case TK_I64: case TK_U64: return 8;
        default: return 1;
    }
}

inline const char* dtype_name(int dtype) {
    constexpr const char* names[] = {"bf16", "f16", "f32", "i32", "u32", "i64", "u64", "bool", "e4m3", "e5m2", "i8", "u8"};
    return dtype >= 0 && dtype < int(sizeof names / sizeof *names) ? names[dtype] : "an unknown type";
}

inline bool is_empty(const tk_tensor& t) {
    for (int d = 0; d < t.rank; ++d)
        if (t.extent[d] == 0) return true;
    return false;
}

/// Each tensor begins at a multiple of 16 bytes, and so does each of its rows, whose elements follow each other.
template <class... Tensor>
bool rows_aligned(const tk_tensor* t, const Tensor*... others) {
    if (reinterpret_cast<uint64_t>(t->data) % 16 != 0) return false;
    for (int d = 0; d < t->rank; ++d) {
        if (t->extent[d] <= 1) continue;
        if (d + 1 == t->rank ? t->stride[d] != 1 : t->stride[d] % 16 * dtype_bytes(t->dtype) % 16 != 0) return false;
    }
    if constexpr (sizeof...(others) == 0) return true;
    else return rows_aligned(others...);
}

/// The same of tensors of structures, whose last dimension counts the parts of one: structures follow each other, and rows of them begin
/// at multiples of 16 bytes.
template <class... Tensor>
bool structures_aligned(const tk_tensor* t, const Tensor*... others) {
    tk_tensor whole = *t;  // a row of structures as one of all their parts
    const int parts = --whole.rank, row = parts - 1;
    if (whole.extent[row] > 1 && whole.stride[row] != t->extent[parts]) return false;
    whole.extent[row] *= t->extent[parts];
    whole.stride[row] = t->stride[parts];
    if (!rows_aligned(&whole)) return false;
    if constexpr (sizeof...(others) == 0) return true;
    else return structures_aligned(others...);
}

/// Each tensor begins at a multiple of 16 bytes, and its elements follow each other without gaps, the last dimension's first.
template <class... Tensor>
bool contiguous(const tk_tensor* t, const Tensor*... others) {
    if (reinterpret_cast<uint64_t>(t->data) % 16 != 0) return false;
    int64_t elements = 1;
    for (int d = t->rank; d-- > 0;) {
        if (t->extent[d] > 1 && t->stride[d] != elements) return false;
        elements *= t->extent[d];
    }
    if constexpr (sizeof...(others) == 0) return true;
    else return contiguous(others...);
}

/// Whether all elements lie in the address space, from `data` on and below: places and distances can then be computed in 64 bits.
/// Strides of dimensions of one element say nothing, and may be anything.
inline bool has_places(const tk_tensor& t) {
    if (is_empty(t)) return true;
    constexpr uint64_t most = uint64_t(1) << 62;
    const uint64_t base = reinterpret_cast<uint64_t>(t.data), size = uint64_t(dtype_bytes(t.dtype));
    uint64_t below = 0, above = size;
    for (int d = 0; d < t.rank; ++d) {
        if (t.extent[d] == 1) continue;
        const uint64_t step = t.stride[d] < 0 ? 0 - uint64_t(t.stride[d]) : uint64_t(t.stride[d]);
        uint64_t reach = 0;
        if (__builtin_mul_overflow(step, uint64_t(t.extent[d] - 1) * size, &reach) || reach > most) return false;
        uint64_t& side = t.stride[d] < 0 ? below : above;
        side += reach;
        if (side > most) return false;
    }
    return below <= base && above <= ~base;
}

/// The bytes from the lowest to past the highest element.
struct byte_range {
    uint64_t lo, hi;
};

inline byte_range range_of(const tk_tensor& t) {
    int64_t lo = 0, hi = 0;
    for (int d = 0; d < t.rank; ++d)
        if (t.extent[d] > 1) (t.stride[d] < 0 ? lo : hi) += (t.extent[d] - 1) * t.stride[d];
    const uint64_t base = reinterpret_cast<uint64_t>(t.data), size = uint64_t(dtype_bytes(t.dtype));
    return {base + uint64_t(lo) * size, base + uint64_t(hi + 1) * size};
}

namespace detail {

/// t without the dimensions that step by multiples of `pitch` bytes: where its elements lie modulo `pitch`.
inline byte_range range_modulo(tk_tensor t, int64_t pitch) {
    for (int d = 0; d < t.rank; ++d)
        if (t.extent[d] > 1 && t.stride[d] * dtype_bytes(t.dtype) % pitch == 0) t.extent[d] = 1;
    return range_of(t);
}

/// Whether elements of a and b share a place modulo `pitch`, as far as can be seen from where they begin and end.
inline bool may_meet(const tk_tensor& a, const tk_tensor& b, int64_t pitch) {
    const byte_range ra = range_modulo(a, pitch), rb = range_modulo(b, pitch);
    const uint64_t step = uint64_t(pitch), distance = ra.lo >= rb.lo ? (ra.lo - rb.lo) % step : (step - (rb.lo - ra.lo) % step) % step;
    return distance < rb.hi - rb.lo || distance + (ra.hi - ra.lo) > step;
}

/// Whether some dimension of `from` has a step modulo which a and b lie side by side.
inline bool lie_side_by_side(const tk_tensor& a, const tk_tensor& b, const tk_tensor& from) {
    for (int d = 0; d < from.rank; ++d) {
        if (from.extent[d] <= 1) continue;  // whose stride may be anything
        const int64_t pitch = from.stride[d] * dtype_bytes(from.dtype);
        if (pitch != 0 && !may_meet(a, b, pitch < 0 ? -pitch : pitch)) return true;
    }
    return false;
}

}  // namespace detail

/// False only if no byte belongs to both. Exact for dense tensors and for windows of one tensor that lie side by side along any of its
/// dimensions (left and right half of a matrix, the parts of a packed one), cautious otherwise.
inline bool may_overlap(const tk_tensor& a, const tk_tensor& b) {
    if (is_empty(a) || is_empty(b)) return false;
    const byte_range ra = range_of(a), rb = range_of(b);
    if (ra.hi <= rb.lo || rb.hi <= ra.lo) return false;
    return !detail::lie_side_by_side(a, b, a) && !detail::lie_side_by_side(a, b, b);
}

/// True if each index has a place of its own: taken by size, every stride steps over all smaller dimensions. A tensor without
/// elements has no index, whatever its strides are.
inline bool is_injective(const tk_tensor& t) {
    if (is_empty(t)) return true;
    int64_t reach = 0;  // of the dimensions taken so far
    bool taken[TK_MAX_RANK] = {};
    for (int step = 0; step < t.rank; ++step) {
        int next = -1;
        int64_t smallest = 0;
        for (int d = 0; d < t.rank; ++d) {
            if (taken[d] || t.extent[d] == 1) continue;
            const int64_t stride = t.stride[d] < 0 ? -t.stride[d] : t.stride[d];
            if (next < 0 || stride < smallest) next = d, smallest = stride;
        }
        if (next < 0) return true;
        taken[next] = true;
        if (smallest <= reach) return false;
        reach += (t.extent[next] - 1) * smallest;
    }
    return true;
}

/// Columns contiguous, base and outer strides multiples of 16 bytes.
inline bool has_rows_of_pieces(const tk_tensor& t) {
    const int64_t size = dtype_bytes(t.dtype);
    const int inner = t.rank - 1;
    if (t.rank < 1 || reinterpret_cast<uint64_t>(t.data) % 16 != 0) return false;
    if (t.stride[inner] != 1 && t.extent[inner] > 1) return false;
    for (int d = 0; d < inner; ++d) {
        if (t.extent[d] <= 1) continue;
        if (t.stride[d] <= 0 || t.stride[d] % 16 * size % 16 != 0 || t.stride[d] >= (int64_t(1) << 40) / size) return false;
    }
    return true;
}

/// True if the tensor copy engine can address t.
inline bool copy_engine_serves(const tk_tensor& t) { return t.rank <= 5 && has_rows_of_pieces(t); }

/// Whether each row ends at a multiple of 16 bytes.
inline bool ends_on_pieces(const tk_tensor& t) { return t.extent[t.rank - 1] * dtype_bytes(t.dtype) % 16 == 0; }

/// Whether the copy engine can also write a tensor. It clips the last dimension to whole 16 bytes only (seen on an H200:
/// a row of one bf16 element was stored as eight), so rows must end on one.
inline bool copy_engine_stores(const tk_tensor& t) { return copy_engine_serves(t) && ends_on_pieces(t); }

/// Whether blocks of t, of rows and columns that are its last dimension, can be copied in pieces of 16 bytes into shared
/// memory (block::copy_pieces): rows start and end at multiples of a piece and do not overlap.
inline bool pieces_serve(const tk_tensor& t) {
    if (!has_rows_of_pieces(t) || !ends_on_pieces(t)) return false;
    for (int d = 0; d + 1 < t.rank; ++d)
        if (t.extent[d] > 1 && t.stride[d] < t.extent[t.rank - 1]) return false;
    return true;
}

/// t, whose dimensions of one element (or all, if it has none) have strides that say nothing: they become those of rows of whole pieces.
/// Nor does the address of no elements say anything.
inline tk_tensor with_strides_of_pieces(tk_tensor t) {
    const int64_t piece = 16 / dtype_bytes(t.dtype), inner = t.rank - 1;
    const bool empty = is_empty(t);
    if (empty) t.data = nullptr;
    for (int d = 0; d < inner; ++d)
        if (empty || t.extent[d] == 1) t.stride[d] = max<int64_t>((t.extent[inner] + piece - 1) / piece, 1) * piece;
    if (empty || t.extent[inner] == 1) t.stride[inner] = 1;
    return t;
}

/// Whether buffer loads, whose offsets count bytes in 32 bits, reach all of a block of t of `box` elements (one number for each dimension), with
/// what lies behind the end of a short tensor; that has to read as zero. An empty box: nothing counts offsets.
inline bool is_within_reach(const tk_tensor& t, std::initializer_list<int> box) {
    if (box.size() == 0) return true;
    const tk_tensor seen = with_strides_of_pieces(t);
    const int64_t size = dtype_bytes(t.dtype), most = (int64_t(1) << 31) / size;
    int64_t reach = box.begin()[t.rank - 1];
    for (int d = 0; d + 1 < t.rank; ++d) {
        if (box.begin()[d] <= 1) continue;
        if (seen.stride[d] >= most) return false;
        reach += (box.begin()[d] - 1) * seen.stride[d];
    }
    return reach < most;
}

/// More bytes than any memory has: what is larger counts as this, so that sums of such numbers are too large as well and do not wrap.
constexpr size_t endless_bytes = size_t(1) << 56;

/// The same elements, laid out densely with rows padded to 16 bytes, at `data`.
inline tk_tensor packed_like(const tk_tensor& t, void* data) {
    tk_tensor result = t;
    result.data = data;
    int64_t stride = 1;
    for (int d = t.rank - 1; d >= 0; --d) {
        result.stride[d] = stride;
        if (__builtin_mul_overflow(stride, t.extent[d], &stride)) stride = int64_t(endless_bytes);
        if (d == t.rank - 1) stride = cdiv<int64_t>(stride * dtype_bytes(t.dtype), 16) * 16 / dtype_bytes(t.dtype);
    }
    return result;
}

/// Bytes of a dense tensor of these extents with rows padded to 16 bytes, a multiple of 256.
inline size_t packed_bytes(const int64_t* extent, int rank, int64_t size) {
    for (int d = 0; d < rank; ++d)
        if (extent[d] == 0) return 0;
    uint64_t bytes = uint64_t(size);
    for (int d = rank - 1; d >= 0; --d) {
        if (__builtin_mul_overflow(bytes, uint64_t(extent[d]), &bytes) || bytes >= endless_bytes) return endless_bytes;
        if (d == rank - 1) bytes = (bytes + 15) / 16 * 16;
    }
    return size_t((bytes + 255) / 256 * 256);
}
inline size_t packed_bytes(const tk_tensor& t) { return packed_bytes(t.extent, t.rank, dtype_bytes(t.dtype)); }

/// Workspace that packing t needs: 0 if the copy engine serves it as it is.
inline size_t packing_bytes(const tk_tensor& t) { return is_empty(t) || copy_engine_serves(t) ? 0 : packed_bytes(t); }
/// The same for copies in pieces, by buffer loads of blocks of `box` elements where one is given.
inline size_t pieces_bytes(const tk_tensor& t, std::initializer_list<int> box = {}) {
    return is_empty(t) || (pieces_serve(t) && is_within_reach(t, box)) ? 0 : packed_bytes(t);
}

/// The same for a parameter that has not been checked yet: 0 where it is not a tensor.
inline size_t packing_bytes(const tk_tensor* t) {
    return t && t->rank >= 1 && t->rank <= TK_MAX_RANK && has_places(*t) ? packing_bytes(*t) : 0;
}

/// The description as kernels take it. The caller has checked element type, rank and extents.
template <class T, int Rank>
tensor<T, Rank> as_tensor(const tk_tensor& t) {
    tensor<T, Rank> result{static_cast<T*>(t.data), {}, {}};
    for (int d = 0; d < Rank; ++d) result.extent[d] = int(t.extent[d]), result.stride[d] = t.stride[d];
    return result;
}

}  // namespace tk::host

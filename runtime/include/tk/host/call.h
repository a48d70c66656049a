// SPDX-License-Identifier: MIT
// One call of a generated entry: its checks, its tensor maps, its launches. The first failure is kept and turns
// everything after it into nothing, so a launcher is a straight list of what must hold and what is done.
#pragma once

#include "tk/host/parts.h"
#include "tk/host/repack.h"
#include "tk/host/tensor.h"

namespace tk::host::inline TK_MACHINE {

class call {
public:
    /// Kernels count tile positions in 32 bits; the last tile may reach past the extent.
    static constexpr int64_t largest_extent = (int64_t(1) << 31) - 65536;

    call(const char* entry, host::stream on) : entry_(entry), stream_(on) {}

    bool failed() const { return status_.code != TK_OK; }
    tk_status status() const { return status_; }
    int processors() const { return device_.processors; }

    /// Parameter `name`: given, of the element type and rank, with memory if it has elements.
    void tensor(const char* name, const tk_tensor* t, tk_dtype dtype, int rank) {
        if (failed()) return;
        if (!t) return fail(TK_ARGUMENT, "%s: `%s` is null", entry_, name);
        if (t->dtype != dtype) return fail(TK_ARGUMENT, "%s: `%s` has elements of %s, expected %s", entry_, name, dtype_name(t->dtype), dtype_name(dtype));
        if (t->rank != rank) return fail(TK_ARGUMENT, "%s: `%s` has rank %d, expected %d", entry_, name, t->rank, rank);
        for (int d = 0; d < rank; ++d)
            if (t->extent[d] < 0 || t->extent[d] > largest_extent)
                return fail(TK_SHAPE, "%s: extent %d of `%s` is %lld, expected 0 to %lld", entry_, d, name, printed(t->extent[d]), printed(largest_extent));
        if (!t->data && !is_empty(*t)) return fail(TK_ARGUMENT, "%s: the data of `%s` is null", entry_, name);
        const int64_t size = dtype_bytes(dtype);
        if (reinterpret_cast<uint64_t>(t->data) % uint64_t(size) != 0)
            return fail(TK_ARGUMENT, "%s: the data of `%s` is not aligned to its %d-byte elements", entry_, name, int(size));
        if (!has_places(*t)) fail(TK_SHAPE, "%s: the strides of `%s` lead out of the address space", entry_, name);
    }

    /// Dimension `dimension` as extent d of a parameter defines it; 0 after a failure.
    int dimension(const tk_tensor* t, int d) const { return failed() ? 0 : int(t->extent[d]); }

    /// Extent d of parameter `name` is dimension `dimension`, which has `expected` elements.
    void extent(const char* name, const tk_tensor* t, int d, const char* dimension, int64_t expected) {
        if (failed() || t->extent[d] == expected) return;
        fail(TK_SHAPE, "%s: extent %d of `%s` is %lld, but %s is %lld", entry_, d, name, printed(t->extent[d]), dimension, printed(expected));
    }

    /// A `require` of the source, quoted in `text`.
    void require(bool holds, const char* text) {
        if (!failed() && !holds) fail(TK_REQUIREMENT, "%s: `require %s` does not hold", entry_, text);
    }

    /// `name` is written: no two of its elements share a place.
    void written(const char* name, const tk_tensor* t) {
        if (!failed() && !is_injective(*t)) fail(TK_OVERLAP, "%s: `%s` is written, but its strides put several elements in one place", entry_, name);
    }

    /// `name` is written: it shares no memory with `other`.
    void disjoint(const char* name, const tk_tensor* t, const char* other_name, const tk_tensor* other) {
        if (!failed() && may_overlap(*t, *other)) fail(TK_OVERLAP, "%s: `%s` is written, but shares memory with `%s`", entry_, name, other_name);
    }

    /// The current device can run code for `capability` (950: gfx950) with this much shared memory a block. Kernels of sm_90a overlap
    /// the launch before them.
    void device(int capability, size_t shared_bytes) {
        if (failed()) return;
        status_ = current_device(device_number_);
        if (!failed()) status_ = cached_device(device_number_, device_);
        if (failed()) return;
        overlaps_ = TK_HAS_SM90 && capability == 90;
        if (runs_only_there(capability) ? device_.capability != capability : device_.capability < capability)
            return fail(TK_UNSUPPORTED_DEVICE, "%s: compiled for %s%d%s, device %d is %s%d", entry_, device_prefix, capability, target_suffix(capability), device_number_,
                        device_prefix, device_.capability);
        if (size_t(device_.shared_bytes) < shared_bytes)
            fail(TK_UNSUPPORTED_DEVICE, "%s: needs %zu bytes of shared memory a block, device %d has %d", entry_, shared_bytes, device_number_, device_.shared_bytes);
    }

    /// The caller's workspace holds `needed` bytes.
    void workspace(void* data, size_t bytes, size_t needed) {
        if (failed() || needed == 0) return;
        if (!data || bytes < needed) return fail(TK_WORKSPACE, "%s: the workspace has %zu bytes, %zu are needed", entry_, data ? bytes : size_t(0), needed);
        if (reinterpret_cast<uint64_t>(data) % 256 != 0) return fail(TK_WORKSPACE, "%s: the workspace is not aligned to 256 bytes", entry_);
        if (needed > ~reinterpret_cast<uint64_t>(data)) return fail(TK_WORKSPACE, "%s: the workspace leads out of the address space", entry_);
        free_ = static_cast<char*>(data);
        workspace_ = {reinterpret_cast<uint64_t>(data), reinterpret_cast<uint64_t>(data) + needed};
    }

    /// What the launch needs of the workspace shares no memory with `name`.
    void beside_workspace(const char* name, const tk_tensor* t) {
        if (failed() || workspace_.hi == 0 || is_empty(*t)) return;
        const byte_range range = range_of(*t);
        if (range.lo < workspace_.hi && workspace_.lo < range.hi) fail(TK_OVERLAP, "%s: the workspace shares memory with `%s`", entry_, name);
    }

    /// t, or a packed copy of it in the workspace where the copy engine can't serve it as it is.
    tk_tensor packed(const tk_tensor* t) { return failed() ? tk_tensor{} : packed(t, packing_bytes(*t)); }
    /// The same where a copy takes `bytes`; 0: none is needed.
    tk_tensor packed(const tk_tensor* t, size_t bytes) {
        if (failed()) return {};
        if (bytes == 0) return *t;
        const tk_tensor copy = packed_like(*t, free_);
        free_ += bytes;
        status_ = repack(*t, copy, device_number_, stream_, overlaps_);
        return copy;
    }

    /// The map for tiles of R x C elements whose rows are dimension `row_dimension` of t, columns the last one (for a
    /// column tile, C = 1, the rows may be the last one). Each box is one swizzle panel wide.
    template <int R, int C, swizzle S>
    tensor_map map(const tk_tensor& t, int row_dimension) {
        int box[TK_MAX_RANK];
        for (int d = 0; d < t.rank; ++d) box[d] = d == row_dimension ? R : 1;
        if (row_dimension != t.rank - 1) box[t.rank - 1] = S == swizzle::none ? C : int(S) / dtype_bytes(t.dtype);
        return box_map(t, S, box);
    }

    /// Launches `Kernel`, whose head says clusters of `Cluster` blocks.
    template <auto Kernel, int Cluster = 1, class... Argument>
    tk_status launch(int blocks, int threads, size_t shared_bytes, const Argument&... arguments) {
        if (!failed()) status_ = host::launch<Kernel, Cluster>(device_number_, {blocks, threads, int(shared_bytes), stream_, overlaps_}, arguments...);
        return status_;
    }

protected:
    /// The map for boxes of t with box[d] elements along dimension d.
    tensor_map box_map(const tk_tensor& t, swizzle s, const int* box) {
        tensor_map result{};
        if (failed()) return result;
        const bool empty = is_empty(t);
        const int64_t size = dtype_bytes(t.dtype);
        map_description d{data_of_map(t), t.dtype, t.rank, {}, {}, {}, s};
        for (int i = 0; i < t.rank; ++i) {
            const int from = t.rank - 1 - i;
            d.extent[i] = empty ? 1 : uint64_t(t.extent[from]);
            d.box[i] = uint32_t(box[from]);
            if (i > 0) d.stride[i - 1] = uint64_t(d.extent[i] > 1 ? t.stride[from] * size : 16);
        }
        if (!failed()) status_ = encode_map(result, d);
        return result;
    }

    /// Where a map finds the elements of t. An empty tensor is described as one element, zero: a kernel whose grid runs over
    /// other dimensions reads it all the same, and finds what stands for an element that does not exist.
    void* data_of_map(const tk_tensor& t) {
        if (!is_empty(t)) return t.data;
        void* zero = nullptr;
        status_ = zero_element(zero);
        return zero;
    }

    template <class... Value>
    void fail(tk_code code, const char* format, Value... values) { status_ = failure(code, format, values...); }

    const char* entry_;
    host::stream stream_;
    tk_status status_ = ok();
    int device_number_ = 0;
    bool overlaps_ = false;
    device_info device_ = {};
    char* free_ = nullptr;  // next free byte of the workspace
    byte_range workspace_ = {0, 0};
};

}  // namespace tk::host

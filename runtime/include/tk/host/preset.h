// SPDX-License-Identifier: MIT
// Fills a tensor with one value before a kernel adds to it (`out f32[M, N] = 0`). Bound by memory.
#pragma once

#include "tk/arch.h"
#include "tk/host/driver.h"
#include "tk/host/overlap.h"
#include "tk/host/tensor.h"
#include "tk/ops/scope.h"
#include "tk/types/dtype.h"

namespace tk::host::inline TK_MACHINE {

/// Rows are all indices but the last dimension's, counted row-major.
template <class T>
struct preset_arguments {
    T* data;
    T value;
    int rank;
    int extent[TK_MAX_RANK];
    int64_t stride[TK_MAX_RANK];
    int64_t count;
};

constexpr int preset_threads = 256;

template <class T>
TK_KERNEL(preset_threads)
preset_elements(const preset_arguments<T> a) {
    overlap();
    const int64_t step = int64_t(block::count()) * preset_threads;
    for (int64_t n = int64_t(block::index()) * preset_threads + thread::index(); n < a.count; n += step) {
        int64_t rest = n, offset = 0;
        for (int d = TK_MAX_RANK - 1; d > 0; --d) { // each known when compiled: the arguments stay where they came
            if (d >= a.rank) continue;
            offset += rest % a.extent[d] * a.stride[d];
            rest /= a.extent[d];
        }
        arch::store_global(a.data + (offset + rest * a.stride[0]), a.value);
    }
}

/// Dense tensors count as one row, so that the index needs no division.
template <class T>
tk_status preset(const tk_tensor& t, T value, int device, host::stream on, bool overlaps) {
    device_info info{};
    const tk_status status = cached_device(device, info);
    if (status.code != TK_OK) return status;
    preset_arguments<T> a{static_cast<T*>(t.data), value, 0, {}, {}, 1};
    for (int d = 0; d < t.rank; ++d) {
        if (t.extent[d] == 1) continue;
        a.extent[a.rank] = int(t.extent[d]);
        a.stride[a.rank++] = t.stride[d];
        a.count *= t.extent[d];
    }
    bool dense = true;
    int64_t expected = 1;
    for (int d = a.rank - 1; d >= 0; --d) {
        dense = dense && a.stride[d] == expected;
        expected *= a.extent[d];
    }
    if (dense || a.rank == 0) a.rank = 1, a.stride[0] = 1;
    if (a.count == 0) return ok();
    const int64_t blocks = min<int64_t>(cdiv<int64_t>(a.count, preset_threads), int64_t(info.processors) * 8);
    return launch<preset_elements<T>>(device, {int(blocks), preset_threads, 0, on, overlaps}, a);
}

}  // namespace tk::host

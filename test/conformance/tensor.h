// SPDX-License-Identifier: MIT
// Tensors and boxes of the cases of the copy engine: descriptions, and plain host code for what a copy must do.
#pragma once

#include <cstring>

#include "test/conformance/case.h"

namespace conformance {

/// A tensor in global memory and the box through which it is copied; innermost dimension first.
template <int Rank>
struct boxed_tensor {
    tk_dtype dtype;
    int extent[Rank];
    int pitch[Rank];  // bytes from index to index; [0] is the element
    int box[Rank];
    tk::swizzle swizzling;

    constexpr int width() const { return int(swizzling); }
    constexpr int box_row_bytes() const { return box[0] * pitch[0]; }
    constexpr int box_pitch() const { return width() ? width() : box_row_bytes(); }
    constexpr int box_rows() const {
        int rows = 1;
        for (int d = 1; d < Rank; ++d) rows *= box[d];
        return rows;
    }
    constexpr int box_bytes() const { return box_rows() * box_row_bytes(); }
    /// Of shared memory that the box lies in.
    constexpr int area_words() const { return box_rows() * box_pitch() / 4; }

    /// What stores and reductions see of it: rows end on whole 16 bytes.
    constexpr boxed_tensor whole_16_bytes() const {
        boxed_tensor whole = *this;
        whole.extent[0] = (extent[0] * pitch[0] + 15) / 16 * 16 / pitch[0];
        return whole;
    }

    tk_status map(tensor_map& result, void* data) const {
        host::map_description d{data, dtype, Rank, {}, {}, {}, swizzling};
        for (int i = 0; i < Rank; ++i) {
            d.extent[i] = uint64_t(extent[i]);
            d.box[i] = uint32_t(box[i]);
            if (i > 0) d.stride[i - 1] = uint64_t(pitch[i]);
        }
        return host::encode_map(result, d);
    }

    /// f(byte offset in the tensor or -1, byte offset in the swizzled area at a multiple of 1024) for each element of
    /// the box.
    template <class F>
    void for_each_element(const int* at, F f) const {
        for (int row = 0; row < box_rows(); ++row)
            for (int e = 0; e < box[0]; ++e) {
                int rest = row;
                bool exists = at[0] + e >= 0 && at[0] + e < extent[0];
                long from = long(at[0] + e) * pitch[0];
                for (int d = 1; d < Rank; ++d) {
                    const int index = at[d] + rest % box[d];
                    rest /= box[d];
                    exists = exists && index >= 0 && index < extent[d];
                    from += long(index) * pitch[d];
                }
                const int line = row * box_pitch() + e * pitch[0], mask = width() ? width() - 16 : 0;
                f(exists ? from : -1, line ^ (line >> 3 & mask));
            }
    }
};

/// Where boxes are copied, one after the other.
template <int Rank>
struct positions {
    int count;
    int at[8][Rank];
};

}  // namespace conformance

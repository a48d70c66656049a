// SPDX-License-Identifier: MIT
// The launcher's questions about tensors, and its messages; everything that needs no device.
#include "check.h"
#include "tk/host.h"
#include "tk/host/typed.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace {

tk_tensor Make(uint64_t address, std::initializer_list<int64_t> extent, std::initializer_list<int64_t> stride) {
    tk_tensor t{};
    t.data = reinterpret_cast<void*>(address);
    t.dtype = TK_BF16;
    t.rank = int32_t(extent.size());
    int d = 0;
    for (int64_t e : extent) t.extent[d++] = e;
    d = 0;
    for (int64_t s : stride) t.stride[d++] = s;
    return t;
}

void CheckCopyEngine() {
    using tk::host::copy_engine_serves;
    CHECK(copy_engine_serves(Make(4096, {100, 64}, {64, 1})));
    CHECK(!copy_engine_serves(Make(4098, {100, 64}, {64, 1})));
    CHECK(!copy_engine_serves(Make(4096, {100, 63}, {63, 1})));
    CHECK(copy_engine_serves(Make(4096, {1, 63}, {63, 1})));      // the stride of one row is never used
    CHECK(copy_engine_serves(Make(4096, {100, 1}, {8, 100})));    // nor that of one column
    CHECK(!copy_engine_serves(Make(4096, {64, 64}, {1, 64})));
    CHECK(!copy_engine_serves(Make(4096, {64, 64}, {0, 1})));
    CHECK(!copy_engine_serves(Make(4096, {64, 64}, {-64, 1})));
    const tk_tensor odd = Make(4098, {3, 5, 7}, {1000, 7, 1}), packed = tk::host::packed_like(odd, reinterpret_cast<void*>(256));
    CHECK(packed.stride[2] == 1 && packed.stride[1] == 8 && packed.stride[0] == 40 && copy_engine_serves(packed));
    CHECK(tk::host::packing_bytes(odd) == 256 && tk::host::packing_bytes(packed) == 0);
    CHECK(tk::host::packing_bytes(Make(4098, {300}, {1})) == 768);
    CHECK(tk::host::packing_bytes(nullptr) == 0 && tk::host::packing_bytes(&odd) == 256);
}

void CheckOverlap() {
    using tk::host::may_overlap;
    const tk_tensor a = Make(4096, {16, 32}, {64, 1}), b = Make(4096 + 64, {16, 32}, {64, 1});
    CHECK(may_overlap(a, a) && !may_overlap(a, b) && !may_overlap(b, a));                   // left and right half of a matrix
    CHECK(may_overlap(a, Make(4096 + 62, {16, 32}, {64, 1})) && may_overlap(Make(4096 + 66, {16, 32}, {64, 1}), a));
    CHECK(!may_overlap(a, Make(4096 + 2 * 64 * 16, {4, 4}, {4, 1})) && may_overlap(a, Make(4096 + 200, {4, 4}, {4, 1})));
    CHECK(!may_overlap(a, Make(4096, {0, 32}, {64, 1})));
    CHECK(may_overlap(a, Make(4096 + 2 * 64 * 16, {4, 4}, {-64, 1})));                      // runs backwards into a
    CHECK(tk::host::is_injective(a) && tk::host::is_injective(Make(0, {4, 5, 6}, {1, 24, 4})));
    CHECK(!tk::host::is_injective(Make(0, {4, 4}, {0, 1})) && !tk::host::is_injective(Make(0, {4, 8}, {7, 1})));
    CHECK(tk::host::is_injective(Make(0, {2, 0}, {0, 1})) && tk::host::is_injective(Make(0, {0, 3, 4}, {1, 1, 1})));
    CHECK(tk::host::is_injective(Make(0, {1, 8}, {0, 1})) && tk::host::is_injective(Make(0, {4, 8}, {-8, 1})));
}

/// What a typed entry says of its tensors.
template <class... T>
void CheckTypes(std::initializer_list<int> expected) {
    const int types[] = {tk::host::describe(tk::tensor<T, 1>{}).dtype...};
    CHECK(std::equal(expected.begin(), expected.end(), types, types + sizeof...(T)));
}

void CheckMessages() {
    const tk_tensor a = Make(4096, {16, 32}, {32, 1});
    tk::host::call call("gemm", nullptr);
    call.tensor("A", &a, TK_BF16, 2);
    CHECK(!call.failed() && call.dimension(&a, 1) == 32);
    call.extent("B", &a, 0, "K", 17);
    CHECK(call.status().code == TK_SHAPE && !std::strcmp(call.status().message, "gemm: extent 0 of `B` is 16, but K is 17"));
    call.require(false, "M % 2 == 0");  // the first failure stays
    CHECK(call.status().code == TK_SHAPE);
    tk::host::call types("gemm", nullptr);
    types.tensor("A", &a, TK_F32, 2);
    CHECK(!std::strcmp(types.status().message, "gemm: `A` has elements of bf16, expected f32"));
    tk::host::call none("gemm", nullptr);
    none.tensor("A", nullptr, TK_F32, 2);
    CHECK(none.status().code == TK_ARGUMENT);
    const tk_tensor missing = Make(0, {16, 32}, {32, 1}), empty = Make(0, {0, 32}, {32, 1});
    tk::host::call data("gemm", nullptr);
    data.tensor("E", &empty, TK_BF16, 2);
    CHECK(!data.failed());
    data.tensor("A", &missing, TK_BF16, 2);
    CHECK(!std::strcmp(data.status().message, "gemm: the data of `A` is null"));
    tk::host::call space("gemm", nullptr);
    space.workspace(nullptr, 512, 0);
    CHECK(!space.failed());
    space.workspace(reinterpret_cast<void*>(256), 511, 512);
    CHECK(space.status().code == TK_WORKSPACE && !std::strcmp(space.status().message, "gemm: the workspace has 511 bytes, 512 are needed"));
}

/// Copies in pieces step by the strides of rows, also where there is one row: no stride that says nothing may stay.
void CheckPieces() {
    const tk_tensor rows = Make(4096, {8, 24}, {24, 1}), one = Make(4096, {5, 1, 24}, {24, 7, 1}), column = Make(4096, {1, 1}, {3, 5});
    for (const tk_tensor& t : {rows, one}) CHECK(tk::host::pieces_serve(t) && tk::host::pieces_bytes(t) == 0);
    const tk_tensor same = tk::host::with_strides_of_pieces(rows);
    CHECK(same.stride[0] == 24 && same.stride[1] == 1);
    const tk_tensor plain = tk::host::with_strides_of_pieces(one);
    CHECK(plain.stride[0] == 24 && plain.stride[1] == 24 && plain.stride[2] == 1);
    const tk_tensor single = tk::host::with_strides_of_pieces(column);
    CHECK(single.stride[0] == 8 && single.stride[1] == 1);
    const tk_tensor empty = tk::host::with_strides_of_pieces(Make(0, {3, 0}, {1, 9}));
    CHECK(empty.stride[0] == 8 && empty.stride[1] == 1);
}

}  // namespace

int main() {
    CheckCopyEngine();
    CheckPieces();
    CheckOverlap();
    CheckTypes<tk::bf16, tk::f16, float, int32_t, uint32_t, int64_t, uint64_t, bool, tk::e4m3, tk::e5m2>(
        {TK_BF16, TK_F16, TK_F32, TK_I32, TK_U32, TK_I64, TK_U64, TK_BOOL, TK_E4M3, TK_E5M2});
    CheckMessages();
    return 0;
}

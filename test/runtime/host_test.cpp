// SPDX-License-Identifier: MIT
// The launcher's questions about tensors, and its messages; everything that needs no device.
#include "check.h"
#include "tk/host.h"
#include "tk/host/launcher.h"
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

/// Offsets of buffer loads count bytes below 2^31: from a block's first row to its last one's end.
void CheckReach() {
    const int64_t step = int64_t(1) << 22;  // elements, of 8 MiB
    const tk_tensor apart = Make(4096, {512, 4096}, {step, 1}), batches = Make(4096, {64, 512, 4096}, {512 * 4096, 4096, 1});
    CHECK(tk::host::pieces_bytes(apart) == 0 && tk::host::pieces_bytes(apart, {128, 64}) == 0 && tk::host::pieces_bytes(apart, {256, 64}) == 0);
    CHECK(tk::host::pieces_bytes(apart, {257, 64}) == size_t(512) * 4096 * 2);
    CHECK(tk::host::pieces_bytes(Make(4096, {100, 4096}, {step, 1}), {512, 64}) == size_t(100) * 4096 * 2);  // rows behind the last one, too
    CHECK(tk::host::pieces_bytes(batches, {1, 256, 64}) == 0 && tk::host::pieces_bytes(Make(4096, {1, 4096}, {int64_t(1) << 40, 1}), {256, 64}) == 0);
    CHECK(tk::host::pieces_bytes(Make(4096, {4, 64}, {int64_t(1) << 36, 1}), {2, 64}) > 0);
    // A copy is no nearer where rows are as long as they are apart: launchers refuse it.
    const tk_tensor longest = Make(4096, {2, step}, {2 * step, 1});
    CHECK(tk::host::is_within_reach(tk::host::packed_like(longest, nullptr), {256, 64}));
    CHECK(!tk::host::is_within_reach(tk::host::packed_like(longest, nullptr), {512, 64}));
    tk::host::launcher call("gemm", nullptr);  // asked for the size of the workspace, before anything is launched
    CHECK(call.pieces_bytes("A", &longest, {256, 64}) > 0 && !call.failed() && call.pieces_bytes("A", &longest, {512, 64}) == 0);
    CHECK(call.status().code == TK_SHAPE &&
          !std::strcmp(call.status().message, "gemm: `A` has rows of 4194304 elements, of which buffer loads do not reach as many as a block has"));
}

void CheckOverlap() {
    using tk::host::may_overlap;
    const tk_tensor a = Make(4096, {16, 32}, {64, 1}), b = Make(4096 + 64, {16, 32}, {64, 1});
    CHECK(may_overlap(a, a) && !may_overlap(a, b) && !may_overlap(b, a));                   // left and right half of a matrix
    CHECK(may_overlap(a, Make(4096 + 62, {16, 32}, {64, 1})) && may_overlap(Make(4096 + 66, {16, 32}, {64, 1}), a));
    CHECK(!may_overlap(a, Make(4096 + 2 * 64 * 16, {4, 4}, {4, 1})) && may_overlap(a, Make(4096 + 160, {4, 4}, {4, 1})));
    CHECK(!may_overlap(a, Make(4096 + 200, {4, 4}, {4, 1})));                               // lies between its rows
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

/// Parts of one tensor that lie side by side along an inner dimension, as the gradients of a packed Q, K, V: [B, S, 3, H, D].
void CheckOverlapOfParts() {
    using tk::host::may_overlap;
    constexpr int64_t B = 3, S = 5, H = 4, D = 8, row = 3 * H * D;
    const auto part = [](int64_t begin, int64_t heads) { return Make(4096 + uint64_t(begin) * 2, {B, S, heads, D}, {S * row, row, D, 1}); };
    CHECK(!may_overlap(part(0, H), part(H * D, H)) && !may_overlap(part(2 * H * D, H), part(H * D, H)));
    CHECK(may_overlap(part(0, H), part(H * D - 1, H)) && may_overlap(part(H * D, H), part(1, H)) && may_overlap(part(0, H + 1), part(H * D, H)));
    const auto heads = [](uint64_t begin) { return Make(4096 + begin, {S, H / 2, D}, {H * D, 2 * D, 1}); };  // the even and the odd ones
    CHECK(!may_overlap(heads(0), heads(2 * D)) && !may_overlap(heads(2 * D), heads(0)) && may_overlap(heads(0), heads(2 * D - 2)));
    CHECK(!may_overlap(Make(4096, {8}, {2}), Make(4098, {8}, {2})) && may_overlap(Make(4096, {8}, {2}), Make(4100, {8}, {2})));
    CHECK(!may_overlap(Make(4096, {8}, {2}), Make(4096 + 30, {8}, {-2})));
    // The stride of one row says nothing.
    CHECK(may_overlap(Make(4096, {1, 64}, {4, 1}), Make(4096 + 8, {1, 8}, {4, 1})));
}

/// Strides that lead out of the address space, and sizes that no memory has: nothing wraps around and looks small.
void CheckFarAway() {
    constexpr int64_t far = int64_t(1) << 62, most = (int64_t(1) << 31) - 65536, lowest = INT64_MIN;
    using tk::host::has_places;
    CHECK(has_places(Make(4096, {1, 8}, {lowest, 1})) && has_places(Make(4096, {0, 8}, {lowest, far})) && has_places(Make(4096, {4, 8}, {0, 1})));
    CHECK(has_places(Make(4096, {4, 8}, {-500, 1})) && !has_places(Make(4096, {4, 8}, {-5000, 1})));
    CHECK(!has_places(Make(4096, {5, 8}, {far, 1})) && !has_places(Make(4096, {3, 8}, {lowest, 1})) && !has_places(Make(4096, {most, most}, {most * 2, 1})));
    CHECK(!has_places(Make(~uint64_t(31), {64}, {1})) && has_places(Make(~uint64_t(255), {64}, {1})));
    const tk_tensor one_row = Make(4096, {1, 8}, {lowest, 1});
    CHECK(tk::host::is_injective(one_row) && tk::host::copy_engine_serves(one_row) && tk::host::range_of(one_row).hi == 4096 + 16);
    const tk_tensor wraps = Make(4096, {int64_t(1) << 30, int64_t(1) << 30, 16}, {far, 8, 1}), broadcast = Make(4096, {most, most, most}, {0, 0, 1});
    tk::host::call call("far", nullptr);
    call.tensor("A", &broadcast, TK_BF16, 3);
    CHECK(!call.failed());
    call.tensor("B", &wraps, TK_BF16, 3);
    CHECK(call.status().code == TK_SHAPE && !std::strcmp(call.status().message, "far: the strides of `B` lead out of the address space"));
    const size_t needed = tk::host::packing_bytes(broadcast);
    CHECK(needed == tk::host::endless_bytes && needed + needed > needed);
    CHECK(tk::host::packing_bytes(Make(4096, {int64_t(1) << 30, int64_t(1) << 30, 16}, {0, 0, 1})) == tk::host::endless_bytes);
    CHECK(tk::host::launcher::work_bytes(TK_F32, {most, most, 4}) == tk::host::endless_bytes);
    CHECK(tk::host::launcher::work_bytes(TK_F32, {most, 0, most}) == 0 && tk::host::launcher::work_bytes(TK_F32, {-4, 3}) == 0);
    CHECK(tk::host::launcher::work_bytes(TK_F32, {3, 5}) == 256 && tk::host::launcher::work_bytes(TK_F32, {17, 3}) == 512);
    using tk::host::difference, tk::host::product, tk::host::sum;
    CHECK(product(far, 3) == INT64_MAX && product(-far, 3) == INT64_MIN && product(-far, -2) == INT64_MAX && product(far, 0) == 0 && product(-3, 5) == -15);
    CHECK(sum(INT64_MAX, 1) == INT64_MAX && sum(lowest, -1) == INT64_MIN && sum(INT64_MAX, -1) == INT64_MAX - 1);
    CHECK(difference(INT64_MAX, -1) == INT64_MAX && difference(lowest, 1) == INT64_MIN && difference(3, 5) == -2);
    tk::host::launcher many("far", nullptr);
    many.tiles((int64_t(1) << 30) - 32768, 2);
    CHECK(!many.failed());
    many.tiles(INT64_MAX, 2);
    CHECK(many.status().code == TK_SHAPE);
}

void CheckMessages() {
    const tk_tensor a = Make(4096, {16, 32}, {32, 1});
    tk::host::call call("gemm", nullptr);
    call.tensor("A", &a, TK_BF16, 2);
    CHECK(!call.failed() && call.dimension(&a, 1) == 32);
    call.extent("B", &a, 0, "K", 17);
    CHECK(call.status().code == TK_SHAPE && !std::strcmp(call.status().message, "gemm: extent 0 of `B` is 16, but K is 17"));
    tk::host::call wide("gemm", nullptr);
    wide.extent("B", &a, 0, "M * N", (int64_t(1) << 32) + 16);
    CHECK(wide.status().code == TK_SHAPE && !std::strcmp(wide.status().message, "gemm: extent 0 of `B` is 16, but M * N is 4294967312"));
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
    tk::host::call shared("gemm", nullptr);
    shared.workspace(reinterpret_cast<void*>(4096 - 512), 4096, 512);
    shared.beside_workspace("A", &a);
    CHECK(!shared.failed());
    shared.workspace(reinterpret_cast<void*>(4096 - 512), 4096, 513);
    shared.beside_workspace("E", &empty);
    CHECK(!shared.failed());
    shared.beside_workspace("A", &a);
    CHECK(shared.status().code == TK_OVERLAP && !std::strcmp(shared.status().message, "gemm: the workspace shares memory with `A`"));
}

/// Copies in pieces step by the strides of rows, also where there is one row: no stride that says nothing may stay.
void CheckPieces() {
    const tk_tensor rows = Make(4096, {8, 24}, {24, 1}), one = Make(4096, {5, 1, 24}, {24, 7, 1}), column = Make(4096, {1, 1}, {3, 5});
    for (const tk_tensor& t : {rows, one}) CHECK(tk::host::pieces_serve(t) && tk::host::pieces_bytes(t) == 0);
    const tk_tensor deep = Make(4096, {2, 2, 2, 2, 8, 24}, {3072, 1536, 768, 384, 24, 1});  // more dimensions than the copy engine has
    CHECK(tk::host::pieces_serve(deep) && tk::host::pieces_bytes(deep) == 0 && !tk::host::copy_engine_serves(deep));
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
    CheckReach();
    CheckOverlap();
    CheckTypes<tk::bf16, tk::f16, float, int32_t, uint32_t, int64_t, uint64_t, bool, tk::e4m3, tk::e5m2>(
        {TK_BF16, TK_F16, TK_F32, TK_I32, TK_U32, TK_I64, TK_U64, TK_BOOL, TK_E4M3, TK_E5M2});
    CheckOverlapOfParts();
    CheckFarAway();
    CheckMessages();
    return 0;
}

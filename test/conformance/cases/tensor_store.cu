// SPDX-License-Identifier: MIT
// Stores and reductions by the tensor copy engine: ranks, swizzles, boxes over the edges, buffers used again. What is
// stored outside is told by a pattern that stands in the tensor before.
#include "test/conformance/edges.h"
#include "test/conformance/tensor.h"

namespace conformance {
namespace {

constexpr int kThreads = 128;
constexpr uint32_t kBefore = 0x40404040u;

/// Word i of what is stored by box n.
TK_HOST_DEVICE uint32_t stored_word(int n, int i) { return uint32_t(n * 4096 + i) * 0x01000193u ^ 0x5bd1e995u; }
/// The same for additions: small values of the element type.
TK_HOST_DEVICE uint32_t added_word(int dtype, int n, int i) {
    const int x = small(stored_word(n, i)), y = small(stored_word(n, i) * 3);
    if (dtype == TK_F32) return as_bits(float(x));
    if (dtype == TK_BF16 || dtype == TK_F16)
        return half_bits(x, dtype == TK_BF16) | uint32_t(half_bits(y, dtype == TK_BF16)) << 16;
    if (dtype == TK_I64 || dtype == TK_U64) return i % 2 ? uint32_t(y) : stored_word(n, i);
    return stored_word(n, i);
}

TK_KERNEL(kThreads)
preset_kernel(uint32_t* out, const int words, const uint32_t value) {
    sm90::grid_dependency_wait();
    for (int i = sm80::thread_index(); i < words; i += kThreads) put(out, i, value);
}

/// Boxes from two buffers in turn; a buffer is written again when it has been read. dtype < 0: plain stores.
template <int Rank>
TK_KERNEL(kThreads)
store_kernel(TK_TENSOR_MAP map, const positions<Rank> boxes, const int words, const int added_dtype) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    for (int n = 0; n < boxes.count; ++n) {
        const uint32_t buffer = shared_base() + uint32_t(n % 2) * 8192;
        if (t == 0) sm90::bulk_wait_group_read<1>();
        sm80::block_sync();
        for (int i = t; i < words; i += kThreads)
            put_shared(buffer + uint32_t(i) * 4, added_dtype < 0 ? stored_word(n, i) : added_word(added_dtype, n, i));
        sm90::fence_proxy_async_shared();
        sm80::block_sync();
        if (t == 0) {
            if (added_dtype < 0) {
                sm90::bulk_wait_group<0>();  // boxes overlap: the later one wins
                sm90::tensor_copy<Rank>::store(&map, boxes.at[n], buffer);
            } else {
                sm90::tensor_copy<Rank>::reduce_add(&map, boxes.at[n], buffer);
            }
            sm90::bulk_commit_group();
        }
    }
    if (t == 0) sm90::bulk_wait_group<0>();
}

template <int Rank>
tk_status store(cudaStream_t stream, const tk_tensor* out, const boxed_tensor<Rank>& tensor,
                const positions<Rank>& boxes, bool add, uint32_t before) {
    tensor_map map;
    tk_status status = tensor.map(map, out->data);
    if (status.code != TK_OK) return status;
    status = start<preset_kernel>(stream, 1, kThreads, 0, output(out), int(out->extent[0]), before);
    if (status.code != TK_OK) return status;
    return start<store_kernel<Rank>>(stream, 1, kThreads, 16384, map, boxes, tensor.area_words(),
                                     add ? int(tensor.dtype) : -1);
}

float half_value(uint16_t bits, bool bf16) {
    if (bf16 || (bits & 0x7fff) == 0) return as_float(uint32_t(bits) << 16);
    return as_float((uint32_t(bits & 0x8000) << 16) | ((uint32_t(bits & 0x7fff) << 13) + 0x38000000u));
}

/// memory += value, of one element.
void add_element(int dtype, unsigned char* memory, const unsigned char* value) {
    if (dtype == TK_BF16 || dtype == TK_F16) {
        uint16_t x, y;
        std::memcpy(&x, memory, 2), std::memcpy(&y, value, 2);
        x = half_bits(int(half_value(x, dtype == TK_BF16) + half_value(y, dtype == TK_BF16)), dtype == TK_BF16);
        std::memcpy(memory, &x, 2);
    } else if (dtype == TK_F32) {
        float x, y;
        std::memcpy(&x, memory, 4), std::memcpy(&y, value, 4);
        x += y;
        std::memcpy(memory, &x, 4);
    } else if (dtype == TK_I64 || dtype == TK_U64) {
        uint64_t x, y;
        std::memcpy(&x, memory, 8), std::memcpy(&y, value, 8);
        x += y;
        std::memcpy(memory, &x, 8);
    } else {
        uint32_t x, y;
        std::memcpy(&x, memory, 4), std::memcpy(&y, value, 4);
        x += y;
        std::memcpy(memory, &x, 4);
    }
}

template <int Rank>
void expect_store(uint32_t* out, int words, const boxed_tensor<Rank>& tensor, const positions<Rank>& boxes, bool add,
                  uint32_t before) {
    for (int i = 0; i < words; ++i) out[i] = before;
    auto* memory = reinterpret_cast<unsigned char*>(out);
    uint32_t area[2048];
    for (int n = 0; n < boxes.count; ++n) {
        for (int i = 0; i < tensor.area_words(); ++i)
            area[i] = add ? added_word(tensor.dtype, n, i) : stored_word(n, i);
        const auto* from = reinterpret_cast<const unsigned char*>(area);
        tensor.for_each_element(boxes.at[n], [&](long to, int at) {
            if (to >= 0 && add)
                add_element(tensor.dtype, memory + to, from + at);
            else if (to >= 0)
                std::memcpy(memory + to, from + at, size_t(tensor.pitch[0]));
        });
    }
}

// No coordinate is negative, and innermost ones are multiples of 16 bytes: all else is an illegal instruction.
constexpr boxed_tensor<1> kVector{TK_F32, {1000}, {4}, {64}, swizzle::none};
constexpr positions<1> kVectorAt{5, {{0}, {100}, {984}, {960}, {1000}}};
constexpr boxed_tensor<2> kMatrix128{TK_BF16, {104, 40}, {2, 224}, {64, 16}, swizzle::b128};
constexpr boxed_tensor<2> kMatrix64{TK_F16, {104, 40}, {2, 224}, {32, 16}, swizzle::b64};
constexpr boxed_tensor<2> kMatrix32{TK_BF16, {104, 40}, {2, 224}, {16, 16}, swizzle::b32};
constexpr boxed_tensor<2> kMatrixNone{TK_BF16, {104, 40}, {2, 224}, {40, 16}, swizzle::none};
constexpr boxed_tensor<2> kMatrixNarrow{TK_BF16, {104, 40}, {2, 224}, {24, 16}, swizzle::b64};
constexpr positions<2> kMatrixAt{7, {{0, 0}, {8, 2}, {64, 30}, {40, 5}, {96, 39}, {200, 0}, {8, 40}}};
constexpr positions<2> kWordsAt{7, {{0, 0}, {4, 2}, {32, 30}, {20, 5}, {48, 39}, {100, 0}, {4, 40}}};
constexpr positions<2> kLongsAt{7, {{0, 0}, {2, 2}, {16, 30}, {10, 5}, {24, 39}, {50, 0}, {2, 40}}};
constexpr boxed_tensor<3> kCube{TK_BF16, {72, 9, 5}, {2, 144, 1440}, {64, 4, 3}, swizzle::b128};
constexpr positions<3> kCubeAt{5, {{0, 0, 0}, {8, 7, 3}, {32, 2, 1}, {0, 2, 5}, {40, 8, 4}}};
constexpr boxed_tensor<4> kFour{TK_F32, {12, 5, 4, 3}, {4, 48, 256, 1024}, {8, 2, 3, 2}, swizzle::none};
constexpr positions<4> kFourAt{5, {{0, 0, 0, 0}, {4, 3, 2, 1}, {8, 4, 3, 2}, {4, 1, 4, 0}, {0, 4, 1, 2}}};
constexpr boxed_tensor<5> kFive{TK_F32, {12, 3, 4, 3, 2}, {4, 48, 160, 640, 1920}, {8, 2, 2, 3, 2}, swizzle::b32};
constexpr positions<5> kFiveAt{5,
                               {{0, 0, 0, 0, 0}, {4, 1, 2, 0, 1}, {4, 2, 3, 1, 0}, {8, 0, 3, 2, 1}, {0, 1, 1, 1, 2}}};
constexpr boxed_tensor<2> kF32{TK_F32, {52, 40}, {4, 224}, {32, 16}, swizzle::b128};
constexpr boxed_tensor<2> kI32{TK_I32, {52, 40}, {4, 224}, {32, 16}, swizzle::b128};
constexpr boxed_tensor<2> kU64{TK_U64, {26, 40}, {8, 224}, {16, 16}, swizzle::b128};

// Rows that end inside 16 bytes are written up to the end of these, as on an H200.
constexpr boxed_tensor<2> kRagged1{TK_BF16, {1, 6}, {2, 32}, {16, 4}, swizzle::none};
constexpr boxed_tensor<2> kRagged5{TK_BF16, {5, 6}, {2, 32}, {16, 4}, swizzle::none};
constexpr boxed_tensor<2> kRagged11{TK_BF16, {11, 6}, {2, 64}, {16, 4}, swizzle::none};
constexpr positions<2> kRaggedAt{2, {{0, 0}, {0, 4}}};
constexpr positions<2> kBehindAt{3, {{8, 0}, {16, 2}, {8, 4}}};
constexpr boxed_tensor<1> kShort{TK_F32, {6}, {4}, {16}, swizzle::none};
constexpr positions<1> kShortAt{1, {{0}}};

/// Additions that round, flush or overflow: word i of the input is added to word i + words of it. Edges: pairs of
/// edge_element instead.
template <bool Edges>
TK_DEVICE uint32_t addend(const uint32_t* in, int dtype, int i, int first) {
    if (!Edges) return get(in, first + i);
    return first > 0 ? edge_word(dtype, i, 1) : edge_word(dtype, i, 16);
}
template <bool Edges>
TK_KERNEL(kThreads)
copy_in_kernel(const uint32_t* in, uint32_t* out, const int words, const int dtype) {
    sm90::grid_dependency_wait();
    for (int i = sm80::thread_index(); i < words; i += kThreads) put(out, i, addend<Edges>(in, dtype, i, words));
}
template <bool Edges>
TK_KERNEL(kThreads)
add_words_kernel(TK_TENSOR_MAP map, const uint32_t* in, const int words, const int dtype) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    for (int i = t; i < words; i += kThreads)
        put_shared(shared_base() + uint32_t(i) * 4, addend<Edges>(in, dtype, i, 0));
    sm90::fence_proxy_async_shared();
    sm80::block_sync();
    if (t == 0) {
        const int at[] = {0};
        sm90::tensor_copy<1>::reduce_add(&map, at, shared_base());
        sm90::bulk_commit_group();
        sm90::bulk_wait_group<0>();
    }
}

/// 256 elements.
template <bool Edges>
tk_status add_words(cudaStream_t stream, const tk_tensor* in, const tk_tensor* out, tk_dtype dtype) {
    const int words = int(out->extent[0]);
    const boxed_tensor<1> tensor{dtype, {256}, {words * 4 / 256}, {256}, swizzle::none};
    tensor_map map;
    tk_status status = tensor.map(map, out->data);
    if (status.code != TK_OK) return status;
    status = start<copy_in_kernel<Edges>>(stream, 1, kThreads, 0, input(in), output(out), words, int(dtype));
    if (status.code != TK_OK) return status;
    return start<add_words_kernel<Edges>>(stream, 1, kThreads, 4096, map, input(in), words, int(dtype));
}

}  // namespace
}  // namespace conformance

using namespace conformance;

#define STORE_CASE(NAME, WORDS, TENSOR, AT)                               \
    CASE(NAME) { return store(stream, out, TENSOR, AT, false, kBefore); } \
    EXPECTED(NAME) { expect_store(out, WORDS, TENSOR.whole_16_bytes(), AT, false, kBefore); }
#define ADD_CASE(NAME, WORDS, TENSOR, AT)                           \
    CASE(NAME) { return store(stream, out, TENSOR, AT, true, 0u); } \
    EXPECTED(NAME) { expect_store(out, WORDS, TENSOR.whole_16_bytes(), AT, true, 0u); }

// case: tensor_store_1d in 1 out 1024 exact covers tensor_copy<1>::store, bulk_commit_group, bulk_wait_group
STORE_CASE(tensor_store_1d, 1024, kVector, kVectorAt)
// case: tensor_store_128 in 1 out 2240 exact covers tensor_copy<2>::store, bulk_wait_group_read, fence_proxy_async_shared
STORE_CASE(tensor_store_128, 2240, kMatrix128, kMatrixAt)
// case: tensor_store_64 in 1 out 2240 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_64, 2240, kMatrix64, kMatrixAt)
// case: tensor_store_32 in 1 out 2240 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_32, 2240, kMatrix32, kMatrixAt)
// case: tensor_store_unswizzled in 1 out 2240 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_unswizzled, 2240, kMatrixNone, kMatrixAt)
// case: tensor_store_narrow in 1 out 2240 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_narrow, 2240, kMatrixNarrow, kMatrixAt)
// case: tensor_store_3d in 1 out 1800 exact covers tensor_copy<3>::store
STORE_CASE(tensor_store_3d, 1800, kCube, kCubeAt)
// case: tensor_store_4d in 1 out 768 exact covers tensor_copy<4>::store
STORE_CASE(tensor_store_4d, 768, kFour, kFourAt)
// case: tensor_store_5d in 1 out 960 exact covers tensor_copy<5>::store
STORE_CASE(tensor_store_5d, 960, kFive, kFiveAt)
// case: tensor_add_1d in 1 out 1024 exact covers tensor_copy<1>::reduce_add
ADD_CASE(tensor_add_1d, 1024, kVector, kVectorAt)
// case: tensor_add_bf16 in 1 out 2240 exact covers tensor_copy<2>::reduce_add
ADD_CASE(tensor_add_bf16, 2240, kMatrix128, kMatrixAt)
// case: tensor_add_f16 in 1 out 2240 exact covers tensor_copy<2>::reduce_add
ADD_CASE(tensor_add_f16, 2240, kMatrix64, kMatrixAt)
// case: tensor_add_f32 in 1 out 2240 exact covers tensor_copy<2>::reduce_add
ADD_CASE(tensor_add_f32, 2240, kF32, kWordsAt)
// case: tensor_add_i32 in 1 out 2240 exact covers tensor_copy<2>::reduce_add
ADD_CASE(tensor_add_i32, 2240, kI32, kWordsAt)
// case: tensor_add_u64 in 1 out 2240 exact covers tensor_copy<2>::reduce_add
ADD_CASE(tensor_add_u64, 2240, kU64, kLongsAt)
// case: tensor_add_3d in 1 out 1800 exact covers tensor_copy<3>::reduce_add
ADD_CASE(tensor_add_3d, 1800, kCube, kCubeAt)
// case: tensor_add_4d in 1 out 768 exact covers tensor_copy<4>::reduce_add
ADD_CASE(tensor_add_4d, 768, kFour, kFourAt)
// case: tensor_add_5d in 1 out 960 exact covers tensor_copy<5>::reduce_add
ADD_CASE(tensor_add_5d, 960, kFive, kFiveAt)

// case: tensor_store_row_of_1 in 1 out 48 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_row_of_1, 48, kRagged1, kRaggedAt)
// case: tensor_store_row_of_5 in 1 out 48 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_row_of_5, 48, kRagged5, kRaggedAt)
// case: tensor_store_row_of_11 in 1 out 96 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_row_of_11, 96, kRagged11, kRaggedAt)
// case: tensor_store_row_from_8 in 1 out 96 exact covers tensor_copy<2>::store
STORE_CASE(tensor_store_row_from_8, 96, kRagged11, kBehindAt)
// case: tensor_store_short_vector in 1 out 16 exact covers tensor_copy<1>::store
STORE_CASE(tensor_store_short_vector, 16, kShort, kShortAt)
// case: tensor_add_row_of_5 in 1 out 48 exact covers tensor_copy<2>::reduce_add
ADD_CASE(tensor_add_row_of_5, 48, kRagged5, kRaggedAt)
// case: tensor_add_row_from_8 in 1 out 96 exact covers tensor_copy<2>::reduce_add
ADD_CASE(tensor_add_row_from_8, 96, kRagged11, kBehindAt)

// case: tensor_add_f32_any in 512 out 256 exact covers tensor_copy<1>::reduce_add
CASE(tensor_add_f32_any) { return add_words<false>(stream, in, out, TK_F32); }
EXPECTED(tensor_add_f32_any) {
    for (int i = 0; i < 256; ++i) out[i] = add_any(TK_F32, in[i], in[i + 256], false);
}
// case: tensor_add_bf16_any in 256 out 128 exact covers tensor_copy<1>::reduce_add
CASE(tensor_add_bf16_any) { return add_words<false>(stream, in, out, TK_BF16); }
EXPECTED(tensor_add_bf16_any) {
    for (int i = 0; i < 128; ++i) out[i] = add_any(TK_BF16, in[i], in[i + 128]);
}
// case: tensor_add_f16_any in 256 out 128 exact covers tensor_copy<1>::reduce_add
CASE(tensor_add_f16_any) { return add_words<false>(stream, in, out, TK_F16); }
EXPECTED(tensor_add_f16_any) {
    for (int i = 0; i < 128; ++i) out[i] = add_any(TK_F16, in[i], in[i + 128]);
}

// Subnormals, zeros, infinities, NaNs, ties, each with each.
// case: tensor_add_f32_edges in 1 out 256 exact covers tensor_copy<1>::reduce_add
CASE(tensor_add_f32_edges) { return add_words<true>(stream, in, out, TK_F32); }
EXPECTED(tensor_add_f32_edges) { expect_edges(out, TK_F32, false); }
// case: tensor_add_bf16_edges in 1 out 128 exact covers tensor_copy<1>::reduce_add
CASE(tensor_add_bf16_edges) { return add_words<true>(stream, in, out, TK_BF16); }
EXPECTED(tensor_add_bf16_edges) { expect_edges(out, TK_BF16); }
// case: tensor_add_f16_edges in 1 out 128 exact covers tensor_copy<1>::reduce_add
CASE(tensor_add_f16_edges) { return add_words<true>(stream, in, out, TK_F16); }
EXPECTED(tensor_add_f16_edges) { expect_edges(out, TK_F16); }

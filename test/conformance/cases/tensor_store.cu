// SPDX-License-Identifier: MIT
// Stores by the tensor copy engine: ranks, swizzles, boxes over the edges, buffers used again. What is
// stored outside is told by a pattern that stands in the tensor before.
#include "test/conformance/tensor.h"

namespace conformance {
namespace {

constexpr int kThreads = 128;
constexpr uint32_t kBefore = 0x40404040u;

/// Word i of what is stored by box n.
TK_HOST_DEVICE uint32_t stored_word(int n, int i) { return uint32_t(n * 4096 + i) * 0x01000193u ^ 0x5bd1e995u; }
TK_KERNEL(kThreads)
preset_kernel(uint32_t* out, const int words) {
    sm90::grid_dependency_wait();
    for (int i = sm80::thread_index(); i < words; i += kThreads) put(out, i, kBefore);
}

/// Boxes from two buffers in turn; a buffer is written again when it has been read.
template <int Rank>
TK_KERNEL(kThreads)
store_kernel(TK_TENSOR_MAP map, const positions<Rank> boxes, const int words) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    for (int n = 0; n < boxes.count; ++n) {
        const uint32_t buffer = shared_base() + uint32_t(n % 2) * 8192;
        if (t == 0) sm90::bulk_wait_group_read<1>();
        sm80::block_sync();
        for (int i = t; i < words; i += kThreads)
            put_shared(buffer + uint32_t(i) * 4, stored_word(n, i));
        sm90::fence_proxy_async_shared();
        sm80::block_sync();
        if (t == 0) {
            sm90::bulk_wait_group<0>();  // boxes overlap: the later one wins
            sm90::tensor_copy<Rank>::store(&map, boxes.at[n], buffer);
            sm90::bulk_commit_group();
        }
    }
    if (t == 0) sm90::bulk_wait_group<0>();
}

template <int Rank>
tk_status store(cudaStream_t stream, const tk_tensor* out, const boxed_tensor<Rank>& tensor,
                const positions<Rank>& boxes) {
    tensor_map map;
    tk_status status = tensor.map(map, out->data);
    if (status.code != TK_OK) return status;
    status = start<preset_kernel>(stream, 1, kThreads, 0, output(out), int(out->extent[0]));
    if (status.code != TK_OK) return status;
    return start<store_kernel<Rank>>(stream, 1, kThreads, 16384, map, boxes, tensor.area_words());
}

template <int Rank>
void expect_store(uint32_t* out, int words, const boxed_tensor<Rank>& tensor, const positions<Rank>& boxes) {
    for (int i = 0; i < words; ++i) out[i] = kBefore;
    auto* memory = reinterpret_cast<unsigned char*>(out);
    uint32_t area[2048];
    for (int n = 0; n < boxes.count; ++n) {
        for (int i = 0; i < tensor.area_words(); ++i) area[i] = stored_word(n, i);
        const auto* from = reinterpret_cast<const unsigned char*>(area);
        tensor.for_each_element(boxes.at[n], [&](long to, int at) {
            if (to >= 0) std::memcpy(memory + to, from + at, size_t(tensor.pitch[0]));
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
constexpr boxed_tensor<3> kCube{TK_BF16, {72, 9, 5}, {2, 144, 1440}, {64, 4, 3}, swizzle::b128};
constexpr positions<3> kCubeAt{5, {{0, 0, 0}, {8, 7, 3}, {32, 2, 1}, {0, 2, 5}, {40, 8, 4}}};
constexpr boxed_tensor<4> kFour{TK_F32, {12, 5, 4, 3}, {4, 48, 256, 1024}, {8, 2, 3, 2}, swizzle::none};
constexpr positions<4> kFourAt{5, {{0, 0, 0, 0}, {4, 3, 2, 1}, {8, 4, 3, 2}, {4, 1, 4, 0}, {0, 4, 1, 2}}};
constexpr boxed_tensor<5> kFive{TK_F32, {12, 3, 4, 3, 2}, {4, 48, 160, 640, 1920}, {8, 2, 2, 3, 2}, swizzle::b32};
constexpr positions<5> kFiveAt{5,
                               {{0, 0, 0, 0, 0}, {4, 1, 2, 0, 1}, {4, 2, 3, 1, 0}, {8, 0, 3, 2, 1}, {0, 1, 1, 1, 2}}};

// Rows that end inside 16 bytes are written up to the end of these, as on an H200.
constexpr boxed_tensor<2> kRagged1{TK_BF16, {1, 6}, {2, 32}, {16, 4}, swizzle::none};
constexpr boxed_tensor<2> kRagged5{TK_BF16, {5, 6}, {2, 32}, {16, 4}, swizzle::none};
constexpr boxed_tensor<2> kRagged11{TK_BF16, {11, 6}, {2, 64}, {16, 4}, swizzle::none};
constexpr positions<2> kRaggedAt{2, {{0, 0}, {0, 4}}};
constexpr positions<2> kBehindAt{3, {{8, 0}, {16, 2}, {8, 4}}};
constexpr boxed_tensor<1> kShort{TK_F32, {6}, {4}, {16}, swizzle::none};
constexpr positions<1> kShortAt{1, {{0}}};

}  // namespace
}  // namespace conformance

using namespace conformance;

#define STORE_CASE(NAME, WORDS, TENSOR, AT)                               \
    CASE(NAME) { return store(stream, out, TENSOR, AT); } \
    EXPECTED(NAME) { expect_store(out, WORDS, TENSOR.whole_16_bytes(), AT); }
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

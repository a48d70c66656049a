// SPDX-License-Identifier: MIT
// Loads by the tensor copy engine: ranks, swizzles, boxes over every edge, multicast, bytes that come before they are
// expected.
#include "test/conformance/tensor.h"

namespace conformance {
namespace {

constexpr int kThreads = 128;

TK_DEVICE void wait(uint32_t barrier, uint32_t parity) {
    while (!sm90::mbarrier_try_wait(barrier, parity)) {
    }
}

/// Each box into an area of ones, which is then copied out. The engine's writes, and nothing else, must show.
template <int Rank>
TK_KERNEL(kThreads)
load_kernel(TK_TENSOR_MAP map, uint32_t* out, const positions<Rank> boxes, const int words, const int bytes) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base(), barrier = base + uint32_t(words) * 4;
    if (t == 0) {
        sm90::prefetch_tensor_map(&map);
        sm80::mbarrier_init(barrier, 1);
        sm90::fence_mbarrier_init();
    }
    for (int n = 0; n < boxes.count; ++n) {
        for (int i = t; i < words; i += kThreads) put_shared(base + uint32_t(i) * 4, 0xffffffffu);
        sm90::fence_proxy_async_shared();
        sm80::block_sync();
        if (t == 0) {
            sm90::mbarrier_arrive_expect_tx(barrier, uint32_t(bytes));
            sm90::tensor_copy<Rank>::load(base, &map, boxes.at[n], barrier);
        }
        wait(barrier, uint32_t(n & 1));
        for (int i = t; i < words; i += kThreads) put(out, n * words + i, get_shared(base + uint32_t(i) * 4));
        sm80::block_sync();
    }
}

template <int Rank>
tk_status load(cudaStream_t stream, const tk_tensor* in, const tk_tensor* out, const boxed_tensor<Rank>& tensor,
               const positions<Rank>& boxes) {
    tensor_map map;
    const tk_status status = tensor.map(map, in->data);
    if (status.code != TK_OK) return status;
    return start<load_kernel<Rank>>(stream, 1, kThreads, tensor.area_words() * 4 + 64, map, output(out), boxes,
                                    tensor.area_words(), tensor.box_bytes());
}

template <int Rank>
void expect_load(const uint32_t* in, uint32_t* out, const boxed_tensor<Rank>& tensor, const positions<Rank>& boxes) {
    for (int n = 0; n < boxes.count; ++n) {
        auto* area = reinterpret_cast<unsigned char*>(out + n * tensor.area_words());
        std::memset(area, 0xff, size_t(tensor.area_words()) * 4);
        tensor.for_each_element(boxes.at[n], [&](long from, int to) {
            if (from < 0)
                std::memset(area + to, 0, size_t(tensor.pitch[0]));
            else
                std::memcpy(area + to, reinterpret_cast<const unsigned char*>(in) + from, size_t(tensor.pitch[0]));
        });
    }
}

// Innermost coordinates are multiples of 16 bytes: a copy at any other is an illegal instruction.
constexpr boxed_tensor<1> kVector{TK_F32, {1000}, {4}, {64}, swizzle::none};
constexpr positions<1> kVectorAt{6, {{0}, {12}, {-20}, {960}, {1000}, {-64}}};
constexpr boxed_tensor<2> kMatrix128{TK_BF16, {100, 40}, {2, 208}, {64, 16}, swizzle::b128};
constexpr boxed_tensor<2> kMatrix64{TK_F16, {100, 40}, {2, 208}, {32, 16}, swizzle::b64};
constexpr boxed_tensor<2> kMatrix32{TK_BF16, {100, 40}, {2, 208}, {16, 16}, swizzle::b32};
constexpr boxed_tensor<2> kMatrixNone{TK_BF16, {100, 40}, {2, 208}, {40, 16}, swizzle::none};
constexpr boxed_tensor<2> kMatrixNarrow{TK_BF16, {100, 40}, {2, 208}, {24, 16}, swizzle::b64};
constexpr boxed_tensor<2> kMatrixWords{TK_U32, {50, 40}, {4, 208}, {32, 16}, swizzle::b128};
constexpr boxed_tensor<2> kMatrixBytes{TK_U8, {200, 40}, {1, 208}, {128, 16}, swizzle::b128};
constexpr positions<2> kMatrixAt{7, {{0, 0}, {-8, -2}, {56, 30}, {40, 5}, {96, 39}, {200, 0}, {8, -40}}};
constexpr positions<2> kWordsAt{7, {{0, 0}, {-4, -2}, {28, 30}, {20, 5}, {48, 39}, {100, 0}, {4, -40}}};
constexpr positions<2> kBytesAt{7, {{0, 0}, {-16, -2}, {112, 30}, {80, 5}, {192, 39}, {400, 0}, {16, -40}}};
constexpr boxed_tensor<3> kCube{TK_BF16, {72, 9, 5}, {2, 144, 1440}, {64, 4, 3}, swizzle::b128};
constexpr positions<3> kCubeAt{4, {{0, 0, 0}, {-8, 7, 3}, {32, -2, 1}, {0, 2, -3}}};
constexpr boxed_tensor<4> kFour{TK_F32, {12, 5, 4, 3}, {4, 48, 256, 1024}, {8, 2, 3, 2}, swizzle::none};
constexpr positions<4> kFourAt{4, {{0, 0, 0, 0}, {4, 3, 2, 1}, {8, -1, 3, 2}, {-4, 4, -1, -1}}};
constexpr boxed_tensor<5> kFive{TK_F32, {12, 3, 4, 3, 2}, {4, 48, 160, 640, 1920}, {8, 2, 2, 3, 2}, swizzle::b32};
constexpr positions<5> kFiveAt{4, {{0, 0, 0, 0, 0}, {4, 1, 2, 0, 1}, {-4, 2, -1, 1, 0}, {8, 0, 3, -2, -1}}};

/// Each block loads half of the rows into both blocks.
TK_CLUSTER_KERNEL(kThreads, 2)
multicast_kernel(TK_TENSOR_MAP map, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index(), rank = int(sm90::cluster_block_rank());
    const uint32_t base = shared_base(), barrier = base + 4096;
    if (t == 0) {
        sm80::mbarrier_init(barrier, 1);
        sm90::fence_mbarrier_init();
    }
    sm90::cluster_arrive();
    sm90::cluster_wait();
    if (t == 0) {
        sm90::mbarrier_arrive_expect_tx(barrier, 4096);
        const int at[] = {24, 16 * rank + 2};
        sm90::tensor_copy<2>::load_multicast(base + uint32_t(rank) * 2048, &map, at, barrier, 3);
    }
    wait(barrier, 0);
    for (int i = t; i < 1024; i += kThreads) put(out, rank * 1024 + i, get_shared(base + uint32_t(i) * 4));
    sm90::cluster_arrive();
    sm90::cluster_wait();
}

constexpr boxed_tensor<2> kHalf{TK_BF16, {100, 40}, {2, 208}, {64, 16}, swizzle::b128};

/// One box through a map of each rank to blocks 0 and 1 (mask 3) or to block 1 alone (mask 2), by block 0.
template <int Rank>
TK_DEVICE void multicast_box(const tensor_map& map, uint32_t* out, const positions<Rank>& at) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index(), rank = int(sm90::cluster_block_rank());
    const uint32_t base = shared_base(), barrier = base + 1024;
    if (t == 0) {
        sm80::mbarrier_init(barrier, 1);
        sm90::fence_mbarrier_init();
        sm90::mbarrier_arrive_expect_tx(barrier, rank == 0 ? 64 : 128);
    }
    sm90::cluster_arrive();
    sm90::cluster_wait();
    if (t == 0 && rank == 0) {
        sm90::tensor_copy<Rank>::load_multicast(base, &map, at.at[0], barrier, 3);
        sm90::tensor_copy<Rank>::load_multicast(base + 128, &map, at.at[1], barrier, 2);
    }
    wait(barrier, 0);
    if (t < 16) put(out, rank * 32 + t, get_shared(base + uint32_t(t) * 4));
    if (t < 16) put(out, rank * 32 + 16 + t, rank == 0 ? 0u : get_shared(base + 128 + uint32_t(t) * 4));
    sm90::cluster_arrive();
    sm90::cluster_wait();
}

#define MULTICAST_KERNEL(RANK)                                                              \
    TK_CLUSTER_KERNEL(32, 2)                                                                \
    multicast_##RANK##_kernel(TK_TENSOR_MAP map, uint32_t* out, const positions<RANK> at) { \
        multicast_box<RANK>(map, out, at);                                                  \
    }
MULTICAST_KERNEL(1)
MULTICAST_KERNEL(2) MULTICAST_KERNEL(3) MULTICAST_KERNEL(4) MULTICAST_KERNEL(5)
#undef MULTICAST_KERNEL

    /// A dense tensor of 16 f32 elements a row, rows = 4 in each other dimension, and a box of one row.
    template <int Rank>
    constexpr boxed_tensor<Rank> row_tensor() {
    boxed_tensor<Rank> tensor{TK_F32, {}, {}, {}, swizzle::none};
    for (int d = 0; d < Rank; ++d) {
        tensor.extent[d] = d == 0 ? 20 : 4;
        tensor.pitch[d] = d == 0 ? 4 : d == 1 ? 80 : tensor.pitch[d - 1] * 4;
        tensor.box[d] = d == 0 ? 16 : 1;
    }
    return tensor;
}
/// One box over each end of its row.
template <int Rank>
constexpr positions<Rank> row_positions() {
    positions<Rank> boxes{2, {}};
    for (int d = 0; d < Rank; ++d) boxes.at[0][d] = d == 0 ? -4 : d % 4, boxes.at[1][d] = d == 0 ? 12 : (d + 1) % 4;
    return boxes;
}

template <int Rank, auto Kernel>
tk_status multicast(cudaStream_t stream, const tk_tensor* in, const tk_tensor* out) {
    tensor_map map;
    const tk_status status = row_tensor<Rank>().map(map, in->data);
    return status.code != TK_OK ? status : start<Kernel, 2>(stream, 2, 32, 2048, map, output(out), row_positions<Rank>());
}
template <int Rank>
void expect_multicast(const uint32_t* in, uint32_t* out) {
    uint32_t both[32];
    expect_load(in, both, row_tensor<Rank>(), row_positions<Rank>());
    for (int i = 0; i < 16; ++i) out[i] = both[i], out[16 + i] = 0, out[32 + i] = both[i], out[48 + i] = both[16 + i];
}

/// The copy is issued, and may be complete, before its bytes are expected: the count goes below zero.
TK_KERNEL(32)
expect_late_kernel(TK_TENSOR_MAP map, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base(), barrier = base + 256;
    if (t == 0) {
        sm80::mbarrier_init(barrier, 2);
        sm90::fence_mbarrier_init();
        const int at[] = {0};
        sm90::tensor_copy<1>::load(base, &map, at, barrier);
        sm80::mbarrier_arrive(barrier);
        sm90::mbarrier_arrive_expect_tx(barrier, 256);
    }
    sm80::block_sync();
    wait(barrier, 0);
    put(out, t, get_shared(base + uint32_t(t) * 4));
    put(out, t + 32, get_shared(base + uint32_t(t + 32) * 4));
}

/// Half of a phase's bytes come by a load, and half by one that is left out.
TK_KERNEL(32)
skip_kernel(TK_TENSOR_MAP map, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base(), barrier = base + 512;
    if (t == 0) {
        sm80::mbarrier_init(barrier, 1);
        sm90::fence_mbarrier_init();
        sm90::mbarrier_arrive_expect_tx(barrier, 512);
        const int at[] = {0};
        sm90::skip_load(base + 256, 256, barrier);
        sm90::tensor_copy<1>::load(base, &map, at, barrier);
    }
    sm80::block_sync();
    wait(barrier, 0);
    put(out, t, get_shared(base + uint32_t(t) * 4));
    put(out, t + 32, get_shared(base + uint32_t(t + 32) * 4));
}

/// The same in both blocks of a cluster: one loads for both, and the other leaves out, before or after they expect it.
TK_CLUSTER_KERNEL(32, 2)
skip_multicast_kernel(TK_TENSOR_MAP map, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index(), rank = int(sm90::cluster_block_rank());
    const uint32_t base = shared_base(), barrier = base + 512;
    if (t == 0) {
        sm80::mbarrier_init(barrier, 1);
        sm90::fence_mbarrier_init();
    }
    sm90::cluster_arrive();
    sm90::cluster_wait();
    for (int phase = 0; phase < 3; ++phase) {
        if (t == 0) {
            if (rank == 0) sm90::mbarrier_arrive_expect_tx(barrier, 512);
            const int at[] = {0};
            if (rank == 0) sm90::tensor_copy<1>::load_multicast(base, &map, at, barrier, 3);
            if (rank == 1) sm90::skip_load_multicast(base + 256, 256, barrier, 3);
            if (rank == 1) sm90::mbarrier_arrive_expect_tx(barrier, 512);
        }
        sm80::block_sync();
        wait(barrier, uint32_t(phase & 1));
        for (int i = t; i < 64; i += 32) put(out, (phase * 2 + rank) * 64 + i, get_shared(base + uint32_t(i) * 4));
        sm90::fence_proxy_async_shared();
        sm90::cluster_arrive();
        sm90::cluster_wait();
    }
}

}  // namespace
}  // namespace conformance

using namespace conformance;

#define LOAD_CASE(NAME, TENSOR, AT)                          \
    CASE(NAME) { return load(stream, in, out, TENSOR, AT); } \
    EXPECTED(NAME) { expect_load(in, out, TENSOR, AT); }

// case: tensor_load_1d in 1000 out 384 exact covers tensor_copy<1>::load, mbarrier_arrive_expect_tx
LOAD_CASE(tensor_load_1d, kVector, kVectorAt)
// case: tensor_load_128 in 2080 out 3584 exact covers tensor_copy<2>::load, prefetch_tensor_map, fence_proxy_async_shared
LOAD_CASE(tensor_load_128, kMatrix128, kMatrixAt)
// case: tensor_load_64 in 2080 out 1792 exact covers tensor_copy<2>::load
LOAD_CASE(tensor_load_64, kMatrix64, kMatrixAt)
// case: tensor_load_32 in 2080 out 896 exact covers tensor_copy<2>::load
LOAD_CASE(tensor_load_32, kMatrix32, kMatrixAt)
// case: tensor_load_unswizzled in 2080 out 2240 exact covers tensor_copy<2>::load
LOAD_CASE(tensor_load_unswizzled, kMatrixNone, kMatrixAt)
// case: tensor_load_narrow in 2080 out 1792 exact covers tensor_copy<2>::load
LOAD_CASE(tensor_load_narrow, kMatrixNarrow, kMatrixAt)
// case: tensor_load_words in 2080 out 3584 exact covers tensor_copy<2>::load
LOAD_CASE(tensor_load_words, kMatrixWords, kWordsAt)
// case: tensor_load_bytes in 2080 out 3584 exact covers tensor_copy<2>::load
LOAD_CASE(tensor_load_bytes, kMatrixBytes, kBytesAt)
// case: tensor_load_3d in 1800 out 1536 exact covers tensor_copy<3>::load
LOAD_CASE(tensor_load_3d, kCube, kCubeAt)
// case: tensor_load_4d in 768 out 384 exact covers tensor_copy<4>::load
LOAD_CASE(tensor_load_4d, kFour, kFourAt)
// case: tensor_load_5d in 960 out 768 exact covers tensor_copy<5>::load
LOAD_CASE(tensor_load_5d, kFive, kFiveAt)

// case: tensor_multicast in 2080 out 2048 exact covers tensor_copy<2>::load_multicast
CASE(tensor_multicast) {
    tensor_map map;
    const tk_status status = kHalf.map(map, in->data);
    return status.code != TK_OK ? status : start<multicast_kernel, 2>(stream, 2, kThreads, 8192, map, output(out));
}
EXPECTED(tensor_multicast) {
    const positions<2> both{2, {{24, 2}, {24, 18}}};
    expect_load(in, out, kHalf, both);
    std::memcpy(out + 1024, out, 4096);
}

#define MULTICAST_CASE(NAME, RANK)                                                     \
    CASE(NAME) { return multicast<RANK, multicast_##RANK##_kernel>(stream, in, out); } \
    EXPECTED(NAME) { expect_multicast<RANK>(in, out); }

// case: tensor_multicast_1d in 20 out 64 exact covers tensor_copy<1>::load_multicast
MULTICAST_CASE(tensor_multicast_1d, 1)
// case: tensor_multicast_2d in 80 out 64 exact covers tensor_copy<2>::load_multicast
MULTICAST_CASE(tensor_multicast_2d, 2)
// case: tensor_multicast_3d in 320 out 64 exact covers tensor_copy<3>::load_multicast
MULTICAST_CASE(tensor_multicast_3d, 3)
// case: tensor_multicast_4d in 1280 out 64 exact covers tensor_copy<4>::load_multicast
MULTICAST_CASE(tensor_multicast_4d, 4)
// case: tensor_multicast_5d in 5120 out 64 exact covers tensor_copy<5>::load_multicast
MULTICAST_CASE(tensor_multicast_5d, 5)

// case: expect_late in 64 out 64 exact covers tensor_copy<1>::load, mbarrier_arrive_expect_tx
CASE(expect_late) {
    tensor_map map;
    const boxed_tensor<1> tensor{TK_F32, {64}, {4}, {64}, swizzle::none};
    const tk_status status = tensor.map(map, in->data);
    return status.code != TK_OK ? status : start<expect_late_kernel>(stream, 1, 32, 1024, map, output(out));
}
EXPECTED(expect_late) {
    for (int i = 0; i < 64; ++i) out[i] = in[i];
}

// case: skip_load in 64 out 64 exact covers skip_load, tensor_copy<1>::load
CASE(skip_load) {
    tensor_map map;
    const boxed_tensor<1> tensor{TK_F32, {64}, {4}, {64}, swizzle::none};
    const tk_status status = tensor.map(map, in->data);
    return status.code != TK_OK ? status : start<skip_kernel>(stream, 1, 32, 1024, map, output(out));
}
EXPECTED(skip_load) {
    for (int i = 0; i < 64; ++i) out[i] = in[i];
}

// case: skip_load_multicast in 64 out 384 exact covers skip_load_multicast, tensor_copy<1>::load_multicast
CASE(skip_load_multicast) {
    tensor_map map;
    const boxed_tensor<1> tensor{TK_F32, {64}, {4}, {64}, swizzle::none};
    const tk_status status = tensor.map(map, in->data);
    return status.code != TK_OK ? status : start<skip_multicast_kernel, 2>(stream, 2, 32, 1024, map, output(out));
}
EXPECTED(skip_load_multicast) {
    for (int i = 0; i < 384; ++i) out[i] = in[i % 64];
}

// SPDX-License-Identifier: MIT
// red and atom: four blocks of 128 threads meet at each place. Sums are of whole numbers, so their order does not
// matter.
#include <cstring>

#include "test/conformance/edges.h"

namespace conformance {
namespace {

/// What stands at each place before.
TK_KERNEL(128) preset_kernel(uint32_t* out, int words, uint32_t value) {
    sm90::grid_dependency_wait();
    for (int n = sm80::thread_index(); n < words; n += 128) put(out, n, value);
}

enum class op {
    add_f32,
    add_s32,
    max_s32,
    min_s32,
    add_u32,
    max_u32,
    min_u32,
    add_u64,
    max_s64,
    min_s64,
    max_u64,
    min_u64,
    add_bf16,
    add_f16,
    exchange,
    fetch_add
};

template <op O>
TK_KERNEL(128)
reduce_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index(), at = sm80::block_index() * 128 + t;
    const uint32_t x = get(in, 2 * at), y = get(in, 2 * at + 1);
    const uint64_t wide = uint64_t(y) << 32 | x;
    if constexpr (O == op::add_f32) sm80::red_add_f32(reinterpret_cast<float*>(out) + t, float(small(x)));
    if constexpr (O == op::add_s32) sm80::red_add_s32(out + t, int(x));
    if constexpr (O == op::max_s32) sm80::red_max_s32(out + t, int(x));
    if constexpr (O == op::min_s32) sm80::red_min_s32(out + t, int(x));
    if constexpr (O == op::add_u32) sm80::red_add_u32(out + t, x);
    if constexpr (O == op::max_u32) sm80::red_max_u32(out + t, x);
    if constexpr (O == op::min_u32) sm80::red_min_u32(out + t, x);
    if constexpr (O == op::add_u64) sm80::red_add_u64(out + 2 * t, wide);
    if constexpr (O == op::max_s64) sm80::red_max_s64(out + 2 * t, int64_t(wide));
    if constexpr (O == op::min_s64) sm80::red_min_s64(out + 2 * t, int64_t(wide));
    if constexpr (O == op::max_u64) sm80::red_max_u64(out + 2 * t, wide);
    if constexpr (O == op::min_u64) sm80::red_min_u64(out + 2 * t, wide);
    if constexpr (O == op::add_bf16)
        sm90::red_add_bf16(reinterpret_cast<uint16_t*>(out) + t, half_bits(small(x), true));
    if constexpr (O == op::add_f16) sm80::red_add_f16(reinterpret_cast<uint16_t*>(out) + t, half_bits(small(x), false));
    // Adds 1 to a counter, however often that takes; the second word counts those who saw an even number.
    if constexpr (O == op::exchange) {
        uint16_t held = sm80::load_relaxed_b16(reinterpret_cast<uint16_t*>(out) + 2 * t);
        for (;;) {
            const uint16_t found =
                sm80::compare_and_swap_b16(reinterpret_cast<uint16_t*>(out) + 2 * t, held, uint16_t(held + 1));
            if (found == held) break;
            held = found;
        }
        if (held % 2 == 0) sm80::red_add_u32(out + 128 + t, 1);
    }
    // Each finds a number of its own: the second word has their sum.
    if constexpr (O == op::fetch_add) sm80::red_add_s32(out + 128 + t, sm80::fetch_add_s32(out + t, 1));
}

template <int Width>
TK_KERNEL(128)
vector_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index(), at = sm80::block_index() * 128 + t;
    float* to = reinterpret_cast<float*>(out) + t * Width;
    float v[4];
    for (int e = 0; e < 4; ++e) v[e] = float(small(get(in, at * 4 + e)));
    if constexpr (Width == 2)
        sm90::red_add_f32x2(to, v[0], v[1]);
    else
        sm90::red_add_f32x4(to, v[0], v[1], v[2], v[3]);
}

/// The sums of edges.h, each thread at its own element.
template <tk_dtype D>
TK_KERNEL(256)
edges_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    if (t < (D == TK_F32 ? 256 : 128)) put(out, t, edge_word(D, t, 1));
    sm80::block_sync();
    const uint32_t x = edge_element(D, t / 16);
    if constexpr (D == TK_F32) sm80::red_add_f32(reinterpret_cast<float*>(out) + t, as_float(x));
    if constexpr (D == TK_BF16) sm90::red_add_bf16(reinterpret_cast<uint16_t*>(out) + t, uint16_t(x));
    if constexpr (D == TK_F16) sm80::red_add_f16(reinterpret_cast<uint16_t*>(out) + t, uint16_t(x));
}

template <op O>
tk_status reduce(cudaStream_t stream, const tk_tensor* in, const tk_tensor* out, int words, uint32_t before) {
    const tk_status status = start<preset_kernel>(stream, 1, 128, 0, output(out), words, before);
    return status.code != TK_OK ? status : start<reduce_kernel<O>>(stream, 4, 128, 0, input(in), output(out));
}

template <int Width>
tk_status reduce_vectors(cudaStream_t stream, const tk_tensor* in, const tk_tensor* out) {
    const tk_status status = start<preset_kernel>(stream, 1, 128, 0, output(out), 128 * Width, 0x3f800000u);
    return status.code != TK_OK ? status : start<vector_kernel<Width>>(stream, 4, 128, 0, input(in), output(out));
}

/// f(value in memory, operand) for each thread, from `before` on.
template <class T, class F>
void fold(const uint32_t* in, uint32_t* out, uint32_t before, F f) {
    const int words = sizeof(T) / 4;
    for (int t = 0; t < 128; ++t) {
        const uint32_t start[2] = {before, before};
        T value;
        std::memcpy(&value, start, sizeof value);
        for (int block = 0; block < 4; ++block) {
            T operand;
            std::memcpy(&operand, in + 2 * (block * 128 + t), sizeof operand);
            value = f(value, operand);
        }
        std::memcpy(out + words * t, &value, sizeof value);
    }
}

void expect_halves(const uint32_t* in, uint32_t* out, bool bf16) {
    auto* halves = reinterpret_cast<unsigned char*>(out);
    for (int t = 0; t < 128; ++t) {
        int sum = 0;
        for (int block = 0; block < 4; ++block) sum += small(in[2 * (block * 128 + t)]);
        const uint16_t bits = half_bits(sum, bf16);
        std::memcpy(halves + 2 * t, &bits, 2);
    }
}

void expect_vectors(const uint32_t* in, uint32_t* out, int width) {
    for (int t = 0; t < 128; ++t)
        for (int e = 0; e < width; ++e) {
            int sum = 1;
            for (int block = 0; block < 4; ++block) sum += small(in[(block * 128 + t) * 4 + e]);
            out[t * width + e] = as_bits(float(sum));
        }
}

template <class T>
T larger(T x, T y) {
    return x > y ? x : y;
}
template <class T>
T smaller(T x, T y) {
    return x < y ? x : y;
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: red_add_f32 in 1024 out 128 exact covers red_add_f32
CASE(red_add_f32) { return reduce<op::add_f32>(stream, in, out, 128, 0x3f800000u); }
EXPECTED(red_add_f32) {
    for (int t = 0; t < 128; ++t) {
        int sum = 1;
        for (int block = 0; block < 4; ++block) sum += small(in[2 * (block * 128 + t)]);
        out[t] = as_bits(float(sum));
    }
}

// case: red_add_f32x2 in 2048 out 256 exact covers red_add_f32x2
CASE(red_add_f32x2) { return reduce_vectors<2>(stream, in, out); }
EXPECTED(red_add_f32x2) { expect_vectors(in, out, 2); }

// case: red_add_f32x4 in 2048 out 512 exact covers red_add_f32x4
CASE(red_add_f32x4) { return reduce_vectors<4>(stream, in, out); }
EXPECTED(red_add_f32x4) { expect_vectors(in, out, 4); }

// case: red_add_s32 in 1024 out 128 exact covers red_add_s32
CASE(red_add_s32) { return reduce<op::add_s32>(stream, in, out, 128, 5); }
EXPECTED(red_add_s32) {
    fold<uint32_t>(in, out, 5, [](uint32_t x, uint32_t y) { return x + y; });
}

// case: red_max_s32 in 1024 out 128 exact covers red_max_s32
CASE(red_max_s32) { return reduce<op::max_s32>(stream, in, out, 128, 5); }
EXPECTED(red_max_s32) { fold<int32_t>(in, out, 5, larger<int32_t>); }

// case: red_min_s32 in 1024 out 128 exact covers red_min_s32
CASE(red_min_s32) { return reduce<op::min_s32>(stream, in, out, 128, 5); }
EXPECTED(red_min_s32) { fold<int32_t>(in, out, 5, smaller<int32_t>); }

// case: red_add_u32 in 1024 out 128 exact covers red_add_u32
CASE(red_add_u32) { return reduce<op::add_u32>(stream, in, out, 128, 7); }
EXPECTED(red_add_u32) {
    fold<uint32_t>(in, out, 7, [](uint32_t x, uint32_t y) { return x + y; });
}

// case: red_max_u32 in 1024 out 128 exact covers red_max_u32
CASE(red_max_u32) { return reduce<op::max_u32>(stream, in, out, 128, 1u << 30); }
EXPECTED(red_max_u32) { fold<uint32_t>(in, out, 1u << 30, larger<uint32_t>); }

// case: red_min_u32 in 1024 out 128 exact covers red_min_u32
CASE(red_min_u32) { return reduce<op::min_u32>(stream, in, out, 128, 1u << 30); }
EXPECTED(red_min_u32) { fold<uint32_t>(in, out, 1u << 30, smaller<uint32_t>); }

// case: red_add_u64 in 1024 out 256 exact covers red_add_u64
CASE(red_add_u64) { return reduce<op::add_u64>(stream, in, out, 256, 0xfffffff0u); }
EXPECTED(red_add_u64) {
    fold<uint64_t>(in, out, 0xfffffff0u, [](uint64_t x, uint64_t y) { return x + y; });
}

// case: red_max_s64 in 1024 out 256 exact covers red_max_s64
CASE(red_max_s64) { return reduce<op::max_s64>(stream, in, out, 256, 3); }
EXPECTED(red_max_s64) { fold<int64_t>(in, out, 3, larger<int64_t>); }

// case: red_min_s64 in 1024 out 256 exact covers red_min_s64
CASE(red_min_s64) { return reduce<op::min_s64>(stream, in, out, 256, 3); }
EXPECTED(red_min_s64) { fold<int64_t>(in, out, 3, smaller<int64_t>); }

// case: red_max_u64 in 1024 out 256 exact covers red_max_u64
CASE(red_max_u64) { return reduce<op::max_u64>(stream, in, out, 256, 1u << 30); }
EXPECTED(red_max_u64) { fold<uint64_t>(in, out, 1u << 30, larger<uint64_t>); }

// case: red_min_u64 in 1024 out 256 exact covers red_min_u64
CASE(red_min_u64) { return reduce<op::min_u64>(stream, in, out, 256, 1u << 30); }
EXPECTED(red_min_u64) { fold<uint64_t>(in, out, 1u << 30, smaller<uint64_t>); }

// case: red_add_bf16 in 1024 out 64 exact covers red_add_bf16
CASE(red_add_bf16) { return reduce<op::add_bf16>(stream, in, out, 64, 0); }
EXPECTED(red_add_bf16) { expect_halves(in, out, true); }

// case: red_add_f16 in 1024 out 64 exact covers red_add_f16
CASE(red_add_f16) { return reduce<op::add_f16>(stream, in, out, 64, 0); }
EXPECTED(red_add_f16) { expect_halves(in, out, false); }

// case: compare_and_swap in 1024 out 256 exact covers compare_and_swap_b16, load_relaxed_b16, red_add_u32
CASE(compare_and_swap) { return reduce<op::exchange>(stream, in, out, 256, 0); }
EXPECTED(compare_and_swap) {
    for (int t = 0; t < 128; ++t) out[t] = 4, out[128 + t] = 2;
}

// case: fetch_add in 1024 out 256 exact covers fetch_add_s32, red_add_s32
CASE(fetch_add) { return reduce<op::fetch_add>(stream, in, out, 256, 0); }
EXPECTED(fetch_add) {
    for (int t = 0; t < 128; ++t) out[t] = 4, out[128 + t] = 0 + 1 + 2 + 3;
}

// Subnormals, infinities and NaNs.
// case: red_add_f32_edges in 1 out 256 exact covers red_add_f32
CASE(red_add_f32_edges) { return start<edges_kernel<TK_F32>>(stream, 1, 256, 0, output(out)); }
EXPECTED(red_add_f32_edges) { expect_edges(out, TK_F32); }
// case: red_add_bf16_edges in 1 out 128 exact covers red_add_bf16
CASE(red_add_bf16_edges) { return start<edges_kernel<TK_BF16>>(stream, 1, 256, 0, output(out)); }
EXPECTED(red_add_bf16_edges) { expect_edges(out, TK_BF16); }
// case: red_add_f16_edges in 1 out 128 exact covers red_add_f16
CASE(red_add_f16_edges) { return start<edges_kernel<TK_F16>>(stream, 1, 256, 0, output(out)); }
EXPECTED(red_add_f16_edges) { expect_edges(out, TK_F16); }

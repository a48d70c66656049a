// SPDX-License-Identifier: MIT
// ldmatrix and stmatrix: rows anywhere, four warps. movmatrix: in registers.
#include "test/conformance/case.h"

namespace conformance {
namespace {

/// The row of 16 bytes that lane l of warp w names: a permutation of the warp's 32.
TK_HOST_DEVICE int row_of(int warp, int lane) { return warp * 32 + (lane * 13 + warp * 5) % 32; }

template <bool Transposed>
TK_KERNEL(128)
load_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    for (int e = 0; e < 4; ++e) put_shared(base + uint32_t(t * 4 + e) * 4, get(in, t * 4 + e));
    sm80::block_sync();
    uint32_t r[4];
    const uint32_t address = base + uint32_t(row_of(t / 32, t % 32)) * 16;
    if constexpr (Transposed)
        sm80::load_matrix_x4_transposed(r, address);
    else
        sm80::load_matrix_x4(r, address);
    for (int e = 0; e < 4; ++e) put(out, t * 4 + e, r[e]);
}

template <bool Transposed>
TK_KERNEL(128)
store_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    uint32_t r[4];
    for (int e = 0; e < 4; ++e) r[e] = get(in, t * 4 + e);
    const uint32_t address = base + uint32_t(row_of(t / 32, t % 32)) * 16;
    if constexpr (Transposed)
        sm90::store_matrix_x4_transposed(address, r);
    else
        sm90::store_matrix_x4(address, r);
    sm80::block_sync();
    for (int e = 0; e < 4; ++e) put(out, t * 4 + e, get_shared(base + uint32_t(t * 4 + e) * 4));
}

TK_KERNEL(128)
transpose_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    put(out, t, sm80::transpose_matrix(get(in, t)));
}

/// f(register word, half, memory halfword) for everything that moves.
template <class F>
void for_each_element(bool transposed, F f) {
    for (int warp = 0; warp < 4; ++warp)
        for (int matrix = 0; matrix < 4; ++matrix)
            for (int row = 0; row < 8; ++row)
                for (int col = 0; col < 8; ++col) {
                    const int major = transposed ? col : row, minor = transposed ? row : col;
                    f((warp * 32 + major * 4 + minor / 2) * 4 + matrix, minor % 2,
                      row_of(warp, matrix * 8 + row) * 8 + col);
                }
}

void expect_load(const uint32_t* in, uint32_t* out, bool transposed) {
    for (int n = 0; n < 512; ++n) out[n] = 0;
    for_each_element(transposed, [&](int word, int half, int memory) {
        out[word] |= (in[memory / 2] >> 16 * (memory % 2) & 0xffffu) << 16 * half;
    });
}
void expect_store(const uint32_t* in, uint32_t* out, bool transposed) {
    for (int n = 0; n < 512; ++n) out[n] = 0;
    for_each_element(transposed, [&](int word, int half, int memory) {
        out[memory / 2] |= (in[word] >> 16 * half & 0xffffu) << 16 * (memory % 2);
    });
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: load_matrix in 512 out 512 exact covers load_matrix_x4
CASE(load_matrix) { return start<load_kernel<false>>(stream, 1, 128, 2048, input(in), output(out)); }
EXPECTED(load_matrix) { expect_load(in, out, false); }

// case: load_matrix_transposed in 512 out 512 exact covers load_matrix_x4_transposed
CASE(load_matrix_transposed) { return start<load_kernel<true>>(stream, 1, 128, 2048, input(in), output(out)); }
EXPECTED(load_matrix_transposed) { expect_load(in, out, true); }

// case: transpose_matrix in 128 out 128 exact covers transpose_matrix
CASE(transpose_matrix) { return start<transpose_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(transpose_matrix) {
    for (int n = 0; n < 128; ++n) out[n] = 0;
    for (int n = 0; n < 256; ++n) {
        const int warp = n / 64, row = n / 8 % 8, col = n % 8, from = warp * 64 + col * 8 + row;
        out[n / 2] |= (in[from / 2] >> 16 * (from % 2) & 0xffffu) << 16 * (n % 2);
    }
}

// case: store_matrix in 512 out 512 exact covers store_matrix_x4
CASE(store_matrix) { return start<store_kernel<false>>(stream, 1, 128, 2048, input(in), output(out)); }
EXPECTED(store_matrix) { expect_store(in, out, false); }

// case: store_matrix_transposed in 512 out 512 exact covers store_matrix_x4_transposed
CASE(store_matrix_transposed) { return start<store_kernel<true>>(stream, 1, 128, 2048, input(in), output(out)); }
EXPECTED(store_matrix_transposed) { expect_store(in, out, true); }

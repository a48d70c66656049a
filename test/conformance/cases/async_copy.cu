// SPDX-License-Identifier: MIT
// cp.async: pieces of 4, 8 and 16 bytes with every number of bytes that exist, and groups waited for one by one.
#include "test/conformance/case.h"

namespace conformance {
namespace {

// Each lane has this many bytes of shared memory; its pieces lie 16 bytes apart.
constexpr uint32_t kArea = 64;
constexpr uint32_t kMark = 0xa5a5a5a5u;

/// Lane t copies piece (7 t) % 32 of the input, of which t % (Bytes + 1) bytes exist, to its area; what lies behind stays.
template <int Bytes>
TK_KERNEL(32)
pieces_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t here = shared_base() + uint32_t(t) * kArea;
    for (uint32_t word = 0; word < kArea; word += 4) put_shared(here + word, kMark);
    sm80::copy_async<Bytes>(here + 16, in + t * 7 % 32 * (Bytes / 4), uint32_t(t % (Bytes + 1)));
    sm80::copy_async_commit();
    sm80::copy_async_wait<0>();
    for (uint32_t word = 0; word < kArea; word += 4) put(out, t * int(kArea / 4) + int(word / 4), get_shared(here + word));
}

void expect_pieces(const uint32_t* in, uint32_t* out, int bytes) {
    for (int t = 0; t < 32; ++t) {
        unsigned char area[kArea];
        for (unsigned char& byte : area) byte = 0xa5;
        const auto* from = reinterpret_cast<const unsigned char*>(in) + t * 7 % 32 * bytes;
        for (int b = 0; b < bytes; ++b) area[16 + b] = b < t % (bytes + 1) ? from[b] : 0;
        __builtin_memcpy(out + t * int(kArea / 4), area, kArea);
    }
}

/// The same of 16 bytes that exist or do not; those that do not come from an address that nothing is read at.
TK_KERNEL(32) zeros_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t here = shared_base() + uint32_t(t) * kArea;
    for (uint32_t word = 0; word < kArea; word += 4) put_shared(here + word, kMark);
    const bool exists = t % 3 != 0;
    sm80::copy_async_or_zeros(here + 16, exists ? in + t * 7 % 32 * 4 : nullptr, exists);
    sm80::copy_async_commit();
    sm80::copy_async_wait<0>();
    for (uint32_t word = 0; word < kArea; word += 4) put(out, t * int(kArea / 4) + int(word / 4), get_shared(here + word));
}

void expect_zeros(const uint32_t* in, uint32_t* out) {
    for (int t = 0; t < 32; ++t) {
        for (int word = 0; word < int(kArea / 4); ++word) {
            const bool is_copied = word >= 4 && word < 8;
            out[t * int(kArea / 4) + word] = !is_copied ? kMark : t % 3 != 0 ? in[t * 7 % 32 * 4 + word - 4] : 0;
        }
    }
}

/// Groups of one, two and three pieces; the lane reads a group as soon as it has waited for it, others behind a barrier.
TK_KERNEL(128) groups_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    int piece = 0;
    TK_UNROLL
    for (int group = 0; group < 3; ++group) {
        TK_UNROLL
        for (int n = 0; n <= group; ++n, ++piece) sm80::copy_async<16>(base + uint32_t(piece * 128 + t) * 16, in + (piece * 128 + t) * 4, 16);
        sm80::copy_async_commit();
    }
    sm80::copy_async_wait<2>();
    put(out, t, get_shared(base + uint32_t(t) * 16));
    sm80::copy_async_wait<1>();
    put(out, 128 + t, get_shared(base + uint32_t(2 * 128 + t) * 16 + 4));
    sm80::copy_async_wait<0>();
    put(out, 256 + t, get_shared(base + uint32_t(5 * 128 + t) * 16 + 8));
    sm80::block_sync();
    for (int p = 0; p < 6; ++p) put(out, 384 + p * 128 + t, get_shared(base + uint32_t(p * 128 + (t ^ 77)) * 16 + 12));
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: copy_async_4 in 32 out 512 exact covers copy_async, copy_async_commit, copy_async_wait
CASE(copy_async_4) { return start<pieces_kernel<4>>(stream, 1, 32, 2048, input(in), output(out)); }
EXPECTED(copy_async_4) { expect_pieces(in, out, 4); }

// case: copy_async_8 in 64 out 512 exact covers copy_async
CASE(copy_async_8) { return start<pieces_kernel<8>>(stream, 1, 32, 2048, input(in), output(out)); }
EXPECTED(copy_async_8) { expect_pieces(in, out, 8); }

// case: copy_async_16 in 128 out 512 exact covers copy_async
CASE(copy_async_16) { return start<pieces_kernel<16>>(stream, 1, 32, 2048, input(in), output(out)); }
EXPECTED(copy_async_16) { expect_pieces(in, out, 16); }

// case: copy_async_or_zeros in 128 out 512 exact covers copy_async_or_zeros
CASE(copy_async_or_zeros) { return start<zeros_kernel>(stream, 1, 32, 2048, input(in), output(out)); }
EXPECTED(copy_async_or_zeros) { expect_zeros(in, out); }

// case: copy_async_groups in 3072 out 1152 exact covers copy_async, copy_async_commit, copy_async_wait
CASE(copy_async_groups) { return start<groups_kernel>(stream, 1, 128, 12288, input(in), output(out)); }
EXPECTED(copy_async_groups) {
    for (int t = 0; t < 128; ++t) {
        out[t] = in[t * 4];
        out[128 + t] = in[(2 * 128 + t) * 4 + 1];
        out[256 + t] = in[(5 * 128 + t) * 4 + 2];
        for (int p = 0; p < 6; ++p) out[384 + p * 128 + t] = in[(p * 128 + (t ^ 77)) * 4 + 3];
    }
}

// SPDX-License-Identifier: MIT
// CDNA: global memory, buffers with their range, copies into shared memory, shared memory itself.
#define CASES_FOR "tk/gfx942.h"
#include "test/conformance/case.h"

#include "tk/hip/gfx9/buffer.h"

namespace conformance {
namespace {

struct alignas(16) sixteen {
    uint32_t word[4];
};

TK_KERNEL(64) global_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const sixteen wide = gfx9::load_global(reinterpret_cast<const sixteen*>(in) + t);
    gfx9::store_global(reinterpret_cast<sixteen*>(out) + t, sixteen{wide.word[3], wide.word[2], wide.word[1], wide.word[0]});
    const uint16_t half = gfx9::load_global(reinterpret_cast<const uint16_t*>(in) + 2 * t + 1);
    gfx9::store_global(reinterpret_cast<uint16_t*>(out + 256) + 2 * t, half);
    gfx9::store_global(reinterpret_cast<uint16_t*>(out + 256) + 2 * t + 1, uint16_t(~half));
    const uint32_t word = gfx9::load_uniform(in + 7), narrow = gfx9::load_uniform(reinterpret_cast<const uint16_t*>(in) + 7);
    if (t < 2) put(out, 320 + t, t == 0 ? word : narrow);
}

/// The buffer ends behind 150 words: in the middle of a lane's 16 bytes.
TK_KERNEL(64) buffer_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const gfx9::buffer from = gfx9::make_buffer(in, 600);
    put(out, t, gfx9::load_buffer_b32(from, uint32_t(4 * t + 400)));
    const gfx9::words2 two = gfx9::load_buffer_b64(from, uint32_t(8 * t + 200));
    for (int i = 0; i < 2; ++i) put(out, 64 + 2 * t + i, two[i]);
    const gfx9::words4 four = gfx9::load_buffer_b128(from, uint32_t(16 * t));
    for (int i = 0; i < 4; ++i) put(out, 192 + 4 * t + i, four[i]);
}

/// Two waves copy 64 words each, past the buffer's end, and each writes what the other has copied.
TK_KERNEL(128) copy_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const uint32_t base = gfx9::shared_address(gfx9::dynamic_shared_memory());
    const gfx9::buffer from = gfx9::make_buffer(in, 4 * 200);
    gfx9::copy_buffer_to_shared_b32(base + uint32_t(t / 64 * 256), from, uint32_t(4 * (t * 5 % 128)), 4 * 100);
    gfx9::wait_vector_memory<0>();
    gfx9::barrier();
    put(out, t, gfx9::load_shared<uint32_t>(base + uint32_t(4 * (127 - t))));
}

struct variables {
    uint32_t word[64];
    sixteen wide[64];
};

TK_KERNEL(64) shared_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    variables& v = *static_cast<variables*>(gfx9::dynamic_shared_memory());
    gfx9::store_shared_variable(v.word[63 - t], get(in, t));
    gfx9::store_shared(gfx9::shared_address(&v.wide[(t + 1) % 64]), sixteen{get(in, t), get(in, t) + 1, get(in, t) + 2, get(in, t) + 3});
    gfx9::wait_shared_memory<0>();
    gfx9::barrier();
    put(out, t, gfx9::load_shared_variable(v.word[t]));
    const sixteen wide = gfx9::load_shared<sixteen>(gfx9::shared_address(&v.wide[t]));
    for (int i = 0; i < 4; ++i) put(out, 64 + 4 * t + i, wide.word[i]);
}

}  // namespace

// case: global in 256 out 322 exact covers load_global, load_uniform, store_global
CASE(global) { return start<global_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(global) {
    for (int t = 0; t < 64; ++t) {
        for (int i = 0; i < 4; ++i) out[4 * t + i] = in[4 * t + 3 - i];
        const uint32_t half = in[t] >> 16;
        out[256 + t] = half | (~half & 0xffff) << 16;
    }
    out[320] = in[7];
    out[321] = in[3] >> 16;
}

// case: buffers in 256 out 448 exact covers make_buffer, load_buffer_b32, load_buffer_b64, load_buffer_b128
CASE(buffers) { return start<buffer_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(buffers) {
    for (int i = 0; i < 448; ++i) {
        const int from = i < 64 ? i + 100 : i < 192 ? i - 64 + 50 : i - 192;
        out[i] = from < 150 ? in[from] : 0;
    }
}

// case: copy_b32 in 256 out 128 exact covers copy_buffer_to_shared_b32, wait_vector_memory, barrier
CASE(copy_b32) { return start<copy_kernel>(stream, 1, 128, 1024, input(in), output(out)); }
EXPECTED(copy_b32) {
    for (int t = 0; t < 128; ++t) {
        const int from = (127 - t) * 5 % 128 + 100;
        out[t] = from < 200 ? in[from] : 0;
    }
}

// case: shared in 64 out 320 exact covers dynamic_shared_memory, shared_address, load_shared, store_shared, load_shared_variable, store_shared_variable, wait_shared_memory
CASE(shared) { return start<shared_kernel>(stream, 1, 64, sizeof(variables), input(in), output(out)); }
EXPECTED(shared) {
    for (uint32_t t = 0; t < 64; ++t) {
        out[t] = in[63 - t];
        for (uint32_t i = 0; i < 4; ++i) out[64 + 4 * t + i] = in[(t + 63) % 64] + i;
    }
}

}  // namespace conformance

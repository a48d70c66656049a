// SPDX-License-Identifier: MIT
// What conformance cases share. A case is an entry that launches small kernels on the instruction wrappers, and host
// code that says what must come out. The same file is compiled by nvcc for the GPU and with -DTK_SIM for tkc-sim.
//
// A line `// case: NAME in 256 out 128 exact covers wrapper, wrapper` declares it: words of input and output, how
// outputs are compared (exact; `within R`: relative error against the expectation, NaN equals NaN; print: shown, never
// failed), and the wrappers it tests. Inputs are random words, the same for everyone; outputs start as 0xffffffff.
#pragma once

// Files for AMD say so first: #define CASES_FOR "tk/gfx950.h".
#ifndef CASES_FOR
#define CASES_FOR "tk/sm90.h"
#endif
#include CASES_FOR

#include "tk/host/driver.h"

namespace conformance {

using namespace tk;

// Global and shared memory, word by word.
TK_DEVICE uint32_t get(const uint32_t* in, int i) { return arch::load_global(in + i); }
TK_DEVICE void put(uint32_t* out, int i, uint32_t value) { arch::store_global(out + i, value); }
TK_DEVICE uint32_t get_shared(uint32_t address) { return arch::load_shared<uint32_t>(address); }
TK_DEVICE void put_shared(uint32_t address, uint32_t value) { arch::store_shared(address, value); }

/// Start of the block's shared memory, as an address.
TK_DEVICE uint32_t shared_base() { return arch::shared_address(arch::dynamic_shared_memory()); }

TK_HOST_DEVICE float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
TK_HOST_DEVICE uint32_t as_bits(float x) { return __builtin_bit_cast(uint32_t, x); }

/// A whole number in -8 .. 8 from a random word.
TK_HOST_DEVICE int small(uint32_t word) { return int((word >> 9) % 17) - 8; }
/// The bf16 (f16) of a whole number in -8 .. 8.
TK_HOST_DEVICE uint16_t half_bits(int n, bool bf16) {
    const uint32_t bits = as_bits(float(n));
    if (bf16 || n == 0) return uint16_t(bits >> 16);
    return uint16_t((bits >> 16 & 0x8000u) | ((bits & 0x7fffffffu) - 0x38000000u) >> 13);
}

/// Launches a kernel on the current device, in the clusters that its head says.
template <auto Kernel, int Cluster = 1, class... Argument>
tk_status start(tk::host::stream stream, int blocks, int threads, int shared_bytes, const Argument&... arguments) {
    int device = 0;
    const tk_status status = host::current_device(device);
    if (status.code != TK_OK) return status;
    return host::launch<Kernel, Cluster>(device, {blocks, threads, shared_bytes, stream}, arguments...);
}

inline const uint32_t* input(const tk_tensor* t) { return static_cast<const uint32_t*>(t->data); }
inline uint32_t* output(const tk_tensor* t) { return static_cast<uint32_t*>(t->data); }

#ifndef TK_SIM
using entry = tk_status (*)(const tk_tensor*, const tk_tensor*, void*, size_t, tk::host::stream);
/// The cases of the program that runs on the GPU (run_gpu.cu).
struct registered {
    const char* name;
    entry call;
    registered* next;
    static registered*& first() {
        static registered* list = nullptr;
        return list;
    }
    registered(const char* name_, entry call_) : name(name_), call(call_), next(first()) { first() = this; }
};
#endif

}  // namespace conformance

/// CASE(name) { launches kernels; `in`, `out`, `stream`; returns a status }
#ifdef TK_SIM
#define CASE(NAME)                                                                                                \
    extern "C" size_t NAME##_workspace(const tk_tensor*, const tk_tensor*) { return 0; }                          \
    extern "C" tk_status NAME([[maybe_unused]] const tk_tensor* in, [[maybe_unused]] const tk_tensor* out, void*, \
                              size_t, [[maybe_unused]] tk::host::stream stream)
/// EXPECTED(name) { plain host code: fills `out` from `in`, words }
#define EXPECTED(NAME)                                                                                             \
    static void NAME##_fill([[maybe_unused]] const uint32_t* in, uint32_t* out);                                   \
    extern "C" size_t NAME##_expected_workspace(const tk_tensor*, const tk_tensor*) { return 0; }                  \
    extern "C" tk_status NAME##_expected(const tk_tensor* in, const tk_tensor* out, void*, size_t, tk::host::stream) { \
        NAME##_fill(conformance::input(in), conformance::output(out));                                             \
        return tk::host::ok();                                                                                     \
    }                                                                                                              \
    static void NAME##_fill([[maybe_unused]] const uint32_t* in, uint32_t* out)
#else
#define CASE(NAME)                                                                                                \
    extern "C" tk_status NAME(const tk_tensor* in, const tk_tensor* out, void*, size_t, tk::host::stream stream);     \
    static conformance::registered NAME##_registered(#NAME, NAME);                                                \
    extern "C" tk_status NAME([[maybe_unused]] const tk_tensor* in, [[maybe_unused]] const tk_tensor* out, void*, \
                              size_t, [[maybe_unused]] tk::host::stream stream)
#define EXPECTED(NAME) [[maybe_unused]] static void NAME##_fill([[maybe_unused]] const uint32_t* in, uint32_t* out)
#endif

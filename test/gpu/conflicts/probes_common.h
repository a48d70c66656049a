// SPDX-License-Identifier: MIT
// What the generated probes.cu needs: a list of kernels, and the time that their loops take. The program runs each kernel once with
// one warpgroup (for ncu to count), or, with `time`, with two warpgroups, and prints cycles per repetition.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tk/sm90.h"

#include "tk/host.h"

struct probe;
inline std::vector<probe*>& probes() {
    static std::vector<probe*> all;
    return all;
}

/// A kernel (repeats, memory, cycles), entered by its own constructor.
struct probe {
    const char* name;
    const void* kernel;
    size_t shared_bytes;
    probe(const char* name, const void* kernel, size_t bytes) : name(name), kernel(kernel), shared_bytes(bytes) { probes().push_back(this); }
};

/// The cycles from here to the end of the scope, the longest of all warps.
struct stopwatch {
    long long* cycles;
    long long start;
    __device__ explicit stopwatch(long long* cycles) : cycles(cycles) {
        __syncthreads();
        start = clock64();
    }
    __device__ ~stopwatch() {
        const long long end = clock64();
        if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<unsigned long long*>(cycles), (unsigned long long)(end - start));
    }
};

/// The values decide about a store, so that what brought them is not left out.
template <class Tile>
__device__ void keep(const Tile& values, void* memory) {
    unsigned mixed = 0;
    TK_UNROLL
    for (const auto& x : values.data) {
        if constexpr (sizeof(x) == 4) mixed ^= __builtin_bit_cast(unsigned, x);
        else mixed = mixed * 5 + __builtin_bit_cast(unsigned short, x);
    }
    if (mixed == 0x9e3779b9u) *static_cast<unsigned*>(memory) = mixed;
}

inline void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

/// Cycles of one repetition by `threads` threads of one block.
inline double run_probe(const probe& p, int threads, int repeats, void* memory, long long* cycles) {
    check(cudaFuncSetAttribute(p.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(p.shared_bytes) + 1024), "attribute");
    check(cudaMemset(cycles, 0, sizeof(long long)), "memset");
    void* arguments[] = {&repeats, &memory, &cycles};
    check(cudaLaunchKernel(p.kernel, dim3(1), dim3(unsigned(threads)), arguments, p.shared_bytes, nullptr), p.name);
    check(cudaDeviceSynchronize(), p.name);
    long long found = 0;
    check(cudaMemcpy(&found, cycles, sizeof found, cudaMemcpyDeviceToHost), "copy");
    return double(found) / repeats;
}

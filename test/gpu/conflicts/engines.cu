// SPDX-License-Identifier: MIT
// The accesses whose addresses no lane names: does a layout that permutes 16-byte pieces cost the copy engine or the tensor core
// anything? The same bytes are moved with and without a swizzle (boxes of equal width, so that the engine has equal requests), and the
// same products computed from operands in every layout that a descriptor can name. tkc assumes that all of a group take equal time.
//
//     engines        prints `group name cycles` per line
#include <cstdio>

#include "probes_common.h"

namespace {

constexpr int kRows = 64, kSlots = 8, kRounds = 64;

template <int Inner, tk::swizzle S>
struct copy_shared {
    tk::shared_tile<tk::bf16, kRows, Inner / 2, S> slot[kSlots];
    tk::barrier full;
};

/// kSlots boxes in flight at a time, each of kRows rows of Inner bytes.
template <int Inner, tk::swizzle S, bool Store>
TK_KERNEL(128) copies(TK_TENSOR_MAP map, long long* cycles) {
    auto& shared = tk::block::shared<copy_shared<Inner, S>>();
    if (threadIdx.x == 0) {
        tk::init(shared.full, 1);
        tk::fence_barrier_init();
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    const long long start = clock64();
    for (int round = 0; round < kRounds; ++round) {
        if constexpr (Store) {
            for (int i = 0; i < kSlots; ++i) tk::store_async(map, shared.slot[i], i * kRows, 0);
            tk::commit_stores();
            tk::wait_stores_read<0>();
        } else {
            tk::expect_bytes(shared.full, kSlots * kRows * Inner);
            for (int i = 0; i < kSlots; ++i) tk::load_async(shared.slot[i], map, shared.full, i * kRows, 0);
            tk::wait(shared.full, round & 1);
        }
    }
    *cycles = clock64() - start;
    if constexpr (Store) tk::wait_stores<0>();
}

template <int Inner, tk::swizzle S, bool Store>
void time_copies(void* memory, long long* cycles) {
    tk::tensor_map map;
    tk::host::map_description d{memory, TK_BF16, 2, {Inner / 2, kRows * kSlots}, {Inner}, {Inner / 2, kRows}, S};
    if (const tk_status status = tk::host::encode_map(map, d); status.code != 0) {
        std::printf("# copy_%d: %s\n", Inner, status.message);
        return;
    }
    const int bytes = int(sizeof(copy_shared<Inner, S>));
    check(cudaFuncSetAttribute(copies<Inner, S, Store>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "attribute");
    double best = 1e30;
    for (int n = 0; n < 9; ++n) {
        copies<Inner, S, Store><<<1, 128, bytes>>>(map, cycles);
        check(cudaDeviceSynchronize(), "copies");
        long long found = 0;
        check(cudaMemcpy(&found, cycles, sizeof found, cudaMemcpyDeviceToHost), "copy");
        if (double(found) / kRounds < best) best = double(found) / kRounds;
    }
    std::printf("copy_%s_%d swizzle_%d %.1f\n", Store ? "out" : "in", Inner, int(S), best);
}

/// Products m64nNk16 from K-major operands at given strides, kSteps in a group, by each of two warpgroups.
template <int N>
TK_KERNEL(256) products(int mode, int leading, int stride, long long* cycles) {
    constexpr int kSteps = 32;
    auto* memory = tk::block::shared<unsigned char[65536]>();
    const uint32_t base = tk::sm80::shared_address(memory);
    for (int i = int(threadIdx.x); i < 65536 / 4; i += 256) reinterpret_cast<uint32_t*>(memory)[i] = 0;
    tk::fence_async_proxy();
    __syncthreads();
    const auto descriptor = [&](uint32_t address) {
        return uint64_t((address & 0x3ffff) >> 4 | uint32_t(leading) >> 4 << 16) | uint64_t(uint32_t(stride) >> 4 | uint32_t(mode) << 30) << 32;
    };
    const uint64_t a = descriptor(base + threadIdx.x / 128 * 8192), b = descriptor(base + 16384);
    tk::register_tile<float, 64, N, tk::mma_layout> acc = tk::fill<float, 64, N, tk::mma_layout>(0);
    const long long start = clock64();
    for (int round = 0; round < kRounds; ++round) {
        tk::warpgroup::mma_fence(acc);
        TK_UNROLL
        for (int step = 0; step < kSteps; ++step) tk::sm90::wgmma<N>::template shared<true, 1, 0, 0>(acc.data, a, b, 1);
        tk::warpgroup::mma_commit();
        tk::warpgroup::mma_wait<0>(acc);
    }
    if (threadIdx.x == 0) *cycles = (clock64() - start) / kSteps;
    if (acc.data[0] != 0) cycles[1] = 1;  // zeros: keeps the products
}

template <int N>
void time_products(const char* name, int mode, int leading, int stride, long long* cycles) {
    check(cudaFuncSetAttribute(products<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536), "attribute");
    double best = 1e30;
    for (int n = 0; n < 9; ++n) {
        products<N><<<1, 256, 65536>>>(mode, leading, stride, cycles);
        check(cudaDeviceSynchronize(), "products");
        long long found = 0;
        check(cudaMemcpy(&found, cycles, sizeof found, cudaMemcpyDeviceToHost), "copy");
        if (double(found) / kRounds < best) best = double(found) / kRounds;
    }
    std::printf("product_%d %s %.2f\n", N, name, best);
}

template <int N>
void all_products(long long* cycles) {
    time_products<N>("none_dense", 0, 128, 256, cycles);
    time_products<N>("none_panels", 0, 1024, 128, cycles);
    time_products<N>("swizzle_32", 3, 16, 256, cycles);
    time_products<N>("swizzle_64", 2, 16, 512, cycles);
    time_products<N>("swizzle_128", 1, 16, 1024, cycles);
}

}  // namespace

int main() {
    void* memory = nullptr;
    long long* cycles = nullptr;
    check(cudaMalloc(&memory, 1 << 20), "malloc");
    check(cudaMemset(memory, 0, 1 << 20), "memset");
    check(cudaMalloc(&cycles, 2 * sizeof(long long)), "malloc");
    time_copies<32, tk::swizzle::none, false>(memory, cycles);
    time_copies<32, tk::swizzle::b32, false>(memory, cycles);
    time_copies<64, tk::swizzle::none, false>(memory, cycles);
    time_copies<64, tk::swizzle::b64, false>(memory, cycles);
    time_copies<128, tk::swizzle::none, false>(memory, cycles);
    time_copies<128, tk::swizzle::b128, false>(memory, cycles);
    time_copies<32, tk::swizzle::none, true>(memory, cycles);
    time_copies<32, tk::swizzle::b32, true>(memory, cycles);
    time_copies<64, tk::swizzle::none, true>(memory, cycles);
    time_copies<64, tk::swizzle::b64, true>(memory, cycles);
    time_copies<128, tk::swizzle::none, true>(memory, cycles);
    time_copies<128, tk::swizzle::b128, true>(memory, cycles);
    all_products<64>(cycles);
    all_products<128>(cycles);
    all_products<256>(cycles);
}

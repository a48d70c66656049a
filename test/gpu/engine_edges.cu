// SPDX-License-Identifier: MIT
// How long the copy engine takes for boxes that lie partly outside their tensor, for which it writes zero: a ring of slots in each
// multiprocessor, one thread that starts copies and waits for them, nothing else. The tensor lies in the L2.
//
//   nvcc -std=c++20 --expt-relaxed-constexpr -gencode=arch=compute_90a,code=sm_90a -Iruntime/include test/gpu/engine_edges.cu -o edges && ./edges
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "tk/sm90.h"

namespace {

constexpr int kSlots = 12, kCopies = 4000, kColumns = 4096;

#define CHECK(call)                                                              \
    do {                                                                         \
        if (const auto status = (call); int(status) != 0) {                      \
            std::fprintf(stderr, "%s: %d\n", #call, int(status));                \
            std::exit(1);                                                        \
        }                                                                        \
    } while (0)

template <int Rows>
struct slots_of {
    tk::shared_tile<tk::bf16, Rows, 64, tk::swizzle::b128> slot[kSlots];
    tk::barrier full[kSlots];
};

template <int Rows>
TK_KERNEL(128) copy(TK_TENSOR_MAP map, const int columns) {
    auto& shared = tk::block::shared<slots_of<Rows>>();
    if (tk::thread::index() != 0) return;
    for (int slot = 0; slot < kSlots; ++slot) tk::init(shared.full[slot], 1);
    tk::fence_barrier_init();
    tk::ring<kSlots> here, done;
    for (int i = 0; i < kCopies + kSlots; ++i) {
        if (i >= kSlots) {
            tk::wait(shared.full[done.slot], done.phase);
            done.advance();
        }
        if (i < kCopies) {
            tk::expect_bytes(shared.full[here.slot], Rows * 128);
            tk::load_async(shared.slot[here.slot], map, shared.full[here.slot], 0, i * 64 % columns);
            here.advance();
        }
    }
}

/// ns a copy of Rows x 64 elements takes, of which so many rows and columns exist.
template <int Rows>
void measure(PFN_cuTensorMapEncodeTiled_v12000 encode, void* data, int multiprocessors, int rows, int columns) {
    CUtensorMap map;
    const cuuint64_t extents[2] = {cuuint64_t(columns), cuuint64_t(rows)}, stride[1] = {kColumns * 2};
    const cuuint32_t box[2] = {64, Rows}, steps[2] = {1, 1};
    CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, extents, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    const int bytes = sizeof(slots_of<Rows>);
    CHECK(cudaFuncSetAttribute(copy<Rows>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    float best = 1e9f;
    for (int i = 0; i < 5; ++i) {
        float ms = 0;
        CHECK(cudaEventRecord(begin));
        copy<Rows><<<multiprocessors, 128, bytes>>>(reinterpret_cast<const tk::tensor_map&>(map), columns < 64 ? 64 : columns);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        best = ms < best ? ms : best;
    }
    std::printf("%3d x 64, of which %3d x %2d exist: %4.0f ns\n", Rows, rows < Rows ? rows : Rows, columns < 64 ? columns : 64, best * 1e6f / kCopies);
}

}  // namespace

int main() {
    void *entry = nullptr, *data = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry);
    CHECK(cudaMalloc(&data, 128 * kColumns * 2));
    CHECK(cudaMemset(data, 1, 128 * kColumns * 2));
    int multiprocessors = 0;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    for (const int rows : {128, 104, 64, 44, 1}) measure<128>(encode, data, multiprocessors, rows, kColumns);
    for (const int rows : {64, 40, 24, 16, 1}) measure<64>(encode, data, multiprocessors, rows, kColumns);
    for (const int rows : {16, 1}) measure<16>(encode, data, multiprocessors, rows, kColumns);
    for (const int columns : {64, 56, 48, 40, 32, 16, 8}) measure<64>(encode, data, multiprocessors, 64, columns);
}

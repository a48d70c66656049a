// SPDX-License-Identifier: MIT
// What the GPU test programs share: error checks, device buffers, random bf16 data made on the device, CUDA graphs as the unit
// of timing, and the loading of a generated library's entry. Nothing here knows how a generated kernel works inside.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "entry.h"

#define CUDA_CHECK(call)                                                                              \
  do {                                                                                                \
    const cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(2);                                                                                   \
    }                                                                                                 \
  } while (0)
#define BLAS_CHECK(call)                                                                              \
  do {                                                                                                \
    const cublasStatus_t status_ = (call);                                                            \
    if (status_ != CUBLAS_STATUS_SUCCESS) {                                                           \
      std::fprintf(stderr, "%s:%d: %s: cublas status %d\n", __FILE__, __LINE__, #call, int(status_)); \
      std::exit(2);                                                                                   \
    }                                                                                                 \
  } while (0)

namespace gpu {

using bf16 = __nv_bfloat16;

/// A device allocation that frees itself.
struct DeviceBuffer {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  DeviceBuffer() = default;
  explicit DeviceBuffer(size_t n) : bytes(n) { CUDA_CHECK(cudaMalloc(&data, n ? n : 16)); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&& other) noexcept : data(other.data), bytes(other.bytes) { other.data = nullptr; }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~DeviceBuffer() {
    if (data) cudaFree(data);
  }
  bf16* as_bf16() const { return reinterpret_cast<bf16*>(data); }
};

__host__ __device__ inline uint32_t Hash(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  x ^= x >> 33;
  return uint32_t(x);
}

enum class Fill { kNormal, kInteger };

/// Element i becomes a standard normal value, or an integer of -2..2.
static __global__ void FillRandom(bf16* data, int64_t count, uint64_t seed, Fill fill) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint32_t a = Hash(seed * 0x9e3779b97f4a7c15ull + 2 * uint64_t(i));
    const uint32_t b = Hash(seed * 0x9e3779b97f4a7c15ull + 2 * uint64_t(i) + 1);
    if (fill == Fill::kInteger) {
      data[i] = __float2bfloat16(float(int(a % 5u) - 2));
    } else {
      const float radius = sqrtf(-2.0f * logf((float(a >> 8) + 1.0f) * (1.0f / 16777217.0f)));
      data[i] = __float2bfloat16(radius * cospif(2.0f * float(b >> 8) * (1.0f / 16777216.0f)));
    }
  }
}

inline void Randomise(bf16* data, int64_t count, uint64_t seed, Fill fill = Fill::kNormal) {
  if (count <= 0) return;
  FillRandom<<<int(std::min<int64_t>((count + 255) / 256, 132 * 16)), 256>>>(data, count, seed, fill);
  CUDA_CHECK(cudaGetLastError());
}

/// Launches captured once and replayed as one unit; `issue` records them on the stream it is given.
struct Graph {
  cudaGraphExec_t exec = nullptr;
  Graph(cudaStream_t stream, const std::function<void(cudaStream_t)>& issue) {
    cudaGraph_t graph;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    issue(stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaGraphUpload(exec, stream));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cudaGraphExecDestroy(exec); }
};

/// Milliseconds of each graph launch of `order`, issued back to back.
inline std::vector<float> TimeGraphs(cudaStream_t stream, const std::vector<const Graph*>& order) {
  std::vector<cudaEvent_t> marks(order.size() + 1);
  for (auto& mark : marks) CUDA_CHECK(cudaEventCreate(&mark));
  CUDA_CHECK(cudaEventRecord(marks[0], stream));
  for (size_t i = 0; i < order.size(); ++i) {
    CUDA_CHECK(cudaGraphLaunch(order[i]->exec, stream));
    CUDA_CHECK(cudaEventRecord(marks[i + 1], stream));
  }
  CUDA_CHECK(cudaEventSynchronize(marks.back()));
  std::vector<float> times(order.size());
  for (size_t i = 0; i < order.size(); ++i) CUDA_CHECK(cudaEventElapsedTime(&times[i], marks[i], marks[i + 1]));
  for (auto& mark : marks) cudaEventDestroy(mark);
  return times;
}

inline double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const size_t n = v.size();
  return n == 0 ? 0.0 : n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/// The block sizes and slots of a schedule set.
struct Blocks {
  int64_t m = 0, n = 0, k = 0, slots = 0;
};

/// A GEMM entry named on the command line as label:library:symbol:LAYOUT, LAYOUT one of NN NT TN TT (as stored, row-major); after
/// another colon the block sizes of its one schedule set, BMxBNxBKxSLOTS, if known.
struct EntrySpec {
  std::string label, library, symbol;
  bool trans_a = false, trans_b = false;
  GemmEntry function = nullptr;
  GemmWorkspace workspace = nullptr;  // null for libraries written by hand without the query
  Blocks blocks = {};
};

inline EntrySpec LoadEntry(const std::string& text) {
  std::vector<std::string> part(1);
  for (char c : text) {
    if (c == ':')
      part.emplace_back();
    else
      part.back() += c;
  }
  Blocks blocks;
  const bool sized = part.size() == 5 && std::sscanf(part[4].c_str(), "%" SCNd64 "x%" SCNd64 "x%" SCNd64 "x%" SCNd64, &blocks.m,
                                                     &blocks.n, &blocks.k, &blocks.slots) == 4;
  if ((part.size() != 4 && !sized) || part[3].size() != 2) {
    std::fprintf(stderr, "entry `%s`: expected label:library:symbol:NN|NT|TN|TT[:BMxBNxBKxSLOTS]\n", text.c_str());
    std::exit(2);
  }
  EntrySpec spec{part[0], part[1], part[2], part[3][0] == 'T', part[3][1] == 'T'};
  void* library = dlopen(spec.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  spec.function = reinterpret_cast<GemmEntry>(dlsym(library, spec.symbol.c_str()));
  if (!spec.function) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  spec.blocks = blocks;
  spec.workspace = reinterpret_cast<GemmWorkspace>(dlsym(library, (spec.symbol + "_workspace").c_str()));
  return spec;
}

/// A row-major matrix of the generated ABI.
inline tk_tensor Matrix(const void* data, int64_t rows, int64_t cols, int64_t row_stride) {
  return MakeTensor(const_cast<void*>(data), {rows, cols}, {row_stride, 1});
}

}  // namespace gpu

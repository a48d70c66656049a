// SPDX-License-Identifier: MIT
// The promises of lang-spec/abi.md that need a GPU. Built from this file and the code generated from every_scalar.tk:
//
//   tkc every_scalar.tk -o every_scalar.cu
//   nvcc -std=c++20 --expt-relaxed-constexpr -gencode=arch=compute_90a,code=sm_90a -Iruntime/include -I. abi_check.cu every_scalar.cu
//
// Exit status 0: all hold; 1: one does not, and is named; 77: no GPU.
// spec: ab-3, ab-4, ab-5, ab-6, ab-7, ab-8, ab-9, ab-10, ab-11, ta-9, ty-11
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "every_scalar.h"

namespace {

int failures = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

tk_tensor Matrix(void* data, tk_dtype dtype, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride = 1) {
  tk_tensor t = {};
  t.data = data;
  t.dtype = dtype;
  t.rank = 2;
  t.extent[0] = rows;
  t.extent[1] = cols;
  t.stride[0] = row_stride;
  t.stride[1] = col_stride;
  return t;
}

template <typename T>
struct Buffer {
  T* data = nullptr;
  size_t count;
  explicit Buffer(size_t n) : count(n) {
    cudaMalloc(&data, n * sizeof(T) + 256);
    cudaMemset(data, 0, n * sizeof(T) + 256);
  }
  ~Buffer() { cudaFree(data); }
  void Set(const std::vector<T>& values) { cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice); }
  std::vector<T> Get() const {
    std::vector<T> values(count);
    cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
};

tk_status Call(const tk_tensor* x, const tk_tensor* y, cudaStream_t stream = nullptr) {
  return every_scalar(x, 0.5f, -1, 2u, -3, 4u, true, y, nullptr, 0, stream);
}

void Statuses() {
  Buffer<float> x(64 * 32), y(64 * 32);
  x.Set(std::vector<float>(64 * 32, 1.0f));
  const tk_tensor X = Matrix(x.data, TK_F32, 64, 32, 32), Y = Matrix(y.data, TK_F32, 64, 32, 32);
  const tk_status fine = Call(&X, &Y);
  Expect(fine.code == TK_OK && fine.message, "ab-4: a good call gives TK_OK and a message that is not null");
  Expect(cudaDeviceSynchronize() == cudaSuccess, "ab-5: the launch succeeds");
  Expect(y.Get()[7] == 3.5f, "ab-2: scalars arrive as given");
  cudaMemset(y.data, 0, y.count * sizeof(float));

  const auto refused = [&](const tk_tensor* a, const tk_tensor* b, int code, const char* word, const char* what) {
    const tk_status status = Call(a, b);
    const bool named = status.message && std::strstr(status.message, word);
    if (status.code != code || !named) std::printf("  code %d, message: %s\n", status.code, status.message ? status.message : "(null)");
    Expect(status.code == code && named, what);
  };
  refused(nullptr, &Y, TK_ARGUMENT, "`X`", "ab-6: a null tensor");
  tk_tensor t = X;
  t.data = nullptr;
  refused(&t, &Y, TK_ARGUMENT, "`X`", "ab-6: null data");
  t = X;
  t.dtype = TK_BF16;
  refused(&t, &Y, TK_ARGUMENT, "`X`", "ab-6: another element type");
  t = X;
  t.rank = 3;
  refused(&t, &Y, TK_ARGUMENT, "`X`", "ab-6: another rank");
  t = X;
  t.data = reinterpret_cast<char*>(x.data) + 2;
  refused(&t, &Y, TK_ARGUMENT, "`X`", "ab-3: an address that is not aligned to the elements");
  t = Y;
  t.extent[1] = 31;
  refused(&X, &t, TK_SHAPE, "`Y`", "ab-6: extents that disagree");
  t = X;
  t.extent[0] = -2;
  refused(&t, &Y, TK_SHAPE, "`X`", "ab-6: a negative extent");
  t = X;
  t.extent[0] = (int64_t(1) << 31) - 65535;
  refused(&t, &Y, TK_SHAPE, "`X`", "ab-6: an extent above the limit");
  tk_tensor odd_x = X, odd_y = Y;
  odd_x.extent[0] = odd_y.extent[0] = 63;
  refused(&odd_x, &odd_y, TK_REQUIREMENT, "M % 2 == 0", "ab-6: a requirement, quoted");
  refused(&X, &X, TK_OVERLAP, "`Y`", "ab-10: an output on top of an input");
  t = Y;
  t.stride[0] = 0;
  refused(&X, &t, TK_OVERLAP, "`Y`", "ab-3: an output whose elements share a place");
  cudaDeviceSynchronize();
  for (float value : y.Get()) {
    if (value == 0.0f) continue;
    Expect(false, "ab-5: a refused call writes nothing");
    break;
  }
}

void StridesAndAlignment() {
  const int rows = 66, cols = 35;
  Buffer<float> x(rows * 80), y(rows * 80);
  std::vector<float> values(rows * 80);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % 1000);
  x.Set(values);
  // Transposed and offset input, reversed input, broadcast input.
  const int64_t strides[][3] = {{80, 1, 3}, {1, rows, 0}, {-80, 1, 80 * (rows - 1)}, {0, 1, 5}, {80, 2, 1}};
  for (const auto& s : strides) {
    const tk_tensor X = Matrix(x.data + s[2], TK_F32, rows, cols, s[0], s[1]);
    const tk_tensor Y = Matrix(y.data + 1, TK_F32, rows, cols, 41);
    Expect(Call(&X, &Y).code == TK_OK, "ab-3: any strides of an input");
    cudaDeviceSynchronize();
    const std::vector<float> out = y.Get();
    bool right = true;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) right = right && out[1 + r * 41 + c] == values[s[2] + r * s[0] + c * s[1]] + 2.5f;
    }
    Expect(right, "ty-11: the result does not depend on strides");
  }
  // A product whose operands the copy engine can't take as they lie.
  const int m = 70, n = 66, k = 65;
  for (int offset = 0; offset < 2; ++offset) {
    Buffer<__nv_bfloat16> a(m * k + 8), b(k * n + 8);
    Buffer<float> c(m * n);
    std::vector<__nv_bfloat16> ha(a.count), hb(b.count);
    for (size_t i = 0; i < ha.size(); ++i) ha[i] = __float2bfloat16(float(int(i % 7) - 3));
    for (size_t i = 0; i < hb.size(); ++i) hb[i] = __float2bfloat16(float(int(i % 5) - 2));
    a.Set(ha);
    b.Set(hb);
    const tk_tensor A = Matrix(a.data + offset, TK_BF16, m, k, k), B = Matrix(b.data + offset, TK_BF16, k, n, n), C = Matrix(c.data, TK_F32, m, n, n);
    const size_t bytes = product_workspace(&A, &B, &C);
    if (bytes > 0) {
      Buffer<char> small(bytes);
      const tk_status short_of = product(&A, &B, &C, small.data, bytes - 1, nullptr);
      Expect(short_of.code == TK_WORKSPACE && std::strstr(short_of.message, std::to_string(bytes).c_str()), "ab-9: too little workspace, with the number");
      Expect(product(&A, &B, &C, nullptr, bytes, nullptr).code == TK_WORKSPACE, "ab-9: no workspace");
      Expect(product(&A, &B, &C, small.data + 1, bytes, nullptr).code == TK_WORKSPACE, "ab-9: workspace that is not aligned");
    }
    Buffer<char> workspace(bytes + 256);
    cudaMemset(workspace.data, 0xff, bytes + 256);
    Expect(product(&A, &B, &C, workspace.data, bytes, nullptr).code == TK_OK, "ta-9: operands that are not aligned");
    Expect(cudaDeviceSynchronize() == cudaSuccess, "ta-9: the launch succeeds");
    const std::vector<float> out = c.Get();
    bool right = true;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l) sum += __bfloat162float(ha[offset + i * k + l]) * __bfloat162float(hb[offset + l * n + j]);
        right = right && out[i * n + j] == sum;
      }
    }
    Expect(right, "ta-9: the result is the same on every path");
    std::vector<char> guard(256);
    cudaMemcpy(guard.data(), workspace.data + bytes, 256, cudaMemcpyDeviceToHost);
    for (char byte : guard) {
      if (byte == char(0xff)) continue;
      Expect(false, "ab-9: nothing behind the workspace is written");
      break;
    }
  }
}

void Streams() {
  Buffer<float> x(64 * 32), y(64 * 32);
  x.Set(std::vector<float>(64 * 32, 1.0f));
  const tk_tensor X = Matrix(x.data, TK_F32, 64, 32, 32), Y = Matrix(y.data, TK_F32, 64, 32, 32);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  size_t before = 0, after = 0, total = 0;
  cudaMemGetInfo(&before, &total);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  Expect(Call(&X, &Y, stream).code == TK_OK, "ab-7: a call during capture");
  cudaGraph_t graph = nullptr;
  Expect(cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph, "ab-7: the capture is whole");
  Expect(y.Get()[0] == 0.0f, "ab-7: a captured call runs nothing");
  cudaGraphExec_t exec = nullptr;
  if (graph && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess) {
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    Expect(y.Get()[0] == 3.5f, "ab-7: the graph computes");
    cudaGraphExecDestroy(exec);
  } else {
    Expect(false, "ab-7: the graph can be instantiated");
  }
  if (graph) cudaGraphDestroy(graph);
  for (int i = 0; i < 100; ++i) Call(&X, &Y, stream);
  cudaStreamSynchronize(stream);
  cudaMemGetInfo(&after, &total);
  Expect(before <= after + (8u << 20), "ab-11: calls allocate no device memory");
  cudaStreamDestroy(stream);

  std::vector<std::thread> threads;
  std::vector<int> bad(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Buffer<float> mine(64 * 32);
      const tk_tensor Z = Matrix(mine.data, TK_F32, 64, 32, 32);
      for (int i = 0; i < 50; ++i) {
        if (Call(&X, &Z).code != TK_OK) ++bad[t];
        const tk_status wrong = Call(nullptr, &Z);
        if (wrong.code != TK_ARGUMENT || !std::strstr(wrong.message, "`X`")) ++bad[t];
      }
      cudaDeviceSynchronize();
      if (mine.Get()[5] != 3.5f) ++bad[t];
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int count : bad) Expect(count == 0, "ab-8: calls from several threads, each with its own message");

  tk_tensor empty_x = Matrix(nullptr, TK_F32, 0, 32, 32), empty_y = empty_x;
  Expect(Call(&empty_x, &empty_y).code == TK_OK, "ab-3: tensors without elements");
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: the checks of the interface (no GPU)");
    return 77;
  }
  Statuses();
  StridesAndAlignment();
  Streams();
  if (failures == 0) std::puts("the interface keeps its promises");
  return failures == 0 ? 0 : 1;
}

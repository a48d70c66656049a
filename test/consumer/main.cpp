// SPDX-License-Identifier: MIT
// Calls the kernel of scale.tk as an outside program does. Exit status 77: no GPU to run on.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "scale.h"

static_assert(__cplusplus < 202002L, "a kernel raises the standard of what calls it");

namespace {

tk_tensor Matrix(float* data, int64_t rows, int64_t cols) {
  tk_tensor tensor = {};
  tensor.data = data;
  tensor.dtype = TK_F32;
  tensor.rank = 2;
  tensor.extent[0] = rows;
  tensor.extent[1] = cols;
  tensor.stride[0] = cols;
  tensor.stride[1] = 1;
  return tensor;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: running the consumer (no GPU)");
    return 77;
  }
  const int64_t rows = 100, cols = 37;
  std::vector<float> x(rows * cols);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  float *in = nullptr, *out = nullptr;
  const size_t bytes = x.size() * sizeof(float);
  if (cudaMalloc(&in, bytes) != cudaSuccess || cudaMalloc(&out, bytes) != cudaSuccess) return 1;
  if (cudaMemcpy(in, x.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) return 1;

  const tk_tensor X = Matrix(in, rows, cols), Y = Matrix(out, rows, cols);
  const size_t workspace_bytes = scale_workspace(&X, &Y, 3.0f);
  void* workspace = nullptr;
  if (workspace_bytes > 0 && cudaMalloc(&workspace, workspace_bytes) != cudaSuccess) return 1;
  const tk_status status = scale(&X, &Y, 3.0f, workspace, workspace_bytes, nullptr);
  if (status.code != TK_OK) {
    std::printf("scale: %s\n", status.message);
    return 1;
  }
  std::vector<float> y(x.size());
  if (cudaMemcpy(y.data(), out, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (y[i] != 3.0f * x[i]) {
      std::printf("element %zu is %g instead of %g\n", i, y[i], 3.0f * x[i]);
      return 1;
    }
  }

  // A wrong shape is a status that names the parameter, not a crash.
  tk_tensor wrong = Y;
  wrong.extent[1] = cols - 1;
  const tk_status refused = scale(&X, &wrong, 3.0f, workspace, workspace_bytes, nullptr);
  if (refused.code != TK_SHAPE) {
    std::printf("a wrong shape gave code %d: %s\n", refused.code, refused.message);
    return 1;
  }
  std::puts("the consumer's kernel gives the right result");
  return 0;
}

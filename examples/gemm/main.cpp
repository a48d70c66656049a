// SPDX-License-Identifier: MIT
// How a program calls a generated entry: describe the tensors, ask for workspace, launch, look at the status.
//
//   gemm_example M N K A.bin B.bin C.bin      row-major bf16 files; C.bin is written
//
// Exit status 0: done; 1: something is wrong, and said; 77: there is no GPU to run on.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "gemm.h"

namespace {

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

std::vector<uint16_t> ReadFile(const char* path, size_t count) {
  std::vector<uint16_t> data(count);
  std::ifstream file(path, std::ios::binary);
  if (count > 0 && !file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(count * 2))) {
    std::fprintf(stderr, "%s: expected %zu bytes\n", path, count * 2);
    std::exit(1);
  }
  return data;
}

uint16_t* ToDevice(const std::vector<uint16_t>& data) {
  void* pointer = nullptr;
  Check(cudaMalloc(&pointer, data.size() * 2 + 16), "cudaMalloc");
  Check(cudaMemcpy(pointer, data.data(), data.size() * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
  return static_cast<uint16_t*>(pointer);
}

/// A row-major matrix. Any other strides would do as well.
tk_tensor Matrix(uint16_t* data, int64_t rows, int64_t cols) {
  tk_tensor tensor = {};
  tensor.data = data;
  tensor.dtype = TK_BF16;
  tensor.rank = 2;
  tensor.extent[0] = rows;
  tensor.extent[1] = cols;
  tensor.stride[0] = cols;
  tensor.stride[1] = 1;
  return tensor;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "gemm_example M N K A.bin B.bin C.bin\n");
    return 1;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;

  const int64_t m = std::atoll(argv[1]), n = std::atoll(argv[2]), k = std::atoll(argv[3]);
  std::vector<uint16_t> result(static_cast<size_t>(m * n));
  const tk_tensor a = Matrix(ToDevice(ReadFile(argv[4], static_cast<size_t>(m * k))), m, k);
  const tk_tensor b = Matrix(ToDevice(ReadFile(argv[5], static_cast<size_t>(k * n))), k, n);
  const tk_tensor c = Matrix(ToDevice(result), m, n);

  const size_t workspace_bytes = gemm_workspace(&a, &b, &c);
  void* workspace = nullptr;
  if (workspace_bytes > 0) Check(cudaMalloc(&workspace, workspace_bytes), "cudaMalloc");

  const tk_status status = gemm(&a, &b, &c, workspace, workspace_bytes, nullptr);
  if (status.code != TK_OK) {
    std::fprintf(stderr, "gemm: %s\n", status.message);
    return 1;
  }
  Check(cudaDeviceSynchronize(), "gemm");

  Check(cudaMemcpy(result.data(), c.data, result.size() * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::ofstream file(argv[6], std::ios::binary);
  file.write(reinterpret_cast<const char*>(result.data()), static_cast<std::streamsize>(result.size() * 2));
  return file ? 0 : 1;
}

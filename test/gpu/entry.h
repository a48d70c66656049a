// SPDX-License-Identifier: MIT
// The one place where the GPU tests meet the generated C ABI: how a tensor is described and how an entry is called.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <initializer_list>

#include "tk/host/abi.h"

namespace gpu {

/// An entry with three tensors, as tkc prints it for `kernel gemm(A, B, C: out)`.
using GemmEntry = tk_status (*)(const tk_tensor*, const tk_tensor*, const tk_tensor*, void*, size_t, cudaStream_t);
using GemmWorkspace = size_t (*)(const tk_tensor*, const tk_tensor*, const tk_tensor*);

inline tk_tensor MakeTensor(void* data, std::initializer_list<int64_t> extent, std::initializer_list<int64_t> stride) {
  tk_tensor t{};
  t.data = data;
  t.dtype = TK_BF16;
  t.rank = int(extent.size());
  int i = 0;
  for (int64_t e : extent) t.extent[i++] = e;
  i = 0;
  for (int64_t s : stride) t.stride[i++] = s;
  return t;
}

}  // namespace gpu

// SPDX-License-Identifier: MIT
// What a test sees and sets of the CUDA runtime in fake_cuda.cpp, which launches nothing and keeps account of what it is asked.
#pragma once

#include <cuda_runtime.h>

namespace fake {

constexpr int devices = 4;

struct state {
  int device = 0;                 // the current one
  int context = 0;                // of the current device: another one has none of the attributes that were set
  int capability[devices] = {90, 90, 80, 90};
  int launches = 0;               // that were accepted
  int limits_raised = 0;
  int encoded = 0;                // tensor maps
  cudaError_t refuse = cudaSuccess;  // what the next launch says instead
  bool without_driver = false;    // no entry of the driver is found
};
state& the();

}  // namespace fake

// SPDX-License-Identifier: MIT
// Compiled for sm_80 and its successors, where ptxas must spill nothing. test/sim/multistage_test.cpp runs the same kernels.
#include "test/runtime/multistage_gemm.h"

namespace multistage {
template __global__ void gemm<tk::bf16, 2, false>(const arguments<tk::bf16>);
template __global__ void gemm<tk::f16, 1, true>(const arguments<tk::f16>);
}  // namespace multistage

// SPDX-License-Identifier: MIT
// Compiled for sm_80 and its successors, where ptxas must spill nothing. test/sim/multistage_test.cpp runs the same kernels.
#include "test/runtime/multistage_gemm.h"

namespace multistage {
// Named, so that they are compiled.
extern void (*const with_two_workers)(arguments<tk::bf16>) = gemm<tk::bf16, 2, false>;
extern void (*const transposed)(arguments<tk::f16>) = gemm<tk::f16, 1, true>;
}  // namespace multistage

// SPDX-License-Identifier: MIT
// CUDA of the project's own, in a program that has kernels of tkc, too: it is compiled as it would be without them.
#include "scale.h"

static_assert(__cplusplus < 202002L, "kernels raise the standard of what stands beside them");
#ifdef __CUDACC_RELAXED_CONSTEXPR__
#error "options of the generated code are on other files"
#endif
constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};
static_assert(sizeof(kArchitectures) == 2 * sizeof(int) && kArchitectures[0] == 800 && kArchitectures[1] == 890,
              "kernels change for which GPUs other files are compiled");

__global__ void own() {}

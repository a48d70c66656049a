// SPDX-License-Identifier: MIT
// Ordinary accesses to global memory, up to 16 bytes, aligned to their size: ld and st, chosen by nvcc.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm80/global_memory.h"
#else

namespace tk::sm80 {

template <class T>
TK_HOST_DEVICE constexpr T load_global(const T* from) {
    return *from;
}
/// Of a place that all threads of a warp ask for, in memory that the kernel leaves as it is.
template <class T>
TK_HOST_DEVICE constexpr T load_uniform(const T* from) {
    return *from;
}
template <class T>
TK_DEVICE void store_global(T* to, const T& value) {
    *to = value;
}

}  // namespace tk::sm80

#endif

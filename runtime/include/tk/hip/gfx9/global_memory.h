// SPDX-License-Identifier: MIT
// Ordinary accesses to global memory, up to 16 bytes, aligned to their size: global_load and global_store, or s_load. The address
// space is named, because flat instructions count in vmcnt and lgkmcnt both and force waits for everything.
#pragma once

#include "tk/hip/gfx9/word.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/global_memory.h"
#else

namespace tk::gfx9 {

template <class T>
TK_HOST_DEVICE T load_global(const T* from) {
#ifdef TK_ON_DEVICE
    return __builtin_bit_cast(T, *(const __attribute__((address_space(1))) plain_word<sizeof(T)>*)(from));
#else
    return *from;
#endif
}
/// Of a place that all lanes ask for, in memory that no kernel beside this one writes: loads of the scalar unit count in lgkmcnt,
/// so that nobody who wants the value waits for copies before it.
template <class T>
TK_HOST_DEVICE T load_uniform(const T* from) {
#ifdef TK_ON_DEVICE
    if constexpr (sizeof(T) >= 4)
        return __builtin_bit_cast(T, *(const __attribute__((address_space(4))) plain_word<sizeof(T)>*)(from));
    else
        return load_global(from);
#else
    return *from;
#endif
}
template <class T>
TK_DEVICE void store_global(T* to, const T& value) {
    *(__attribute__((address_space(1))) plain_word<sizeof(T)>*)(to) = __builtin_bit_cast(plain_word<sizeof(T)>, value);
}

}  // namespace tk::gfx9

#endif

// SPDX-License-Identifier: MIT
// The block's shared memory: its start, and 32-bit addresses into it. Every instruction wrapper takes
// these 32-bit addresses: they cost half the registers of a pointer.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm80/shared_memory.h"
#else

namespace tk::sm80 {

/// Start of the dynamic shared memory. 1024-aligned, as the 128-byte swizzle repeats every 1024 bytes.
TK_DEVICE void* dynamic_shared_memory() {
    extern __shared__ __align__(1024) unsigned char tk_dynamic_shared_memory[];
    return tk_dynamic_shared_memory;
}

/// cvta.to.shared
TK_DEVICE uint32_t shared_address(const void* pointer) {
    return uint32_t(__cvta_generic_to_shared(pointer));
}

/// ld.shared and st.shared of up to 16 bytes, aligned to their size. nvcc turns the generic pointer back into the address.
template <class T>
TK_DEVICE T load_shared(uint32_t address) {
    return *static_cast<const T*>(__cvta_shared_to_generic(address));
}
template <class T>
TK_DEVICE void store_shared(uint32_t address, const T& value) {
    *static_cast<T*>(__cvta_shared_to_generic(address)) = value;
}

/// The same for a variable in shared memory.
template <class T>
TK_DEVICE T load_shared_variable(const T& variable) {
    return variable;
}
template <class T>
TK_DEVICE void store_shared_variable(T& variable, const T& value) {
    variable = value;
}

}  // namespace tk::sm80

#endif

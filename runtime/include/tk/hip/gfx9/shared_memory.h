// SPDX-License-Identifier: MIT
// The block's shared memory (LDS): its start, and 32-bit addresses into it.
#pragma once

#include "tk/hip/gfx9/word.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/shared_memory.h"
#else

namespace tk::gfx9 {

namespace detail {
/// The host's compiler reads this too, where pointers have 64 bits.
template <class T>
TK_DEVICE __attribute__((address_space(3))) T* shared_pointer(uint32_t address) {
#ifdef TK_ON_DEVICE
    return (__attribute__((address_space(3))) T*)(address);
#else
    return (__attribute__((address_space(3))) T*)(uint64_t(address));
#endif
}
}  // namespace detail

/// Start of the dynamic shared memory. 2048-aligned, as the swizzles repeat every 1024 or 2048 bytes.
TK_DEVICE void* dynamic_shared_memory() {
    extern __shared__ __attribute__((aligned(2048))) unsigned char tk_dynamic_shared_memory[];
    return tk_dynamic_shared_memory;
}

TK_DEVICE uint32_t shared_address(const void* pointer) {
    return uint32_t(reinterpret_cast<uint64_t>((const __attribute__((address_space(3))) void*)(pointer)));
}

/// ds_read_u8 .. ds_read_b128 and ds_write_b8 .. ds_write_b128, aligned to their size.
template <class T>
TK_DEVICE T load_shared(uint32_t address) {
    return __builtin_bit_cast(T, *detail::shared_pointer<const plain_word<sizeof(T)>>(address));
}
template <class T>
TK_DEVICE void store_shared(uint32_t address, const T& value) {
    *detail::shared_pointer<plain_word<sizeof(T)>>(address) = __builtin_bit_cast(plain_word<sizeof(T)>, value);
}

/// The same for a variable in shared memory.
template <class T>
TK_DEVICE T load_shared_variable(const T& variable) {
    return load_shared<T>(shared_address(&variable));
}
template <class T>
TK_DEVICE void store_shared_variable(T& variable, const T& value) {
    store_shared<T>(shared_address(&variable), value);
}

}  // namespace tk::gfx9

#endif

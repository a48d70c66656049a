// SPDX-License-Identifier: MIT
// The block's shared memory: its start, and 32-bit addresses into it. Every instruction wrapper takes
// these 32-bit addresses: they cost half the registers of a pointer.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#pragma GCC system_header
#endif

namespace tk::sm90 {

/// Start of the dynamic shared memory. 1024-aligned, as the 128-byte swizzle repeats every 1024 bytes.
TK_DEVICE void* dynamic_shared_memory() {
#ifdef TK_SIM
    __builtin_trap();
#else
    extern __shared__ __align__(1024) unsigned char tk_dynamic_shared_memory[];
    return tk_dynamic_shared_memory;
#endif
}

/// cvta.to.shared
TK_DEVICE uint32_t shared_address(const void* pointer) {
#ifdef TK_SIM
    __builtin_trap();
#else
    return uint32_t(__cvta_generic_to_shared(pointer));
#endif
}

/// cvta.shared: an ordinary reference, which nvcc turns back into ld.shared and st.shared.
template <class T>
TK_DEVICE T& shared_reference(uint32_t address) {
#ifdef TK_SIM
    __builtin_trap();
#else
    return *static_cast<T*>(__cvta_shared_to_generic(address));
#endif
}

/// mapa: the address of the same place in the block `rank` of this cluster.
TK_DEVICE uint32_t map_to_block(uint32_t address, uint32_t rank) {
    uint32_t remote;
    TK_PTX_PURE("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
    return remote;
}

/// ld.shared::cluster: 16 bytes from an address of map_to_block.
TK_DEVICE void load_cluster_f32x4(float (&v)[4], uint32_t address) {
    TK_PTX("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
           : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
           : "r"(address)
           : "memory");
}

}  // namespace tk::sm90

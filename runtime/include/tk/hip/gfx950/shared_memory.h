// SPDX-License-Identifier: MIT
// gfx950's transposing load from shared memory.
#pragma once

#include "tk/hip/gfx9/shared_memory.h"

#ifdef TK_SIM
#include "tk/sim/gfx950/shared_memory.h"
#else

namespace tk::gfx950 {

/// ds_read_b64_tr_b16: each lane reads the 8 bytes at its address; then, in each group of 16 lanes, halfword n of lane l
/// comes from lane (l / 4) % 4 + 4 n of the group, halfword l % 4. Where lane s gives row s / 4, columns 4 (s % 4) on of a
/// matrix of 4 rows, lane l gets column l.
TK_DEVICE gfx9::words2 load_shared_transposed_b64(uint32_t address) {
    using loaded = short __attribute__((ext_vector_type(4)));
    const loaded x = __builtin_amdgcn_ds_read_tr16_b64_v4i16(gfx9::detail::shared_pointer<loaded>(address));
    return __builtin_bit_cast(gfx9::words2, x);
}

}  // namespace tk::gfx950

#endif

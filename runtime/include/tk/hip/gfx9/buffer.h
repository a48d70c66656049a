// SPDX-License-Identifier: MIT
// Global memory through a buffer resource: four scalar registers with a base address and a size. What lies beyond the size reads
// as 0, checked dword by dword. Offsets are in bytes, each lane its own, below 2^32.
#pragma once

#include "tk/hip/gfx9/word.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/buffer.h"
#else

namespace tk::gfx9 {

/// The four words, the same in all lanes: base address (48 bits), stride 0, size, and the format of raw dwords.
struct buffer {
    int __attribute__((vector_size(16))) words;
};

/// `base` and `bytes` are the same in all lanes of the wave.
TK_DEVICE buffer make_buffer(const void* base, uint32_t bytes) {
    const uint64_t address = reinterpret_cast<uint64_t>(base);
    const int low = __builtin_amdgcn_readfirstlane(int(address)), high = __builtin_amdgcn_readfirstlane(int(address >> 32 & 0xffff));
    return {{low, high, __builtin_amdgcn_readfirstlane(int(bytes)), 0x00027000}};
}

namespace detail {
TK_DEVICE __amdgpu_buffer_rsrc_t resource(const buffer& b) {
    const uint64_t base = uint32_t(b.words[0]) | uint64_t(uint32_t(b.words[1])) << 32;
    return __builtin_amdgcn_make_buffer_rsrc(reinterpret_cast<void*>(base), 0, b.words[2], 0x00027000);
}
}  // namespace detail

/// buffer_load_dword, _dwordx2, _dwordx4
TK_DEVICE uint32_t load_buffer_b32(const buffer& from, uint32_t offset) {
    return __builtin_amdgcn_raw_buffer_load_b32(detail::resource(from), int(offset), 0, 0);
}
TK_DEVICE words2 load_buffer_b64(const buffer& from, uint32_t offset) {
    return __builtin_bit_cast(words2, __builtin_amdgcn_raw_buffer_load_b64(detail::resource(from), int(offset), 0, 0));
}
TK_DEVICE words4 load_buffer_b128(const buffer& from, uint32_t offset) {
    return __builtin_bit_cast(words4, __builtin_amdgcn_raw_buffer_load_b128(detail::resource(from), int(offset), 0, 0));
}

/// buffer_load_dword .. lds: lane l's dword at `offset` + `more` goes to shared memory at `to` + 4 l, asynchronously; out of range: a
/// zero goes there. `more` is SOFFSET, which counts in that as `offset` does (CDNA3 ISA, range checking of raw buffers: out of range is what is
/// not below the size less SOFFSET; the case copy_b32 reads across that end). `to` and `more` are the same in all lanes. Complete behind wait_vector_memory; others see it behind a barrier that follows.
/// Assembly, because the compiler would wait for the copy (vmcnt) before the next load from shared memory. So what it does for its own
/// instructions is done here: five wait states between a vector instruction that writes a scalar register (v_readfirstlane, or v_readlane
/// where registers were spilt) and a memory instruction that reads it; M0 needs one.
TK_DEVICE void copy_buffer_to_shared_b32(uint32_t to, const buffer& from, uint32_t offset, uint32_t more) {
    asm volatile("s_nop 4\n\tbuffer_load_dword %0, %1, %2 offen lds"
                 :
                 : "v"(offset), "s"(from.words), "s"(__builtin_amdgcn_readfirstlane(int(more))), "{m0}"(__builtin_amdgcn_readfirstlane(int(to)))
                 : "memory");
}

}  // namespace tk::gfx9

#endif

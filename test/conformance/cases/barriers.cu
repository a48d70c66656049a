// SPDX-License-Identifier: MIT
// Barriers of block and cluster, distributed shared memory, register redistribution, programmatic launch: values pass
// from writers to readers across each of them.
#include "test/conformance/case.h"

namespace conformance {
namespace {

TK_KERNEL(256) block_sync_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    put_shared(base + uint32_t(t) * 4, get(in, t));
    sm80::block_sync();
    put(out, t, get_shared(base + uint32_t((t * 37 + 11) % 256) * 4));
}

/// Warps 0 to 3 write and arrive; warps 4 to 7 wait and read; two barriers, used in turn, three times.
TK_KERNEL(256) named_barrier_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    if (t < 128) {
        for (int round = 0; round < 3; ++round) {
            if (round > 0) sm80::named_barrier_sync(7, 256);  // the readers are done
            put_shared(base + uint32_t(t) * 4, get(in, t) + uint32_t(round));
            sm80::named_barrier_arrive(3, 256);
        }
    } else {
        for (int round = 0; round < 3; ++round) {
            sm80::named_barrier_sync(3, 256);
            put(out, round * 128 + t - 128, get_shared(base + uint32_t(255 - t) * 4));
            if (round < 2) sm80::named_barrier_arrive(7, 256);
        }
    }
}

TK_KERNEL(128) shared_memory_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    unsigned char* start = static_cast<unsigned char*>(sm80::dynamic_shared_memory());
    const uint32_t base = sm80::shared_address(start);
    sm80::store_shared(base + uint32_t(t) * 4, get(in, t));
    sm80::block_sync();
    put(out, 2 * t, base % 1024);
    put(out, 2 * t + 1, sm80::load_shared<uint32_t>(sm80::shared_address(start + (127 - t) * 4)));
}

template <int Words>
struct alignas(4 * Words) words {
    uint32_t word[Words];
};

/// Every width: T through global memory, shared memory, a variable in shared memory, global memory.
template <class T>
TK_DEVICE void pass(const uint32_t* in, uint32_t* out, uint32_t base) {
    using array = T[64];
    TK_STATIC_SHARED(array, place);
    const int t = sm80::thread_index();
    const T first = sm80::load_global(reinterpret_cast<const T*>(in) + t);
    sm80::store_shared(base + uint32_t(t * sizeof(T)), first);
    sm80::block_sync();
    const T second = sm80::load_shared<T>(base + uint32_t((63 - t) * sizeof(T)));
    sm80::store_shared_variable(place[t], second);
    sm80::block_sync();
    const T third = sm80::load_shared_variable(place[(t + 5) % 64]);
    sm80::store_global(reinterpret_cast<T*>(out) + t, third);
    sm80::block_sync();
}

TK_KERNEL(64) widths_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const uint32_t base = shared_base();
    pass<uint8_t>(in, out, base);
    pass<uint16_t>(in, out + 16, base);
    pass<uint32_t>(in, out + 48, base);
    pass<words<2>>(in, out + 112, base);
    pass<words<4>>(in, out + 240, base);
    const uint32_t word = sm80::load_uniform(in + 7);
    if (sm80::thread_index() == 0) put(out, 496, word);
}

/// One warpgroup gives up registers, the two others take them.
TK_KERNEL(384) registers_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    if (t < 128) {
        sm90::set_max_registers_decrease<40>();
        put(out, t, get(in, t) + 1);
    } else {
        sm90::set_max_registers_increase<232>();
        put(out, t, get(in, t) + 2);
    }
}

TK_KERNEL(128) first_grid_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int at = sm80::block_index() * 128 + sm80::thread_index();
    sm90::grid_dependency_launch();
    put(out, at, get(in, at) * 3);
}
TK_KERNEL(128) second_grid_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    sm90::grid_dependency_launch();
    const int at = sm80::block_index() * 128 + sm80::thread_index();
    put(out, 512 + at, get(out, 511 - at) + 1);
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: block_sync in 256 out 256 exact covers block_sync
CASE(block_sync) { return start<block_sync_kernel>(stream, 1, 256, 1024, input(in), output(out)); }
EXPECTED(block_sync) {
    for (int t = 0; t < 256; ++t) out[t] = in[(t * 37 + 11) % 256];
}

// case: named_barrier in 128 out 384 exact covers named_barrier_sync, named_barrier_arrive
CASE(named_barrier) { return start<named_barrier_kernel>(stream, 1, 256, 1024, input(in), output(out)); }
EXPECTED(named_barrier) {
    for (int round = 0; round < 3; ++round)
        for (int t = 0; t < 128; ++t) out[round * 128 + t] = in[127 - t] + uint32_t(round);
}

// case: shared_memory in 128 out 256 exact covers dynamic_shared_memory, shared_address, load_shared, store_shared
CASE(shared_memory) { return start<shared_memory_kernel>(stream, 1, 128, 1024, input(in), output(out)); }
EXPECTED(shared_memory) {
    for (int t = 0; t < 128; ++t) out[2 * t] = 0, out[2 * t + 1] = in[127 - t];
}

// case: widths in 256 out 497 exact covers load_global, load_uniform, store_global, load_shared, store_shared, load_shared_variable, store_shared_variable
CASE(widths) { return start<widths_kernel>(stream, 1, 64, 1024, input(in), output(out)); }
EXPECTED(widths) {
    const auto* from = reinterpret_cast<const unsigned char*>(in);
    auto* to = reinterpret_cast<unsigned char*>(out);
    for (int size = 1; size <= 16; size *= 2) {
        for (int t = 0; t < 64; ++t)
            for (int b = 0; b < size; ++b) to[t * size + b] = from[(63 - (t + 5) % 64) * size + b];
        to += 64 * size;
    }
    out[496] = in[7];
}

// case: registers in 384 out 384 exact covers set_max_registers_increase, set_max_registers_decrease
CASE(registers) { return start<registers_kernel>(stream, 1, 384, 0, input(in), output(out)); }
EXPECTED(registers) {
    for (int t = 0; t < 384; ++t) out[t] = in[t] + (t < 128 ? 1 : 2);
}

// case: grid_dependency in 512 out 1024 exact covers grid_dependency_wait, grid_dependency_launch
CASE(grid_dependency) {
    const tk_status status = start<first_grid_kernel>(stream, 4, 128, 0, input(in), output(out));
    return status.code != TK_OK ? status : start<second_grid_kernel>(stream, 4, 128, 0, output(out));
}
EXPECTED(grid_dependency) {
    for (int at = 0; at < 512; ++at) out[at] = in[at] * 3;
    for (int at = 0; at < 512; ++at) out[512 + at] = out[511 - at] + 1;
}

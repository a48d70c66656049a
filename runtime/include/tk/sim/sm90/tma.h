// SPDX-License-Identifier: MIT
// The tensor copy engine on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"
#include "tk/types/tensor_map.h"

namespace tk::sim {

// runtime/sim/tensor_copy.cpp. Coordinates count elements, innermost dimension first.
void prefetch_map(const tensor_map* map);
void tensor_load(uint32_t to, const tensor_map* map, const int* at, int rank, uint32_t barrier);
/// No load: `bytes` of memory that hold anything from here on, here 0xff, and the barrier gets them.
void tensor_skip(uint32_t to, uint32_t bytes, uint32_t barrier);
void tensor_skip_multicast(uint32_t to, uint32_t bytes, uint32_t barrier, uint32_t blocks);
/// Into every block of the cluster whose bit is set in `blocks`.
void tensor_load_multicast(uint32_t to, const tensor_map* map, const int* at, int rank, uint32_t barrier,
                           uint32_t blocks);
void tensor_store(const tensor_map* map, const int* at, int rank, uint32_t from);

}  // namespace tk::sim

namespace tk::sm90 {

TK_DEVICE void prefetch_tensor_map(const tensor_map* map) { sim::prefetch_map(map); }

TK_DEVICE void bulk_commit_group() { sim::bulk_commit(); }

template <int N>
TK_DEVICE void bulk_wait_group_read() {
    sim::bulk_wait(N, true);
}

template <int N>
TK_DEVICE void bulk_wait_group() {
    sim::bulk_wait(N, false);
}

TK_DEVICE void skip_load(uint32_t to, uint32_t bytes, uint32_t barrier) { sim::tensor_skip(to, bytes, barrier); }
TK_DEVICE void skip_load_multicast(uint32_t to, uint32_t bytes, uint32_t barrier, uint32_t blocks) {
    sim::tensor_skip_multicast(to, bytes, barrier, blocks);
}

template <int Rank>
struct tensor_copy {
    static TK_DEVICE void load(uint32_t to, const tensor_map* map, const int (&c)[Rank], uint32_t barrier) {
        sim::tensor_load(to, map, c, Rank, barrier);
    }
    static TK_DEVICE void load_multicast(uint32_t to, const tensor_map* map, const int (&c)[Rank], uint32_t barrier,
                                         uint16_t blocks) {
        sim::tensor_load_multicast(to, map, c, Rank, barrier, blocks);
    }
    static TK_DEVICE void store(const tensor_map* map, const int (&c)[Rank], uint32_t from) {
        sim::tensor_store(map, c, Rank, from);
    }
};

}  // namespace tk::sm90

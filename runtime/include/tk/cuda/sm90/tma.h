// SPDX-License-Identifier: MIT
// The tensor copy engine (TMA). One thread issues a copy; loads complete on an mbarrier by bytes, stores in
// groups of the issuing thread.
#pragma once

#include "tk/cuda/sm90/cluster.h"
#include "tk/cuda/sm90/mbarrier.h"
#include "tk/platform.h"
#include "tk/types/tensor_map.h"

#ifdef TK_SIM
#include "tk/sim/sm90/tma.h"
#else

namespace tk::sm90 {

/// Fetches the map itself, a few hundred cycles before its first use.
TK_DEVICE void prefetch_tensor_map(const tensor_map* map) {
    TK_PTX("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Ends a group of this thread's stores.
TK_DEVICE void bulk_commit_group() { TK_PTX("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all but the newest N groups have been read from shared memory (it may be overwritten).
template <int N>
TK_DEVICE void bulk_wait_group_read() {
    TK_PTX("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

/// Waits until all but the newest N groups are complete (global memory is written).
template <int N>
TK_DEVICE void bulk_wait_group() {
    TK_PTX("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

/// Instead of a load of `bytes` to `to`: `barrier` gets the bytes, and what lies there may be anything from here on.
TK_DEVICE void skip_load(uint32_t, uint32_t bytes, uint32_t barrier) { mbarrier_complete_tx(barrier, bytes); }

/// The same in the place and on the barrier of every block of the cluster whose bit is set in `blocks`.
TK_DEVICE void skip_load_multicast(uint32_t, uint32_t bytes, uint32_t barrier, uint32_t blocks) {
    TK_UNROLL
    for (uint32_t rank = 0; rank < 16; ++rank)
        if (blocks >> rank & 1) mbarrier_complete_tx_cluster(map_to_block(barrier, rank), bytes);
}

// The coordinates of a box count elements, innermost dimension first; outside the tensor a load gives
// zeros (all bytes still count at the barrier) and a store is dropped. On an H200 a copy is an illegal instruction when
// its innermost coordinate is not a multiple of 16 bytes, and a store when any coordinate is negative.
#define TK_COORDINATES_1 "r"(c[0])
#define TK_COORDINATES_2 TK_COORDINATES_1, "r"(c[1])
#define TK_COORDINATES_3 TK_COORDINATES_2, "r"(c[2])
#define TK_COORDINATES_4 TK_COORDINATES_3, "r"(c[3])
#define TK_COORDINATES_5 TK_COORDINATES_4, "r"(c[4])

template <int Rank>
struct tensor_copy;

#define TK_TENSOR_COPY(RANK, LOAD_AT, MULTICAST_AT, STORE_AT)                                                          \
    template <>                                                                                                        \
    struct tensor_copy<RANK> {                                                                                         \
        static TK_DEVICE void load(uint32_t to, const tensor_map* map, const int (&c)[RANK], uint32_t barrier) {       \
            TK_PTX("cp.async.bulk.tensor." #RANK "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "         \
                   "[%0], [%1, {" LOAD_AT "}], [%2];" ::"r"(to), "l"(map), "r"(barrier), TK_COORDINATES_##RANK         \
                   : "memory");                                                                                        \
        }                                                                                                              \
        static TK_DEVICE void load_multicast(uint32_t to, const tensor_map* map, const int (&c)[RANK],                 \
                                             uint32_t barrier, uint16_t blocks) {                                      \
            TK_PTX("cp.async.bulk.tensor." #RANK "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"          \
                   ".multicast::cluster [%0], [%1, {" MULTICAST_AT "}], [%2], %3;" ::"r"(to), "l"(map), "r"(barrier),  \
                   "h"(blocks), TK_COORDINATES_##RANK                                                                  \
                   : "memory");                                                                                        \
        }                                                                                                              \
        static TK_DEVICE void store(const tensor_map* map, const int (&c)[RANK], uint32_t from) {                      \
            TK_PTX("cp.async.bulk.tensor." #RANK "d.global.shared::cta.tile.bulk_group [%0, {" STORE_AT "}], [%1];"    \
                   ::"l"(map), "r"(from), TK_COORDINATES_##RANK                                                        \
                   : "memory");                                                                                        \
        }                                                                                                              \
    };
TK_TENSOR_COPY(1, "%3", "%4", "%2")
TK_TENSOR_COPY(2, "%3, %4", "%4, %5", "%2, %3")
TK_TENSOR_COPY(3, "%3, %4, %5", "%4, %5, %6", "%2, %3, %4")
TK_TENSOR_COPY(4, "%3, %4, %5, %6", "%4, %5, %6, %7", "%2, %3, %4, %5")
TK_TENSOR_COPY(5, "%3, %4, %5, %6, %7", "%4, %5, %6, %7, %8", "%2, %3, %4, %5, %6")
#undef TK_TENSOR_COPY
#undef TK_COORDINATES_1
#undef TK_COORDINATES_2
#undef TK_COORDINATES_3
#undef TK_COORDINATES_4
#undef TK_COORDINATES_5

}  // namespace tk::sm90

#endif

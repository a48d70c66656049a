// SPDX-License-Identifier: MIT
// red and atom on global memory: the engine makes an access atomic, here is what it does.
#include <cstring>

#include "runtime/sim/reduction.h"
#include "runtime/sim/tensor_map.h"
#include "tk/host/abi.h"
#include "tk/sim/engine.h"
#include "tk/sim/sm90/reduce_global.h"

namespace tk::sim {

namespace {

struct addition {
    int dtype, count;
    const void* values;
};

/// memory = smaller or larger of memory and value, as T orders them.
template <class T, bool Larger>
void keep(void* place, void* value) {
    T held, offered;
    std::memcpy(&held, place, sizeof(T));
    std::memcpy(&offered, value, sizeof(T));
    if (Larger ? offered > held : offered < held) std::memcpy(place, &offered, sizeof(T));
}

template <bool Larger>
void reduce_ordered(void* p, int dtype, const void* value) {
    void* context = const_cast<void*>(value);
    switch (dtype) {
        case TK_I32: return atomic_global(p, 4, keep<int32_t, Larger>, context);
        case TK_U32: return atomic_global(p, 4, keep<uint32_t, Larger>, context);
        case TK_I64: return atomic_global(p, 8, keep<int64_t, Larger>, context);
        default: return atomic_global(p, 8, keep<uint64_t, Larger>, context);
    }
}

struct exchange {
    uint16_t expected, desired, held;
};

struct fetched_addition {
    int32_t added, held;
};

}  // namespace

void reduce_add(void* p, int dtype, const void* values, int count) {
    addition context{dtype, count, values};
    const auto apply = [](void* place, void* given) {
        const auto& a = *static_cast<const addition*>(given);
        add_elements(a.dtype, place, a.values, a.count);
    };
    atomic_global(p, element_bytes(dtype) * count, apply, &context);
}

void reduce_max(void* p, int dtype, const void* value) { reduce_ordered<true>(p, dtype, value); }
void reduce_min(void* p, int dtype, const void* value) { reduce_ordered<false>(p, dtype, value); }

uint16_t compare_and_swap(void* p, uint16_t expected, uint16_t desired) {
    exchange context{expected, desired, 0};
    const auto apply = [](void* place, void* given) {
        auto& e = *static_cast<exchange*>(given);
        std::memcpy(&e.held, place, 2);
        if (e.held == e.expected) std::memcpy(place, &e.desired, 2);
    };
    atomic_global(p, 2, apply, &context);
    return context.held;
}

int fetch_add(void* p, int x) {
    fetched_addition context{x, 0};
    const auto apply = [](void* place, void* given) {
        auto& a = *static_cast<fetched_addition*>(given);
        std::memcpy(&a.held, place, 4);
        const uint32_t sum = uint32_t(a.held) + uint32_t(a.added);
        std::memcpy(place, &sum, 4);
    };
    atomic_global(p, 4, apply, &context);
    return context.held;
}

}  // namespace tk::sim

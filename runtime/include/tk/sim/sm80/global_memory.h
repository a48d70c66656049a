// SPDX-License-Identifier: MIT
// Ordinary accesses to global memory on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm80 {

template <class T>
TK_DEVICE T load_global(const T* from) {
    T value;
    sim::load_global(from, &value, int(sizeof(T)));
    return value;
}
template <class T>
TK_DEVICE T load_uniform(const T* from) {
    return load_global(from);
}
template <class T>
TK_DEVICE void store_global(T* to, const T& value) {
    sim::store_global(to, &value, int(sizeof(T)));
}

}  // namespace tk::sm80

// SPDX-License-Identifier: MIT
// The block's shared memory on the simulator: every ordinary access goes through the engine.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm80 {

TK_DEVICE void* dynamic_shared_memory() { return sim::dynamic_shared_memory(); }
TK_DEVICE uint32_t shared_address(const void* pointer) { return sim::shared_address(pointer); }

template <class T>
TK_DEVICE T load_shared(uint32_t address) {
    T value;
    sim::load_shared(address, &value, int(sizeof(T)));
    return value;
}
template <class T>
TK_DEVICE void store_shared(uint32_t address, const T& value) {
    sim::store_shared(address, &value, int(sizeof(T)));
}
template <class T>
TK_DEVICE T load_shared_variable(const T& variable) {
    return load_shared<T>(sim::shared_address(&variable));
}
template <class T>
TK_DEVICE void store_shared_variable(T& variable, const T& value) {
    store_shared<T>(sim::shared_address(&variable), value);
}

}  // namespace tk::sm80

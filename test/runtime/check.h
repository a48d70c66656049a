// SPDX-License-Identifier: MIT
// What the runtime's tests share: they are plain programs, built with -DTK_SIM and no CUDA, that fail with a line.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                       \
        }                                                                                       \
    } while (0)

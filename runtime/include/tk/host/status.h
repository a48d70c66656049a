// SPDX-License-Identifier: MIT
// Building a tk_status: a code, and a message in a buffer of the calling thread.
#pragma once

#include <cstdarg>
#include <cstdio>

#include "tk/arch.h"
#include "tk/host/abi.h"

namespace tk::host::inline TK_MACHINE {

inline tk_status ok() { return {TK_OK, ""}; }

/// What %lld prints.
using printed = long long;

/// A failure with a printf-style message, cut off at 511 characters.
[[gnu::format(printf, 2, 3)]] inline tk_status failure(tk_code code, const char* format, ...) {
    static thread_local char message[512];
    va_list values;
    va_start(values, format);
    std::vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return {code, message};
}

}  // namespace tk::host

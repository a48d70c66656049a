// SPDX-License-Identifier: MIT
// elect.sync: one lane of a warp. All 32 take part.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm90/elect.h"
#else

namespace tk::sm90 {

/// True in one lane of the warp, the same one each time.
TK_DEVICE bool elect() {
    uint32_t chosen;
    TK_PTX("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(chosen));
    return chosen != 0;
}

}  // namespace tk::sm90

#endif

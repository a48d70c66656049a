// SPDX-License-Identifier: MIT
// The instructions that every architecture has, under one name: `tk::arch` is tk::sm80, which holds for all NVIDIA GPUs
// from there on, or tk::gfx9 for AMD's CDNA3 and CDNA4. The first header of a file says for which machine it is: tk/sm80.h,
// tk/sm90.h, tk/gfx942.h or tk/gfx950.h. What came with sm_90 is there if TK_HAS_SM90, with gfx950 if TK_HAS_GFX950, and
// generic code asks for it.
#pragma once

#include "tk/platform.h"

/// The namespace of what differs between files for different machines and is shared by all files of a program.
#define TK_MACHINE_NAME(VENDOR, NUMBER) for_##VENDOR##NUMBER

#if defined(TK_GFX)

#define TK_ARCH 0  // of NVIDIA
#define TK_MACHINE TK_MACHINE_GFX(TK_GFX)
#define TK_MACHINE_GFX(NUMBER) TK_MACHINE_NAME(gfx, NUMBER)
#define TK_HAS_SM90 0
#define TK_HAS_GFX950 (TK_GFX == 950)
#include "tk/hip/arch.h"

namespace tk {
namespace arch = gfx9;
}  // namespace tk

#else

#define TK_HAS_GFX950 0
#define TK_MACHINE TK_MACHINE_SM(TK_ARCH)
#define TK_MACHINE_SM(NUMBER) TK_MACHINE_NAME(sm, NUMBER)
/// 80 or 90: the machine that the file is written for.
#ifndef TK_ARCH
#define TK_ARCH 80
#endif

// A file for several architectures is compiled once for each: device code of the older may not use what is newer.
#if TK_ARCH == 90 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define TK_HAS_SM90 1
#else
#define TK_HAS_SM90 0
#endif

#include "tk/cuda/sm80/barriers.h"
#include "tk/cuda/sm80/convert.h"
#include "tk/cuda/sm80/global_memory.h"
#include "tk/cuda/sm80/math.h"
#include "tk/cuda/sm80/mbarrier.h"
#include "tk/cuda/sm80/reduce_global.h"
#include "tk/cuda/sm80/shared_memory.h"
#include "tk/cuda/sm80/special_registers.h"
#include "tk/cuda/sm80/warp.h"

namespace tk {
namespace arch = sm80;
}  // namespace tk

#endif

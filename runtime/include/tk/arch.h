// SPDX-License-Identifier: MIT
// The instructions that every architecture has, under one name: `tk::arch` is tk::sm80, which holds for all NVIDIA GPUs
// from there on, or tk::gfx9 for AMD's CDNA3 and CDNA4. The first header of a file says for which machine it is: tk/sm80.h,
// tk/sm90.h, tk/gfx942.h or tk/gfx950.h. What came with sm_90 is there if TK_HAS_SM90, with gfx950 if TK_HAS_GFX950, and
// generic code asks for it.
//
// A file for several machines includes the header with the largest number. It defines TK_TARGETS, a name for all of them together, and in each
// pass over device code TK_TARGET, the number of the one whose kernels that pass takes: 80, 90, 942. (The host's pass takes the
// launchers of all, and has no TK_TARGET.) What the header has is then what the pass's own machine has.
#pragma once

#include "tk/platform.h"

/// The namespace of the host's side. Of functions that several files of a program define the linker keeps one, so its name says in what
/// they may differ: the machine, the version, and what nvcc was told to compile for, as the kernels that are kept must be there for the
/// GPUs of each of these files. (__CUDA_ARCH_LIST__ is sorted, so the numbers need nothing between them.)
#ifdef __CUDA_ARCH_LIST__
#define TK_MACHINE_NAME(VENDOR, NUMBER) TK_MACHINE_ON(VENDOR, NUMBER, TK_RUNTIME_VERSION, __CUDA_ARCH_LIST__, , , , , , , , , , , , , , , , , )
#else
#define TK_MACHINE_NAME(VENDOR, NUMBER) TK_MACHINE_ON(VENDOR, NUMBER, TK_RUNTIME_VERSION, , , , , , , , , , , , , , , , , )
#endif
#define TK_MACHINE_ON(...) TK_MACHINE_JOINED(__VA_ARGS__)
#define TK_MACHINE_JOINED(VENDOR, NUMBER, VERSION, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, ...) \
    for_##VENDOR##NUMBER##_v##VERSION##_on##A##B##C##D##E##F##G##H##I##J##K##L##M##N##O##P
#ifdef TK_TARGETS
#define TK_MACHINE TK_MACHINE_OF(TK_TARGETS)
#define TK_MACHINE_OF(NAMES) TK_MACHINE_NAME(, NAMES)
#endif
/// Whether this pass takes code for the machine of this number, if the file is for it at all.
#ifdef TK_TARGET
#define TK_TAKES(NUMBER) (TK_TARGET == NUMBER)
#else
#define TK_TAKES(NUMBER) 1
#endif

#if defined(TK_GFX)

#define TK_ARCH 0  // of NVIDIA
#ifndef TK_MACHINE
#define TK_MACHINE TK_MACHINE_GFX(TK_GFX)
#endif
#define TK_MACHINE_GFX(NUMBER) TK_MACHINE_NAME(gfx, NUMBER)
#define TK_HAS_SM90 0
#define TK_HAS_GFX950 (TK_GFX == 950 && TK_TAKES(950))
#include "tk/hip/arch.h"

namespace tk {
namespace arch = gfx9;
}  // namespace tk

#else

#define TK_HAS_GFX950 0
#ifndef TK_MACHINE
#define TK_MACHINE TK_MACHINE_SM(TK_ARCH)
#endif
#define TK_MACHINE_SM(NUMBER) TK_MACHINE_NAME(sm, NUMBER)
/// 80 or 90: the machine that the file is written for.
#ifndef TK_ARCH
#define TK_ARCH 80
#endif

#if defined(TK_TARGET) && defined(__CUDA_ARCH__) && TK_TARGET == 90 && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
// nvcc makes such a pass for -arch=sm_90a, too, beside the one that is meant.
#error "compute_90 has not the instructions of sm_90a: in place of -arch, say -gencode=arch=compute_90a,code=sm_90a"
#endif

// A pass for an older architecture may not use what is newer.
#if TK_ARCH == 90 && TK_TAKES(90) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
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

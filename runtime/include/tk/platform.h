// SPDX-License-Identifier: MIT
// What differs between nvcc, hipcc and a plain C++ compiler, in one place.
//
// Without TK_SIM the runtime is CUDA C++ or, under hipcc or clang -x hip, HIP C++. With TK_SIM it is plain C++20: types and
// arithmetic stay real, and an instruction wrapper is a call of the simulator (tk/sim/engine.h).
#pragma once

// 201709: what GCC 10 says with -std=c++20.
#if defined(__cplusplus) && !defined(_MSC_VER) && __cplusplus < 201709
#error "files that tkc makes are C++20: compile them with -std=c++20"
#endif

// What --bundle has put into a file can't meet the same headers in a folder.
#ifndef TK_BUNDLING
#ifdef TK_BUNDLED
#error "a file made by tkc --bundle is included before one made without it: make both with --bundle, or compile them apart"
#endif
#define TK_NOT_BUNDLED
#endif

#include <cstddef>
#include <cstdint>

/// Of tkc, with which the runtime comes.
#define TK_RUNTIME_VERSION 0_1_0

/// Defined where a compiler makes code for a GPU.
#ifdef __CUDA_ARCH__
#define TK_ON_DEVICE
#endif

// Of a file for several targets a pass sees the kernels of the others as heads without bodies.
#if defined(TK_TARGETS) && (defined(TK_SIM) || defined(__clang__))
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#ifdef TK_SIM

#define TK_KERNEL(...) void
#define TK_CLUSTER_KERNEL(threads, blocks, ...) void
#define TK_DEVICE inline
#define TK_HOST_DEVICE inline
#define TK_TENSOR_MAP const tk::tensor_map
/// A variable of TYPE in the block's shared memory: access it with arch::load_shared_variable, store_shared_variable.
#define TK_STATIC_SHARED(TYPE, NAME)  \
    static const char NAME##_key = 0; \
    TYPE& NAME = *static_cast<TYPE*>(tk::sim::static_shared_memory(&NAME##_key, sizeof(TYPE)))
#define TK_UNROLL
#define TK_NO_UNROLL
#define TK_UNROLL_FOUR
#define TK_TIE(...)
#define TK_TIE_VALUE(...)
#define TK_GLOBAL_NUMBER(place) reinterpret_cast<uint64_t>(place)
#define TK_GLOBAL_PLACE(number) reinterpret_cast<void*>(number)
using cudaStream_t = struct CUstream_st*;
using hipStream_t = struct ihipStream_t*;

#elif defined(__HIP__)

#include <hip/hip_runtime.h>

/// A kernel of exactly `threads` threads, with registers for one block on each compute unit or for `TK_KERNEL(threads, blocks)`:
/// a SIMD has 512 for each of its lanes, and a quarter of the waves.
#define TK_KERNEL(threads, ...)                                                          \
    __global__ void __attribute__((amdgpu_flat_work_group_size((threads), (threads)),     \
                                   amdgpu_waves_per_eu(((threads) __VA_OPT__(* (__VA_ARGS__)) + 255) / 256)))
#define TK_DEVICE __device__ inline __attribute__((always_inline))
#define TK_HOST_DEVICE __host__ __device__ inline __attribute__((always_inline))
#define TK_STATIC_SHARED(TYPE, NAME) __shared__ TYPE NAME
#ifdef __HIP_DEVICE_COMPILE__
#define TK_ON_DEVICE
#endif
/// Register arrays may be indexed by constants only: loops over them are unrolled.
#define TK_UNROLL _Pragma("unroll")
#define TK_NO_UNROLL _Pragma("nounroll")
#define TK_UNROLL_FOUR _Pragma("unroll 4")
/// Ties a variable ("+" TK_REGISTER (x)) to this point: neither its accesses nor those to memory are moved across. No instruction.
#define TK_TIE(...) asm volatile("" : __VA_ARGS__ :: "memory")
/// The same among ties only: memory may be accessed across.
#define TK_TIE_VALUE(...) asm volatile("" : __VA_ARGS__)
/// The constraint of a register for TK_TIE, of floats and of integers.
#define TK_REGISTER "v"
#define TK_FLOAT_REGISTER "v"
/// The number of a place in global memory, and the place of a number: the compiler still knows which memory that is in.
#define TK_GLOBAL_NUMBER(place) reinterpret_cast<uint64_t>(place)
#define TK_GLOBAL_PLACE(number) reinterpret_cast<void*>(number)

#else

/// A kernel of exactly `threads` threads, with registers for one block on each SM (`setmaxnreg` needs both promises), or
/// for `TK_KERNEL(threads, blocks)`.
#define TK_KERNEL(threads, ...) __global__ void __launch_bounds__(threads, 1 __VA_OPT__(* __VA_ARGS__))
/// The same, in clusters of `blocks` neighbouring blocks; the third argument is what the second of TK_KERNEL is. A pass for GPUs without clusters sees its head only (TK_TARGET).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define TK_CLUSTER_KERNEL(threads, blocks, ...) TK_KERNEL(threads __VA_OPT__(, ) __VA_ARGS__)
#else
#define TK_CLUSTER_KERNEL(threads, blocks, ...) \
    __global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(threads, 1 __VA_OPT__(* __VA_ARGS__))
#endif
#define TK_DEVICE __device__ __forceinline__
#define TK_HOST_DEVICE __host__ __device__ __forceinline__
/// The tensor copy engine reads its map from the parameter bank, so the map must not be copied.
#define TK_TENSOR_MAP const __grid_constant__ tk::tensor_map
/// Shared memory of a fixed size, for the runtime's own kernels.
#define TK_STATIC_SHARED(TYPE, NAME) __shared__ TYPE NAME
/// Register arrays may be indexed by constants only: loops over them are unrolled.
#ifdef TK_ON_DEVICE
#define TK_UNROLL _Pragma("unroll")
#define TK_NO_UNROLL _Pragma("unroll 1")
#define TK_UNROLL_FOUR _Pragma("unroll 4")
#else  // the host compiler does not know them
#define TK_UNROLL
#define TK_NO_UNROLL
#define TK_UNROLL_FOUR
#endif
/// One machine instruction: takes what `asm volatile` takes.
#define TK_PTX(...) asm volatile(__VA_ARGS__)
/// An instruction without side effects: may be moved, merged or dropped.
#define TK_PTX_PURE(...) asm(__VA_ARGS__)
/// Ties a variable ("+" TK_REGISTER (x)) to this point: neither its accesses nor those to memory are moved across. No instruction.
#define TK_TIE(...) asm volatile("" : __VA_ARGS__ :: "memory")
/// The same among ties only: memory may be accessed across.
#define TK_TIE_VALUE(...) asm volatile("" : __VA_ARGS__)
/// The constraint of a register for TK_TIE, of floats and of integers.
#define TK_REGISTER "r"
#define TK_FLOAT_REGISTER "f"
/// The number of a place in global memory, and the place of a number: the compiler still knows which memory that is in.
#define TK_GLOBAL_NUMBER(place) __cvta_generic_to_global(place)
#define TK_GLOBAL_PLACE(number) __cvta_global_to_generic(number)

#endif

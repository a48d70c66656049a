// SPDX-License-Identifier: MIT
// What generated HIP files need of HIP's own header, so that clang alone compiles them (-nogpuinc -nogpulib): for tests of the
// instructions that come out, on machines without ROCm. Functions of AMD's device library are stand-ins of about their cost, and
// the host's calls are declared only. With hipcc this folder is not on the include path.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

#define TK_SHIM_UNARY(NAME, EXPRESSION) \
    __device__ inline float NAME(float x) { return EXPRESSION; }
#define TK_SHIM_DEVICE __device__ inline __attribute__((always_inline))
TK_SHIM_UNARY(log2f, __builtin_log2f(x))
TK_SHIM_UNARY(logf, __builtin_logf(x))
TK_SHIM_UNARY(expf, __builtin_expf(x))
TK_SHIM_UNARY(sqrtf, __builtin_sqrtf(x))
TK_SHIM_UNARY(rsqrtf, __builtin_amdgcn_rsqf(x))
TK_SHIM_UNARY(floorf, __builtin_floorf(x))
TK_SHIM_UNARY(ceilf, __builtin_ceilf(x))
TK_SHIM_UNARY(rintf, __builtin_rintf(x))
TK_SHIM_UNARY(fabsf, __builtin_fabsf(x))
TK_SHIM_UNARY(sinf, __builtin_amdgcn_sinf(x * 0.15915494f))
TK_SHIM_UNARY(cosf, __builtin_amdgcn_cosf(x * 0.15915494f))
TK_SHIM_UNARY(tanhf, 1.0f - 2.0f * __builtin_amdgcn_rcpf(1.0f + __builtin_amdgcn_exp2f(2.8853901f * x)))
TK_SHIM_UNARY(erff, tanhf(x * (1.1283792f + x * x * (0.1009110f + x * x * (-0.0126f + x * x * 0.001f)))))
__device__ inline float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
__device__ inline float fminf(float x, float y) { return __builtin_fminf(x, y); }
__device__ inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__device__ inline float powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_log2f(x)); }

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// The host side, as far as tk/host/driver.h calls it.
typedef struct ihipStream_t* hipStream_t;
typedef enum hipError_t { hipSuccess = 0 } hipError_t;
enum hipDeviceAttribute_t { hipDeviceAttributeMultiprocessorCount, hipDeviceAttributeMaxSharedMemoryPerBlock };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct hipDeviceProp_t {
    char gcnArchName[256];
    int multiProcessorCount;
    size_t sharedMemPerBlock;
};
extern "C" {
hipError_t hipGetDevice(int*);
hipError_t hipGetDeviceProperties(hipDeviceProp_t*, int);
hipError_t hipDeviceGetAttribute(int*, hipDeviceAttribute_t, int);
hipError_t hipGetLastError();
hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int);
hipError_t hipGetSymbolAddress(void**, const void*);
hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, hipStream_t);
const char* hipGetErrorString(hipError_t);
const char* hipGetErrorName(hipError_t);
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t, hipStream_t);
hipError_t __hipPopCallConfiguration(dim3*, dim3*, size_t*, hipStream_t*);
}

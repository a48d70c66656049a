/* SPDX-License-Identifier: MIT
 * The C interface of generated entries: tensors in, a status out. Usable from C. */
#pragma once

/* Files that hold the runtime (tkc --bundle) may meet others in one program. */
#ifndef TK_ABI_VERSION

#include <stddef.h>
#include <stdint.h>

/* Grows when a struct, a code or a signature changes. */
#define TK_ABI_VERSION 2
#define TK_MAX_RANK 8

typedef enum tk_dtype {
    TK_BF16 = 0, TK_F16 = 1, TK_F32 = 2, TK_I32 = 3, TK_U32 = 4, TK_I64 = 5, TK_U64 = 6, TK_BOOL = 7,
    TK_E4M3 = 8, TK_E5M2 = 9, TK_I8 = 10, TK_U8 = 11
} tk_dtype;

/* Describes a tensor in device memory; owns nothing and is read during the call only. Strides count elements. */
typedef struct tk_tensor {
    void* data;
    int32_t dtype; /* a tk_dtype */
    int32_t rank;
    int64_t extent[TK_MAX_RANK];
    int64_t stride[TK_MAX_RANK];
} tk_tensor;

typedef enum tk_code {
    TK_OK = 0,
    TK_ARGUMENT = 1,    /* a null pointer, an element type, a rank or an alignment */
    TK_SHAPE = 2,       /* an extent against a dimension, or too large; too many tiles; strides without places */
    TK_REQUIREMENT = 3, /* a `require` of the source */
    TK_OVERLAP = 4,     /* a written tensor shares memory with another, or with itself, or the workspace with one */
    TK_UNSUPPORTED_DEVICE = 5,
    TK_WORKSPACE = 6,   /* too small, missing or not aligned to 256 bytes */
    TK_CUDA = 7         /* the CUDA runtime or driver refused */
} tk_code;

/* `message` names the parameter, what was found and what was expected. It belongs to the calling thread and is
 * valid until that thread calls another entry. Never null. */
typedef struct tk_status {
    int32_t code; /* a tk_code */
    const char* message;
} tk_status;

/* A cudaStream_t; where HIP's headers are for AMD's GPUs, a hipStream_t. */
#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__) || defined(TK_GFX)
typedef struct ihipStream_t* tk_stream;
#else
typedef struct CUstream_st* tk_stream;
#endif

#endif

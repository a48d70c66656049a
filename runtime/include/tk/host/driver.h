// SPDX-License-Identifier: MIT
// Every call of the CUDA runtime and driver that launchers make, one wrapper each; of HIP: driver_hip.h. With TK_SIM the
// simulator answers.
#pragma once

#include "tk/host/status.h"
#include "tk/types/shared_tile.h"
#include "tk/types/tensor_map.h"

#ifdef TK_SIM
#include "tk/sim/engine.h"
#elif !defined(TK_GFX)
#include <cuda.h>
#include <cuda_runtime.h>
#if defined(CUDART_VERSION) && CUDART_VERSION < 12050
#error "generated code needs CUDA 12.5 or later: this one has no cudaGetDriverEntryPointByVersion"
#endif
#endif

namespace tk::host::inline TK_MACHINE {

inline constexpr int max_devices = 64;
inline constexpr int no_code = -1;  // of a file for several targets: none of its parts is compiled for the device

using stream = tk_stream;

#ifdef TK_GFX
/// The device that a number of call::device names.
inline constexpr const char* device_prefix = "gfx";
inline constexpr bool is_amd = true;
#else
inline constexpr const char* device_prefix = "sm_";
inline constexpr bool is_amd = false;
#endif

/// Limits of a device that launchers depend on.
struct device_info {
    int processors;      // streaming multiprocessors
    int shared_bytes;    // shared memory a block may have
    int capability;      // 90 for 9.0, 950 for gfx950
};

/// What a tensor map says, innermost dimension first; strides in bytes, of the dimensions but the innermost.
struct map_description {
    void* data;
    int dtype, rank;
    uint64_t extent[5], stride[4];
    uint32_t box[5];
    swizzle swizzling;
};

struct launch_shape {
    int blocks, threads, shared_bytes;
    host::stream stream;
    bool overlaps = TK_ARCH == 90;  // the kernel waits for the launch before it itself (tk::grid)
};

#ifdef TK_SIM

#ifndef TK_GFX
inline constexpr sim::chip simulated_chip = sim::chip::sm90;
#else
inline constexpr sim::chip simulated_chip = TK_HAS_GFX950 ? sim::chip::gfx950 : sim::chip::gfx942;
#endif

inline tk_status current_device(int& device) {
    device = 0;
    return ok();
}

inline tk_status query_device(int, device_info& info) {
    const sim::host_device device = sim::device(simulated_chip);
    // What is not written for one GPU runs on all from some on: the simulated one is the newest of them.
    info = {device.processors, device.shared_bytes, TK_ARCH != 0 && !TK_HAS_SM90 ? 120 : device.capability};
    return ok();
}

/// The simulator has compiled one part of a file for several targets.
template <auto Kernel>
tk_status query_code(int, int& code) {
#ifdef TK_TARGET
    code = TK_TARGET;
#else
    code = no_code;
#endif
    return ok();
}

inline tk_status zero_element(void*& place) {
    place = sim::zero_element();
    return ok();
}

inline tk_status encode_map(tensor_map& map, const map_description& d) {
    const char* refused = sim::encode_tensor_map(map, d.data, d.dtype, d.rank, d.extent, d.stride, d.box, int(d.swizzling));
    return refused ? failure(TK_CUDA, "cuTensorMapEncodeTiled: %s", refused) : ok();
}

template <auto Kernel>
tk_status allow_shared_bytes(int) { return ok(); }

/// The simulated device lets no cluster wait for room: as many as there are multiprocessors for.
template <auto Kernel, int Cluster>
tk_status query_clusters(int device, int, int, int& clusters) {
    device_info info{};
    const tk_status status = query_device(device, info);
    clusters = info.processors / Cluster;
    return status;
}

/// Runs the grid to its end. Each lane gets the arguments by value, as on the device.
template <auto Kernel, int Cluster = 1, class... Argument>
tk_status launch_kernel(const launch_shape& shape, const Argument&... arguments) {
    const auto body = [&] { Kernel(arguments...); };
    const char* refused = sim::launch({shape.blocks, shape.threads, shape.shared_bytes, Cluster, shape.overlaps, simulated_chip},
                                      [](const void* call) { (*static_cast<decltype(&body)>(call))(); }, &body);
    return refused ? failure(TK_CUDA, "cudaLaunchKernelEx: %s", refused) : ok();
}

#elif !defined(TK_GFX)

/// The runtime's record of a failure is cleared: who has the status would find it again as an error of his own.
inline tk_status cuda_status(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return ok();
    cudaGetLastError();
    return failure(TK_CUDA, "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

inline tk_status current_device(int& device) { return cuda_status(cudaGetDevice(&device), "cudaGetDevice"); }

inline tk_status query_device(int device, device_info& info) {
    int major = 0, minor = 0;
    const auto get = [&](int& value, cudaDeviceAttr attribute) { return cudaDeviceGetAttribute(&value, attribute, device); };
    cudaError_t error = get(info.processors, cudaDevAttrMultiProcessorCount);
    if (error == cudaSuccess) error = get(info.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (error == cudaSuccess) error = get(major, cudaDevAttrComputeCapabilityMajor);
    if (error == cudaSuccess) error = get(minor, cudaDevAttrComputeCapabilityMinor);
    info.capability = major * 10 + minor;
    return cuda_status(error, "cudaDeviceGetAttribute");
}

/// The architecture as which the code of `Kernel` that the driver loaded was compiled: 80 of compute_80, also where it was made from PTX
/// for something newer; no_code if there is none for the current device.
template <auto Kernel>
tk_status query_code(int, int& code) {
    cudaFuncAttributes attributes{};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, Kernel);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
        cudaGetLastError();  // answered
        code = no_code;
        return ok();
    }
    code = attributes.ptxVersion;
    return cuda_status(error, "cudaFuncGetAttributes");
}

/// One in each file, as nvcc has no others where device code is not linked. Inline functions that name it are one function of the program,
/// which takes the zero of one of these files: all hold the same, on the same machines, as TK_MACHINE says.
static __device__ uint4 zero_bytes;

/// Device memory that holds one zero of any type: what the map of an empty tensor describes.
static inline tk_status zero_element(void*& place) { return cuda_status(cudaGetSymbolAddress(&place, zero_bytes), "cudaGetSymbolAddress"); }

inline CUtensorMapDataType map_type(int dtype) {
    switch (dtype) {
        case TK_BF16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        case TK_F16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        case TK_F32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
        case TK_I32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
        case TK_U32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
        case TK_I64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
        case TK_U64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
        default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    }
}

inline CUtensorMapSwizzle map_swizzle(swizzle s) {
    switch (s) {
        case swizzle::b32: return CU_TENSOR_MAP_SWIZZLE_32B;
        case swizzle::b64: return CU_TENSOR_MAP_SWIZZLE_64B;
        case swizzle::b128: return CU_TENSOR_MAP_SWIZZLE_128B;
        default: return CU_TENSOR_MAP_SWIZZLE_NONE;
    }
}

/// How much of memory the cache fetches at a time: two lines, unless rows begin inside of them. Then a box touches one line more than it
/// has, and the line beside that one would be fetched for nothing (a quarter of the time of products of 5000 rows on an H200).
inline CUtensorMapL2promotion fetched_lines(const map_description& d) {
    constexpr uint64_t two_lines = 256;
    uint64_t places = reinterpret_cast<uintptr_t>(d.data);
    for (int i = 0; i < d.rank - 1; ++i) places |= d.stride[i];
    return places % two_lines == 0 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
}

/// cuTensorMapEncodeTiled, found through the runtime, so that nothing links against the driver library.
inline tk_status encode_map(tensor_map& map, const map_description& d) {
    using encode_function = decltype(&cuTensorMapEncodeTiled);
    static void* cached;
    void* entry = __atomic_load_n(&cached, __ATOMIC_ACQUIRE);
    if (!entry) {
        cudaDriverEntryPointQueryResult found{};
        const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
        if (error != cudaSuccess) return cuda_status(error, "cudaGetDriverEntryPointByVersion");
        if (found != cudaDriverEntryPointSuccess || !entry) return failure(TK_CUDA, "the driver has no cuTensorMapEncodeTiled: CUDA 12.0 or later is needed");
        __atomic_store_n(&cached, entry, __ATOMIC_RELEASE);
    }
    const encode_function encode = reinterpret_cast<encode_function>(entry);
    static_assert(sizeof(CUtensorMap) == sizeof(tensor_map));
    const uint32_t step[5] = {1, 1, 1, 1, 1};
    const CUresult result = encode(reinterpret_cast<CUtensorMap*>(&map), map_type(d.dtype), uint32_t(d.rank), d.data, d.extent, d.stride, d.box, step,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, map_swizzle(d.swizzling), fetched_lines(d),
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) return failure(TK_CUDA, "cuTensorMapEncodeTiled: error %d", int(result));
    return ok();
}

template <auto Kernel>
tk_status allow_shared_bytes(int bytes) {
    return cuda_status(cudaFuncSetAttribute(Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
}

template <auto Kernel, int Cluster>
tk_status query_clusters(int, int threads, int shared_bytes, int& clusters) {
    const tk_status status = allow_shared_bytes<Kernel>(shared_bytes);
    if (status.code != TK_OK) return status;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(unsigned(Cluster));
    config.blockDim = dim3(unsigned(threads));
    config.dynamicSmemBytes = size_t(shared_bytes);
    cudaLaunchAttribute blocks{};
    blocks.id = cudaLaunchAttributeClusterDimension;
    blocks.val.clusterDim.x = unsigned(Cluster);
    blocks.val.clusterDim.y = blocks.val.clusterDim.z = 1;
    config.attrs = &blocks;
    config.numAttrs = 1;
    return cuda_status(cudaOccupancyMaxActiveClusters(&clusters, Kernel, &config), "cudaOccupancyMaxActiveClusters");
}

template <auto Kernel, int Cluster = 1, class... Argument>
tk_status launch_kernel(const launch_shape& shape, const Argument&... arguments) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(unsigned(shape.blocks));
    config.blockDim = dim3(unsigned(shape.threads));
    config.dynamicSmemBytes = size_t(shape.shared_bytes);
    config.stream = shape.stream;
    // The kernel's prologue runs under the end of the grid before it.
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &overlap;
    config.numAttrs = shape.overlaps ? 1 : 0;
    return cuda_status(cudaLaunchKernelEx(&config, Kernel, arguments...), "cudaLaunchKernelEx");
}

#else
}  // namespace tk::host

#include "tk/host/driver_hip.h"

namespace tk::host::inline TK_MACHINE {
#endif

/// The limits of `device`, asked for once. Of threads that race the first one writes, the others ask for themselves.
inline tk_status cached_device(int device, device_info& info) {
    enum : int { unknown, writing, known };
    static device_info cache[max_devices];
    static int state[max_devices];
    if (device >= max_devices) return failure(TK_UNSUPPORTED_DEVICE, "device %d: at most %d devices are supported", device, max_devices);
    if (__atomic_load_n(&state[device], __ATOMIC_ACQUIRE) == known) {
        info = cache[device];
        return ok();
    }
    const tk_status status = query_device(device, info);
    int expected = unknown;
    if (status.code != TK_OK || !__atomic_compare_exchange_n(&state[device], &expected, writing, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return status;
    cache[device] = info;
    __atomic_store_n(&state[device], known, __ATOMIC_RELEASE);
    return status;
}

/// How many clusters of `Kernel` run on `device` at once, asked for once. A cluster lies in one of the groups of multiprocessors that a
/// device is made of, and these are of several sizes: there may be room for fewer than its multiprocessors divided by `Cluster`.
template <auto Kernel, int Cluster>
tk_status held_clusters(int device, int threads, size_t shared_bytes, int& clusters) {
    static int cache[max_devices];  // 0: not asked yet
    clusters = __atomic_load_n(&cache[device], __ATOMIC_RELAXED);
    if (clusters != 0) return ok();
    const tk_status status = query_clusters<Kernel, Cluster>(device, threads, int(shared_bytes), clusters);
    if (status.code == TK_OK) __atomic_store_n(&cache[device], clusters, __ATOMIC_RELAXED);
    return status;
}

/// Launches a kernel on `device`; its limit of shared memory is raised on the first launch there. That holds for the context that was
/// current: where another one is, or the device was reset, the launch is refused and the limit raised once more. `Cluster` is the blocks
/// of a cluster that its head says (TK_CLUSTER_KERNEL): the simulator, which sees no heads, is told here.
template <auto Kernel, int Cluster = 1, class... Argument>
tk_status launch(int device, const launch_shape& shape, const Argument&... arguments) {
    static bool raised[max_devices];
    const bool raises = shape.shared_bytes > 48 * 1024, was_raised = raises && __atomic_load_n(&raised[device], __ATOMIC_RELAXED);
    if (raises && !was_raised) {
        const tk_status status = allow_shared_bytes<Kernel>(shape.shared_bytes);
        if (status.code != TK_OK) return status;
        __atomic_store_n(&raised[device], true, __ATOMIC_RELAXED);
    }
    const tk_status status = launch_kernel<Kernel, Cluster>(shape, arguments...);
    if (status.code == TK_OK || !was_raised) return status;
    const tk_status limit = allow_shared_bytes<Kernel>(shape.shared_bytes);
    return limit.code == TK_OK ? launch_kernel<Kernel, Cluster>(shape, arguments...) : limit;
}

}  // namespace tk::host

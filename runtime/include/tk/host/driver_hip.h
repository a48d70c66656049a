// SPDX-License-Identifier: MIT
// The calls of the HIP runtime that launchers make, one wrapper each: what driver.h has of CUDA.
#pragma once

#include <cstdlib>
#include <cstring>

#include "tk/host/status.h"

namespace tk::host::inline TK_MACHINE {

inline tk_status hip_status(hipError_t error, const char* what) {
    if (error == hipSuccess) return ok();
    (void)hipGetLastError();  // cleared: the status has it
    return failure(TK_CUDA, "%s: %s (%s)", what, hipGetErrorString(error), hipGetErrorName(error));
}

inline tk_status current_device(int& device) { return hip_status(hipGetDevice(&device), "hipGetDevice"); }

/// The name of the architecture is "gfx950:sramecc+:xnack-".
inline tk_status query_device(int device, device_info& info) {
    static thread_local hipDeviceProp_t properties;  // several KiB
    hipError_t error = hipGetDeviceProperties(&properties, device);
    if (error == hipSuccess) error = hipDeviceGetAttribute(&info.shared_bytes, hipDeviceAttributeMaxSharedMemoryPerBlock, device);
    if (error != hipSuccess) return hip_status(error, "hipGetDeviceProperties");
    info.processors = properties.multiProcessorCount;
    info.capability = std::strncmp(properties.gcnArchName, "gfx", 3) == 0 ? std::atoi(properties.gcnArchName + 3) : 0;
    return ok();
}

/// The driver loads what is compiled for the device's own architecture and nothing else.
template <auto Kernel>
tk_status query_code(int device, int& code) {
    device_info info{};
    const tk_status status = query_device(device, info);
    code = info.capability;
    return status;
}

/// AMD has no tensor copy engine: nothing asks for a map.
inline tk_status zero_element(void*& place) {
    place = nullptr;
    return failure(TK_CUDA, "AMD has no tensor maps");
}
inline tk_status encode_map(tensor_map&, const map_description&) { return failure(TK_CUDA, "AMD has no tensor maps"); }

template <auto Kernel>
tk_status allow_shared_bytes(int bytes) {
    return hip_status(hipFuncSetAttribute(reinterpret_cast<const void*>(Kernel), hipFuncAttributeMaxDynamicSharedMemorySize, bytes), "hipFuncSetAttribute");
}

/// AMD has no clusters: nothing asks how many there is room for.
template <auto Kernel, int Cluster>
tk_status query_clusters(int, int, int, int&) { return failure(TK_CUDA, "AMD has no clusters"); }

namespace detail {
/// The parameters of a kernel, which may differ from the arguments by conversions.
template <class... Parameter, class... Argument>
hipError_t launch_as(void (*kernel)(Parameter...), const launch_shape& shape, const Argument&... arguments) {
    const auto call = [&](std::remove_const_t<Parameter>... values) {
        void* places[] = {static_cast<void*>(&values)..., nullptr};
        return hipLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(unsigned(shape.blocks)), dim3(unsigned(shape.threads)), places,
                               size_t(shape.shared_bytes), shape.stream);
    };
    return call(arguments...);
}
}  // namespace detail

template <auto Kernel, int Cluster = 1, class... Argument>
tk_status launch_kernel(const launch_shape& shape, const Argument&... arguments) {
    if (int64_t(shape.blocks) * shape.threads >= int64_t(1) << 32)
        return failure(TK_CUDA, "hipLaunchKernel: %d blocks of %d threads, but HIP counts fewer than 2^32 threads", shape.blocks, shape.threads);
    return hip_status(detail::launch_as(Kernel, shape, arguments...), "hipLaunchKernel");
}

}  // namespace tk::host

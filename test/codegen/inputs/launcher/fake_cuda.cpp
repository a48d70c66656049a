// SPDX-License-Identifier: MIT
#include "fake_cuda.h"

#include <cuda.h>

#include <mutex>
#include <set>
#include <tuple>

namespace {

std::mutex guard;
thread_local cudaError_t last = cudaSuccess;
std::set<std::tuple<int, int, const void*>> raised;  // device, context, kernel

cudaError_t Answer(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

CUresult Encode(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  const std::lock_guard lock(guard);
  ++fake::the().encoded;
  return CUDA_SUCCESS;
}

}  // namespace

fake::state& fake::the() {
  static state the;
  return the;
}

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = fake::the().device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const int capability = fake::the().capability[device];
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = 132; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = capability == 90 ? 232448 : 166912; break;
    case cudaDevAttrComputeCapabilityMajor: *value = capability / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = capability % 10; break;
    default: return Answer(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int) {
  const std::lock_guard lock(guard);
  ++fake::the().limits_raised;
  raised.emplace(fake::the().device, fake::the().context, kernel);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void**) {
  const std::lock_guard lock(guard);
  fake::state& state = fake::the();
  if (state.refuse != cudaSuccess) return Answer(state.refuse);
  const bool is_raised = raised.count({state.device, state.context, kernel}) > 0;
  if (config->dynamicSmemBytes > 48 * 1024 && !is_raised) return Answer(cudaErrorInvalidValue);
  ++state.launches;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** entry, unsigned, unsigned long long, cudaDriverEntryPointQueryResult* found) {
  const bool is_there = !fake::the().without_driver;
  *entry = is_there ? reinterpret_cast<void*>(&Encode) : nullptr;
  *found = is_there ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}
const char* cudaGetErrorName(cudaError_t error) { return error == cudaErrorInvalidValue ? "cudaErrorInvalidValue" : "cudaErrorOther"; }
const char* cudaGetErrorString(cudaError_t) { return "refused"; }
cudaError_t cudaGetSymbolAddress(void** place, const void*) {
  *place = nullptr;
  return cudaSuccess;
}

// What the stubs of kernels call, which nobody does here.
unsigned __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { return 1; }
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) { return Answer(cudaErrorInvalidValue); }

}  // extern "C"

// SPDX-License-Identifier: MIT
// Launchers on a HIP runtime that only keeps account: which part of a file is taken, and what is refused.
// spec: ab-14
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "k.h"

namespace {

const char* architecture = "gfx942:sramecc+:xnack-";
int device = 0, launches = 0;
std::set<const void*> kernels;
int failures = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

}  // namespace

extern "C" {
hipError_t hipGetDevice(int* number) {
  *number = device;
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
  std::strcpy(properties->gcnArchName, architecture);
  properties->multiProcessorCount = 304;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t, int) {
  *value = 65536;
  return hipSuccess;
}
hipError_t hipGetLastError() { return hipSuccess; }
hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int) { return hipSuccess; }
/// As a runtime would that takes the product of blocks and threads as 32 bits.
hipError_t hipLaunchKernel(const void* kernel, dim3, dim3, void**, size_t, hipStream_t) {
  ++launches;
  kernels.insert(kernel);
  return hipSuccess;
}
const char* hipGetErrorString(hipError_t) { return "refused"; }
const char* hipGetErrorName(hipError_t) { return "hipErrorOther"; }
hipError_t __hipPopCallConfiguration(dim3*, dim3*, size_t*, hipStream_t*) { return hipSuccess; }
void** __hipRegisterFatBinary(const void*) { return nullptr; }
void __hipUnregisterFatBinary(void**) {}
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*) {}
}

namespace {

tk_status Call(int64_t rows) {
  tk_tensor X = {}, Y = {};
  X.data = reinterpret_cast<void*>(uint64_t(1) << 32);
  Y.data = reinterpret_cast<void*>(uint64_t(1) << 40);
  X.dtype = Y.dtype = TK_F32;
  X.rank = Y.rank = 1;
  X.extent[0] = Y.extent[0] = rows;
  X.stride[0] = Y.stride[0] = 1;
  return moves(&X, &Y, nullptr, 0, nullptr);
}

}  // namespace

int main() {
  Expect(Call(1000).code == TK_OK && launches == 1, "a launch");
  device = 1, architecture = "gfx950:sramecc+:xnack-";
  Expect(Call(1000).code == TK_OK && launches == 2 && kernels.size() == 2, "each device has a part of its own");
  device = 2, architecture = "gfx90a:sramecc+:xnack-";
  const tk_status other = Call(1000);
  Expect(other.code == TK_UNSUPPORTED_DEVICE && std::strstr(other.message, "gfx942, gfx950"), "a device that the file is not for");
  device = 0;
  const tk_status many = Call(int64_t(1) << 26);
  Expect(many.code == TK_CUDA && std::strstr(many.message, "2^32") && launches == 2, "as many threads as HIP does not count");
  Expect(Call((int64_t(1) << 24) - 1).code == TK_OK, "and nearly as many");
  if (failures == 0) std::puts("right");
  return failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// The promises of lang-spec/abi.md that the host alone keeps, on a CUDA runtime that only keeps account.
// spec: ab-3, ab-5, ab-6, ab-8, ab-9, ab-10
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "fake_cuda.h"
#include "launcher.h"

namespace {

int failures = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

tk_tensor Make(uint64_t address, std::vector<int64_t> extent, std::vector<int64_t> stride) {
  tk_tensor t = {};
  t.data = reinterpret_cast<void*>(address);
  t.dtype = TK_F32;
  t.rank = int(extent.size());
  for (size_t d = 0; d < extent.size(); ++d) t.extent[d] = extent[d], t.stride[d] = stride[d];
  return t;
}

constexpr uint64_t kPlace = uint64_t(1) << 32, kApart = uint64_t(1) << 24;

/// moves() of 256 x 256 elements; not aligned, X needs a copy in the workspace.
struct Moves {
  tk_tensor X, Y = Make(kPlace + kApart, {256, 256}, {256, 1}), S = Make(kPlace + 2 * kApart, {256}, {1});
  explicit Moves(uint64_t offset = 0) : X(Make(kPlace + offset, {256, 256}, {256, 1})) {}
  tk_status Call(uint64_t workspace = 0, size_t bytes = 0) const { return moves(&X, &Y, &S, reinterpret_cast<void*>(workspace), bytes, nullptr); }
};

/// Runs first, so that many threads find nothing cached.
void ManyThreads() {
  std::vector<std::thread> threads;
  std::vector<int> codes(16, -1);
  for (int& code : codes) threads.emplace_back([&code] { code = Moves().Call().code; });
  for (std::thread& thread : threads) thread.join();
  for (const int code : codes) Expect(code == TK_OK, "ab-8: first calls from many threads");
  Expect(fake::the().launches == 32, "each preset and each kernel is launched once");
}

void Devices() {
  fake::state& fake = fake::the();
  const int raised = fake.limits_raised;
  Expect(Moves().Call().code == TK_OK && fake.limits_raised == raised, "ab-8: what is known is not asked again");
  fake.device = 1;
  Expect(Moves().Call().code == TK_OK && fake.limits_raised == raised + 1, "ab-8: another device has limits of its own");
  fake.device = 2;
  const int launches = fake.launches;
  const tk_status status = Moves().Call();
  Expect(status.code == TK_UNSUPPORTED_DEVICE && fake.launches == launches, "ab-6: a device that the file is not for");
  Expect(std::strstr(status.message, "compiled for sm_90a, device 2 is sm_80"), "and its name");
  fake.device = 0;
  fake.context = 1;
  Expect(Moves().Call().code == TK_OK, "ab-8: another context of the same device, or the device after a reset");
  fake.context = 0;
}

void Errors() {
  fake::state& fake = fake::the();
  fake.refuse = cudaErrorInvalidResourceHandle;
  const tk_status status = Moves().Call();
  fake.refuse = cudaSuccess;
  Expect(status.code == TK_CUDA && std::strstr(status.message, "cudaLaunchKernelEx: refused"), "TK_CUDA has the runtime's reason");
  Expect(cudaGetLastError() == cudaSuccess, "ab-4: an error that the status has is not left for the caller's next question");
  int value = 0;
  cudaDeviceGetAttribute(&value, cudaDevAttrMaxPitch, 0);
  Expect(Moves().Call().code == TK_OK && cudaGetLastError() == cudaErrorInvalidValue, "and one of the caller's own is neither reported nor lost");
}

void Workspace() {
  fake::state& fake = fake::the();
  const Moves odd(4);
  const size_t bytes = moves_workspace(&odd.X, &odd.Y, &odd.S);
  const uint64_t free = kPlace + 3 * kApart;
  const auto refused = [&](uint64_t workspace, size_t given, int code, const char* word, const char* what) {
    const int launches = fake.launches;
    const tk_status status = odd.Call(workspace, given);
    const bool right = status.code == code && std::strstr(status.message, word) && fake.launches == launches;
    if (!right) std::printf("  code %d, message: %s\n", status.code, status.message);
    Expect(right, what);
  };
  Expect(bytes == 256 * 256 * 4, "ab-9: what a copy takes");
  refused(0, bytes, TK_WORKSPACE, "262144 are needed", "ab-9: no workspace");
  refused(free, bytes - 1, TK_WORKSPACE, "262143 bytes, 262144 are needed", "ab-9: too little");
  refused(free + 128, bytes, TK_WORKSPACE, "not aligned", "ab-9: not aligned");
  refused(~uint64_t(255), bytes, TK_WORKSPACE, "leads out of the address space", "ab-9: at the end of all addresses");
  refused(kPlace + kApart - 256, bytes, TK_OVERLAP, "`Y`", "ab-10: under an output");
  refused(kPlace + 2 * kApart + 768, bytes, TK_OVERLAP, "`S`", "ab-10: under another");
  refused(kPlace, bytes, TK_OVERLAP, "`X`", "ab-10: under an input");
  Expect(odd.Call(free, bytes).code == TK_OK && odd.Call(kPlace + 2 * kApart - bytes, bytes).code == TK_OK, "ab-9: enough and apart");
}

/// counts(): broadcast inputs have any number of elements.
tk_status Counts(int64_t a, int64_t b, int64_t c, int64_t ab) {
  const tk_tensor X = Make(kPlace, {a, b, c}, {0, 0, 0}), Y = Make(kPlace + 256, {ab}, {0}), Z = Make(kPlace + kApart, {a}, {1});
  return counts(&X, &Y, &Z, nullptr, 0, nullptr);
}

void Sizes() {
  fake::state& fake = fake::the();
  const auto refused = [&](tk_status status, int code, const char* word, const char* what) {
    const bool right = status.code == code && std::strstr(status.message, word);
    if (!right) std::printf("  code %d, message: %s\n", status.code, status.message);
    Expect(right, what);
  };
  const int launches = fake.launches;
  refused(Counts(65536, 65537, 1, 65536), TK_SHAPE, "A * B is 4295032832", "ab-6: an extent that 32 bits do not hold");
  refused(Counts(1024, 1024, 4096, 1024 * 1024), TK_SHAPE, "tiles", "ab-5: too many tiles are seen before the preset");
  const tk_tensor X = Make(kPlace, {1 << 22, 1 << 21, 1 << 21}, {0, 0, 0}), Z = Make(kPlace + kApart, {1 << 22}, {1});
  refused(many(&X, &Z, nullptr, 0, nullptr), TK_SHAPE, "tiles", "more than 64 bits count");
  refused(Counts(1 << 22, 1 << 8, 0, int64_t(1) << 30), TK_REQUIREMENT, "A * B * C > 8", "ab-6: a requirement");
  Expect(fake.launches == launches, "ab-5: what is refused has launched nothing");
  Moves far;
  far.X.stride[0] = int64_t(1) << 56;
  refused(far.Call(), TK_SHAPE, "`X` lead out of the address space", "ab-3: strides that no memory has");
  Expect(moves_workspace(&far.X, &far.Y, &far.S) == 0, "ab-9: nothing for a call that would fail");
  tk_tensor row = Make(kPlace + 4, {1, 1}, {INT64_MAX, INT64_MIN}), to = Make(kPlace + 64, {1, 1}, {INT64_MIN, INT64_MAX}), sum = Make(kPlace + 128, {1}, {INT64_MAX});
  const size_t bytes = moves_workspace(&row, &to, &sum);
  Expect(moves(&row, &to, &sum, reinterpret_cast<void*>(kPlace + kApart), bytes, nullptr).code == TK_OK, "ab-3: strides of one element may be anything");
  row.extent[1] = to.extent[1] = 0;
  Expect(moves(&row, &to, &sum, nullptr, 0, nullptr).code == TK_OK, "ab-3: so may those of no elements");
}

void NoDriver() {
  fake::the().without_driver = true;
  Expect(Moves().Call().code == TK_OK, "what was found once is known");
}

}  // namespace

int main() {
  ManyThreads();
  Devices();
  Errors();
  Workspace();
  Sizes();
  NoDriver();
  if (failures == 0) std::puts("right");
  return failures == 0 ? 0 : 1;
}

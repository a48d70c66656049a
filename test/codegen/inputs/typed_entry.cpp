// SPDX-License-Identifier: MIT
// The C entry that the typed one calls is defined here and looks at what arrives.
#include "typed_entry.h"

#include <cstdio>

namespace {
tk_tensor seen[2];
float seen_factor;
void* seen_workspace;
size_t seen_bytes;
CUstream_st* seen_stream;
}  // namespace

extern "C" tk_status scaled(const tk_tensor* X, float factor, const tk_tensor* Y, void* workspace, size_t bytes, CUstream_st* stream) {
  seen[0] = *X, seen[1] = *Y, seen_factor = factor;
  seen_workspace = workspace, seen_bytes = bytes, seen_stream = stream;
  return {TK_SHAPE, "from the C entry"};
}

extern "C" size_t scaled_workspace(const tk_tensor* X, float factor, const tk_tensor* Y) {
  return X->extent[0] == 2 && Y->stride[0] == 12 && factor == 0.5f ? 77 : 0;
}
extern "C" tk_status widened(const tk_tensor* X, const tk_tensor* Z, const tk_tensor* B, const tk_tensor* Y, void*, size_t, CUstream_st*) {
  const bool right = X->dtype == TK_E4M3 && Z->dtype == TK_E5M2 && B->dtype == TK_BOOL && Y->dtype == TK_F32;
  return {right ? TK_OK : TK_ARGUMENT, ""};
}

#ifdef WRONG
using Element = tk::bf16;
#else
using Element = tk::f16;
#endif

int main() {
  static Element x[2 * 3 * 8], y[2 * 3 * 4];
  static char workspace[16];
  CUstream_st* const stream = reinterpret_cast<CUstream_st*>(workspace);
  const tk_status status =
      tk::scaled(tk::tensor<Element, 3>{x, {2, 3, 4}, {24, 8, 1}}, 0.5f, tk::tensor<Element, 3>{y, {2, 3, 4}, {12, 4, 1}}, workspace, 16, stream);
  bool right = status.code == TK_SHAPE && seen_factor == 0.5f && seen_workspace == workspace && seen_bytes == 16 && seen_stream == stream;
  right = right && tk::scaled_workspace(tk::tensor<Element, 3>{x, {2, 3, 4}, {24, 8, 1}}, 0.5f, tk::tensor<Element, 3>{y, {2, 3, 4}, {12, 4, 1}}) == 77;
  const int64_t extent[] = {2, 3, 4}, stride[2][3] = {{24, 8, 1}, {12, 4, 1}};
  for (int t = 0; t < 2; ++t) {
    right = right && seen[t].data == (t == 0 ? x : y) && seen[t].dtype == TK_F16 && seen[t].rank == 3;
    for (int d = 0; d < 3; ++d) right = right && seen[t].extent[d] == extent[d] && seen[t].stride[d] == stride[t][d];
  }
  static tk::e4m3 narrow[8];
  static tk::e5m2 wide[8];
  static bool chosen[8];
  static float result[8];
  const tk_status types = tk::widened(tk::tensor<tk::e4m3, 1>{narrow, {8}, {1}}, tk::tensor<tk::e5m2, 1>{wide, {8}, {1}},
                                      tk::tensor<bool, 1>{chosen, {8}, {1}}, tk::tensor<float, 1>{result, {8}, {1}}, nullptr, 0, stream);
  right = right && types.code == TK_OK;
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}

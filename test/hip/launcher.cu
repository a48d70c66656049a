// SPDX-License-Identifier: MIT
// A launcher for AMD as tkc writes them, host and device code: the compiler must take it without a warning.
#include LAUNCHER_FOR

#include "tk/host.h"
#include "tk/host/launcher.h"

namespace {

using namespace tk;

TK_KERNEL(256, 2)
scale_kernel(const tensor<const float, 1> X, const tensor<float, 1> Y, float scale) {
    const int i = block::index() * 256 + thread::index();
    if (i < Y.extent[0]) arch::store_global(Y.data + i, scale * X.element(i));
}

}  // namespace

extern "C" size_t scale_workspace(const tk_tensor* X, const tk_tensor*, float) { return tk::host::pieces_bytes(*X); }

extern "C" tk_status scale(const tk_tensor* X, const tk_tensor* Y, float scale, void* workspace, size_t bytes, hipStream_t stream) {
    tk::host::launcher call("scale", stream);
    call.tensor("X", X, TK_F32, 1);
    call.tensor("Y", Y, TK_F32, 1);
    const int N = call.dimension(X, 0);
    call.extent("Y", Y, 0, "N", N);
    call.written("Y", Y);
    call.disjoint("Y", Y, "X", X);
    call.device(TK_GFX, 65536);
    call.workspace(workspace, bytes, tk::host::pieces_bytes(*X));
    const tk_tensor packed = call.pieces(X);
    call.preset<float>(Y, 0.0f);
    if (call.failed() || N == 0) return call.status();
    return tk::host::launch<scale_kernel>(0, {tk::cdiv(N, 256), 256, 65536, stream}, tk::host::as_tensor<const float, 1>(packed),
                                          tk::host::as_tensor<float, 1>(*Y), scale);
}

/* SPDX-License-Identifier: MIT
 * The entry of scaled.tk on the host, as a caller in Python sees it. */
#include "scaled.h"

static size_t needed;

size_t scaled_workspace(const tk_tensor* X, const tk_tensor* Y, float factor, uint64_t times, bool is_on) {
    (void)Y, (void)factor, (void)times, (void)is_on;
    return needed = X->extent[0] > 1 ? 512 : 0;
}

tk_status scaled(const tk_tensor* X, const tk_tensor* Y, float factor, uint64_t times, bool is_on, void* workspace, size_t workspace_bytes,
                 tk_stream stream) {
    tk_status bad_type = {TK_ARGUMENT, "scaled: X: expected f32"}, bad_shape = {TK_SHAPE, "scaled: Y: not as X"}, none = {TK_WORKSPACE, "scaled: no workspace"}, ok = {TK_OK, ""};
    if (X->dtype != TK_F32 || Y->dtype != TK_F32 || X->rank != 2 || Y->rank != 2) return bad_type;
    if (X->extent[0] != Y->extent[0] || X->extent[1] != Y->extent[1]) return bad_shape;
    if (workspace_bytes != needed || (needed != 0) != (workspace != NULL) || stream != (tk_stream)0x123456789abc) return none;
    for (int64_t m = 0; m < X->extent[0]; ++m)
        for (int64_t n = 0; n < X->extent[1]; ++n)
            ((float*)Y->data)[m * Y->stride[0] + n * Y->stride[1]] =
                ((const float*)X->data)[m * X->stride[0] + n * X->stride[1]] * (is_on ? factor * (float)times : 1);
    return ok;
}

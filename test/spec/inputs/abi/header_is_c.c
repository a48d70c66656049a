/* SPDX-License-Identifier: MIT
 * Read by a C compiler only: the types of the entries are the promised ones. */
#include "a.h"

static tk_status (*const entry)(const tk_tensor*, float, int32_t, uint32_t, int64_t, uint64_t, bool, const tk_tensor*, void*, size_t,
                                tk_stream) = every_scalar;
static size_t (*const query)(const tk_tensor*, float, int32_t, uint32_t, int64_t, uint64_t, bool, const tk_tensor*) = every_scalar_workspace;

int main(void) { return entry == 0 || query == 0; }

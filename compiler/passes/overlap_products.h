// SPDX-License-Identifier: MIT
// A matrix unit that works beside its warps is idle while these compute between two products of a loop. Where the second product
// adds to a tile that only this loop's later iterations need, it is done one iteration later, behind the first product of that one,
// so that the unit has work while the warps compute:
//
//     for j = lo to hi                       becomes     if lo < hi
//       s = x @ receive ks                                 s = x @ receive ks;  p = f(s)
//       p = f(s)                                         for j = lo + step to hi
//       acc = acc * g(s)                                   s = x @ receive ks
//       acc += p @ receive vs                              acc += p @ receive vs        of the iteration before
//                                                          q = f(s);  acc = acc * g(s);  p = q
//                                                        if lo < hi
//                                                          acc += p @ receive vs
//
// (software pipelining by one iteration; the form of FlashAttention-3, Shah et al. 2024). Both products begin and end within one
// iteration, as ptxas wants it: it serialises what is in flight over the back edge of a loop. What touches `acc` or `p` stands
// last.
//
// Where the first products read the slot of the second one, too, it is kept an iteration longer: `receive ks kept`, and in the next
// iteration `receive ks previous` in front of the second product, behind which it goes back.
//
// Only loops whose body is a straight line, whose first products need nothing that the loop changes, and whose slots are filled by
// copies: those of the second product, which are received later than those of the first, have to be two, or three where one is
// kept: else none is filled meanwhile (dQ of attention, 128 columns: 477 TFLOPS for 722, H200). And only where the registers
// suffice for `p` beside what the next iteration computes.
//
// Where there is no first product, and `p` is computed from what is in shared memory, the same is done if the product outlasts
// that.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Whether a product `acc += p @ v` takes longer than to compute p from shared memory, about: that takes as long for few columns as
/// for many, and instances take turns at the unit by themselves.
bool OutlastsOperand(const ir::Kernel& kernel, const ir::Op& product);

Result<void> OverlapProducts(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

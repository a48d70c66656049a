// SPDX-License-Identifier: MIT
// The reference interpreter: executes the typed tree of a kernel with plain loops and exact semantics. It is the oracle
// of every test: sections in order, blocks in grid order, each block a network of workers (block.h); sums of a reduction
// or product are taken in double and rounded once, which is the most exact of the orders that the language leaves open.
#pragma once

#include <functional>

#include "compiler/interp/faults.h"
#include "compiler/interp/launch.h"
#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::interp {

/// kDropped: what is subtracted is added, and tiles are not negated. On the inputs' absolute values that gives the sum of the
/// magnitudes of what a result is made of, which its rounding errors are measured by. Numbers keep their signs: -inf is what a
/// maximum begins with.
enum class Signs { kKept, kDropped };

/// kZero: every subnormal number that may be taken for a zero (se-8) is one, but for sums in the memory of a tensor.
enum class Subnormals { kKept, kZero };

/// Runs `kernel` on `arguments` as they stand; tensors are changed in place. A failure (arguments that do not fit, a
/// requirement that does not hold, a deadlock, a division by zero) is in `diagnostics`; tensors are then unspecified,
/// but untouched if the fault was found before the first grid section. `measures`, if given, tells of the arithmetic.
Result<void> Interpret(const typed::Kernel& kernel, Arguments& arguments, Diagnostics& diagnostics, Signs signs = Signs::kKept,
                       Measures* measures = nullptr, Subnormals subnormals = Subnormals::kKept);

/// What the launcher chooses ([sc-3], [sc-25]): the first kernel whose `when` holds; if it has a cost, the cheapest of those for
/// which that is so, of it and the kernels with costs directly behind it. Null if none holds, or if there is a fault. `launch_of`
/// gives dims, launch scalars and what else is known of the arguments.
const typed::Kernel* Choose(const typed::Entry& entry, const std::function<Launch(const typed::Kernel&)>& launch_of,
                            Faults& faults);

/// Choose for `arguments`; reports if no kernel is for them.
Result<const typed::Kernel*> ChooseKernel(const typed::Entry& entry, Arguments& arguments, Diagnostics& diagnostics);

/// ChooseKernel, then Interpret.
Result<void> Interpret(const typed::Entry& entry, Arguments& arguments, Diagnostics& diagnostics, Signs signs = Signs::kKept,
                       Measures* measures = nullptr, Subnormals subnormals = Subnormals::kKept);

}  // namespace tkc::interp

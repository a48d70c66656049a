// SPDX-License-Identifier: MIT
// The certificate: a proof, in every compile, that the schedule-level program of a kernel neither hangs nor races, whatever its
// loops and conditions do. lang-spec/certificate.md states the theorem, the abstraction and why it suffices.
//
// Users write no synchronisation, so a proof that fails on a .tk file is a fault of tkc found in time; it is reported as an error
// with a trace of .tk lines. What cannot be decided is an error as well, never a pass.
#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/target/target.h"

namespace tkc::certify {

/// What was proved of one kernel, and from what.
struct Certificate {
  std::string kernel;
  std::string text;  // readable; ends with a line break
};

/// False, and reported, when something does not hold. `certificate` may be null: then it is not proved either that no counted wait
/// is for more than is needed, which makes a kernel slow, not wrong.
bool Certify(const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics, Certificate* certificate);

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// What every kernel of the IR must satisfy between passes (driver/pass_runner.h says when it is checked): names defined before use,
// shapes and places of operands, operations of the level, everything named exists, each operation and declaration by itself is one
// that the target has, and so is what a launch asks for. What they do to each other (places, registers, bytes, order) is no matter
// of form: the certificate proves it. A fault is a fault of the compiler, or of an IR text given to it, never of the .tk source.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::ir {

enum class Level : uint8_t {
  kTile,      // from from_ast to assign_roles: no places
  kLowering,  // between: operations of both levels
  kSchedule,  // after the last pass: only what is printed
};

struct Fault {
  std::string message;  // names the worker and the operation
  Span span;
};

/// All faults, in program order. `target`: for the limits (null: they are not checked).
std::vector<Fault> Verify(const Kernel& kernel, Level level, const Target* target = nullptr);

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
// The text of the IR, both levels. Everything but spans is in it, and Parse (parse.h) reads it back: Print(Parse(text)) == text.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace tkc::ir {

std::string Print(const Module& module);
std::string Print(const Kernel& kernel);
/// One operation on one line (its regions as `{ ... }`), for messages.
std::string PrintLine(const Kernel& kernel, const Op& op);
/// `f32[64, 256]`, `smem transposed bf16[64, 128]`.
std::string ToString(const Type& type);

}  // namespace tkc::ir

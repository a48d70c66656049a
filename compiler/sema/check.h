// SPDX-License-Identifier: MIT
// The checker: syntax trees to the typed tree (typed.h), kernel by kernel, once for each instance and schedule set.
//
// A kernel is elaborated, not only checked: compile-time parameters become numbers, functions are inlined, indices become
// ranges of elements. What is wrong in the same way under several schedule sets is reported once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/syntax/ast.h"

namespace tkc {

/// `-D NAME=value`: a compile-time parameter, `split`, `depth` or `cluster`. Beats schedule sets and instances.
struct Define {
  std::string name;
  ast::ExprPtr value;   // ParseExpression of the text behind `=`
  Span span = kNoSpan;  // of the name
};

struct CheckOptions {
  std::vector<Define> defines;
  std::string target = "sm_90a";  // schedule sets `for` other targets are left out
};

/// Behind what is reported for the kernel that is compiled where no set's condition holds.
inline constexpr std::string_view kInDefaults = "in the kernel's own defaults, which run where no schedule set's condition holds";

/// Kernels, instances and schedule sets of files[0], with the functions of all files. Reports every error it finds;
/// fails if there was one.
Result<typed::Program> Check(const ast::Program& program, const CheckOptions& options, Diagnostics& diagnostics);

}  // namespace tkc

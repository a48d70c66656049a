// SPDX-License-Identifier: MIT
// Names that nothing in sight has, and what may have been meant: a slip, a habit of another language, a value of another worker.
#pragma once

#include <string>
#include <string_view>

#include "compiler/sema/scope.h"
#include "compiler/support/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace tkc::sema {

/// What a name stands for where nothing in sight has it.
enum class NameUse : uint8_t { kValue, kPipe, kVar };

/// A place in the source: what names there are, and what stands around it.
struct Sight {
  const Scope& scope;
  bool in_define = false;  // in a value that `-D` gives
  bool in_fn = false;
  const ast::GridSection* section = nullptr;
  const ast::WorkerDecl* worker = nullptr;  // null outside of workers; else of the section
  std::string index{};  // what runs over the axis that the name is an index of; "" if it is none, or nothing does
};

void ReportUnknownName(const std::string& name, Span span, NameUse use, const Sight& sight, Diagnostics& diagnostics);

/// `tl.dot(..)`, `torch.exp(x)`: reported by what the function is called here; false if the base is no such name.
bool ReportModule(const ast::MethodExpr& expr, const Scope& scope, Diagnostics& diagnostics);

/// A function of builtin.def, or the name of an element type.
bool IsStandardFunction(std::string_view name);
/// One of these that works on each element for itself, also on scalars.
bool IsOfElements(std::string_view name);
/// One of these that a file may have a `fn` of its own in place of.
bool IsMadeOfOthers(std::string_view name);

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/driver/suggest_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/syntax/source_text.h"

namespace tkc {
namespace {

/// Whether a tensor has as many elements along an axis as the parameter of the kernel declared there says: another value is another
/// problem.
bool IsExtent(const ast::Program& program, Span declaration, const std::string& parameter) {
  const auto is_parameter = [&](const ast::ExprPtr& dim) { return dim && ast::SourceText(*dim) == parameter; };
  for (const ast::File& file : program.files) {
    for (const ast::KernelDecl& decl : file.kernels) {
      if (decl.head_span != declaration) continue;
      for (const ast::Param& param : decl.params) {
        if (std::any_of(param.type->dims.begin(), param.type->dims.end(), is_parameter)) return true;
      }
    }
  }
  return false;
}

}  // namespace

void SuggestValues(const ast::Program& program, const std::vector<const ir::Kernel*>& failed, const FitsWithValue& fits_with,
                   Diagnostics& diagnostics) {
  constexpr int64_t kSmall = 8;
  const auto& all = diagnostics.All();
  const auto overflow = std::ranges::find_if(all, &Diagnostic::depends_on_sizes);
  if (overflow == all.end()) return;
  std::string ways;
  std::map<std::string, int64_t> parameters;
  for (const ir::Kernel* kernel : failed) {
    for (const typed::StaticValue& each : kernel->bindings) {
      if (!each.is_bool && !IsExtent(program, kernel->declaration, each.name)) parameters.emplace(each.name, each.number);
    }
  }
  for (const auto& [name, value] : parameters) {
    const int64_t least = value < kSmall ? 1 : kSmall, most = value < kSmall ? kSmall : value;
    int64_t other = value;
    bool fits = false;
    while (!fits && other % 2 == 0 && other / 2 >= least) fits = fits_with(name, other /= 2);
    if (!fits) other = value;
    while (!fits && other > 0 && other * 2 <= most) fits = fits_with(name, other *= 2);
    if (fits) ways += fmt::format("{}`{} = {}` instead of {}", ways.empty() ? "it fits with " : ", or with ", name, other, value);
  }
  if (!ways.empty()) diagnostics.Again(static_cast<size_t>(overflow - all.begin())).Help(ways);
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quotients.h"
#include "compiler/support/internal_error.h"

namespace tkc::codegen {
namespace {

bool HasBodyOf(const ir::Cost& a, const ir::Cost& b) {
  const auto have_same_name = [](const auto& x, const auto& y) { return x.first == y.first; };
  const auto are_same = [](const auto& x, const auto& y) { return x.first == y.first && symbolic::IsSameTree(x.second, y.second); };
  return std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), have_same_name) &&
         std::equal(a.lets.begin(), a.lets.end(), b.lets.begin(), b.lets.end(), are_same) && symbolic::IsSameTree(a.value, b.value);
}

bool Mentions(const ir::Cost& cost, const std::string& param) {
  return symbolic::Mentions(cost.value, param) ||
         std::any_of(cost.lets.begin(), cost.lets.end(), [&](const auto& let) { return symbolic::Mentions(let.second, param); });
}

}  // namespace

CostFunctions::CostFunctions(const ir::Module& module, const ir::Entry& entry) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(module.kernels.begin(), module.kernels.end(),
                       [&](const ir::Kernel& k) { return KernelFunction(k) == name; }) ||
           std::any_of(functions_.begin(), functions_.end(), [&](const Function& function) { return function.name == name; });
  };
  for (const std::vector<int>& alternative : entry.alternatives) {
    const std::optional<ir::Cost>& cost = FirstKernel(module, alternative).cost;
    if (!cost || !cost->IsOfFunction()) continue;
    const auto known = std::find_if(functions_.begin(), functions_.end(),
                                    [&](const Function& function) { return HasBodyOf(*function.calls.front(), *cost); });
    if (known != functions_.end()) {
      known->calls.push_back(&*cost);
      continue;
    }
    std::string name = Mangle(entry.name + "_cost_by_" + cost->function);
    while (is_taken(name)) name += '_';
    functions_.push_back({std::move(name), {&*cost}});
  }
}

void CostFunctions::Emit(const ScalarPrinter& host, const SourceManager& sources, CodeWriter& out) const {
  for (const Function& function : functions_) {
    EmitComment(*function.calls.front(), sources, out);
    EmitFunction(function, host, out);
  }
}

/// The one of the source.
void CostFunctions::EmitComment(const ir::Cost& cost, const SourceManager& sources, CodeWriter& out) {
  const std::vector<std::string> lines = Documentation(cost.declaration, sources);
  if (lines.empty()) return out.Comment(fmt::format("What schedules cost: the function `{}` of the source.", cost.function));
  for (const std::string& line : lines) out.Comment(line);
}

void CostFunctions::EmitFunction(const Function& function, const ScalarPrinter& host, CodeWriter& out) {
  const ir::Cost& cost = *function.calls.front();
  ScalarPrinter printer(ScalarPrinter::Place::kHost);
  std::vector<std::string> params;
  for (size_t i = 0; i < cost.args.size(); ++i) {
    const std::string& param = cost.args[i].first;
    params.push_back(Mentions(cost, param) ? "tk::index " + Mangle(param) : "tk::index");
    const auto is_non_negative = [&](const ir::Cost* call) { return host.IsNonNegative(call->args[i].second); };
    if (std::all_of(function.calls.begin(), function.calls.end(), is_non_negative)) printer.AddNonNegative(param);
  }
  out.Open(fmt::format("tk::index {}({})", function.name, Join(params)));
  for (const auto& [name, value] : cost.lets) EmitConstant(name, value, printer, out);
  out.Line(fmt::format("return {};", printer.Text(cost.value)));
  out.Close();
  out.Blank();
}

std::string CostFunctions::Call(const ir::Cost& cost, const ScalarPrinter& host) const {
  const auto function =
      std::find_if(functions_.begin(), functions_.end(), [&](const Function& f) { return HasBodyOf(*f.calls.front(), cost); });
  Ensure(function != functions_.end(), "a cost of another entry");
  std::vector<std::string> args;
  for (const auto& [name, value] : cost.args) args.push_back(host.Text(value));
  return fmt::format("{}({})", function->name, Join(args));
}

}  // namespace tkc::codegen

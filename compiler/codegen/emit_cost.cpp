// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quotients.h"
#include "compiler/support/internal_error.h"

namespace tkc::codegen {
namespace {

bool HasBodyOf(const ir::CostFormula& a, const ir::CostFormula& b) {
  const auto have_same_name = [](const auto& x, const auto& y) { return x.first == y.first; };
  return symbolic::Equal(a.body, b.body) && std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), have_same_name);
}

}  // namespace

CostFormulas::CostFormulas(const ir::Module& module, const ir::Entry& entry) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(module.kernels.begin(), module.kernels.end(),
                       [&](const ir::Kernel& k) { return KernelFunction(k) == name; }) ||
           std::any_of(functions_.begin(), functions_.end(), [&](const Function& function) { return function.name == name; });
  };
  for (const std::vector<int>& alternative : entry.alternatives) {
    const auto& formula = module.kernels[static_cast<size_t>(alternative.front())].cost_formula;
    if (!formula) continue;
    const auto known = std::find_if(functions_.begin(), functions_.end(),
                                    [&](const Function& function) { return HasBodyOf(*function.calls.front(), *formula); });
    if (known != functions_.end()) {
      known->calls.push_back(&*formula);
      continue;
    }
    std::string name = Mangle(entry.name + "_cost_by_" + formula->name);
    while (is_taken(name)) name += '_';
    functions_.push_back({std::move(name), {&*formula}});
  }
}

void CostFormulas::Emit(const ScalarPrinter& host, CodeWriter& out) const {
  for (const Function& function : functions_) {
    const ir::CostFormula& formula = *function.calls.front();
    ScalarPrinter printer(ScalarPrinter::Place::kHost);
    std::vector<std::string> params;
    for (size_t i = 0; i < formula.args.size(); ++i) {
      const std::string& param = formula.args[i].first;
      params.push_back("tk::index " + Mangle(param));
      const auto is_non_negative = [&](const ir::CostFormula* call) { return host.IsNonNegative(call->args[i].second); };
      if (std::all_of(function.calls.begin(), function.calls.end(), is_non_negative)) printer.AddNonNegative(param);
    }
    out.Comment(fmt::format("What schedules cost: the function `{}` of the source.", formula.name));
    out.Open(fmt::format("tk::index {}({})", function.name, Join(params)));
    std::vector<symbolic::Scalar> result = {formula.body};
    EmitQuotients(result, printer, out);
    out.Line(fmt::format("return {};", printer.Text(result[0])));
    out.Close();
    out.Blank();
  }
}

std::string CostFormulas::Call(const ir::CostFormula& formula, const ScalarPrinter& host) const {
  const auto function =
      std::find_if(functions_.begin(), functions_.end(), [&](const Function& f) { return HasBodyOf(*f.calls.front(), formula); });
  Ensure(function != functions_.end(), "a cost of another entry");
  std::vector<std::string> args;
  for (const auto& [name, value] : formula.args) args.push_back(host.Text(value));
  return fmt::format("{}({})", function->name, Join(args));
}

}  // namespace tkc::codegen

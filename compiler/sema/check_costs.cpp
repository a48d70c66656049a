// SPDX-License-Identifier: MIT
#include "compiler/sema/check_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tkc::sema {
namespace {

using Sets = std::vector<const ast::ScheduleDecl*>;

/// Of no set's list: what only sets without a list are for.
constexpr const char* kAnyOther = "";

bool IsFor(const ast::ScheduleDecl& schedule, const std::string& target) {
  return schedule.targets.empty() ||
         std::any_of(schedule.targets.begin(), schedule.targets.end(), [&](const ast::Name& name) { return name.text == target; });
}

/// The first set of these that is for the target has a cost.
template <typename Iterator>
bool BeginsWithCost(Iterator begin, Iterator end, const std::string& target) {
  const auto neighbour = std::find_if(begin, end, [&](const ast::ScheduleDecl* set) { return IsFor(*set, target); });
  return neighbour != end && ast::CostOf(**neighbour) != nullptr;
}

bool Competes(const Sets& sets, Sets::const_iterator set, const std::set<std::string>& targets) {
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    return IsFor(**set, target) &&
           (BeginsWithCost(std::make_reverse_iterator(set), sets.rend(), target) || BeginsWithCost(set + 1, sets.end(), target));
  });
}

}  // namespace

void CheckCosts(const ast::File& file, Diagnostics& diagnostics) {
  for (const ast::KernelDecl& kernel : file.kernels) {
    Sets sets;
    std::set<std::string> targets = {kAnyOther};
    for (const ast::ScheduleDecl& schedule : file.schedules) {
      if (!ast::IsOf(schedule, kernel)) continue;
      sets.push_back(&schedule);
      for (const ast::Name& target : schedule.targets) targets.insert(target.text);
    }
    for (auto set = sets.cbegin(); set != sets.cend(); ++set) {
      const ast::Expr* cost = ast::CostOf(**set);
      if (cost == nullptr || Competes(sets, set, targets)) continue;
      diagnostics
          .Warning(DiagnosticKind::kUncomparedCost, cost->span,
                   fmt::format("the cost of schedule set `{}` is compared with no other", (*set)->name.text))
          .Label(cost->span, "no set beside this one has a cost")
          .Help("sets with costs that follow each other compete: give its neighbours one, too, or leave this one out");
    }
  }
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Each element of a tensor is stored at most once in a grid (lang-spec, ti-16).
//
// A store is executed for every tile of the grid, for every iteration of the loops around it and for every instance: executions
// must store different elements (stores_apart). Different stores to one tensor must lie where conditions exclude one another, at
// constant distance, or one before what the loops around the other cover.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/sema/analyses.h"
#include "compiler/sema/grid_stores.h"
#include "compiler/sema/scalar_text.h"
#include "compiler/sema/stores_apart.h"
#include "compiler/sema/stores_meet.h"
#include "compiler/sema/symbolic_table.h"

namespace tkc::sema {
namespace {

using typed::Stmt;

using Group = std::vector<PlacedStore>;  // of one form

/// Two stores that store, or as far as is known may store, the same elements.
struct Meeting {
  const GridStore *a, *b;
  const char* verb;
};

/// The axis on which most offsets differ: sorted along it, neighbours meet first, and few pairs have to be looked at.
size_t MostSpreadAxis(const Group& group) {
  size_t best_axis = 0, best_count = 0;
  for (size_t i = 0; i < group[0].offsets.size(); ++i) {
    std::set<int64_t> values;
    for (const PlacedStore& placed : group) values.insert(placed.offsets[i]);
    if (values.size() > best_count) best_axis = i, best_count = values.size();
  }
  return best_axis;
}

/// One instance adds in the order written.
bool AreAddedInOrder(const GridStore& a, const GridStore& b) {
  return a.stmt->store_op == typed::StoreOp::kAdd && b.stmt->store_op == typed::StoreOp::kAdd && a.name == b.name;
}

/// Of stores of one form, for the same values of the variables around them.
std::optional<Meeting> MeetingForEqualVariables(Group group) {
  const size_t axis = MostSpreadAxis(group);
  const auto first = [axis](const PlacedStore& placed) { return placed.offsets[axis]; };
  std::stable_sort(group.begin(), group.end(), [&](const PlacedStore& a, const PlacedStore& b) { return first(a) < first(b); });
  for (size_t i = 0; i < group.size(); ++i) {
    const int64_t end = first(group[i]) + group[i].store->axes[axis].extent;
    for (size_t k = i + 1; k < group.size() && first(group[k]) < end; ++k) {
      if (!Overlap(group[i], group[k]) || AreAddedInOrder(*group[i].store, *group[k].store)) continue;
      if (Exclusive(*group[i].store, *group[k].store)) continue;
      return Meeting{group[i].store, group[k].store, "store"};
    }
  }
  return std::nullopt;
}

/// Of stores of one form, where the variables around them differ.
std::optional<Meeting> MeetingForDifferentVariables(const Group& group) {
  if (ApartIfVariablesDiffer(group)) return std::nullopt;
  for (size_t i = 0; i < group.size(); ++i) {
    for (size_t k = i + 1; k < group.size(); ++k) {
      const bool is_apart =
          ApartIfVariablesDiffer({group[i], group[k]}) || ApartWhereTied(group[i], group[k]) || OutOfReach(group[i], group[k]);
      if (is_apart || Exclusive(*group[i].store, *group[k].store)) continue;
      return Meeting{group[i].store, group[k].store, "may store"};
    }
  }
  return std::nullopt;
}

/// Of stores of different forms.
std::optional<Meeting> MeetingOfForms(const Group& one, const Group& other) {
  for (const PlacedStore& a : one) {
    for (const PlacedStore& b : other) {
      if (Exclusive(*a.store, *b.store) || EndsBefore(*a.store, *b.store) || EndsBefore(*b.store, *a.store)) continue;
      if (ExclusiveWhereTheyMeet(*a.store, *b.store) || ApartByFacts(*a.store, *b.store, Tied(*a.store, *b.store))) continue;
      return Meeting{a.store, b.store, "may store"};
    }
  }
  return std::nullopt;
}

/// The first one of stores to one tensor; certain ones before others.
std::optional<Meeting> FindMeeting(const std::vector<GridStore>& stores) {
  std::map<std::string, Group> groups;  // by their forms
  for (const GridStore& store : stores) {
    PlacedStore placed{&store, {}};
    std::string form = FormOf(store, placed.offsets);
    groups[std::move(form)].push_back(std::move(placed));
  }
  for (const auto& [form, group] : groups) {
    if (const auto meeting = MeetingForEqualVariables(group)) return meeting;
  }
  for (const auto& [form, group] : groups) {
    if (const auto meeting = MeetingForDifferentVariables(group)) return meeting;
  }
  for (auto one = groups.begin(); one != groups.end(); ++one) {
    for (auto other = std::next(one); other != groups.end(); ++other) {
      if (const auto meeting = MeetingOfForms(one->second, other->second)) return meeting;
    }
  }
  return std::nullopt;
}

class GridMap {
 public:
  GridMap(const typed::Kernel& kernel, const typed::Section& section, bool deterministic, Diagnostics& diagnostics)
      : kernel_(kernel), section_(section), deterministic_(deterministic), diagnostics_(diagnostics) {}

  void Check(const std::map<typed::ParamId, std::vector<GridStore>>& stores_of) {
    for (const auto& [tensor, stores] : stores_of) {
      for (const GridStore& store : stores) {
        if (IsOrdered(store, store)) CheckAlone(store);
      }
      if (const auto meeting = FindMeetingOf(stores)) Report(*meeting);
    }
  }

 private:
  /// Whether it matters which of the two comes first at an element: not for two maxima, nor for sums of integers.
  bool IsOrdered(const GridStore& a, const GridStore& b) const {
    const typed::StoreOp op = a.stmt->store_op;
    if (op != b.stmt->store_op || op == typed::StoreOp::kSet) return true;
    return deterministic_ && op == typed::StoreOp::kAdd && IsFloat(kernel_.params[a.stmt->tensor].dtype);
  }

  /// Of those whose order matters.
  std::optional<Meeting> FindMeetingOf(const std::vector<GridStore>& stores) const {
    const bool are_alike =
        std::ranges::all_of(stores, [&](const GridStore& each) { return each.stmt->store_op == stores[0].stmt->store_op; });
    if (are_alike) return IsOrdered(stores[0], stores[0]) ? FindMeeting(stores) : std::nullopt;
    for (size_t i = 0; i < stores.size(); ++i) {
      for (size_t k = i + 1; k < stores.size(); ++k) {
        if (!IsOrdered(stores[i], stores[k])) continue;
        const std::vector<GridStore> pair{stores[i], stores[k]};
        if (const auto meeting = FindMeeting(pair)) return Meeting{&stores[i], &stores[k], meeting->verb};
      }
    }
    return std::nullopt;
  }

  void CheckAlone(const GridStore& store) {
    const std::set<typed::VarId> separated = Separated(store);
    for (const Iteration& iteration : store.around) {
      if (iteration.digit || separated.count(iteration.var) > 0 || iteration.RunsOnce()) continue;
      if (!reported_.insert(store.stmt).second) return;
      const typed::Param& param = kernel_.params[store.stmt->tensor];
      const typed::Var& var = kernel_.vars[iteration.declared];
      const char* what = iteration.is_grid ? "tile along" : "iteration of";
      if (store.stmt->store_op != typed::StoreOp::kSet) {
        diagnostics_
            .Error(DiagnosticKind::kNondeterministicAdd, store.stmt->span,
                   fmt::format("`+=` to the same elements of `{}` from every {} `{}` in a `deterministic` kernel", param.name, what,
                               var.name))
            .Label(store.stmt->span, "added in an order that is not fixed")
            .Note(var.span, fmt::format("`{}` is declared here", var.name))
            .Help("store the partial results to a `work` tensor and sum them in a second grid");
        return;
      }
      if (IsCutUp(store, iteration.var)) return ReportCutUp(store, param, var);
      diagnostics_
          .Error(DiagnosticKind::kTileOverlap, store.stmt->span,
                 fmt::format("elements of `{}` are stored by more than one {} `{}`", param.name, what, var.name))
          .Label(store.stmt->span, fmt::format("the same elements for different `{}`", var.name))
          .Note(var.span, fmt::format("`{}` is declared here", var.name))
          .Help(IsBoundByData(store, iteration.var)
                    ? fmt::format("runs whose ends are data may overlap: end each where the next begins, `off[i] .. off[i + 1]`, "
                                  "give each a row of its own, `{}[{}, ..]`, or combine with `+=` "
                                  "and a preset `= 0`",
                                  param.name, var.name)
                : IsNamedByData(store, iteration.var)
                    ? fmt::format(
                          "equal numbers name the same elements: walk over those of `{0}` instead, and let a tensor say what each "
                          "takes, `let {1} = from[i]`, `if {1} >= 0 {{ {0}[i, ..] <- .. }}`{2}",
                          param.name, var.name,
                          param.mode == typed::TensorMode::kOut ? ", or combine with `+=` and a preset `= 0`" : "")
                : iteration.is_grid && IsSummedOver(*store.stmt, iteration.declared)
                    ? fmt::format("index `{}` by `{}`, make `{}` a loop of the worker in front of the store, `for {}`, "
                                  "or combine with `+=` and a preset `= 0`",
                                  param.name, var.name, var.name, RangeText(iteration.declared))
                : iteration.is_grid
                    ? fmt::format(
                          "index `{}` by `{}`, let one tile store, `if {} == 0 {{ .. }}`, or combine with `+=` and a preset `= 0`",
                          param.name, var.name, iteration.is_block ? var.name + ".number" : var.name)
                    : fmt::format("store once, after the loop, or index `{}` by `{}`", param.name, var.name));
      return;
    }
  }

  /// Whether an axis starts at an element of a tensor that the variable is an index of.
  static bool IsNamedByData(const GridStore& store, typed::VarId var) {
    const auto has_element = [&](const symbolic::Scalar& scalar, const auto& self) -> bool {
      if (scalar->kind == symbolic::Kind::kElement) return symbolic::Mentions(scalar, SymbolicTable::NameOf(var));
      return std::ranges::any_of(scalar->args, [&](const symbolic::Scalar& arg) { return self(arg, self); });
    };
    return std::ranges::any_of(
        store.axes, [&](const StoredAxis& axis) { return axis.first != nullptr && has_element(axis.first, has_element); });
  }

  /// Whether what is computed depends on the variable, and neither where nor whether it is stored: one tile alone has not the
  /// whole.
  bool IsSummedOver(const Stmt& store, typed::VarId var) const {
    const auto is_it = [var](const typed::Expr& expr) { return expr.kind == typed::ExprKind::kVar && expr.id == var; };
    const auto begins_at_it = [&](const typed::AxisRange& axis) { return typed::Contains(*axis.start, is_it); };
    if (std::ranges::any_of(store.axes, begins_at_it)) return false;
    const auto mentions = [&](const typed::Expr& expr) { return is_it(expr) || std::ranges::any_of(expr.axes, begins_at_it); };
    const auto in = [&](const typed::ExprPtr& expr) { return expr && typed::Contains(*expr, mentions); };
    const auto in_block = [&](const typed::Block& block, const auto& self) -> bool {
      return std::ranges::any_of(block, [&](const typed::StmtPtr& stmt) {
        return (stmt->kind != typed::StmtKind::kIf && in(stmt->expr)) || std::ranges::any_of(stmt->values, in) ||
               self(stmt->body, self) || self(stmt->orelse, self);
      });
    };
    return std::ranges::any_of(section_.workers, [&](const typed::Worker& worker) { return in_block(worker.body, in_block); });
  }

  /// `k in K by 64`
  std::string RangeText(typed::VarId var) const {
    const auto axis = std::ranges::find(section_.axes, var, &typed::GridAxis::var);
    const bool from_zero = axis->lo->kind == typed::ExprKind::kInt && axis->lo->int_value == 0;
    return fmt::format("{} in {}{}{}", kernel_.vars[var].name, from_zero ? "" : ScalarText(kernel_, *axis->lo) + " .. ",
                       ScalarText(kernel_, *axis->hi), axis->is_block ? fmt::format(" by {}", axis->step) : "");
  }

  /// Whether axes start at digits of the variable, at a remainder among them.
  static bool IsCutUp(const GridStore& store, typed::VarId var) {
    const auto begins_with = [&](const Iteration& of) {
      return of.digit && Mentions(of.digit->base, var) &&
             std::any_of(store.axes.begin(), store.axes.end(),
                         [&](const StoredAxis& axis) { return Mentions(axis.start, of.var); });
    };
    return std::count_if(store.around.begin(), store.around.end(), begins_with) > 1 &&
           std::any_of(store.around.begin(), store.around.end(),
                       [&](const Iteration& of) { return begins_with(of) && of.digit->digit.radix; });
  }

  void ReportCutUp(const GridStore& store, const typed::Param& param, const typed::Var& var) {
    diagnostics_
        .Error(DiagnosticKind::kTileOverlap, store.stmt->span,
               fmt::format("elements of `{}` may be stored for more than one `{}`", param.name, var.name))
        .Label(store.stmt->span, fmt::format("quotients and remainders that are not seen to say which `{}` it is", var.name))
        .Note(var.span, fmt::format("`{}` is declared here", var.name))
        .Help(fmt::format("let what `{}` is made of be indices of their own: `b in B, h in H` instead of `{} in B * H`", var.name,
                          var.name));
  }

  void Report(const Meeting& meeting) {
    const auto& [a, b, verb] = meeting;
    const GridStore& first = a->stmt->span.begin <= b->stmt->span.begin ? *a : *b;
    const GridStore& second = &first == a ? *b : *a;
    const std::string& name = kernel_.params[first.stmt->tensor].name;
    if (first.stmt->store_op != second.stmt->store_op) return ReportMixed(first, second, name);
    if (first.stmt->store_op != typed::StoreOp::kSet) {
      if (!reported_.insert(second.stmt).second) return;
      const bool may = std::string_view(verb).starts_with("may");
      DiagnosticBuilder report =
          diagnostics_.Error(DiagnosticKind::kNondeterministicAdd, second.stmt->span,
                             fmt::format("`+=` to elements of `{}` to which {} {}add{}, too, in a `deterministic` kernel", name,
                                         first.stmt == second.stmt ? fmt::format("`{}`", first.name) : "another one",
                                         may ? "may " : "", may ? "" : "s"));
      report.Label(second.stmt->span, "added in an order that is not fixed");
      if (first.stmt != second.stmt) report.Label(first.stmt->span, "added first, or last");
      report.Help("store the partial results to a `work` tensor and sum them in a second grid");
      return;
    }
    if (first.stmt == second.stmt) {
      if (!reported_.insert(first.stmt).second) return;
      diagnostics_
          .Error(DiagnosticKind::kTileOverlap, first.stmt->span,
                 fmt::format("`{}` and `{}` {} the same elements of `{}`", first.name, second.name, verb, name))
          .Label(first.stmt->span, "executed by every instance")
          .Help(fmt::format("let each store its part: `{}[..].rows(w)`, or one of them: `if w == 0 {{ .. }}`", name));
      return;
    }
    if (!reported_.insert(second.stmt).second) return;
    diagnostics_
        .Error(DiagnosticKind::kTileOverlap, second.stmt->span, fmt::format("two stores {} the same elements of `{}`", verb, name))
        .Label(second.stmt->span, "stored again")
        .Label(first.stmt->span, "stored first")
        .Help(std::string_view(verb).starts_with("may")
                  ? fmt::format("elements of a tensor are written once in a grid: let one end where the other begins, as "
                                "`{0}[first .. end by n]` does, or give `{0}` an axis more that tells them apart",
                                name)
                  : "store once; elements of a tensor are written once in a grid");
  }

  void ReportMixed(const GridStore& first, const GridStore& second, const std::string& name) {
    if (!reported_.insert(second.stmt).second) return;
    diagnostics_
        .Error(DiagnosticKind::kMixedStores, second.stmt->span,
               fmt::format("elements of `{}` are combined with by `{}` and by `{}` in one grid; their order is not fixed", name,
                           SpellingOf(first), SpellingOf(second)))
        .Label(second.stmt->span, "combined here")
        .Note(first.stmt->span, "and here")
        .Help(fmt::format("combine into two tensors, or into elements that lie apart, as `{0}[0, ..]` and `{0}[1, ..]`", name));
  }

  static std::string_view SpellingOf(const GridStore& store) {
    const typed::StoreOp op = store.stmt->store_op;
    return op == typed::StoreOp::kMax ? "max=" : op == typed::StoreOp::kMin ? "min=" : "+=";
  }

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  bool deterministic_;
  Diagnostics& diagnostics_;
  std::set<const Stmt*> reported_;
};

}  // namespace

void CheckGridMap(const typed::Kernel& kernel, const typed::Section& section, bool deterministic, Diagnostics& diagnostics) {
  GridMap(kernel, section, deterministic, diagnostics).Check(CollectGridStores(kernel, section));
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Each element of a tensor is stored at most once in a grid (lang-spec, ti-16).
//
// A store is executed for every tile of the grid, for every iteration of the loops around it and for every instance. Its
// axes start at affine forms over these variables. A variable is told apart by an axis in which its step, times its
// coefficient, reaches beyond what the smaller ones of that axis cover; if every variable is told apart, no two
// executions meet. Different stores to one tensor must lie where conditions exclude one another, at constant distance, or
// one before what the loops around the other cover.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/symbolic_table.h"
#include "compiler/symbolic/condition.h"

namespace tkc::sema {
namespace {

using symbolic::Polynomial;
using typed::AxisRange;
using typed::Stmt;
using typed::StmtKind;
using typed::VarId;

/// A grid axis or a loop around a store.
struct Iteration {
  VarId var = typed::kNone;       // of loops that run alike: the first one's
  VarId declared = typed::kNone;  // its own
  int64_t step = 1;
  std::optional<int64_t> span;  // hi - lo at most, where that is a number
  bool is_grid = false;
  VarId parent = typed::kNone;     // the variable whose block it cuts again
  std::string number{};            // the term of its block's number: rises by 1 from one execution to the next
  std::optional<Polynomial> lo{};  // where it starts
};

struct Axis {
  Polynomial start;
  int64_t extent = 1;
};

struct Store {
  const Stmt* stmt = nullptr;
  std::vector<Axis> axes;
  std::vector<Iteration> around;
  std::vector<symbolic::Condition> conditions;  // that hold
  std::string name;                             // of the instance
};

class GridMap {
 public:
  GridMap(const typed::Kernel& kernel, const typed::Section& section, bool deterministic, Diagnostics& diagnostics)
      : kernel_(kernel), section_(section), deterministic_(deterministic), diagnostics_(diagnostics), table_(kernel) {}

  void Check() {
    for (const typed::Worker& worker : section_.workers) {
      const int64_t count = worker.in_turn ? 1 : worker.instances;
      for (int64_t i = 0; i < count; ++i) CollectInstance(worker, i, count);
    }
    for (auto& [tensor, stores] : stores_) {
      for (const Store& store : stores) CheckAlone(store);
      CheckTogether(tensor, stores);
    }
  }

 private:
  void CollectInstance(const typed::Worker& worker, int64_t instance, int64_t count) {
    table_.Fix(worker.instance_var, instance);
    DefineLets(kernel_, section_.lets, table_);
    DefineLets(kernel_, worker.body, table_);
    around_.clear();
    for (const typed::GridAxis& axis : section_.axes)
      around_.push_back(IterationOf(axis.var, axis.var, *axis.lo, *axis.hi, axis.step, true));
    name_ = count > 1 ? fmt::format("{}[{}]", worker.name, instance) : worker.name;
    Collect(worker.body);
  }

  Iteration IterationOf(VarId var, VarId declared, const typed::Expr& lo, const typed::Expr& hi, int64_t step, bool is_grid) {
    const symbolic::Scalar first = table_.Of(lo), name = symbolic::Name(table_.NameOf(var));
    Iteration iteration{var, declared, step, symbolic::MostDifference(table_.Of(hi), first), is_grid};
    iteration.lo = symbolic::ToPolynomial(first);
    const symbolic::Scalar offset = symbolic::Sub(name, first);
    const auto number = symbolic::ToPolynomial(symbolic::Make(symbolic::Kind::kDiv, DType::kI64, {offset, symbolic::Int(step)}));
    if (number && number->size() == 1 && number->begin()->second == 1) iteration.number = number->begin()->first;
    for (const Iteration& outer : around_) {
      if (lo.kind == typed::ExprKind::kVar && outer.declared == lo.id) iteration.parent = outer.var;
    }
    return iteration;
  }

  /// Loops of equal ranges in the same loops have one variable, whichever worker they are of.
  VarId VariableOf(const Stmt& loop) {
    std::string key = fmt::format("{} .. {} by {}", symbolic::CanonicalText(table_.Of(*loop.lo)),
                                  symbolic::CanonicalText(table_.Of(*loop.hi)), loop.step);
    for (const Iteration& outer : around_) key += fmt::format(" in v{}", outer.var);
    return loops_.emplace(std::move(key), loop.var).first->second;
  }

  void Collect(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      switch (stmt->kind) {
        case StmtKind::kFor: CollectLoop(*stmt); break;
        case StmtKind::kIf: CollectBranches(*stmt); break;
        case StmtKind::kStore: AddStore(*stmt); break;
        default: break;
      }
    }
  }

  void CollectLoop(const Stmt& loop) {
    const VarId var = VariableOf(loop);
    around_.push_back(IterationOf(var, loop.var, *loop.lo, *loop.hi, loop.step, false));
    table_.Rename(loop.var, table_.NameOf(var));
    DefineLets(kernel_, loop.body, table_);
    Collect(loop.body);
    around_.pop_back();
  }

  void CollectBranches(const Stmt& stmt) {
    const symbolic::Scalar scalar = stmt.expr->level == typed::Level::kWorker ? nullptr : table_.Of(*stmt.expr);
    const bool is_known = scalar && scalar->kind == symbolic::Kind::kBool;
    symbolic::Condition condition = scalar ? symbolic::ConditionOf(scalar) : symbolic::Condition{};
    for (const bool taken : {true, false}) {
      if (!is_known || (scalar->int_value != 0) == taken) {
        conditions_.push_back(condition);
        Collect(taken ? stmt.body : stmt.orelse);
        conditions_.pop_back();
      }
      condition.is_negated = !condition.is_negated;
    }
  }

  void AddStore(const Stmt& stmt) {
    if (stmt.store_op != typed::StoreOp::kSet && !deterministic_) return;
    Store store{&stmt, {}, around_, conditions_, name_};
    for (const AxisRange& axis : stmt.axes) {
      std::optional<Polynomial> start = symbolic::ToPolynomial(table_.Of(*axis.start));
      store.axes.push_back({start ? std::move(*start) : Polynomial{{"?", 1}}, axis.extent});
    }
    stores_[stmt.tensor].push_back(std::move(store));
  }

  /// Does the term name the variable: `v3`, but not the beginning of `v30`.
  static bool Mentions(const std::string& term, VarId var) {
    const std::string name = fmt::format("v{}", var);
    for (size_t at = term.find(name); at != std::string::npos; at = term.find(name, at + 1)) {
      const char next = at + name.size() < term.size() ? term[at + name.size()] : ' ';
      if (next < '0' || next > '9') return true;
    }
    return false;
  }

  /// Whether the variables occur as multiples only.
  static bool IsAffine(const Polynomial& polynomial, const std::vector<Iteration>& around) {
    return std::all_of(polynomial.begin(), polynomial.end(), [&](const auto& term) {
      return std::all_of(around.begin(), around.end(), [&](const Iteration& iteration) {
        return term.first == fmt::format("v{}*", iteration.var) || !Mentions(term.first, iteration.var);
      });
    });
  }

  /// What one axis tells apart.
  struct Apart {
    std::set<VarId> vars;
    bool is_all = true;   // every variable that occurs in the axis, or did before
    int64_t covered = 0;  // elements that all their values span, 0: unbounded
  };

  /// Variables that an axis of `store` tells apart. Of executions that could meet in it, those in `known` have the same values, so
  /// that terms of them shift all of these alike.
  Apart ApartAlong(const Axis& axis, const Store& store, const std::set<VarId>& known) const {
    struct Stride {
      int64_t stride, reach;  // elements between neighbours; elements that all its values span, 0: unbounded
      VarId var;
    };
    std::vector<Stride> strides;
    // A loop that starts where others are stands for its distance from there.
    Polynomial start = axis.start;
    for (auto iteration = store.around.rbegin(); iteration != store.around.rend(); ++iteration) {
      const auto own = start.find(fmt::format("v{}*", iteration->var));
      if (own == start.end() || own->second < 0 || own->second > (int64_t{1} << 20)) continue;
      if (iteration->lo && IsAffine(*iteration->lo, store.around)) Add(start, *iteration->lo, own->second);
    }
    for (const auto& [key, coefficient] : start) {
      for (const Iteration& iteration : store.around) {
        const std::string own = fmt::format("v{}*", iteration.var);
        if (key == own || (key == iteration.number && !key.empty())) {
          if (iteration.span && *iteration.span <= iteration.step) continue;  // of one value
          const int64_t size = coefficient < 0 ? -coefficient : coefficient;
          if (size > (int64_t{1} << 40)) return {{}, false, 0};
          const int64_t step = key == own ? iteration.step : 1;
          const bool is_short = iteration.span && *iteration.span < (int64_t{1} << 20);
          const int64_t span = is_short ? std::max<int64_t>(*iteration.span, iteration.step) : 0;
          strides.push_back(
              {size * step, size * (span * step / iteration.step + (span * step % iteration.step != 0)), iteration.var});
        } else if (Mentions(key, iteration.var) && known.count(iteration.var) == 0) {
          return {{}, false, 0};  // in a product or inside another term
        }
      }
    }
    std::sort(strides.begin(), strides.end(),
              [](const Stride& a, const Stride& b) { return std::pair(a.stride, a.var) < std::pair(b.stride, b.var); });
    Apart apart{{}, true, axis.extent};  // covered by everything smaller
    for (const Stride& stride : strides) {
      apart.is_all = apart.covered != 0 && stride.stride >= apart.covered;
      if (!apart.is_all) break;
      apart.vars.insert(stride.var);
      apart.covered = stride.reach == 0 ? 0 : stride.reach - stride.stride + apart.covered;
    }
    return apart;
  }

  /// Variables of `store` that some axis tells apart.
  std::set<VarId> Separated(const Store& store) const {
    std::set<VarId> separated, known;
    // Axes whose start depends on what others tell apart come after them, in whichever order they stand.
    for (size_t turn = 0; turn < store.axes.size(); ++turn) {
      for (const Axis& axis : store.axes) {
        const Apart apart = ApartAlong(axis, store, known);
        separated.insert(apart.vars.begin(), apart.vars.end());
        if (apart.is_all) known.insert(apart.vars.begin(), apart.vars.end());
      }
    }
    // A block cut again: the inner index tells the outer one.
    for (auto iteration = store.around.rbegin(); iteration != store.around.rend(); ++iteration) {
      if (separated.count(iteration->var) > 0 && iteration->parent != typed::kNone) separated.insert(iteration->parent);
    }
    return separated;
  }

  /// Whether a loop around the store begins at an element that the variable selects.
  static bool BoundByData(const Store& store, VarId var) {
    return std::any_of(store.around.begin(), store.around.end(), [&](const Iteration& loop) {
      return loop.lo && std::any_of(loop.lo->begin(), loop.lo->end(), [&](const auto& term) {
               return Mentions(term.first, var) && term.first != fmt::format("v{}*", var);
             });
    });
  }

  void CheckAlone(const Store& store) {
    const std::set<VarId> separated = Separated(store);
    for (const Iteration& iteration : store.around) {
      if (separated.count(iteration.var) > 0 || (iteration.span && *iteration.span <= iteration.step)) continue;
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
      diagnostics_
          .Error(DiagnosticKind::kTileOverlap, store.stmt->span,
                 fmt::format("elements of `{}` are stored by more than one {} `{}`", param.name, what, var.name))
          .Label(store.stmt->span, fmt::format("the same elements for different `{}`", var.name))
          .Note(var.span, fmt::format("`{}` is declared here", var.name))
          .Help(BoundByData(store, iteration.var)
                    ? fmt::format(
                          "runs whose ends are data may overlap: give each a row of its own, `{}[{}, ..]`, or combine with `+=` "
                          "and a preset `= 0`",
                          param.name, var.name)
                : iteration.is_grid
                    ? fmt::format("index `{}` by `{}`, or combine with `+=` and a preset `= 0`", param.name, var.name)
                    : fmt::format("store once, after the loop, or index `{}` by `{}`", param.name, var.name));
      return;
    }
  }

  /// The store of the axes that both have in common: what it tells apart has one value where they meet.
  static Store Common(const Store& a, const Store& b) {
    Store common{a.stmt, {}, a.around, {}, {}};
    for (size_t i = 0; i < a.axes.size(); ++i) {
      if (a.axes[i].start == b.axes[i].start && a.axes[i].extent == b.axes[i].extent) common.axes.push_back(a.axes[i]);
    }
    return common;
  }

  /// Conditions around them exclude one another, for the same values of all variables that they mention.
  bool Exclusive(const Store& a, const Store& b) const {
    const std::set<VarId> apart = Separated(Common(a, b));
    const auto varies = [&](const std::string& text, const Store& store) {
      return std::any_of(store.around.begin(), store.around.end(), [&](const Iteration& iteration) {
        return apart.count(iteration.var) == 0 && Mentions(text, iteration.var);
      });
    };
    for (const symbolic::Condition& one : a.conditions) {
      for (const symbolic::Condition& other : b.conditions) {
        const bool exclude = !one.text.empty() && one.text == other.text && one.is_negated != other.is_negated;
        if (exclude && !varies(one.text, a) && !varies(one.text, b)) return true;
      }
    }
    return false;
  }

  static bool Mentions(const Polynomial& polynomial, VarId var) {
    return std::any_of(polynomial.begin(), polynomial.end(), [&](const auto& term) { return Mentions(term.first, var); });
  }

  /// to += factor * from
  static void Add(Polynomial& to, const Polynomial& from, int64_t factor) {
    for (const auto& [key, coefficient] : from) to[key] += factor * coefficient;
    std::erase_if(to, [](const auto& term) { return term.second == 0; });
  }

  /// Where an axis of `store` starts at the earliest: loops that `other` does not mention there begin where their range does.
  static std::optional<Polynomial> Earliest(const Store& store, const Polynomial& start, const Polynomial& other) {
    Polynomial earliest = start;
    for (const Iteration& iteration : store.around) {
      if (iteration.is_grid || Mentions(other, iteration.var) || !Mentions(start, iteration.var)) continue;
      const auto own = earliest.find(fmt::format("v{}*", iteration.var));
      if (own == earliest.end() || own->second < 0 || own->second > (int64_t{1} << 20) || !iteration.lo) return std::nullopt;
      const int64_t coefficient = own->second;
      earliest.erase(own);
      if (Mentions(earliest, iteration.var)) return std::nullopt;
      Add(earliest, *iteration.lo, coefficient);
    }
    return earliest;
  }

  /// On one axis `before` ends where the loops around `after` begin, for the same values of the variables that are mentioned there:
  /// different ones are told apart by the axes that both have in common.
  bool EndsBefore(const Store& before, const Store& after) const {
    const std::set<VarId> apart = Separated(Common(before, after));
    for (size_t i = 0; i < before.axes.size(); ++i) {
      const Polynomial& first = before.axes[i].start;
      const std::optional<Polynomial> then = Earliest(after, after.axes[i].start, first);
      if (!then) continue;
      bool is_tied = true;
      for (const Store* store : {&before, &after}) {
        for (const Iteration& iteration : store->around)
          is_tied =
              is_tied && (apart.count(iteration.var) > 0 || !(Mentions(first, iteration.var) || Mentions(*then, iteration.var)));
      }
      Polynomial gap = *then;
      Add(gap, first, -1);
      const bool is_number = gap.empty() || (gap.size() == 1 && gap.begin()->first.empty());
      if (is_tied && is_number && !gap.empty() && gap.begin()->second >= before.axes[i].extent) return true;
    }
    return false;
  }

  /// The axes with their constants taken out.
  static std::string Signature(const Store& store, std::vector<int64_t>& offsets) {
    std::string text;
    for (const Axis& axis : store.axes) {
      int64_t offset = 0;
      for (const auto& [key, coefficient] : axis.start) {
        if (key.empty())
          offset = coefficient;
        else
          text += fmt::format("{}{} ", coefficient, key);
      }
      offsets.push_back(offset);
      text += "|";
    }
    return text;
  }

  /// A store to one tensor, and where its axes start beside the others of its form.
  struct Placed {
    const Store* store;
    std::vector<int64_t> offsets;
  };

  /// Whether stores of one form store different elements wherever their variables differ: all of them together are told apart, too.
  bool ApartIfVariablesDiffer(const std::vector<Placed>& group) const {
    Store together = *group[0].store;
    for (size_t i = 0; i < together.axes.size(); ++i) {
      int64_t first = group[0].offsets[i], end = first;
      for (const Placed& placed : group) {
        first = std::min(first, placed.offsets[i]);
        end = std::max(end, placed.offsets[i] + placed.store->axes[i].extent);
      }
      together.axes[i].extent = end - first;
    }
    const std::set<VarId> apart = Separated(together);
    return std::all_of(group.begin(), group.end(), [&](const Placed& placed) {
      const std::set<VarId> alone = Separated(*placed.store);
      return std::includes(apart.begin(), apart.end(), alone.begin(), alone.end());
    });
  }

  /// On one axis they are further apart than all values of the variables reach.
  bool OutOfReach(const Placed& a, const Placed& b) const {
    for (size_t i = 0; i < a.offsets.size(); ++i) {
      const int64_t distance = b.offsets[i] - a.offsets[i];
      const Placed& lower = distance < 0 ? b : a;
      const Apart apart = ApartAlong(lower.store->axes[i], *lower.store, {});
      if (apart.is_all && apart.covered != 0 && std::abs(distance) >= apart.covered) return true;
    }
    return false;
  }

  void CheckTogether(typed::ParamId tensor, const std::vector<Store>& stores) {
    if (stores.size() < 2 || stores[0].stmt->store_op != typed::StoreOp::kSet) return;
    std::map<std::string, std::vector<Placed>> groups;
    for (const Store& store : stores) {
      Placed placed{&store, {}};
      std::string signature = Signature(store, placed.offsets);
      groups[std::move(signature)].push_back(std::move(placed));
    }
    const auto overlap = [](const Placed& a, const Placed& b) {
      for (size_t i = 0; i < a.offsets.size(); ++i) {
        if (a.offsets[i] + a.store->axes[i].extent <= b.offsets[i] || b.offsets[i] + b.store->axes[i].extent <= a.offsets[i])
          return false;
      }
      return true;
    };
    for (auto& [signature, group] : groups) {
      // Sorted along the axis on which the offsets differ most, neighbours meet first.
      size_t best_axis = 0, best_count = 0;
      for (size_t i = 0; i < group[0].offsets.size(); ++i) {
        std::set<int64_t> values;
        for (const Placed& placed : group) values.insert(placed.offsets[i]);
        if (values.size() > best_count) best_axis = i, best_count = values.size();
      }
      std::stable_sort(group.begin(), group.end(),
                       [&](const Placed& a, const Placed& b) { return a.offsets[best_axis] < b.offsets[best_axis]; });
      for (size_t i = 0; i < group.size(); ++i) {
        for (size_t k = i + 1; k < group.size(); ++k) {
          if (group[k].offsets[best_axis] >= group[i].offsets[best_axis] + group[i].store->axes[best_axis].extent) break;
          if (!overlap(group[i], group[k]) || Exclusive(*group[i].store, *group[k].store)) continue;
          return ReportTogether(tensor, *group[i].store, *group[k].store, "store");
        }
      }
    }
    for (const auto& [signature, group] : groups) {
      if (ApartIfVariablesDiffer(group)) continue;
      for (size_t i = 0; i < group.size(); ++i) {
        for (size_t k = i + 1; k < group.size(); ++k) {
          const bool is_apart = ApartIfVariablesDiffer({group[i], group[k]}) || OutOfReach(group[i], group[k]);
          if (is_apart || Exclusive(*group[i].store, *group[k].store)) continue;
          return ReportTogether(tensor, *group[i].store, *group[k].store, "may store");
        }
      }
    }
    for (auto first = groups.begin(); first != groups.end(); ++first) {
      for (auto second = std::next(first); second != groups.end(); ++second) {
        for (const Placed& a : first->second) {
          for (const Placed& b : second->second) {
            if (Exclusive(*a.store, *b.store) || EndsBefore(*a.store, *b.store) || EndsBefore(*b.store, *a.store)) continue;
            return ReportTogether(tensor, *a.store, *b.store, "may store");
          }
        }
      }
    }
  }

  void ReportTogether(typed::ParamId tensor, const Store& a, const Store& b, const char* verb) {
    const Store& first = a.stmt->span.begin <= b.stmt->span.begin ? a : b;
    const Store& second = &first == &a ? b : a;
    const std::string& name = kernel_.params[tensor].name;
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
        .Help("store once; elements of a tensor are written once in a grid");
  }

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  bool deterministic_;
  Diagnostics& diagnostics_;
  SymbolicTable table_;  // one for all instances: what is long has one name in all of them
  std::map<std::string, VarId> loops_;
  // Around the statement that is looked at.
  std::vector<Iteration> around_;
  std::vector<symbolic::Condition> conditions_;
  std::string name_;
  std::map<typed::ParamId, std::vector<Store>> stores_;
  std::set<const Stmt*> reported_;
};

}  // namespace

void CheckGridMap(const typed::Kernel& kernel, const typed::Section& section, bool deterministic, Diagnostics& diagnostics) {
  GridMap(kernel, section, deterministic, diagnostics).Check();
}

}  // namespace tkc::sema

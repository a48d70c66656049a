// SPDX-License-Identifier: MIT
#include "compiler/sema/grid_stores.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/sema/symbolic_table.h"
#include "compiler/symbolic/solved_names.h"

namespace tkc::sema {
namespace {

using symbolic::Polynomial;
using typed::AxisRange;
using typed::Stmt;
using typed::StmtKind;
using typed::VarId;

class Collector {
 public:
  Collector(const typed::Kernel& kernel, const typed::Section& section)
      : kernel_(kernel),
        section_(section),
        table_(kernel),
        solved_(table_.RequirementsOfLaunch(), SymbolicTable::IsCount),
        digits_(SymbolicTable::IsCount, [this](size_t number) { return SymbolicTable::NameOf(VarOf(number)); }) {}

  std::map<typed::ParamId, std::vector<GridStore>> Collect() {
    for (const typed::Worker& worker : section_.workers) {
      const int64_t count = worker.InstancesOfTile();
      for (int64_t i = 0; i < count; ++i) CollectInstance(worker, i, count);
    }
    return std::move(stores_);
  }

 private:
  void CollectInstance(const typed::Worker& worker, int64_t instance, int64_t count) {
    table_.Fix(worker.instance_var, instance);
    DefineLets(kernel_, section_.lets, table_);
    DefineLets(kernel_, worker.body, table_);
    around_.clear();
    for (const typed::GridAxis& axis : section_.axes) {
      around_.push_back(IterationOf(axis.var, axis.var, *axis.lo, *axis.hi, axis.step, true));
      around_.back().is_block = axis.is_block;
    }
    facts_.clear();
    for (const symbolic::Scalar& requirement : table_.RequirementsOfLaunch()) AddFacts(solved_.PutIn(requirement), true);
    name_ = count > 1 ? fmt::format("{}[{}]", worker.name, instance) : worker.name;
    CollectBlock(worker.body);
  }

  /// With a variable for each quotient and each remainder of those around.
  symbolic::Scalar FormulaOf(const typed::Expr& expr) { return digits_.Replace(solved_.PutIn(table_.Of(expr)), RangesAround()); }

  std::vector<symbolic::IndexRange> RangesAround() const {
    std::vector<symbolic::IndexRange> ranges;
    for (const Iteration& iteration : around_)
      ranges.push_back({table_.NameOf(iteration.var), iteration.first, iteration.hi, iteration.step});
    return ranges;
  }

  /// The variable of a digit, behind those of the kernel.
  VarId VarOf(size_t digit) const { return static_cast<VarId>(kernel_.vars.size() + digit); }

  /// The digits of the variables around are variables, too.
  void AddDigits(GridStore& store) const {
    for (const std::shared_ptr<const symbolic::IndexDigit>& digit : digits_.Of(RangesAround())) {
      Iteration iteration{.var = VarOf(digit->number), .is_grid = true, .digit = digit};
      if (digit->begins_at_zero) iteration.lo = Polynomial{};
      iteration.end = digit->end;
      const bool is_number = digit->end && symbolic::NonzeroNumber(*digit->end);
      if (is_number && digit->begins_at_zero) iteration.span = digit->end->begin()->second;
      store.around.push_back(std::move(iteration));
    }
  }

  Iteration IterationOf(VarId var, VarId declared, const typed::Expr& lo, const typed::Expr& hi, int64_t step, bool is_grid) {
    const symbolic::Scalar first = FormulaOf(lo);
    Iteration iteration{.var = var, .declared = declared, .step = step, .is_grid = is_grid};
    iteration.first = first;
    iteration.hi = FormulaOf(hi);
    iteration.span = symbolic::MostDifference(iteration.hi, first);
    iteration.lo = symbolic::ToPolynomial(first);
    iteration.end = symbolic::ToPolynomial(iteration.hi);
    return iteration;
  }

  /// Loops of equal ranges in the same loops have one variable, whichever worker they are of.
  VarId VariableOf(const Stmt& loop) {
    std::string key = fmt::format("{} .. {} by {}", symbolic::CanonicalText(table_.Of(*loop.lo)),
                                  symbolic::CanonicalText(table_.Of(*loop.hi)), loop.step);
    for (const Iteration& outer : around_) key += fmt::format(" in v{}", outer.var);
    return loops_.emplace(std::move(key), loop.var).first->second;
  }

  void CollectBlock(const typed::Block& block) {
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
    CollectBlock(loop.body);
    around_.pop_back();
  }

  void CollectBranches(const Stmt& stmt) {
    const symbolic::Scalar scalar = stmt.expr->level == typed::Level::kWorker ? nullptr : FormulaOf(*stmt.expr);
    const bool is_known = scalar && scalar->kind == symbolic::Kind::kBool;
    symbolic::Condition condition = scalar ? symbolic::ConditionOf(scalar) : symbolic::Condition{};
    for (const bool taken : {true, false}) {
      if (!is_known || (scalar->int_value != 0) == taken) {
        const size_t outer_zeros = zeros_.size();
        const size_t outer_facts = facts_.size();
        if (scalar) AddZeros(scalar, taken);
        // Of the variables themselves: where stores meet, one's stand for another's.
        if (scalar) AddFacts(solved_.PutIn(table_.Of(*stmt.expr)), taken);
        conditions_.push_back(condition);
        CollectBlock(taken ? stmt.body : stmt.orelse);
        conditions_.pop_back();
        zeros_.resize(outer_zeros);
        facts_.resize(outer_facts);
      }
      condition.is_negated = !condition.is_negated;
    }
  }

  void AddFacts(const symbolic::Scalar& condition, bool holds) {
    using symbolic::Kind;
    if (condition->kind == Kind::kNot) return AddFacts(condition->args[0], !holds);
    if (condition->kind == (holds ? Kind::kAnd : Kind::kOr)) {
      for (const symbolic::Scalar& part : condition->args) AddFacts(part, holds);
      return;
    }
    facts_.push_back(holds ? condition : symbolic::Make(Kind::kNot, DType::kBool, {condition}));
  }

  /// An integer of no width, or one that nothing has wrapped.
  static bool IsExact(const symbolic::Scalar& scalar) {
    const bool is_single = scalar->kind == symbolic::Kind::kElement || scalar->kind == symbolic::Kind::kName;
    return scalar->dtype == DType::kI64 || (is_single && !IsFloat(scalar->dtype));
  }

  /// Differences of integers of which `condition` says, as it `holds` or does not, that they are equal.
  void AddZeros(const symbolic::Scalar& condition, bool holds) {
    using symbolic::Kind;
    switch (condition->kind) {
      case Kind::kNot: AddZeros(condition->args[0], !holds); break;
      case Kind::kAnd:
      case Kind::kOr:
        if (holds != (condition->kind == Kind::kAnd)) return;
        for (const symbolic::Scalar& part : condition->args) AddZeros(part, holds);
        break;
      case Kind::kEq:
      case Kind::kNe: {
        const symbolic::Scalar& a = condition->args[0];
        symbolic::Scalar b = condition->args[1];
        if (holds != (condition->kind == Kind::kEq)) b = OtherOfTwo(a, b);
        if (!b || !IsExact(a) || !IsExact(b)) return;
        std::optional<Polynomial> difference = symbolic::ToPolynomial(symbolic::Sub(a, b));
        if (!difference || difference->empty()) return;
        // The same for `a == b` and `b == a`: what comes last is positive.
        if (difference->rbegin()->second < 0) difference = symbolic::ToPolynomial(symbolic::Sub(b, a));
        zeros_.push_back(std::move(*difference));
        break;
      }
      default: break;
    }
  }

  /// The value that is left where a variable of two values is not `value`; null for anything else.
  symbolic::Scalar OtherOfTwo(const symbolic::Scalar& variable, const symbolic::Scalar& value) const {
    if (variable->kind != symbolic::Kind::kName) return {};
    for (const Iteration& iteration : around_) {
      if (!iteration.first || iteration.step != 1 || iteration.span != 2 || table_.NameOf(iteration.var) != variable->name)
        continue;
      const symbolic::Scalar next = symbolic::Add(iteration.first, symbolic::Int(1));
      if (symbolic::Equal(value, iteration.first)) return next;
      if (symbolic::Equal(value, next)) return iteration.first;
    }
    return {};
  }

  void AddStore(const Stmt& stmt) {
    GridStore store{&stmt, {}, around_, zeros_, conditions_, name_, facts_};
    for (const AxisRange& axis : stmt.axes) {
      const symbolic::Scalar first = FormulaOf(*axis.start);
      std::optional<Polynomial> start = symbolic::ToPolynomial(first);
      store.axes.push_back({start ? std::move(*start) : Polynomial{{"?", 1}}, axis.extent});
      store.axes.back().first = solved_.PutIn(table_.Of(*axis.start));
      if (axis.hi) store.axes.back().hi = solved_.PutIn(table_.Of(*axis.hi));
      if (axis.hi)
        AddEnds(FormulaOf(*axis.hi), first, store.axes.back());
      else if (axis.extent == 1)
        AddEndOfLoop(first, store.axes.back());
    }
    AddDigits(store);
    stores_[stmt.tensor].push_back(std::move(store));
  }

  /// A single element at the index of a loop lies before its end.
  void AddEndOfLoop(const symbolic::Scalar& first, StoredAxis& axis) const {
    for (const Iteration& iteration : around_) {
      if (axis.start == Polynomial{{table_.NameOf(iteration.var) + "*", 1}}) return AddEnds(iteration.hi, first, axis);
    }
  }

  /// `first`: where the axis starts.
  void AddEnds(const symbolic::Scalar& hi, const symbolic::Scalar& first, StoredAxis& axis) const {
    if (hi->kind == symbolic::Kind::kMin) {
      for (const symbolic::Scalar& each : hi->args) AddEnds(each, first, axis);
    } else if (std::optional<Polynomial> end = symbolic::ToPolynomial(hi)) {
      axis.ends.push_back(std::move(*end));
      if (hi->kind == symbolic::Kind::kElement && hi->args.size() == 1) AddRun(*hi, first, axis);
    }
  }

  /// The run that ends at an element of a tensor, by each place in it that the axis may count from.
  void AddRun(const symbolic::Node& end, const symbolic::Scalar& first, StoredAxis& axis) const {
    const symbolic::Scalar before = symbolic::Sub(end.args[0], symbolic::Int(1));
    const std::optional<Polynomial> number = symbolic::ToPolynomial(before);
    if (!number) return;
    std::vector<symbolic::Scalar> places{symbolic::Element(end.name, end.dtype, {before})};
    const symbolic::Scalar begin = places[0];
    symbolic::AddMaxima(first, begin, places);
    for (const Iteration& iteration : around_) symbolic::AddMaxima(iteration.first, begin, places);
    for (const symbolic::Scalar& place : places) {
      if (const std::optional<Polynomial> from = symbolic::ToPolynomial(place))
        axis.runs.push_back({SymbolicTable::ParamOf(end.name), *number, *from});
    }
  }

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  SymbolicTable table_;  // one for all instances: what is long has one name in all of them
  symbolic::SolvedNames solved_;
  symbolic::IndexDigits digits_;
  std::map<std::string, VarId> loops_;
  // Around the statement that is looked at.
  std::vector<Iteration> around_;
  std::vector<symbolic::Condition> conditions_;
  std::vector<symbolic::Scalar> facts_;
  std::vector<Polynomial> zeros_;
  std::string name_;
  std::map<typed::ParamId, std::vector<GridStore>> stores_;
};

}  // namespace

std::map<typed::ParamId, std::vector<GridStore>> CollectGridStores(const typed::Kernel& kernel, const typed::Section& section) {
  return Collector(kernel, section).Collect();
}

std::set<std::string> TensorsOfRuns(const typed::Kernel& kernel) {
  std::set<std::string> tensors;
  for (const typed::Section& section : kernel.sections) {
    for (const auto& [tensor, stores] : CollectGridStores(kernel, section)) {
      for (const GridStore& store : stores) {
        for (const StoredAxis& axis : store.axes) {
          for (const Run& run : axis.runs) tensors.insert(run.tensor);
        }
      }
    }
  }
  return tensors;
}

std::string KeyOf(typed::VarId var) { return 'v' + std::to_string(var) + '*'; }

bool Mentions(const std::string& term, typed::VarId var) {
  const std::string name = 'v' + std::to_string(var);
  for (size_t at = term.find(name); at != std::string::npos; at = term.find(name, at + 1)) {
    const char next = at + name.size() < term.size() ? term[at + name.size()] : ' ';
    if (next < '0' || next > '9') return true;
  }
  return false;
}

bool Mentions(const symbolic::Polynomial& polynomial, typed::VarId var) {
  return std::any_of(polynomial.begin(), polynomial.end(), [&](const auto& term) { return Mentions(term.first, var); });
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quote.h"

namespace tkc::codegen {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

using NamedTerms = std::vector<std::pair<std::string, Scalar>>;

void CountQuotients(const Scalar& scalar, std::map<std::string, int>& uses) {
  if (!scalar) return;
  if (scalar->kind == Kind::kCdiv) ++uses[symbolic::ToString(scalar)];
  for (const Scalar& arg : scalar->args) CountQuotients(arg, uses);
}

/// `scalar` with a name for each term that reads `text`; `term`: one of them.
Scalar Named(const Scalar& scalar, const std::string& text, const Scalar& name, Scalar& term) {
  if (!scalar || scalar->args.empty()) return scalar;
  if (scalar->kind == Kind::kCdiv && symbolic::ToString(scalar) == text) {
    term = scalar;
    return name;
  }
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(Named(arg, text, name, term));
  return symbolic::WithArgs(scalar, std::move(args));
}

/// Gives names to the quotients that occur more than once in conditions and costs, the longest first: what these are made of counts
/// no more. What is hardly longer than a name stays.
NamedTerms NameQuotients(std::vector<Scalar>& terms) {
  constexpr size_t kShort = 16;
  NamedTerms named;
  int number = 0;
  while (true) {
    std::map<std::string, int> uses;
    for (const Scalar& term : terms) CountQuotients(term, uses);
    std::string longest;
    for (const auto& [text, count] : uses) {
      if (count > 1 && text.size() > std::max(longest.size(), kShort)) longest = text;
    }
    if (longest.empty()) return named;
    std::string name;
    const auto mentions = [&](const Scalar& term) { return term && symbolic::Mentions(term, name); };
    do {
      name = fmt::format("quotient_{}", ++number);
    } while (std::any_of(terms.begin(), terms.end(), mentions));
    Scalar quotient;
    for (Scalar& term : terms) term = Named(term, longest, symbolic::Name(name), quotient);
    named.emplace_back(name, quotient);
  }
}

class ChoiceEmitter {
 public:
  ChoiceEmitter(const ir::Module& module, const ir::Entry& entry, ScalarPrinter host, CodeWriter& out)
      : module_(module), entry_(entry), host_(std::move(host)), out_(out) {
    for (const std::vector<int>& alternative : entry.alternatives) {
      const ir::Kernel& kernel = First(alternative);
      terms_.push_back(kernel.when);
      terms_.push_back(kernel.cost_formula ? nullptr : kernel.cost);
    }
  }

  void Run() {
    const bool always = AlwaysChooses(module_, entry_);
    const size_t count = entry_.alternatives.size();
    bool has_costs = false;
    for (size_t i = 0; i < count; ++i) has_costs = has_costs || HasCost(i);
    out_.Comment(fmt::format("The number of the first schedule whose condition holds{}{}.",
                             has_costs ? "; where schedules offer at a cost, of the cheapest of them" : "",
                             always ? "" : ", or -1"));
    out_.Open("int choose() const");
    Device();
    Alignment();
    Quotients(terms_, host_);
    Formulas();
    bool is_reached = true;
    for (size_t i = 0; i < count && is_reached;) is_reached = HasCost(i) ? Competitors(i) : Alternative(i++);
    if (is_reached) out_.Line("return -1;");
    out_.Close();
    out_.Blank();
  }

 private:
  const ir::Kernel& First(const std::vector<int>& alternative) const {
    return module_.kernels[static_cast<size_t>(alternative.front())];
  }

  /// What several of the terms divide, or one of them several times, is computed once.
  void Quotients(std::vector<Scalar>& terms, ScalarPrinter& printer) {
    for (const auto& [name, value] : NameQuotients(terms)) {
      out_.Line(fmt::format("const tk::index {} = {};", name, printer.Text(value)));
      if (printer.IsNonNegative(value)) printer.AddNonNegative(name);
      if (const auto bits = printer.BitsOf(value)) printer.AddBits(name, *bits);
    }
  }

  bool IsMentioned(const std::string& name) const {
    const auto mentions = [&](const Scalar& scalar) { return scalar && symbolic::Mentions(scalar, name); };
    return std::any_of(entry_.alternatives.begin(), entry_.alternatives.end(), [&](const std::vector<int>& alternative) {
      return mentions(First(alternative).when) || mentions(First(alternative).cost);
    });
  }

  void Device() {
    if (IsMentioned("sms")) out_.Line("const tk::index sms = call.processors();");
  }

  void Alignment() {
    const ir::Kernel& first = FirstKernel(module_, entry_);
    if (IsMentioned("aligned")) {
      std::vector<std::string> plain, structured, questions;
      for (const ir::TensorParam& tensor : first.tensors) {
        if (!tensor.is_work) (ir::StructureParts(tensor) > 1 ? structured : plain).push_back(Mangle(tensor.name));
      }
      if (!plain.empty()) questions.push_back(fmt::format("tk::host::rows_aligned({})", Join(plain)));
      if (!structured.empty()) questions.push_back(fmt::format("tk::host::structures_aligned({})", Join(structured)));
      out_.Line(fmt::format("const bool aligned = {};", Join(questions, " && ")));
    }
    if (IsMentioned("contiguous")) {
      std::vector<std::string> tensors;
      for (const ir::TensorParam& tensor : first.tensors) {
        if (!tensor.is_work) tensors.push_back(Mangle(tensor.name));
      }
      out_.Line(fmt::format("const bool contiguous = tk::host::contiguous({});", Join(tensors)));
    }
  }

  const Scalar& Condition(size_t i) const { return terms_[2 * i]; }
  bool HasCost(size_t i) const { return First(entry_.alternatives[i]).cost != nullptr; }

  std::string NameOf(size_t i) const {
    const std::string& schedule = First(entry_.alternatives[i]).schedule;
    return schedule.empty() ? "the kernel's own" : EscapeComment(schedule);
  }

  /// `line`, with the schedule's name beside or above it.
  void Named(size_t i, const std::string& line) {
    constexpr size_t kIndent = 4;
    const std::string end = "  // " + NameOf(i);
    if (line.size() + end.size() + kIndent > CodeWriter::kColumns) {
      out_.Comment(NameOf(i));
      out_.Line(line);
    } else {
      out_.Line(line + end);
    }
  }

  /// Whether those behind it can be reached.
  bool Alternative(size_t i) {
    const std::string result = fmt::format("return {};", i);
    Named(i, Condition(i) ? fmt::format("if ({}) {}", host_.Text(Condition(i)), result) : result);
    return Condition(i) != nullptr;
  }

  /// The functions that give costs, once each.
  void Formulas() {
    for (const std::vector<int>& alternative : entry_.alternatives) {
      const auto& formula = First(alternative).cost_formula;
      if (!formula) continue;
      const auto [place, is_new] = formulas_.try_emplace(symbolic::ToString(formula->body), "cost_by_" + formula->name);
      if (!is_new) continue;
      while (IsTaken(place->second)) place->second += '_';
      std::vector<std::string> params;
      for (const auto& [param, value] : formula->args) params.push_back("tk::index " + Mangle(param));
      out_.Open(fmt::format("const auto {} = []({}) -> tk::index", place->second, Join(params)));
      ScalarPrinter printer = OfParameters(place->first);
      std::vector<Scalar> result = {formula->body};
      Quotients(result, printer);
      out_.Line(fmt::format("return {};", printer.Text(result[0])));
      out_.Close("};");
    }
  }

  /// Prints what is of a function's parameters, none of which is negative if no set gives it such a value.
  ScalarPrinter OfParameters(const std::string& body) const {
    std::map<std::string, bool> is_non_negative;
    for (const std::vector<int>& alternative : entry_.alternatives) {
      const auto& formula = First(alternative).cost_formula;
      if (!formula || symbolic::ToString(formula->body) != body) continue;
      for (const auto& [param, value] : formula->args) {
        bool& is = is_non_negative.try_emplace(param, true).first->second;
        is = is && host_.IsNonNegative(value);
      }
    }
    ScalarPrinter printer(ScalarPrinter::Place::kHost);
    for (const auto& [param, is] : is_non_negative) {
      if (is) printer.AddNonNegative(param);
    }
    return printer;
  }

  /// Of a parameter or dimension, or of another function.
  bool IsTaken(const std::string& name) const {
    const ir::Kernel& first = FirstKernel(module_, entry_);
    const std::vector<EntryParam> params = EntryParams(first);
    return std::any_of(params.begin(), params.end(), [&](const EntryParam& param) { return param.name == name; }) ||
           std::find(first.dims.begin(), first.dims.end(), name) != first.dims.end() ||
           std::count_if(formulas_.begin(), formulas_.end(), [&](const auto& formula) { return formula.second == name; }) > 1;
  }

  std::string CostText(size_t i) const {
    const auto& formula = First(entry_.alternatives[i]).cost_formula;
    if (!formula) return host_.Text(terms_[2 * i + 1]);
    std::vector<std::string> args;
    for (const auto& [name, value] : formula->args) args.push_back(host_.Text(value));
    return fmt::format("{}({})", formulas_.at(symbolic::ToString(formula->body)), Join(args));
  }

  /// The schedules with costs from `i` on, which is set to the one behind them. Whether that can be reached.
  bool Competitors(size_t& i) {
    const std::string name = fmt::format("offers{}", groups_ == 0 ? "" : fmt::format("_{}", groups_ + 1));
    ++groups_;
    bool always = false;
    out_.Line(fmt::format("tk::host::offers {};", name));
    for (; i < entry_.alternatives.size() && HasCost(i); ++i) {
      const std::string line = fmt::format("{}.add({}, {});", name, i, CostText(i));
      Named(i, Condition(i) ? fmt::format("if ({}) {}", host_.Text(Condition(i)), line) : line);
      always = always || !Condition(i);
    }
    out_.Line(always ? fmt::format("return {}.cheapest();", name) : fmt::format("if ({}.any()) return {}.cheapest();", name, name));
    return !always;
  }

  const ir::Module& module_;
  const ir::Entry& entry_;
  ScalarPrinter host_;
  CodeWriter& out_;
  std::vector<Scalar> terms_;  // of each alternative its condition and its cost; null where there is none, or a function gives it
  int groups_ = 0;             // of schedules with costs
  std::map<std::string, std::string> formulas_;  // of functions that give costs: by what they compute, their names
};

}  // namespace

bool AlwaysChooses(const ir::Module& module, const ir::Entry& entry) {
  return std::any_of(entry.alternatives.begin(), entry.alternatives.end(), [&](const std::vector<int>& alternative) {
    return module.kernels[static_cast<size_t>(alternative.front())].when == nullptr;
  });
}

void EmitChoice(const ir::Module& module, const ir::Entry& entry, ScalarPrinter host, CodeWriter& out) {
  ChoiceEmitter(module, entry, std::move(host), out).Run();
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
// Which variants of kernels there are to elaborate, and what is said about several of them at once.
#include "compiler/sema/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/sema/analyses.h"
#include "compiler/sema/check_costs.h"
#include "compiler/sema/check_declared_names.h"
#include "compiler/sema/check_unused_names.h"
#include "compiler/sema/elaborator.h"
#include "compiler/support/parallel.h"

namespace tkc {
namespace sema {
namespace {

/// One variant, and what became of it.
struct Attempt {
  Variant variant{};
  Choice choice = Choice::kAlways;
  typed::Kernel kernel{};
  Diagnostics diagnostics{};
};

class Checker {
 public:
  Checker(const ast::Program& program, const CheckOptions& options, Diagnostics& diagnostics)
      : file_(program.files[0]), options_(options), diagnostics_(diagnostics) {
    context_.options = &options;
    for (const ast::File& file : program.files) CollectFns(file);
  }

  typed::Program Run();

 private:
  void CollectFns(const ast::File& file);
  bool AppliesHere(const ast::ScheduleDecl& schedule) const;
  bool HasSets(const ast::KernelDecl& kernel) const;
  bool HasAllParams(const Variant& variant) const;
  std::vector<Variant> VariantsOf(const ast::KernelDecl& kernel, const ast::InstanceDecl* instance) const;
  /// Elaborates and analyses; touches nothing but the attempt. Where workers are not in step, again with loops written out.
  void Try(Attempt& attempt) const;
  typed::Entry CheckEntry(const ast::KernelDecl& kernel, const ast::InstanceDecl* instance, std::vector<Attempt>& attempts);
  void Merge(const std::vector<Attempt>& attempts);
  void CopyDiagnostic(const Diagnostic& diagnostic, const Variant* only);

  const ast::File& file_;
  const CheckOptions& options_;
  Diagnostics& diagnostics_;
  Context context_;
};

void Checker::CollectFns(const ast::File& file) {
  for (const ast::FnDecl& fn : file.fns) {
    if (IsStandardFunction(fn.name.text) && !IsMadeOfOthers(fn.name.text)) {
      diagnostics_.Error(DiagnosticKind::kHiddenName, fn.name.span, fmt::format("`{}` is a standard function", fn.name.text))
          .Help("choose another name");
      continue;
    }
    const auto [place, is_new] = context_.fns.emplace(fn.name.text, &fn);
    if (is_new) continue;
    diagnostics_.Error(DiagnosticKind::kDuplicateName, fn.name.span, fmt::format("there are two functions `{}`", fn.name.text))
        .Label(fn.name.span, "declared again")
        .Note(place->second->name.span, "the first one");
  }
}

bool Checker::AppliesHere(const ast::ScheduleDecl& schedule) const {
  if (schedule.targets.empty()) return true;
  return std::any_of(schedule.targets.begin(), schedule.targets.end(),
                     [&](const ast::Name& name) { return name.text == options_.target; });
}

bool Checker::HasSets(const ast::KernelDecl& kernel) const {
  return std::any_of(file_.schedules.begin(), file_.schedules.end(),
                     [&](const ast::ScheduleDecl& schedule) { return ast::IsOf(schedule, kernel) && AppliesHere(schedule); });
}

bool Checker::HasAllParams(const Variant& variant) const {
  for (const ast::StaticParam& param : variant.kernel->static_params) {
    bool has = param.default_value != nullptr;
    for (const Define& define : options_.defines) has = has || define.name == param.name.text;
    if (variant.instance != nullptr) {
      for (const ast::Binding& binding : variant.instance->bindings) has = has || binding.name.text == param.name.text;
    }
    if (!has) return false;
  }
  return true;
}

/// The schedule sets for the target in file order, then the kernel's own defaults unless a set always applies.
std::vector<Variant> Checker::VariantsOf(const ast::KernelDecl& kernel, const ast::InstanceDecl* instance) const {
  std::vector<Variant> variants;
  bool unconditional = false;
  for (const ast::ScheduleDecl& schedule : file_.schedules) {
    if (!ast::IsOf(schedule, kernel) || !AppliesHere(schedule)) continue;
    variants.push_back({&kernel, instance, &schedule});
    unconditional = unconditional || !schedule.condition;
  }
  const Variant defaults{&kernel, instance, nullptr};
  if (!unconditional && (variants.empty() || HasAllParams(defaults))) variants.push_back(defaults);
  return variants;
}

/// After the values that the parameters of an instance have, which `-D` may have given them.
std::string EntryName(const ast::InstanceDecl& instance, const typed::Kernel& kernel) {
  std::string name = kernel.name;
  for (const ast::Binding& binding : instance.bindings) {
    const auto value = std::ranges::find(kernel.bindings, binding.name.text, &typed::StaticValue::name);
    if (value == kernel.bindings.end()) continue;
    if (value->is_bool)
      name += value->number != 0 ? "_" + binding.name.text : "";
    else
      name += value->number < 0 ? "_minus_" + value->Text().substr(1) : "_" + value->Text();
  }
  return name;
}

/// Whether the kernel has all parameters that an instance gives values to.
bool NamesParams(const ast::KernelDecl& kernel, const ast::InstanceDecl& instance) {
  return std::all_of(instance.bindings.begin(), instance.bindings.end(), [&](const ast::Binding& binding) {
    return std::any_of(kernel.static_params.begin(), kernel.static_params.end(),
                       [&](const auto& param) { return param.name.text == binding.name.text; });
  });
}

bool IsSame(const typed::Expr& a, const typed::Expr& b) {
  const auto are_same = [](const typed::ExprPtr& x, const typed::ExprPtr& y) { return IsSame(*x, *y); };
  return a.kind == b.kind && a.op == b.op && a.id == b.id && a.int_value == b.int_value &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), are_same);
}

/// All schedule sets stand behind one entry, whose caller does not know which of them is chosen.
void ReportOtherExtents(const typed::Kernel& first, const typed::Kernel& other, Diagnostics& diagnostics) {
  for (size_t i = 0; i < std::min(first.params.size(), other.params.size()); ++i) {
    const typed::Param &a = first.params[i], &b = other.params[i];
    if (a.kind != typed::ParamKind::kTensor) continue;
    for (size_t axis = 0; axis < std::min(a.extents.size(), b.extents.size()); ++axis) {
      if (IsSame(*a.extents[axis], *b.extents[axis])) continue;
      diagnostics
          .Error(DiagnosticKind::kBadSchedule, b.extents[axis]->span,
                 fmt::format("axis {} of `{}` has another extent in schedule set `{}`", axis, b.name, first.schedule))
          .Label(b.extents[axis]->span, "depends on what a set gives its parameters")
          .Help(fmt::format("the caller of an entry does not know its sets: give `{}` an extent that is the same in all", b.name));
    }
  }
}

bool HasCost(const Variant& variant) { return variant.schedule != nullptr && ast::CostOf(*variant.schedule) != nullptr; }

bool HasTrafficMismatch(const Diagnostics& diagnostics) {
  return std::ranges::any_of(diagnostics.All(),
                             [](const Diagnostic& diagnostic) { return diagnostic.kind == DiagnosticKind::kTrafficMismatch; });
}

/// What is wrong with a kernel as it is written may be right with loops written out: where somebody does by statements what others
/// do by a loop, and where it takes numbers to see what is read.
void Checker::Try(Attempt& attempt) const {
  std::set<SourcePlace> written_out;
  Diagnostics of_source;
  while (true) {
    Diagnostics diagnostics;
    Elaborator elaborator(context_, attempt.variant, written_out, diagnostics);
    attempt.kernel = elaborator.Run();
    attempt.choice = elaborator.choice();
    if (attempt.choice == Choice::kNever) return;
    std::set<SourcePlace> stuck;
    if (!diagnostics.HasErrors()) stuck = Analyse(attempt.kernel, attempt.variant.kernel->deterministic, diagnostics);
    if (written_out.empty()) of_source = diagnostics;
    const size_t before = written_out.size();
    if (HasTrafficMismatch(diagnostics)) written_out.insert(stuck.begin(), stuck.end());
    if (diagnostics.HasErrors()) written_out.insert(elaborator.loops_of_loads().begin(), elaborator.loops_of_loads().end());
    if (written_out.size() > before) continue;
    const bool is_mended = !diagnostics.HasErrors() || HasTrafficMismatch(of_source) > HasTrafficMismatch(diagnostics);
    attempt.diagnostics.Append(is_mended ? std::move(diagnostics) : std::move(of_source));
    if (attempt.diagnostics.HasErrors()) return;
    for (const Gate& gate : elaborator.gates()) ReportNotImplemented(attempt.diagnostics, gate.span, gate.what, gate.help);
    return;
  }
}

void WarnOfUnreached(const ast::ScheduleDecl& set, const ast::ScheduleDecl& always, Diagnostics& diagnostics) {
  diagnostics
      .Warning(DiagnosticKind::kUnreachableSchedule, set.name.span, fmt::format("schedule set `{}` is never chosen", set.name.text))
      .Label(set.name.span, "comes after a set that always applies")
      .Note(always.name.span, fmt::format("`{}` has no `when`", always.name.text));
}

typed::Entry Checker::CheckEntry(const ast::KernelDecl& kernel, const ast::InstanceDecl* instance, std::vector<Attempt>& attempts) {
  typed::Entry entry;
  entry.name = kernel.name.text;
  const size_t first = attempts.size();
  for (const Variant& variant : VariantsOf(kernel, instance)) attempts.emplace_back().variant = variant;
  ForEachInParallel(attempts.size() - first, [&](size_t i) { Try(attempts[first + i]); });
  const ast::ScheduleDecl* always = nullptr;
  bool competes = false;  // whether the sets seen since `always`, and it, have costs
  for (size_t i = first; i < attempts.size(); ++i) {
    Attempt& attempt = attempts[i];
    const ast::ScheduleDecl* set = attempt.variant.schedule;
    if (attempt.choice == Choice::kNever) continue;
    competes = competes && HasCost(attempt.variant);
    if (always != nullptr && !competes) {
      if (always->condition)
        attempt.choice = Choice::kNever;  // with the values of this instance
      else
        WarnOfUnreached(*set, *always, attempt.diagnostics);
      continue;
    }
    if (!entry.kernels.empty() && !attempt.diagnostics.HasErrors())
      ReportOtherExtents(entry.kernels.front(), attempt.kernel, attempt.diagnostics);
    if (instance != nullptr && entry.kernels.empty()) entry.name = EntryName(*instance, attempt.kernel);
    entry.kernels.push_back(std::move(attempt.kernel));
    if (set != nullptr && attempt.choice == Choice::kAlways && always == nullptr) {
      always = set;
      competes = HasCost(attempt.variant);
    }
  }
  std::erase_if(attempts, [](const Attempt& attempt) { return attempt.choice == Choice::kNever; });
  if (entry.kernels.empty()) {
    // All sets are for other values, and parameters have none without a set: that is an error.
    Attempt& defaults = attempts.emplace_back();
    defaults.variant = {&kernel, instance, nullptr};
    Try(defaults);
  }
  return entry;
}

std::string KeyOfDiagnostic(const Diagnostic& diagnostic) {
  std::string key = fmt::format("{}:{}:{}:{}:{}", static_cast<int>(diagnostic.kind), diagnostic.span.file, diagnostic.span.begin,
                                diagnostic.span.end, diagnostic.headline);
  for (const DiagnosticLabel& label : diagnostic.labels) key += fmt::format("|{}:{}", label.span.begin, label.text);
  return key;
}

/// The parameters of a set that are plain numbers, as they are in this compile, but for those that the instance gives:
/// `, where BM = 64 by `-D`, W = 2`.
std::string ValuesOf(const ast::ScheduleDecl& schedule, const ast::InstanceDecl* instance, const CheckOptions& options) {
  std::string values;
  for (const ast::ScheduleItem& item : schedule.items) {
    if (item.kind != ast::ScheduleItem::Kind::kParam) continue;
    const auto is_it = [&](const ast::Binding& binding) { return binding.name.text == item.name.text; };
    if (instance != nullptr && std::ranges::any_of(instance->bindings, is_it)) continue;
    const auto define = std::ranges::find(options.defines, item.name.text, &Define::name);
    const bool is_defined = define != options.defines.end();
    const auto* number = ast::DynCast<ast::IntExpr>(is_defined ? *define->value : *item.value);
    if (number == nullptr) continue;
    values +=
        fmt::format("{} {} = {}{}", values.empty() ? ", where" : ",", item.name.text, number->value, is_defined ? " by `-D`" : "");
  }
  return values;
}

void Checker::CopyDiagnostic(const Diagnostic& diagnostic, const Variant* only) {
  DiagnosticBuilder report = diagnostics_.Add(diagnostic);
  if (only != nullptr && only->schedule != nullptr)
    report.Note(only->schedule->name.span,
                fmt::format("in schedule set `{}`{}{}", only->schedule->name.text,
                            only->schedule->kernels.size() > 1 ? fmt::format(" of `{}`", only->kernel->name.text) : "",
                            ValuesOf(*only->schedule, only->instance, options_)));
  if (only != nullptr && only->schedule == nullptr && HasSets(*only->kernel)) report.Note(std::string(kInDefaults));
  if (only != nullptr && only->instance != nullptr) report.Note(only->instance->span, "in this instance");
}

/// What every variant says is said once; what only some say names the first of them.
void Checker::Merge(const std::vector<Attempt>& attempts) {
  std::map<std::string, size_t> counts;
  for (const Attempt& attempt : attempts) {
    std::set<std::string> own;
    for (const Diagnostic& diagnostic : attempt.diagnostics.All()) {
      if (own.insert(KeyOfDiagnostic(diagnostic)).second) ++counts[KeyOfDiagnostic(diagnostic)];
    }
  }
  std::set<std::string> said;
  for (const Attempt& attempt : attempts) {
    for (const Diagnostic& diagnostic : attempt.diagnostics.All()) {
      const std::string key = KeyOfDiagnostic(diagnostic);
      if (!said.insert(key).second) continue;
      const bool general = counts[key] == attempts.size() || diagnostic.kind == DiagnosticKind::kUnreachableSchedule;
      CopyDiagnostic(diagnostic, general ? nullptr : &attempt.variant);
    }
  }
}

typed::Program Checker::Run() {
  CheckDeclaredNames(file_, options_, diagnostics_);
  CheckCosts(file_, diagnostics_);
  typed::Program program;
  std::map<std::string, Span> entries;
  for (const ast::KernelDecl& kernel : file_.kernels) {
    std::vector<const ast::InstanceDecl*> instances;
    for (const ast::InstanceDecl& instance : file_.instances) {
      if (instance.kernel.text == kernel.name.text) instances.push_back(&instance);
    }
    const Span place = instances.empty() ? kernel.name.span : instances[0]->span;
    if (instances.empty()) instances.push_back(nullptr);
    std::vector<Attempt> attempts;
    for (const ast::InstanceDecl* instance : instances) {
      typed::Entry entry = CheckEntry(kernel, instance, attempts);
      if (instance != nullptr && !NamesParams(kernel, *instance)) continue;  // another name, once that is mended
      const auto [first, is_new] = entries.emplace(entry.name, instance != nullptr ? instance->span : place);
      if (!is_new && instance != nullptr) {
        diagnostics_
            .Error(DiagnosticKind::kDuplicateName, instance->span, fmt::format("two entries would be called `{}`", entry.name))
            .Label(instance->span, "again")
            .Note(first->second, "the first one");
      }
      program.entries.push_back(std::move(entry));
    }
    Merge(attempts);
  }
  for (const auto& [name, span] : entries) {
    const auto other = entries.find(name + "_workspace");
    if (other == entries.end()) continue;
    diagnostics_.Error(DiagnosticKind::kDuplicateName, other->second, fmt::format("`{}` is the size of a workspace", other->first))
        .Label(other->second, "an entry of this name")
        .Note(span, fmt::format("callers ask by it how many bytes `{}` needs", name))
        .Help("give one of the two another name");
  }
  return program;
}

}  // namespace
}  // namespace sema

Result<typed::Program> Check(const ast::Program& program, const CheckOptions& options, Diagnostics& diagnostics) {
  const size_t before = diagnostics.ErrorCount();
  typed::Program typed_program = sema::Checker(program, options, diagnostics).Run();
  if (diagnostics.ErrorCount() > before) return Failure{};
  for (const ast::File& file : program.files) sema::WarnOfUnusedNames(file, diagnostics);
  return typed_program;
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/sema/check_declared_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/sema/habits.h"
#include "compiler/support/nearest_name.h"
#include "compiler/target/target.h"

namespace tkc::sema {
namespace {

const ast::KernelDecl* FindKernel(const ast::File& file, const std::string& name) {
  for (const ast::KernelDecl& kernel : file.kernels) {
    if (kernel.name.text == name) return &kernel;
  }
  return nullptr;
}

const ast::StaticParam* FindParam(const ast::KernelDecl& kernel, const std::string& name) {
  for (const ast::StaticParam& param : kernel.static_params) {
    if (param.name.text == name) return &param;
  }
  return nullptr;
}

void ReportNoKernel(const ast::File& file, const ast::Name& name, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const ast::KernelDecl& kernel : file.kernels) names.push_back(kernel.name.text);
  const std::string has = names.empty() ? "" : "; " + WhatItHas(names);
  const std::string nearest = NearestName(name.text, std::move(names));
  DiagnosticBuilder report = diagnostics.Error(DiagnosticKind::kUnknownName, name.span,
                                               fmt::format("there is no kernel `{}` in this file{}", name.text, has));
  if (!nearest.empty()) report.Help(fmt::format("write `{}`", nearest), Edit{name.span, nearest});
}

/// `names`: of all that the kernel has of this kind.
void ReportNone(const ast::KernelDecl& kernel, std::string_view kind, const ast::Name& name, const std::vector<std::string>& names,
                Diagnostics& diagnostics) {
  const std::string nearest = NearestName(name.text, names);
  DiagnosticBuilder report =
      diagnostics.Error(DiagnosticKind::kUnknownName, name.span,
                        fmt::format("kernel `{}` has no {} `{}`; {}", kernel.name.text, kind, name.text, WhatItHas(names)));
  if (!nearest.empty())
    report.Help(fmt::format("write `{}`", nearest), Edit{name.span, nearest});
  else if (const std::string_view help = HelpForScheduleItem(name.text); !help.empty())
    report.Help(std::string(help));
}

void ReportNoParam(const ast::KernelDecl& kernel, const ast::Name& name, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const ast::StaticParam& param : kernel.static_params) names.push_back(param.name.text);
  ReportNone(kernel, "compile-time parameter", name, names, diagnostics);
}

/// What is wrong with a set whichever kernel it is of.
void CheckSchedule(const ast::ScheduleDecl& schedule, Diagnostics& diagnostics) {
  for (const ast::Name& target : schedule.targets) {
    if (FindTarget(target.text) != nullptr) continue;
    const std::string meant = TargetMeant(target.text);
    DiagnosticBuilder report =
        diagnostics.Error(DiagnosticKind::kUnknownTarget, target.span, fmt::format("there is no target `{}`", target.text));
    if (meant.empty())
      report.Help("`tkc --list-targets` shows which there are");
    else
      report.Help(fmt::format("write `{}`", meant), Edit{target.span, meant});
  }
  std::map<std::pair<int, std::string>, Span> seen;
  for (const ast::ScheduleItem& item : schedule.items) {
    const auto [place, is_new] = seen.emplace(std::pair(static_cast<int>(item.kind), item.name.text), item.span);
    if (!is_new) {
      diagnostics.Error(DiagnosticKind::kDuplicateName, item.span, "a schedule set says this twice")
          .Label(item.span, "again")
          .Note(place->second, "said here first");
    }
  }
}

/// What a set names is the kernel's.
void CheckScheduleNames(const ast::ScheduleDecl& schedule, const ast::KernelDecl& kernel, Diagnostics& diagnostics) {
  using Kind = ast::ScheduleItem::Kind;
  for (const ast::ScheduleItem& item : schedule.items) {
    if (item.kind == Kind::kParam && FindParam(kernel, item.name.text) == nullptr) ReportNoParam(kernel, item.name, diagnostics);
    if (item.kind != Kind::kSlots && item.kind != Kind::kInTurn && item.kind != Kind::kAlternate && item.kind != Kind::kSpread)
      continue;
    std::vector<std::string> names;
    for (const ast::GridSection& grid : kernel.grids) {
      if (item.kind == Kind::kSlots) {
        for (const ast::PipeDecl& pipe : grid.pipes) names.push_back(pipe.name.text);
      } else {
        for (const ast::WorkerDecl& worker : grid.workers) names.push_back(worker.name.text);
      }
    }
    if (std::find(names.begin(), names.end(), item.name.text) != names.end()) continue;
    ReportNone(kernel, item.kind == Kind::kSlots ? "pipe" : "worker", item.name, names, diagnostics);
  }
}

void CheckNames(const ast::File& file, Diagnostics& diagnostics) {
  std::map<std::string, Span> kernels;
  for (const ast::KernelDecl& kernel : file.kernels) {
    const auto [place, is_new] = kernels.emplace(kernel.name.text, kernel.name.span);
    if (is_new) continue;
    diagnostics.Error(DiagnosticKind::kDuplicateName, kernel.name.span, fmt::format("there are two kernels `{}`", kernel.name.text))
        .Label(kernel.name.span, "declared again")
        .Note(place->second, "the first one");
  }
  for (const ast::InstanceDecl& instance : file.instances) {
    const ast::KernelDecl* kernel = FindKernel(file, instance.kernel.text);
    if (kernel == nullptr) {
      ReportNoKernel(file, instance.kernel, diagnostics);
      continue;
    }
    std::map<std::string, Span> bound;
    for (const ast::Binding& binding : instance.bindings) {
      if (FindParam(*kernel, binding.name.text) == nullptr) ReportNoParam(*kernel, binding.name, diagnostics);
      const auto [place, is_new] = bound.emplace(binding.name.text, binding.span);
      if (!is_new)
        diagnostics.Error(DiagnosticKind::kDuplicateName, binding.name.span, fmt::format("`{}` gets two values", binding.name.text))
            .Label(binding.name.span, "again")
            .Note(place->second, "the first one");
    }
  }
  std::map<std::pair<std::string, std::string>, Span> schedules;
  for (const ast::ScheduleDecl& schedule : file.schedules) {
    CheckSchedule(schedule, diagnostics);
    for (const ast::Name& name : schedule.kernels) {
      const ast::KernelDecl* kernel = FindKernel(file, name.text);
      if (kernel == nullptr) {
        ReportNoKernel(file, name, diagnostics);
        continue;
      }
      const auto [place, is_new] = schedules.emplace(std::pair(name.text, schedule.name.text), schedule.name.span);
      if (is_new) {
        CheckScheduleNames(schedule, *kernel, diagnostics);
      } else if (place->second == schedule.name.span) {
        diagnostics
            .Error(DiagnosticKind::kDuplicateName, name.span,
                   fmt::format("schedule set `{}` is of `{}` twice", schedule.name.text, name.text))
            .Label(name.span, "again");
      } else {
        diagnostics
            .Error(DiagnosticKind::kDuplicateName, schedule.name.span,
                   fmt::format("kernel `{}` has two schedule sets `{}`", kernel->name.text, schedule.name.text))
            .Label(schedule.name.span, "declared again")
            .Note(place->second, "the first one");
      }
    }
  }
}

void CheckDefines(const ast::File& file, const CheckOptions& options, Diagnostics& diagnostics) {
  std::set<std::string> params;
  for (const ast::KernelDecl& kernel : file.kernels) {
    for (const ast::StaticParam& param : kernel.static_params) params.insert(param.name.text);
  }
  std::vector<std::string> names(params.begin(), params.end());
  for (const char* item : {"persistent", "dynamic", "order", "cluster", "split", "depth", "resident"}) names.emplace_back(item);
  std::set<std::string> seen;
  for (const Define& define : options.defines) {
    if (std::find(names.begin(), names.end(), define.name) == names.end()) {
      const std::string nearest = NearestName(define.name, names);
      DiagnosticBuilder report =
          diagnostics.Error(DiagnosticKind::kBadDefine, define.span,
                            fmt::format("no kernel of the file has a compile-time parameter `{}`", define.name));
      if (nearest.empty())
        report.Help(fmt::format("`-D` sets one of `{}`", fmt::join(names, "`, `")));
      else
        report.Help(fmt::format("write `-D {}=..`", nearest));
    }
    if (!seen.insert(define.name).second)
      diagnostics.Error(DiagnosticKind::kBadDefine, define.span, fmt::format("`-D {}=..` is given twice", define.name));
  }
}

}  // namespace

void CheckDeclaredNames(const ast::File& file, const CheckOptions& options, Diagnostics& diagnostics) {
  CheckNames(file, diagnostics);
  CheckDefines(file, options, diagnostics);
}

}  // namespace tkc::sema

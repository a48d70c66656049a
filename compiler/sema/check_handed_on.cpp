// SPDX-License-Identifier: MIT
// What grid sections hand on to later ones: `work` tensors, and `out` tensors that a later section reads. A tensor is written by
// some sections and then read by others, never both in one and never written again behind a read.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Type;

namespace {

bool Multiplies(const typed::Expr& expr) {
  return typed::Contains(expr, [](const typed::Expr& node) { return node.kind == ExprKind::kMatMul; });
}

bool Multiplies(const typed::Block& block) {
  return std::any_of(block.begin(), block.end(), [](const typed::StmtPtr& stmt) {
    return (stmt->expr && Multiplies(*stmt->expr)) ||
           std::any_of(stmt->values.begin(), stmt->values.end(), [](const ExprPtr& value) { return Multiplies(*value); }) ||
           Multiplies(stmt->body) || Multiplies(stmt->orelse);
  });
}

bool Multiplies(const typed::Section& section) {
  return std::any_of(section.workers.begin(), section.workers.end(),
                     [](const typed::Worker& worker) { return Multiplies(worker.body); });
}

}  // namespace

/// False if it is no number known at compile time; that has been reported.
bool Elaborator::SetPreset(const ast::Expr& preset, typed::Param& param) {
  ExprPtr number = Coerce(Eval(preset), Type::Scalar(param.dtype), true, fmt::format("the preset of `{}`", param.name), kNoSpan);
  if (!number) return false;
  // A literal that becomes an unsigned integer is still one.
  const bool is_converted = number->kind == ExprKind::kConvert && !IsFloat(param.dtype) && number->args[0]->kind == ExprKind::kInt;
  if (is_converted) number = std::move(number->args[0]);
  if (number->kind != ExprKind::kInt && number->kind != ExprKind::kFloat && number->kind != ExprKind::kBool) {
    diagnostics_.Error(DiagnosticKind::kNotConstant, preset.span, "a preset is a number known at compile time");
    return false;
  }
  param.has_preset = true;
  if (number->kind == ExprKind::kFloat)
    param.preset = number->float_value;
  else if (IsFloat(param.dtype))
    param.preset = static_cast<double>(number->int_value);
  else
    param.integer_preset = number->int_value;
  return true;
}

void Elaborator::DeclareWork(const ast::WorkDecl& work) {
  typed::Param param;
  param.name = work.name.text;
  param.kind = typed::ParamKind::kWork;
  param.span = work.span;
  param.mode = typed::TensorMode::kOut;
  param.dtype = ElementType(*work.type).value_or(DType::kF32);
  CheckRank(work.name, *work.type);
  for (const ast::ExprPtr& extent : work.type->dims) {
    if (const auto* name = ast::DynCast<ast::NameExpr>(*extent); name != nullptr && name->name == "blocks") {
      GateFeature(extent->span, "the number of blocks as an extent");
      param.extents.push_back(MakeInt(1, extent->span));
      continue;
    }
    ExprPtr value = Extent(*extent);
    param.extents.push_back(value ? std::move(value) : MakeInt(1, extent->span));
  }
  if (work.preset) SetPreset(*work.preset, param);
  Symbol symbol;
  symbol.kind = SymbolKind::kTensor;
  symbol.id = static_cast<int>(kernel_.params.size());
  kernel_.params.push_back(std::move(param));
  DeclareFixed(work.name, std::move(symbol), "work tensor");
}

/// Behind each section: what it read and wrote of the tensors that the kernel writes.
void Elaborator::CheckHandedOn() {
  for (const auto& [tensor, span] : read_) {
    const typed::Param& param = kernel_.params[tensor];
    const bool is_work = param.kind == typed::ParamKind::kWork;
    const auto now = written_.find(tensor);
    const auto before = written_before_.find(tensor);
    if (now != written_.end() && (is_work || before != written_before_.end())) {
      diagnostics_.Error(DiagnosticKind::kReadOfOut, span, fmt::format("`{}` is read in the grid that writes it", param.name))
          .Label(span, "read here")
          .Label(now->second.set ? *now->second.set : *now->second.combined, "written here")
          .Help("keep the value in a `var`, pass it through a pipe, or read it in a grid behind this one");
    } else if (before == written_before_.end() && !is_work) {
      diagnostics_.Error(DiagnosticKind::kReadOfOut, span, fmt::format("`{}` is `out` and is read", param.name))
          .Note(param.span, "declared here")
          .Help("keep the value in a `var`, or pass it through a pipe; what the caller has there is read of an `inout` tensor");
    } else if (before == written_before_.end() && !param.has_preset) {
      diagnostics_
          .Error(DiagnosticKind::kReadOfOut, span, fmt::format("`{}` is read, and no grid before has written it", param.name))
          .Note(param.span, "declared here, without a preset")
          .Help("a grid sees what the grids above it have written");
    } else {
      read_before_.emplace(tensor, span);
    }
  }
  for (const auto& [tensor, written] : written_) {
    const Span span = written.set ? *written.set : *written.combined;
    const auto read = read_before_.find(tensor);
    if (read != read_before_.end() && read_.count(tensor) == 0) {
      diagnostics_
          .Error(DiagnosticKind::kWrittenAfterRead, span,
                 fmt::format("`{}` is written again behind a grid that reads it", kernel_.params[tensor].name))
          .Label(span, "written here")
          .Note(read->second, "read here")
          .Help("let this grid write another tensor");
    }
    written_before_.emplace(tensor, span);
  }
}

void Elaborator::WarnOfUnstored() {
  if (diagnostics_.HasErrors()) return;
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const typed::Param& param = kernel_.params[i];
    const bool is_out = param.kind == typed::ParamKind::kTensor && param.mode == typed::TensorMode::kOut;
    if (!is_out || param.has_preset || written_before_.count(static_cast<typed::ParamId>(i)) > 0) continue;
    diagnostics_.Warning(DiagnosticKind::kNeverStored, param.span, fmt::format("nothing is stored to `{}`", param.name))
        .Help(fmt::format("store its elements, `{}[..] <- x`, or leave it out", param.name));
  }
}

/// Of several sections those with products take what a schedule says about products.
void Elaborator::FitSchedules() {
  std::vector<typed::Section>& sections = kernel_.sections;
  if (std::none_of(sections.begin(), sections.end(), [](const typed::Section& section) { return Multiplies(section); })) return;
  for (typed::Section& section : sections) {
    if (!Multiplies(section)) section.split = section.cluster = 1;
  }
}

}  // namespace tkc::sema

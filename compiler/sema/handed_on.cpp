// SPDX-License-Identifier: MIT
#include "compiler/sema/handed_on.h"

#include <fmt/format.h>

namespace tkc::sema {

bool HandedOn::Write(typed::ParamId tensor, typed::StoreOp op, Span span) {
  std::optional<Span>& first = op == typed::StoreOp::kSet ? written_[tensor].set : written_[tensor].combined;
  if (first) return false;
  first = span;
  return true;
}

std::optional<Span> HandedOn::WriteOfOtherKind(typed::ParamId tensor, typed::StoreOp op) const {
  const auto written = written_.find(tensor);
  if (written == written_.end()) return std::nullopt;
  return op == typed::StoreOp::kSet ? written->second.combined : written->second.set;
}

void HandedOn::CheckReads(const typed::Kernel& kernel, Diagnostics& diagnostics) {
  for (const auto& [tensor, span] : read_) {
    const typed::Param& param = kernel.params[tensor];
    const bool is_work = param.kind == typed::ParamKind::kWork;
    const auto now = written_.find(tensor);
    const bool is_written_before = written_before_.contains(tensor);
    if (now != written_.end() && (is_work || is_written_before)) {
      diagnostics.Error(DiagnosticKind::kReadOfOut, span, fmt::format("`{}` is read in the grid that writes it", param.name))
          .Label(span, "read here")
          .Label(now->second.First(), "written here")
          .Help("keep the value in a `var`, pass it through a pipe, or read it in a grid behind this one");
    } else if (!is_written_before && !is_work) {
      diagnostics.Error(DiagnosticKind::kReadOfOut, span, fmt::format("`{}` is `out` and is read", param.name))
          .Note(param.span, "declared here")
          .Help("keep the value in a `var`, or pass it through a pipe; what the caller has there is read of an `inout` tensor");
    } else if (!is_written_before && !param.has_preset) {
      diagnostics
          .Error(DiagnosticKind::kReadOfOut, span, fmt::format("`{}` is read, and no grid before has written it", param.name))
          .Note(param.span, "declared here, without a preset")
          .Help("a grid sees what the grids above it have written");
    } else {
      read_before_.emplace(tensor, span);
    }
  }
}

void HandedOn::CheckWrites(const typed::Kernel& kernel, Diagnostics& diagnostics) {
  for (const auto& [tensor, written] : written_) {
    const auto read = read_before_.find(tensor);
    if (read != read_before_.end() && !read_.contains(tensor)) {
      diagnostics
          .Error(DiagnosticKind::kWrittenAfterRead, written.First(),
                 fmt::format("`{}` is written again behind a grid that reads it", kernel.params[tensor].name))
          .Label(written.First(), "written here")
          .Note(read->second, "read here")
          .Help("let this grid write another tensor");
    }
    written_before_.emplace(tensor, written.First());
  }
}

void HandedOn::EndSection(const typed::Kernel& kernel, Diagnostics& diagnostics) {
  CheckReads(kernel, diagnostics);
  CheckWrites(kernel, diagnostics);
  read_.clear();
  written_.clear();
}

void HandedOn::WarnOfUnwritten(const typed::Kernel& kernel, Diagnostics& diagnostics) const {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const typed::Param& param = kernel.params[i];
    const bool is_out = param.kind == typed::ParamKind::kTensor && param.mode == typed::TensorMode::kOut;
    if (!is_out || param.has_preset || written_before_.contains(static_cast<typed::ParamId>(i))) continue;
    diagnostics.Warning(DiagnosticKind::kNeverStored, param.span, fmt::format("nothing is stored to `{}`", param.name))
        .Help(fmt::format("store its elements, `{}[..] <- x`, or leave it out", param.name));
  }
}

}  // namespace tkc::sema

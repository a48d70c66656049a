// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_workspace.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/emit_checks.h"
#include "compiler/codegen/emit_choice.h"
#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/ir/queries.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

BoxesOfTensors CopiedInPieces(const ir::Kernel& kernel) {
  BoxesOfTensors boxes;
  for (const ir::Worker& worker : kernel.workers) {
    ir::ForEachOp(worker.body, [&](const ir::Op& op) {
      if (!(op.code == ir::OpCode::kCopyAsync && op.Is(ir::kInPieces)) && op.code != ir::OpCode::kFetch) return;
      std::vector<int64_t>& box = boxes[op.symbol];
      box.resize(op.axes.size(), 1);
      for (size_t d = 0; d < box.size(); ++d) box[d] = std::max(box[d], op.axes[d].dropped ? 1 : op.axes[d].extent);
    });
  }
  return boxes;
}

std::string ReachOfPieces(const ir::Kernel& kernel, const std::vector<int64_t>& box) {
  if (!TargetOf(kernel).loads_by_offset) return "";
  std::vector<std::string> extents;
  for (const int64_t extent : box) extents.push_back(fmt::format("{}", extent));
  return fmt::format(", {{{}}}", Join(extents));
}

std::string WorkShape(const ir::TensorParam& tensor, const ScalarPrinter& host) {
  std::vector<std::string> extents;
  for (const ir::Scalar& extent : tensor.extents) extents.push_back(host.Text(extent));
  return fmt::format("{}, {{{}}}", DTypeEnum(tensor.dtype), Join(extents));
}

Workspace::Workspace(const ir::Module& module, const ir::Entry& entry, const ScalarPrinter& host) {
  for (const std::vector<int>& alternative : entry.alternatives) bytes_.push_back(BytesOf(module, alternative, host));
  is_same_ = std::all_of(bytes_.begin(), bytes_.end(), [&](const std::string& bytes) { return bytes == bytes_[0]; });
  may_fail_ = Chooses(module, entry) && !AlwaysChooses(module, entry);
  depends_ = !is_same_ ? Chooses(module, entry) : may_fail_ && !is_none();
}

std::string Workspace::BytesOf(const ir::Module& module, const std::vector<int>& alternative, const ScalarPrinter& host) {
  const ir::Kernel& first = FirstKernel(module, alternative);
  std::vector<std::string> terms;
  const auto add = [&](Use use, std::string bytes) {
    uses_.insert(use);
    terms.push_back(std::move(bytes));
  };
  for (const ir::TensorParam& tensor : first.tensors) {
    if (tensor.is_work) add(Use::kScratch, fmt::format("call.work_bytes({})", WorkShape(tensor, host)));
  }
  std::set<std::string> packed;
  BoxesOfTensors boxes;
  for (const int k : alternative) {
    const ir::Kernel& kernel = module.kernels[static_cast<size_t>(k)];
    for (const ir::TensorMap& map : kernel.maps) {
      if (map.is_store || ir::FindTensor(kernel, map.tensor).is_work || !packed.insert(map.tensor).second) continue;
      add(Use::kPacking, fmt::format("tk::host::packing_bytes(*{})", Mangle(map.tensor)));
    }
    for (const auto& [tensor, box] : CopiedInPieces(kernel)) {
      std::vector<int64_t>& most = boxes[tensor];
      most.resize(box.size(), 1);
      std::transform(box.begin(), box.end(), most.begin(), most.begin(), [](int64_t a, int64_t b) { return std::max(a, b); });
    }
  }
  for (const auto& [tensor, box] : boxes) {
    if (!packed.insert(tensor).second) continue;
    const std::string reach = ReachOfPieces(first, box);
    checks_ |= !reach.empty();
    add(Use::kPieces, reach.empty() ? fmt::format("tk::host::pieces_bytes(*{})", Mangle(tensor))
                                    : fmt::format("call.pieces_bytes({}, {}{})", StringLiteral(tensor), Mangle(tensor), reach));
  }
  return terms.empty() ? "0" : Join(terms, " + ");
}

std::string_view Workspace::TextOf(Use use) {
  switch (use) {
    case Use::kScratch: return "scratch tensors";
    case Use::kPacking: return "copies of what the copy engine can't read where it lies";
    case Use::kPieces: return "copies of what does not lie in whole pieces of 16 bytes";
  }
  return "";
}

std::string Workspace::Comment() const {
  std::vector<std::string> parts;
  for (const Use use : uses_) parts.emplace_back(TextOf(use));
  return parts.empty() ? "No schedule needs workspace." : fmt::format("Bytes of workspace: {}.", Join(parts, ", "));
}

void Workspace::EmitSize(CodeWriter& out) const {
  out.Comment(Comment());
  const size_t mark = out.Mark();
  out.Open(fmt::format("size_t workspace_size({}){}", depends_ ? "int schedule" : "", checks_ ? "" : " const"));
  if (is_same_) {
    out.Line(fmt::format("return {}{};", may_fail_ && !is_none() ? "schedule < 0 ? 0 : " : "", bytes_[0]));
  } else {
    out.Open("switch (schedule)");
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (bytes_[i] != "0") out.Line(fmt::format("case {}: return {};", i, bytes_[i]));
    }
    out.Line("default: return 0;");
    out.Close();
  }
  out.Close();
  out.OneLine(mark, true);
}

}  // namespace tkc::codegen

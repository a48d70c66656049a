// SPDX-License-Identifier: MIT
#include "compiler/passes/select_swizzle.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/layout/wave_banks.h"
#include "compiler/passes/operand_moves.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::ValueId;

/// How a worker reads operands from each buffer.
class Reads {
 public:
  Reads(const ir::Kernel& kernel, const Target& target)
      : kernel_(kernel),
        transposes_(std::any_of(target.bank_rules.begin(), target.bank_rules.end(),
                                [](const layout::BankRule& rule) { return rule.access == layout::WaveAccess::kTransposingLoad; })) {
  }

  void Worker(const ir::Worker& worker) {
    const std::set<ValueId> beside_registers = RightsBesideRegisters(kernel_, worker);
    buffer_of_ = BuffersOfViews(kernel_, worker.body);
    ForEachOp(worker.body, [&](const Op& op) {
      if (ir::LoadsFragments(op.code)) Load(op, beside_registers.contains(op.results[0]));
    });
  }

  const std::map<std::string, std::vector<layout::FragmentRead>>& All() const { return reads_; }

 private:
  void Load(const Op& op, bool is_beside_registers) {
    const auto buffer = buffer_of_.find(op.operands[0]);
    if (buffer == buffer_of_.end()) return;
    const bool is_turned = kernel_.TypeOf(op.operands[0]).transposed;
    reads_[buffer->second].push_back({is_turned == (op.code == OpCode::kLoadRight), !is_beside_registers, transposes_});
  }

  const ir::Kernel& kernel_;
  const bool transposes_;
  std::map<ValueId, std::string> buffer_of_;
  std::map<std::string, std::vector<layout::FragmentRead>> reads_;
};

}  // namespace

Result<void> SelectSwizzle(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (target.bank_rules.empty()) return {};
  Reads reads(kernel, target);
  for (const ir::Worker& worker : kernel.workers) reads.Worker(worker);
  for (ir::Buffer& buffer : kernel.buffers) {
    const auto found = reads.All().find(buffer.name);
    if (found == reads.All().end()) continue;
    const layout::SharedTile tile{buffer.dtype, buffer.rows, buffer.cols};
    buffer.swizzle = layout::ChooseFragmentSwizzle(target.bank_rules, tile, found->second);
  }
  return {};
}

}  // namespace tkc::passes

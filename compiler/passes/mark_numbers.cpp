// SPDX-License-Identifier: MIT
#include "compiler/passes/mark_numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/passes/index_facts.h"
#include "compiler/sema/typed.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using ir::ValueId;
using symbolic::Kind;

constexpr int64_t kOfBlock = 4;  // numbers that share a block of the generator

class MarkingNumbers {
 public:
  MarkingNumbers(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker), facts_(kernel, worker) {}

  void Run() {
    if (!worker_.layout.IsFragment() && worker_.layout.vec % kOfBlock == 0) Visit(worker_.body);
  }

 private:
  void Visit(Region& region) {
    for (size_t i = 0; i < region.size(); ++i) {
      for (Region& inner : region[i].regions) Visit(inner);
      Follow(region[i]);
      if (!DrawsFromWholeBlocks(region[i])) continue;
      const ValueId numbers = region[i].operands[0];
      const ValueId known = kernel_.AddValueAfter(numbers, "_aligned", kernel_.TypeOf(numbers));
      Op aligned{OpCode::kAligned, {known}, {numbers}};
      aligned.span = region[i].span;
      region[i].operands[0] = known;
      region.insert(region.begin() + static_cast<std::ptrdiff_t>(i), std::move(aligned));
      ++i;
    }
  }

  bool DrawsFromWholeBlocks(const Op& op) const {
    if (op.code != OpCode::kBinary || !op.Is(typed::Op::kRandom) || op.operands.size() != 1) return false;
    const auto numbers = first_.find(op.operands[0]);
    return numbers != first_.end() && kernel_.TypeOf(numbers->first).cols > 1 &&
           facts_.Divisor(facts_.WithoutLets(numbers->second)) % kOfBlock == 0;
  }

  /// Keeps what the numbers are of which a thread's vectors begin, where they follow each other from there on.
  void Follow(const Op& op) {
    if (op.code == OpCode::kPositions) {
      const bool is_rows = op.IsOfRows();
      const ir::Type& type = kernel_.TypeOf(op.results[0]);
      const bool is_one = type.rows * type.cols == 1;
      // Any of them, by a name that no source has.
      const Scalar number = is_one ? symbolic::Int(0) : symbolic::Name(is_rows ? "@row" : "@vector");
      const Scalar step = symbolic::Int(is_rows ? 1 : worker_.layout.vec);
      first_.emplace(op.results[0], symbolic::Add(op.scalars[0], symbolic::Mul(step, number)));
    } else if (op.code == OpCode::kBinary) {
      if (const std::optional<Scalar> result = Combined(op)) first_.emplace(op.results[0], *result);
    }
  }

  std::optional<Scalar> Combined(const Op& op) const {
    const auto kind =
        std::map<typed::Op, Kind>{{typed::Op::kAdd, Kind::kAdd}, {typed::Op::kSub, Kind::kSub}, {typed::Op::kMul, Kind::kMul}};
    const auto found = kind.find(op.Function());
    if (found == kind.end() || kernel_.TypeOf(op.results[0]).dtype != DType::kI64) return std::nullopt;
    if (!std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId operand) { return first_.contains(operand); }))
      return std::nullopt;
    const auto is_row = [&](size_t i) { return kernel_.TypeOf(op.operands[i]).cols > 1; };
    // What the runtime knows to follow each other again: numbers of a row with a scalar on their right, or behind one of their
    // column.
    const bool is_shifted =
        op.operands.size() == 1 ? op.HasScalarRight() && found->second != Kind::kMul : !is_row(0) && found->second == Kind::kAdd;
    if (kernel_.TypeOf(op.results[0]).cols > 1 && !is_shifted) return std::nullopt;
    const Scalar first = first_.at(op.operands[0]);
    const Scalar second = op.operands.size() == 2 ? first_.at(op.operands[1]) : op.scalars[0];
    if (second->dtype != DType::kI64) return std::nullopt;
    const bool is_turned = op.HasScalarLeft();
    return symbolic::Make(found->second, DType::kI64, {is_turned ? second : first, is_turned ? first : second});
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  IndexFacts facts_;
  std::map<ValueId, Scalar> first_;
};

}  // namespace

Result<void> MarkNumbers(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) MarkingNumbers(kernel, worker).Run();
  }
  return {};
}

}  // namespace tkc::passes

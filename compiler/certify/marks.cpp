// SPDX-License-Identifier: MIT
#include "compiler/certify/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/certify/integers.h"
#include "compiler/certify/powers_of_two.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/missing_rows.h"

namespace tkc::certify {
namespace {

using ir::AxisRange;
using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

bool HasMarks(const ir::Kernel& kernel, const ir::Worker& worker) {
  bool has_marks = false;
  ir::ForEachOp(worker.body, [&](const Op& op) {
    for (const AxisRange& axis : op.axes) has_marks |= axis.exists || axis.aligned;
  });
  return has_marks || !BoxesBeginAt(typed::kAlignedBytes, kernel, worker);
}

class MarkProof {
 public:
  MarkProof(const Program& program, const Agent& agent, Integers integers)
      : kernel_(*program.kernel), agent_(agent), scope_(program, agent), integers_(std::move(integers)) {
    scope_.KeepGridAxes(kernel_);
    // That a tile's place is one of the grid's is proved by CheckGrid.
    for (size_t i = 0; i < kernel_.axes.size(); ++i) {
      const ir::GridAxis& axis = kernel_.axes[i];
      if (kernel_.ClusterAxis() == i)  // padding lies behind
        integers_.KnowSteps(axis.name, scope_.Resolve(axis.lo), axis.step);
      else
        integers_.KnowSteps(axis.name, scope_.Resolve(axis.lo), scope_.Resolve(axis.hi), axis.step);
    }
  }

  std::optional<Finding> Run() {
    Walk(agent_.worker->body);
    return std::move(finding_);
  }

 private:
  void Walk(const Region& region) {
    for (const Op& op : region) {
      if (finding_) return;
      Visit(op);
    }
  }

  void Visit(const Op& op) {
    switch (op.code) {
      case OpCode::kLet:
      case OpCode::kTest:
      case OpCode::kTilePosition: return scope_.BindOp(op);
      case OpCode::kFor:
      case OpCode::kUnroll: return Loop(op);
      case OpCode::kIf: return If(op);
      default: break;
    }
    if (ir::IsEngineCopy(op.code))
      CheckBox(op);
    else if (!op.axes.empty())
      Check(op);
    for (const Region& inner : op.regions) Walk(inner);
  }

  /// Each loop has a name of its own: two may have one variable.
  void Loop(const Op& op) {
    const std::string name = fmt::format("{} of loop {}", op.symbol, loops_++);
    if (op.code == OpCode::kUnroll)
      integers_.KnowSteps(name, symbolic::Int(0), symbolic::Int(op.Trips()), 1);
    else
      integers_.KnowSteps(name, scope_.Resolve(op.scalars[0]), scope_.Resolve(op.scalars[1]), op.Step());
    if (op.code == OpCode::kFor)
      steps_.emplace_back(name, symbolic::Add(scope_.Resolve(op.scalars[0]),
                                              symbolic::Mul(symbolic::Int(op.Step()), symbolic::Name("number of " + name))));
    scope_.Bind(op.symbol, symbolic::Name(name));
    Walk(op.regions[0]);
  }

  /// What this instance never comes to need not hold.
  void If(const Op& op) {
    const std::optional<int64_t> value = Constant(scope_.Resolve(op.scalars[0]));
    for (size_t i = 0; i < op.regions.size(); ++i) {
      if (!value || (*value != 0) == (i == 0)) Walk(op.regions[i]);
    }
  }

  void Check(const Op& op) {
    const ir::TensorParam* tensor = ir::FindNamed(kernel_.tensors, op.symbol);
    if (!tensor) return;
    for (size_t i = 0; i < op.axes.size() && !finding_; ++i) {
      if (op.axes[i].exists) CheckExists(op, i, tensor->extents[i]);
    }
    if (op.axes.back().aligned) CheckAligned(op, *tensor);
  }

  /// The engine takes its boxes from multiples of 16 bytes on, counted from a row's begin, which the launcher asks to be one, or
  /// packs the tensor anew.
  void CheckBox(const Op& op) {
    const auto [column, element] = ir::ColumnOfBox(kernel_, op);
    if (integers_.IsMultiple(symbolic::Mul(scope_.Resolve(column), symbolic::Int(element)), typed::kAlignedBytes)) return;
    Fail(op, fmt::format("nothing shows that the copy by `{}` begins at a multiple of {} bytes of a row", op.symbol,
                         typed::kAlignedBytes));
  }

  void CheckExists(const Op& op, size_t i, const Scalar& extent) {
    const AxisRange& axis = op.axes[i];
    const Scalar start = scope_.Resolve(axis.start);
    const auto check = [&](const Scalar& from, const Scalar& to, std::string_view how) {
      if (finding_ || integers_.IsNonNegative(symbolic::Sub(scope_.Resolve(to), scope_.Resolve(from)))) return;
      Fail(op, fmt::format("nothing shows that what is accessed of `{}` does not {} axis {}", op.symbol, how, i));
    };
    const Scalar end = symbolic::Add(start, symbolic::Int(axis.extent));
    if (axis.lo) check(axis.lo, start, "begin in front of");
    check(symbolic::Int(0), start, "begin in front of");
    check(end, extent, "end behind");
    if (axis.hi) check(end, axis.hi, "end behind");
  }

  void CheckAligned(const Op& op, const ir::TensorParam& tensor) {
    const bool has_parts = op.code == OpCode::kReadParts || op.code == OpCode::kStoreParts;
    const size_t kept = op.axes.size() - (has_parts ? 1 : 0);  // the axis of the parts is inside a structure
    const AxisRange& columns = op.axes[kept - 1];
    const auto rows = std::count_if(op.axes.begin(), op.axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
    if (columns.dropped || (op.IsTurned() && rows > 1))
      return Fail(op, fmt::format("elements of `{}` are taken to follow each other that do not", op.symbol));
    const bool is_aligned = ir::IsAligned(kernel_), is_contiguous = ir::IsContiguous(kernel_);
    if (tensor.is_work ? !ir::HasAlignedRows(tensor) : !(is_aligned || is_contiguous))
      return Fail(op, fmt::format("nothing shows that rows of `{}` are aligned: the launcher does not ask", op.symbol));
    const int64_t element = Bytes(tensor.dtype), structure = ir::StructureParts(tensor) * element;
    const bool is_vector = structure % typed::kAlignedBytes == 0;  // what rows of elements, which are structures, are multiples of
    const Scalar start = symbolic::Mul(scope_.Resolve(columns.start), symbolic::Int(has_parts ? structure : element));
    const bool begins_at_row = has_parts || structure == element || is_vector;
    const bool is_proved = ((is_aligned || tensor.is_work) && begins_at_row && integers_.IsMultiple(start, typed::kAlignedBytes)) ||
                           (is_contiguous && !tensor.is_work && LiesAtVectors(op, tensor, kept));
    if (!is_proved)
      Fail(op, fmt::format("nothing shows that what is accessed of `{}` begins at a multiple of {} bytes", op.symbol,
                           typed::kAlignedBytes));
  }

  /// Where there are no gaps: the place at which the access begins, counted from the tensor's first element, and steps to other
  /// rows.
  bool LiesAtVectors(const Op& op, const ir::TensorParam& tensor, size_t kept) {
    Scalar place = symbolic::Int(0);
    bool are_vectors = true;
    for (size_t i = 0; i < op.axes.size(); ++i) {
      const Scalar stride = symbolic::Mul(scope_.Resolve(ir::ContiguousStride(tensor, i)), symbolic::Int(Bytes(tensor.dtype)));
      place = symbolic::Add(place, symbolic::Mul(scope_.Resolve(op.axes[i].start), stride));
      if (i + 1 < kept && (op.axes[i].extent > 1 || op.axes[i].chosen))
        are_vectors = are_vectors && integers_.IsMultiple(stride, typed::kAlignedBytes);
    }
    // A loop's variable is where the loop begins and whole steps; inner loops may begin where outer ones are.
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) place = symbolic::Substitute(place, step->first, step->second);
    return are_vectors && integers_.IsMultiple(symbolic::WithoutRemainders(place), typed::kAlignedBytes);
  }

  void Fail(const Op& op, std::string headline) {
    if (!finding_) finding_ = Finding{DiagnosticKind::kCertificateMark, op.span, std::move(headline)};
  }

  const ir::Kernel& kernel_;
  const Agent& agent_;
  Scope scope_;
  Integers integers_;
  std::vector<std::pair<std::string, Scalar>> steps_;  // what variables of loops are
  int loops_ = 0;
  std::optional<Finding> finding_;
};

}  // namespace

std::optional<Finding> CheckMarks(const Program& program) {
  const ir::Kernel& kernel = *program.kernel;
  std::set<const ir::Worker*> marked;
  for (const ir::Worker& worker : kernel.workers) {
    if (HasMarks(kernel, worker)) marked.insert(&worker);
  }
  if (marked.empty()) return std::nullopt;
  const Integers of_launch = Integers::OfLaunch(kernel);
  for (const Agent& agent : program.agents) {
    if (!marked.contains(agent.worker)) continue;
    if (auto finding = MarkProof(program, agent, of_launch).Run()) return finding;
  }
  return std::nullopt;
}

std::optional<Finding> CheckMissingRows(const Program& program) {
  const ir::Kernel& kernel = *program.kernel;
  std::optional<Finding> finding;
  for (const ir::Worker& worker : kernel.workers) {
    ir::ForEachOp(worker.body, [&](const Op& op) {
      if (!ir::LoadsRows(op.code) || finding) return;
      const passes::MissingRows rows = passes::MissingRowsOf(kernel, op);
      const bool leaves_out_these = symbolic::Equal(ir::ExistingRows(op), symbolic::Sub(rows.extent, rows.first));
      if (leaves_out_these && passes::AreNeverStored(kernel, rows)) return;
      finding = Finding{
          DiagnosticKind::kCertificateHazard, op.span,
          fmt::format("what is stored may depend on rows of `{}` that this copy leaves out", kernel.values[op.operands[0]].name)};
    });
  }
  return finding;
}

}  // namespace tkc::certify

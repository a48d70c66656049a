// SPDX-License-Identifier: MIT
// Operations on tiles, at either level: counts, shapes, places.
#include <algorithm>

#include "compiler/ir/queries.h"
#include "compiler/ir/verify_impl.h"

namespace tkc::ir {
Type Covered(const std::vector<AxisRange>& axes) {
  Type type;
  int kept = 0;
  for (const AxisRange& axis : axes) {
    if (axis.dropped) continue;
    (kept == 0 ? type.rows : type.cols) = axis.extent;
    ++kept;
  }
  return type;
}

void Verifier::CheckTileOp(const Op& op) {
  switch (op.code) {
    case OpCode::kLet:
      if (Counts(op, 0, 0, 1, 1) && op.symbol.empty()) OpFault(op, "a name is missing");
      return;
    case OpCode::kTest: return CheckTest(op);
    case OpCode::kRead:
    case OpCode::kStore: return CheckAccess(op);
    case OpCode::kGather: return CheckGather(op);
    case OpCode::kReadParts:
    case OpCode::kStoreParts: return CheckPartsAccess(op);
    case OpCode::kReceive:
    case OpCode::kSend: return CheckPipeOp(op);
    case OpCode::kVar:
    case OpCode::kAssign:
    case OpCode::kConvert:
    case OpCode::kAligned: return CheckCopyOfValue(op);
    case OpCode::kUnary:
    case OpCode::kBinary:
    case OpCode::kSelect: return CheckElementwise(op);
    case OpCode::kReduce:
    case OpCode::kReduceOwn:
    case OpCode::kReduceThreads:
    case OpCode::kCumsum:
    case OpCode::kTranspose: return CheckReduce(op);
    case OpCode::kPart:
    case OpCode::kAssignPart: return CheckPart(op);
    case OpCode::kMatmul:
    case OpCode::kAccumulate:
    case OpCode::kMma:
    case OpCode::kMultiply: return CheckProduct(op);
    case OpCode::kFill: Counts(op, 1, 0, 1, 1); return;
    case OpCode::kPositions:
      if (!Counts(op, 1, 0, 1, 1)) return;
      if ((op.IsOfRows() ? kernel_.TypeOf(op.results[0]).cols : kernel_.TypeOf(op.results[0]).rows) != 1)
        OpFault(op, "positions are one row or column");
      return;
    case OpCode::kCat: {
      if (op.results.size() != 1 || op.operands.empty()) return OpFault(op, "nothing to put side by side");
      Type sum = kernel_.TypeOf(op.operands[0]);
      sum.cols = 0;
      for (const ValueId part : op.operands) sum.cols += kernel_.TypeOf(part).cols;
      Same(op, kernel_.TypeOf(op.results[0]), sum);
      return;
    }
    case OpCode::kReshape: return CheckReshape(op);
    default: return;
  }
}

void Verifier::CheckTest(const Op& op) {
  if (!Counts(op, 0, 1, 0, 0)) return;
  if (op.symbol.empty()) OpFault(op, "a name is missing");
  const Type& type = kernel_.TypeOf(op.operands[0]);
  if (type.rows != 1 || type.cols != 1 || type.dtype != DType::kI32)
    OpFault(op, "`%{}` is not one number of i32", kernel_.values[op.operands[0]].name);
  if (level_ == Level::kSchedule && type.space != Space::kRegister) OpFault(op, "the number is not in registers");
}

void Verifier::CheckReshape(const Op& op) {
  if (!Counts(op, 1, 1, 0, 0)) return;
  const Type &from = kernel_.TypeOf(op.operands[0]), &to = kernel_.TypeOf(op.results[0]);
  if (from.rows * from.cols != to.rows * to.cols || (from.cols % to.cols != 0 && to.cols % from.cols != 0))
    OpFault(op, "rows of {} elements are neither cut into nor joined to rows of {}", from.cols, to.cols);
  if (from.dtype != to.dtype) OpFault(op, "{} into {}", Name(from.dtype), Name(to.dtype));
  if (level_ == Level::kSchedule && (from.space != Space::kRegister || to.space != Space::kRegister))
    OpFault(op, "the tile is not in registers");
}

void Verifier::CheckAccess(const Op& op) {
  const bool is_read = op.code == OpCode::kRead;
  if (!Counts(op, is_read, !is_read, 0, is_read)) return;
  CheckAccess(op, is_read, is_read ? op.results[0] : op.operands[0]);
}

const TensorParam* Verifier::AccessedTensor(const Op& op) {
  const TensorParam* tensor = FindTensor(op.symbol);
  if (!tensor) {
    OpFault(op, "there is no tensor `{}`", op.symbol);
  } else if (op.axes.size() != tensor->extents.size()) {
    OpFault(op, "{} axes for the {} of `{}`", op.axes.size(), tensor->extents.size(), op.symbol);
    return nullptr;
  }
  return tensor;
}

void Verifier::CheckGather(const Op& op) {
  const TensorParam* tensor = AccessedTensor(op);
  if (!tensor) return;
  const auto is_chosen = [](const AxisRange& axis) { return axis.chosen; };
  const auto is_kept = [](const AxisRange& axis) { return !axis.dropped; };
  const auto columns = static_cast<size_t>(std::count_if(op.axes.begin(), op.axes.end(), is_chosen));
  if (columns == 0 || !Counts(op, 1, columns, 0, 1)) return OpFault(op, "no column chooses rows of `{}`", op.symbol);
  const auto kept = std::find_if(op.axes.begin(), op.axes.end(), is_kept);
  const bool has_rows = kept != op.axes.end();
  if (has_rows &&
      (kept < std::find_if(op.axes.begin(), op.axes.end(), is_chosen) || std::count_if(kept, op.axes.end(), is_kept) > 1))
    return OpFault(op, "rows of `{}` that a column chooses have one axis behind it", op.symbol);
  const Type& result = kernel_.TypeOf(op.results[0]);
  if (result.dtype != tensor->dtype) OpFault(op, "a tile of {} for a tensor of {}", Name(result.dtype), Name(tensor->dtype));
  for (const ValueId column : op.operands) {
    const Type& type = kernel_.TypeOf(column);
    Same(op, result, Type{type.dtype, type.rows, has_rows ? kept->extent : type.cols});
    if (has_rows && type.cols != 1) OpFault(op, "`%{}` is no column", kernel_.values[column].name);
    if (type.dtype != DType::kI32 && type.dtype != DType::kI64) OpFault(op, "{} is no number of an element", Name(type.dtype));
    if (level_ == Level::kSchedule && type.space != Space::kRegister)
      OpFault(op, "`%{}` is not in registers", kernel_.values[column].name);
  }
}

void Verifier::CheckPartsAccess(const Op& op) {
  const bool is_read = op.code == OpCode::kReadParts;
  const TensorParam* tensor = FindTensor(op.symbol);
  if (!tensor) return OpFault(op, "there is no tensor `{}`", op.symbol);
  int64_t parts = 0, first = 0;
  const bool is_literal = !tensor->extents.empty() && symbolic::IsInt(tensor->extents.back(), &parts);
  if (!is_literal || op.axes.empty() || !op.axes.back().dropped || op.axes.back().extent != parts ||
      !symbolic::IsInt(op.axes.back().start, &first) || first != 0) {
    return OpFault(op, "the last axis is not all parts of the structures in `{}`", op.symbol);
  }
  const auto count = static_cast<size_t>(parts);
  if (!Counts(op, is_read ? count : 0, is_read ? 0 : count, 0, is_read)) return;
  for (const ValueId tile : is_read ? op.results : op.operands) {
    CheckAccess(op, true, tile);
    if (kernel_.TypeOf(tile) != kernel_.TypeOf((is_read ? op.results : op.operands)[0])) OpFault(op, "parts of different types");
  }
}

void Verifier::CheckAccess(const Op& op, bool is_of_its_type, ValueId value) {
  const TensorParam* tensor = AccessedTensor(op);
  if (!tensor) return;
  if (std::count_if(op.axes.begin(), op.axes.end(), [](const AxisRange& axis) { return !axis.dropped; }) > 2) {
    return OpFault(op, "more than two axes are kept");
  }
  const auto is_aligned = [](const AxisRange& axis) { return axis.aligned; };
  if (std::any_of(op.axes.begin(), op.axes.end(), is_aligned) && !IsAligned(kernel_) && !IsContiguous(kernel_)) {
    OpFault(op, "aligned, in a kernel whose condition does not say so");
  }
  Type covered = Covered(op.axes);
  if (op.IsTurned()) std::swap(covered.rows, covered.cols);
  const Type& tile = kernel_.TypeOf(value);
  Same(op, covered, tile);
  if (is_of_its_type && tile.dtype != tensor->dtype)
    OpFault(op, "a tile of {} for a tensor of {}", Name(tile.dtype), Name(tensor->dtype));
  if (level_ == Level::kSchedule && tile.space != Space::kRegister) OpFault(op, "the tile is not in registers");
}

void Verifier::CheckPipeOp(const Op& op) {
  const Pipe* pipe = FindPipe(op.symbol);
  if (!pipe) return OpFault(op, "there is no pipe `{}`", op.symbol);
  const bool names_ring = op.scalars.size() > (op.code == OpCode::kReceive ? 0 : 2);
  if (names_ring != !pipe->per_worker.empty())
    OpFault(op, "`{}` {} for each instance", op.symbol, names_ring ? "is not one" : "is one");
  if (op.code == OpCode::kReceive) {
    if (!Counts(op, pipe->fields.size(), 0, 0, 1)) return;
    for (size_t i = 0; i < pipe->fields.size(); ++i) {
      const PipeField& field = pipe->fields[i];
      Same(op, Type{field.dtype, field.rows, field.cols}, kernel_.TypeOf(op.results[i]));
      if (kernel_.TypeOf(op.results[i]).dtype != field.dtype) OpFault(op, "field {} is of {}", i, Name(field.dtype));
    }
    return;
  }
  const auto fields = static_cast<int64_t>(pipe->fields.size());
  if (op.Field() < kAllFields || op.Field() >= fields) return OpFault(op, "field {} of {}", op.Field(), fields);
  if (op.operands.empty() && level_ == Level::kLowering) return;  // the copies that fill the slot stand inside
  const int64_t sent = op.SendsAllFields() ? fields : 1;
  if (!Counts(op, 0, static_cast<size_t>(sent), 0, 3)) return;
  for (int64_t i = 0; i < sent; ++i) {
    const PipeField& field = pipe->fields[FieldOf(op, static_cast<size_t>(i))];
    const Type& value = kernel_.TypeOf(op.operands[i]);
    const bool fits = op.SendsAllFields() ? value.rows == field.rows && value.cols == field.cols
                                          : value.rows <= field.rows && value.cols <= field.cols;
    if (!fits) OpFault(op, "{} x {} for a field of {} x {}", value.rows, value.cols, field.rows, field.cols);
  }
}

void Verifier::CheckCopyOfValue(const Op& op) {
  const bool assigns = op.code == OpCode::kAssign;
  if (op.code == OpCode::kVar && op.operands.empty() && level_ != Level::kTile) {  // declared; a product fills it
    Counts(op, 1, 0, 0, 0);
    return;
  }
  if (!Counts(op, !assigns, assigns ? 2 : 1, 0, 0)) return;
  const ValueId target = assigns ? op.operands[0] : op.results[0];
  const Type& source = kernel_.TypeOf(op.operands[assigns]);
  Same(op, kernel_.TypeOf(target), source);
  if (op.code == OpCode::kConvert) return;
  if (kernel_.TypeOf(target).dtype != source.dtype)
    OpFault(op, "{} into {}", Name(source.dtype), Name(kernel_.TypeOf(target).dtype));
  if (op.code == OpCode::kAligned) return;
  if (!kernel_.values[target].is_mutable) OpFault(op, "`%{}` is not mutable", kernel_.values[target].name);
}

void Verifier::CheckElementwise(const Op& op) {
  const bool is_select = op.code == OpCode::kSelect;
  const size_t places = is_select ? 3 : op.code == OpCode::kUnary ? 1 : 2;
  if (op.results.size() != 1 || op.operands.empty() || op.operands.size() + op.scalars.size() != places) {
    return OpFault(op, "{} operands and {} scalars, not {} together", op.operands.size(), op.scalars.size(), places);
  }
  const auto scalars = [&]() -> size_t {
    if (op.code == OpCode::kUnary) return 0;
    return is_select ? !op.IsTileArm(0) + !op.IsTileArm(1) : op.HasScalarLeft() || op.HasScalarRight();
  }();
  if (scalars != op.scalars.size()) return OpFault(op, "`{}` does not describe {} scalars", op.raw_slot, op.scalars.size());
  Type shape;
  for (const ValueId operand : op.operands) {
    shape.rows = std::max(shape.rows, kernel_.TypeOf(operand).rows);
    shape.cols = std::max(shape.cols, kernel_.TypeOf(operand).cols);
  }
  for (const ValueId operand : op.operands) {
    const Type& type = kernel_.TypeOf(operand);
    if ((type.rows != 1 && type.rows != shape.rows) || (type.cols != 1 && type.cols != shape.cols)) {
      OpFault(op, "`%{}` of {} x {} does not spread over {} x {}", kernel_.values[operand].name, type.rows, type.cols, shape.rows,
              shape.cols);
    }
    if (level_ == Level::kSchedule && type.space != Space::kRegister)
      OpFault(op, "`%{}` is not in registers", kernel_.values[operand].name);
  }
  Same(op, kernel_.TypeOf(op.results[0]), shape);
  if (is_select && kernel_.TypeOf(op.operands[0]).dtype != DType::kBool) OpFault(op, "the condition is not a tile of truth values");
  if (op.code == OpCode::kBinary && IsComparison(op.Function()) && kernel_.TypeOf(op.results[0]).dtype != DType::kBool) {
    OpFault(op, "a comparison gives truth values");
  }
}

void Verifier::CheckReduce(const Op& op) {
  if (!Counts(op, 1, 1, 0, 0)) return;
  Type wanted = kernel_.TypeOf(op.operands[0]);
  if (op.code == OpCode::kTranspose) {
    std::swap(wanted.rows, wanted.cols);
    if (level_ == Level::kSchedule && wanted.space != Space::kShared) OpFault(op, "only a view of shared memory can be turned");
  } else {
    if (op.code != OpCode::kCumsum) (op.IsOfRows() ? wanted.cols : wanted.rows) = 1;
    if (level_ == Level::kSchedule && !op.symbol.empty() && !FindBuffer(op.symbol))
      OpFault(op, "no scratch buffer `{}`", op.symbol);
  }
  Same(op, wanted, kernel_.TypeOf(op.results[0]));
  if (op.code == OpCode::kTranspose && kernel_.TypeOf(op.results[0]).space == Space::kShared) {
    const auto place = buffer_of_.find(op.operands[0]);
    if (place != buffer_of_.end()) buffer_of_[op.results[0]] = place->second;
  }
}

void Verifier::CheckPart(const Op& op) {
  const bool assigns = op.code == OpCode::kAssignPart;
  if (!Counts(op, !assigns, assigns ? 2 : 1, 2, 2)) return;
  const Type& whole = kernel_.TypeOf(op.operands[0]);
  const Type& part = kernel_.TypeOf(assigns ? op.operands[1] : op.results[0]);
  const int64_t limits[] = {whole.rows - part.rows, whole.cols - part.cols};
  for (int i = 0; i < 2; ++i) {
    int64_t first = 0;
    if (limits[i] < 0 || (symbolic::IsInt(op.scalars[i], &first) && (first < 0 || first > limits[i]))) {
      OpFault(op, "the part of {} x {} at {}, {} is not inside {} x {}", part.rows, part.cols, symbolic::ToString(op.scalars[0]),
              symbolic::ToString(op.scalars[1]), whole.rows, whole.cols);
      break;
    }
  }
  if (part.dtype != whole.dtype) OpFault(op, "a part of {} in {}", Name(part.dtype), Name(whole.dtype));
  if (assigns) {
    if (!kernel_.values[op.operands[0]].is_mutable) OpFault(op, "`%{}` is not mutable", kernel_.values[op.operands[0]].name);
    return;
  }
  if (part.space != whole.space && level_ == Level::kSchedule) OpFault(op, "a part lies where the whole does");
  if (const auto place = buffer_of_.find(op.operands[0]); place != buffer_of_.end()) buffer_of_[op.results[0]] = place->second;
}

void Verifier::CheckProduct(const Op& op) {
  const bool is_matmul = op.code == OpCode::kMatmul;
  if (!Counts(op, is_matmul, is_matmul ? 2 : 3, 0, 0)) return;
  const ValueId sum = is_matmul ? op.results[0] : op.operands[0];
  const Type& a = kernel_.TypeOf(op.operands[!is_matmul]);
  const Type& b = kernel_.TypeOf(op.operands[1 + !is_matmul]);
  const Type& acc = kernel_.TypeOf(sum);
  if (a.cols != b.rows || acc.rows != a.rows || acc.cols != b.cols) {
    OpFault(op, "{} x {} times {} x {} is not {} x {}", a.rows, a.cols, b.rows, b.cols, acc.rows, acc.cols);
  }
  if (a.dtype != b.dtype) OpFault(op, "{} times {}", Name(a.dtype), Name(b.dtype));
  if (!is_matmul && !kernel_.values[sum].is_mutable) OpFault(op, "`%{}` is not mutable", kernel_.values[sum].name);
  if (op.code != OpCode::kMma && op.code != OpCode::kMultiply) return;
  if (acc.space != Space::kRegister) OpFault(op, "the sum is not in registers");
  if (op.code == OpCode::kMma) {
    if (b.space != Space::kShared) OpFault(op, "the right operand is not in shared memory");
  } else {
    if (a.space != Space::kLeft && a.space != Space::kRegister) OpFault(op, "the left operand is no fragment");
    if (b.space != Space::kRight) OpFault(op, "the right operand is no fragment");
    if (a.space == Space::kRegister && worker_ && worker_->layout.warp_cols != 1)
      OpFault(op, "a register tile whose columns lie in several warps is no left operand");
  }
  if (!target_) return;
  const MatrixShape* shape = FindMatrixShape(*target_, a.dtype);
  if (!shape) return OpFault(op, "`{}` has no product of {}", target_->name, Name(a.dtype));
  // Where the instruction of a warp is deeper than a step, there is one of half its depth, too.
  const int depth = op.code == OpCode::kMultiply && target_->is_hip ? std::min(shape->k, 16) : shape->k;
  if (a.rows % shape->m != 0 || b.cols % shape->n_step != 0 || a.cols % depth != 0) {
    OpFault(op, "{} x {} x {} is not whole instructions of {} x {} x {}", a.rows, b.cols, a.cols, shape->m, shape->n_step,
            shape->k);
  }
}

}  // namespace tkc::ir

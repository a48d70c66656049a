// SPDX-License-Identifier: MIT
#include "compiler/passes/widen_columns.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/layout/row_layout.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/select_layout.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kLanguageUnit = 8;  // of columns, in a worker that multiplies
constexpr int64_t kMostUnit = 2048;   // columns that a row of all threads has side by side, of 1 byte each

bool IsPowerOfTwo(int64_t extent) { return std::has_single_bit(static_cast<uint64_t>(extent)); }

/// Extents that are one and the same: of the axes of values, and of fields of pipes. Classes by union and find.
class Extents {
 public:
  explicit Extents(const ir::Kernel& kernel) : kernel_(&kernel) {
    size_t count = 2 * kernel.values.size();
    for (const ir::Pipe& pipe : kernel.pipes) {
      fields_[pipe.name] = count;
      count += 2 * pipe.fields.size();
    }
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    pinned_.resize(count);
    wanted_.resize(count);
    for (const ir::Worker& worker : kernel.workers) {
      ForEachOp(worker.body, [&](const Op& op) { Visit(op); });
    }
    for (size_t i = 2 * kernel.values.size(); i < count; ++i) sent_.insert(Find(i));
  }

  static size_t Of(ValueId value, int axis) { return 2 * static_cast<size_t>(value) + static_cast<size_t>(axis); }
  size_t OfField(const std::string& pipe, size_t field, int axis) const {
    return fields_.at(pipe) + 2 * field + static_cast<size_t>(axis);
  }
  void Want(size_t extent, int64_t width) {
    int64_t& wanted = wanted_[Find(extent)];
    wanted = std::max(wanted, width);
  }
  /// What an extent of so many becomes.
  int64_t Widened(size_t extent, int64_t now) {
    const size_t root = Find(extent);
    return pinned_[root] ? now : std::max(now, wanted_[root]);
  }
  bool IsWidened(size_t extent) { return Widened(extent, 0) > 0; }
  /// Whether it is no field's, and may be another.
  bool IsFree(size_t extent) { return !pinned_[Find(extent)] && !sent_.contains(Find(extent)); }

 private:
  size_t Find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(size_t a, size_t b) {
    a = Find(a), b = Find(b);
    if (a == b) return;
    parent_[b] = a;
    pinned_[a] = pinned_[a] || pinned_[b];
  }
  void Pin(size_t extent) { pinned_[Find(extent)] = true; }
  int64_t Size(ValueId value, int axis) const {
    const ir::Type& type = kernel_->TypeOf(value);
    return axis == 0 ? type.rows : type.cols;
  }

  /// Of two tiles of which one may be part of the other, or repeated along an axis.
  void Align(ValueId a, ValueId b, bool may_repeat) {
    for (const int axis : {0, 1}) {
      if (Size(a, axis) == Size(b, axis)) {
        Join(Of(a, axis), Of(b, axis));
      } else if (!may_repeat) {
        Pin(Of(a, axis));
        Pin(Of(b, axis));
      }
    }
  }

  void VisitProduct(const Op& op) {
    const bool has_sum = op.code == OpCode::kAccumulate;
    const ValueId sum = has_sum ? op.operands[0] : op.results[0];
    const ValueId a = op.operands[has_sum ? 1 : 0], b = op.operands[has_sum ? 2 : 1];
    Join(Of(sum, 0), Of(a, 0));
    Join(Of(sum, 1), Of(b, 1));
    Join(Of(a, 1), Of(b, 0));
    Pin(Of(a, 1));
  }

  void VisitTraffic(const Op& op) {
    const std::vector<ValueId>& values = op.code == OpCode::kSend ? op.operands : op.results;
    const ir::Pipe& pipe = FindPipe(*kernel_, op.symbol);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t field = FieldOf(op, i);
      for (const int axis : {0, 1}) {
        const int64_t whole = axis == 0 ? pipe.fields[field].rows : pipe.fields[field].cols;
        Join(OfField(op.symbol, field, axis), Of(values[i], axis));
        if (Size(values[i], axis) != whole) Pin(Of(values[i], axis));
      }
    }
  }

  void Visit(const Op& op) {
    const auto align_all = [&] {
      for (const ValueId operand : op.operands) {
        for (const ValueId result : op.results) Align(result, operand, true);
      }
    };
    if (ir::IsElementwise(op.code) || ir::ReducesOrScans(op.code)) return align_all();
    if (ir::GathersRows(op)) {
      for (const ValueId column : op.operands) Join(Of(op.results[0], 0), Of(column, 0));
      return;
    }
    switch (op.code) {
      case OpCode::kVar: return align_all();
      case OpCode::kAssign:
      case OpCode::kAssignPart: return Align(op.operands[0], op.operands[1], false);
      case OpCode::kPart: return Align(op.results[0], op.operands[0], false);
      case OpCode::kTranspose:
        Join(Of(op.results[0], 0), Of(op.operands[0], 1));
        return Join(Of(op.results[0], 1), Of(op.operands[0], 0));
      case OpCode::kMatmul:
      case OpCode::kAccumulate: return VisitProduct(op);
      case OpCode::kSend:
      case OpCode::kReceive: return VisitTraffic(op);
      case OpCode::kFill:
      case OpCode::kPositions:
      case OpCode::kRead:
      case OpCode::kStore:
      case OpCode::kTest: return;
      default:
        for (const std::vector<ValueId>* values : {&op.results, &op.operands}) {
          for (const ValueId value : *values) Pin(Of(value, 0)), Pin(Of(value, 1));
        }
    }
  }

  const ir::Kernel* kernel_;
  std::map<std::string, size_t> fields_;  // where the extents of a pipe's fields begin
  std::vector<size_t> parent_;
  std::vector<bool> pinned_;
  std::vector<int64_t> wanted_;  // of a class: 0 as it is
  std::set<size_t> sent_;        // classes that fields of pipes belong to
};

/// Values whose elements are zero where those of the tensors that they come from do not exist.
class ZeroOutside {
 public:
  explicit ZeroOutside(const ir::Kernel& kernel) : kernel_(kernel) {
    for (const ir::Worker& worker : kernel.workers) {
      ForEachOp(worker.body, [&](const Op& op) {
        if (HasZeros(op)) values_.insert(op.results[0]);
      });
    }
  }
  bool Contains(ValueId value) const { return values_.contains(value); }

 private:
  bool HasZeros(const Op& op) const {
    // What is repeated along an axis has elements everywhere there.
    const auto of_zeros = [&] {
      return std::ranges::all_of(op.operands, [&](ValueId operand) {
        return Contains(operand) && ir::HaveOneShape(kernel_.TypeOf(operand), kernel_.TypeOf(op.results[0]));
      });
    };
    switch (op.code) {
      case OpCode::kRead: return op.scalars.empty();
      case OpCode::kConvert: return of_zeros();
      case OpCode::kUnary: return (op.Is(typed::Op::kNeg) || op.Is(typed::Op::kAbs)) && of_zeros();
      case OpCode::kBinary:
        return op.operands.size() == 2 && (op.Is(typed::Op::kAdd) || op.Is(typed::Op::kSub) || op.Is(typed::Op::kMul)) &&
               of_zeros();
      default: return false;
    }
  }

  const ir::Kernel& kernel_;
  std::set<ValueId> values_;
};

class Widening {
 public:
  Widening(ir::Kernel& kernel, const Target& target) : kernel_(kernel), target_(target), extents_(kernel), zero_(kernel) {}

  /// `unit`: of columns in the matrix unit.
  void Run(int64_t unit) {
    bool any = false;
    for (const ir::Worker& worker : kernel_.workers) {
      if (!worker.Computes()) continue;
      any |= Multiplies(worker.body) ? unit > kLanguageUnit && WantUnits(worker, unit) : WantLanes(worker);
    }
    if (!any) return;
    for (ir::Worker& worker : kernel_.workers) {
      if (worker.Computes()) Note(worker);
      worker.body = Rewritten(worker.body);
    }
    WidenValues();
    for (ir::Pipe& pipe : kernel_.pipes) {
      for (size_t i = 0; i < pipe.fields.size(); ++i) {
        ir::PipeField& field = pipe.fields[i];
        field.rows = extents_.Widened(extents_.OfField(pipe.name, i, 0), field.rows);
        field.cols = extents_.Widened(extents_.OfField(pipe.name, i, 1), field.cols);
      }
    }
  }

 private:
  /// What the source says, and what will be held, for who reads the output.
  void Note(ir::Worker& worker) {
    ForEachOp(worker.body, [&](const Op& op) {
      for (const ValueId value : op.results) {
        const ir::Type& type = kernel_.TypeOf(value);
        if (const int64_t held = WidenedCols(value, type); held != type.cols) worker.widened[type.cols] = held;
      }
    });
  }

  void WidenValues() {
    for (size_t i = 0; i < known_values_; ++i) {
      const auto value = static_cast<ValueId>(i);
      ir::Type& type = kernel_.TypeOf(i);
      type.rows = WidenedRows(value, type);
      type.cols = WidenedCols(value, type);
    }
  }
  int64_t WidenedRows(ValueId value, const ir::Type& type) { return extents_.Widened(Extents::Of(value, 0), type.rows); }
  int64_t WidenedCols(ValueId value, const ir::Type& type) { return extents_.Widened(Extents::Of(value, 1), type.cols); }

  /// Columns that the registers of a worker that multiplies do not hold as they are.
  bool WantUnits(const ir::Worker& worker, int64_t unit) {
    bool any = false;
    ForEachOp(worker.body, [&](const Op& op) {
      for (const ValueId value : op.results) {
        const int64_t columns = kernel_.TypeOf(value).cols;
        if (columns % unit == 0 || columns % kLanguageUnit != 0) continue;
        extents_.Want(Extents::Of(value, 1), RoundUp(columns, unit));
        any = true;
      }
    });
    return any;
  }

  /// Rows that powers of two do not divide well, if wider ones cost threads less: by a quarter, or the masks are not worth it.
  bool WantLanes(const ir::Worker& worker) {
    std::set<ValueId> odd;
    ForEachOp(worker.body, [&](const Op& op) {
      for (const ValueId value : op.results) {
        const int64_t columns = kernel_.TypeOf(value).cols;
        if (!IsPowerOfTwo(columns) && extents_.IsFree(Extents::Of(value, 1))) odd.insert(value);
      }
    });
    const std::vector<layout::TileShape> shapes = ShapesOfRows(kernel_, worker);
    const layout::RegisterLayout now = layout::ChooseRowLayout(shapes, target_.lanes);
    if (odd.empty() || layout::IsDealtWell(now, shapes, target_.lanes)) return false;
    const auto width = [&](ValueId value, int64_t unit) {
      const int64_t columns = kernel_.TypeOf(value).cols;
      while (unit / 2 >= columns) unit /= 2;
      return RoundUp(columns, unit);
    };
    const auto want = [&](int64_t unit) {
      for (const ValueId value : odd) extents_.Want(Extents::Of(value, 1), width(value, unit));
    };
    const auto cost = [&, extents = extents_, values = kernel_.values](int64_t unit) {
      want(unit);
      WidenValues();
      const std::vector<layout::TileShape> wide = ShapesOfRows(kernel_, worker);
      extents_ = extents;
      kernel_.values = values;
      return layout::CostOf(layout::ChooseRowLayout(wide, target_.lanes), wide);
    };
    int64_t best = 1, least = layout::CostOf(now, shapes) * 3 / 4;
    for (int64_t unit = 2; unit <= kMostUnit; unit *= 2) {
      const int64_t of_unit = cost(unit);
      if (of_unit < least) best = unit, least = of_unit;
    }
    if (best == 1) return false;
    want(best);
    return true;
  }

  Region Rewritten(const Region& region) {
    Region out;
    for (Op op : region) {
      for (Region& inner : op.regions) inner = Rewritten(inner);
      if (ir::LoadsTile(op)) Cut(op, op.results[0]);
      if (op.code == OpCode::kStore) Cut(op, op.operands[0]);
      if (op.code == OpCode::kReduce) Mask(op, out);
      out.push_back(std::move(op));
    }
    return out;
  }

  /// The access covers more, of which what is too much does not exist.
  void Cut(Op& access, ValueId tile) {
    const ir::TensorParam& tensor = FindTensor(kernel_, access.symbol);
    int which = access.code == OpCode::kGather ? 1 : 0;  // rows are chosen
    for (size_t i = 0; i < access.axes.size(); ++i) {
      ir::AxisRange& axis = access.axes[i];
      if (axis.dropped) continue;
      const size_t extent = Extents::Of(tile, which++);
      if (!extents_.IsWidened(extent)) continue;
      const ir::Scalar end = symbolic::Add(axis.start, symbolic::Int(axis.extent));
      if (!symbolic::Equal(end, tensor.extents[i]))
        axis.hi = axis.hi ? symbolic::Make(symbolic::Kind::kMin, DType::kI64, {axis.hi, end}) : end;
      axis.extent = extents_.Widened(extent, axis.extent);
    }
  }

  /// Along a widened axis only what was there before is reduced.
  void Mask(Op& reduce, Region& out) {
    const int axis = reduce.IsOfRows() ? 1 : 0;
    const ValueId tile = reduce.operands[0];
    if (!extents_.IsWidened(Extents::Of(tile, axis))) return;
    if (reduce.Is(typed::Op::kAdd) && zero_.Contains(tile)) return;
    const ir::Type type = kernel_.TypeOf(tile);  // not widened yet
    const int64_t extent = axis == 1 ? type.cols : type.rows;
    ir::Type whole = type, line = type;
    whole.rows = WidenedRows(tile, type);
    whole.cols = WidenedCols(tile, type);
    line.rows = axis == 1 ? 1 : whole.rows;
    line.cols = axis == 1 ? whole.cols : 1;
    const auto emit = [&](Op op, const char* name, ir::Type result) {
      op.span = reduce.span;
      op.results = {kernel_.AddValue(name, result)};
      out.push_back(std::move(op));
      return out.back().results[0];
    };
    Op positions{OpCode::kPositions};
    positions.SetOfRows(axis == 0);
    positions.scalars = {symbolic::Int(0)};
    line.dtype = DType::kI32;
    const ValueId position = emit(std::move(positions), "place", line);
    Op compare{OpCode::kBinary};
    compare.Set(typed::Op::kLt);
    compare.operands = {position};
    compare.scalars = {symbolic::Convert(symbolic::Int(extent), DType::kI32)};
    compare.SetScalarRight();
    line.dtype = DType::kBool;
    const ValueId inside = emit(std::move(compare), "inside", line);
    Op select{OpCode::kSelect};
    select.operands = {inside, tile};
    select.scalars = {NeutralOf(reduce.Function(), type.dtype)};
    select.SetTileArms(true, false);
    reduce.operands[0] = emit(std::move(select), "those_inside", whole);
  }

  ir::Kernel& kernel_;
  const Target& target_;
  Extents extents_;
  ZeroOutside zero_;
  size_t known_values_ = kernel_.values.size();  // those added by masks have their final shape
};

}  // namespace

Result<void> WidenColumns(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const MatrixShape* const shape = FindMatrixShape(target, DType::kBF16);
  const int64_t unit = shape == nullptr ? 0 : shape->n_step;
  const bool is_even = std::ranges::all_of(kernel.values, [](const ir::Value& value) { return IsPowerOfTwo(value.type.cols); });
  if (!is_even || unit > kLanguageUnit) Widening(kernel, target).Run(unit);
  return {};
}

}  // namespace tkc::passes

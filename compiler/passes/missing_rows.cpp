// SPDX-License-Identifier: MIT
#include "compiler/passes/missing_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::AxisRange;
using ir::Op;
using ir::OpCode;
using ir::Scalar;
using ir::Type;
using ir::ValueId;

enum Axis : size_t { kRows, kColumns };

Axis Other(Axis axis) { return axis == kRows ? kColumns : kRows; }
int64_t ExtentOf(const Type& type, Axis axis) { return axis == kRows ? type.rows : type.cols; }

/// The lines of a tile along `axis` that may hold anything: those at the extent or behind it, if the tile's first lies at `first`.
struct Lines {
  Axis axis;
  Scalar first;
};

/// Of the part that begins at the operation's row and column; of a tile of which it is that part.
Lines From(const Lines& lines, const Op& part) { return {lines.axis, symbolic::Add(lines.first, part.scalars[lines.axis])}; }
Lines Around(const Lines& lines, const Op& part) { return {lines.axis, symbolic::Sub(lines.first, part.scalars[lines.axis])}; }

/// Which axis of a tensor is one of the tile that is stored there. `axes` may drop some, and a vector has one only.
std::optional<size_t> AxisOfTensor(const std::vector<AxisRange>& axes, const Type& tile, Axis axis, bool is_turned) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].dropped) kept.push_back(i);
  }
  if (kept.size() == 2) return kept[is_turned ? Other(axis) : axis];
  if (kept.size() == 1 && ExtentOf(tile, Other(axis)) == 1) return kept[0];
  return std::nullopt;
}

/// Follows the lines through all workers until nothing new is met, or something that may carry them further.
class Following {
 public:
  Following(const ir::Kernel& kernel, const MissingRows& rows)
      : kernel_(kernel), extent_(rows.extent), of_all_blocks_(rows.of_all_blocks) {
    for (const ir::Worker& worker : kernel.workers) {
      NoteNames(worker);
      NoteViews(worker);
    }
    for (const ir::GridAxis& axis : kernel.axes) local_.erase(axis.name);
    if (of_all_blocks_ && kernel.ClusterAxis()) local_.insert(kernel.axes[*kernel.ClusterAxis()].name);
    Lines lines{kRows, rows.first};
    const ValueId whole = Widen(rows.view, lines);
    FillBuffer(buffers_.at(whole), lines);
  }

  bool StayUnstored() {
    while (changes_ && stay_) {
      changes_ = false;
      for (const ir::Worker& worker : kernel_.workers) ForEachOp(worker.body, [&](const Op& op) { Follow(op); });
    }
    return stay_;
  }

 private:
  /// A name that a worker gives is of this worker, and of one place in it.
  void NoteNames(const ir::Worker& worker) {
    local_.insert(worker.instance_name);
    ForEachOp(worker.body, [&](const Op& op) { AddScalarsMade(op, local_); });
  }

  /// Where views come from, and which buffers are read by others than those that something was written through.
  void NoteViews(const ir::Worker& worker) {
    const auto views = BuffersOfViews(kernel_, worker.body);
    buffers_.insert(views.begin(), views.end());
    std::set<ValueId> written;
    ForEachOp(worker.body, [&](const Op& op) {
      if (ir::IsPartOrTranspose(op.code) && views.contains(op.operands[0])) made_by_[op.results[0]] = &op;
      if (FillsShared(op.code) && views.contains(op.operands[0])) written.insert(WholeOf(op.operands[0]));
    });
    for (const auto& [view, buffer] : views) {
      if (!written.contains(WholeOf(view))) read_elsewhere_.insert(buffer);
    }
  }

  ValueId WholeOf(ValueId view) const {
    for (auto op = made_by_.find(view); op != made_by_.end(); op = made_by_.find(view)) view = op->second->operands[0];
    return view;
  }

  /// The view of which it is a part, or which it turns, and where the lines are there.
  ValueId Widen(ValueId view, Lines& lines) const {
    for (auto made = made_by_.find(view); made != made_by_.end(); made = made_by_.find(view)) {
      const Op& op = *made->second;
      lines = op.code == OpCode::kTranspose ? Lines{Other(lines.axis), lines.first} : Around(lines, op);
      view = op.operands[0];
    }
    return view;
  }

  /// Of the tiles of all blocks of the cluster, if these get what one of them copies: then not of its number, either.
  bool IsOfTile(const Scalar& scalar) const {
    if (scalar->kind == symbolic::Kind::kElement) return false;
    if (scalar->kind == symbolic::Kind::kName) return !local_.contains(scalar->name);
    if (scalar->kind == symbolic::Kind::kCall && scalar->args.empty() && of_all_blocks_) return false;
    return std::all_of(scalar->args.begin(), scalar->args.end(), [&](const Scalar& arg) { return IsOfTile(arg); });
  }

  template <typename Key>
  void Note(std::map<Key, Lines>& known, const Key& key, const Lines& lines) {
    const auto [place, is_new] = known.emplace(key, lines);
    changes_ |= is_new;
    stay_ &= is_new || (place->second.axis == lines.axis && symbolic::Equal(place->second.first, lines.first));
  }

  void Reach(ValueId value, const Lines& lines) { Note(lines_, value, lines); }

  /// Who reads the buffer may be another worker.
  void FillBuffer(const std::string& buffer, const Lines& lines) {
    stay_ &= IsOfTile(lines.first);
    Note(of_buffers_, buffer, lines);
  }

  void Follow(const Op& op) {
    if (op.code == OpCode::kView || op.code == OpCode::kReceive) return Show(op);
    for (const ValueId operand : op.operands) {
      if (const auto lines = lines_.find(operand); lines != lines_.end()) Carry(op, operand, Lines(lines->second));
    }
  }

  void Show(const Op& op) {
    for (const ValueId view : op.results) {
      const auto lines = of_buffers_.find(buffers_.at(view));
      if (lines == of_buffers_.end()) continue;
      stay_ &= ir::HasShapeOf(kernel_.TypeOf(view), FindBuffer(kernel_, lines->first));
      Reach(view, lines->second);
    }
  }

  /// What the operation makes of its operand's lines.
  void Carry(const Op& op, ValueId operand, const Lines& lines) {
    if (ir::IsElementwise(op.code)) return Meet(op, operand, lines);
    switch (op.code) {
      case OpCode::kLoadAsync:
      case OpCode::kLoadRows:
      case OpCode::kLoadMulticast:
      case OpCode::kLoadRowsMulticast:
      case OpCode::kMmaFence:
      case OpCode::kMmaWait:
      case OpCode::kSplitSend: return;
      case OpCode::kPart: return Reach(op.results[0], From(lines, op));
      case OpCode::kTranspose: return Reach(op.results[0], {Other(lines.axis), lines.first});
      case OpCode::kVar:
      case OpCode::kAligned:
      case OpCode::kCat:
      case OpCode::kLoadShared: return Meet(op, operand, lines);
      case OpCode::kReduce:
      case OpCode::kReduceOwn:
      case OpCode::kReduceThreads:
      case OpCode::kCumsum: stay_ &= lines.axis == (op.IsOfRows() ? kRows : kColumns); return Reach(op.results[0], lines);
      case OpCode::kAssign:
        if (operand == op.operands[1]) Reach(op.operands[0], lines);
        return;
      case OpCode::kAssignPart:
        if (operand == op.operands[1]) Reach(op.operands[0], Around(lines, op));
        return;
      case OpCode::kMma: return Multiply(op, operand, lines);
      case OpCode::kSplitCollect: return Collect(op, lines);
      case OpCode::kStoreShared:
        if (operand == op.operands[1]) Write(op.operands[0], lines);
        return;
      case OpCode::kSend: return Send(op, operand, lines);
      case OpCode::kStore:
      case OpCode::kCopyToGlobal: return Store(op, operand, lines);
      case OpCode::kStoreAsync: return StoreByEngine(op, lines);
      default: stay_ = false;
    }
  }

  /// Element by element; but a vector is all of what it meets.
  void Meet(const Op& op, ValueId operand, const Lines& lines) {
    stay_ &= ExtentOf(kernel_.TypeOf(operand), lines.axis) == ExtentOf(kernel_.TypeOf(op.results[0]), lines.axis);
    Reach(op.results[0], lines);
  }

  /// An operand may be both, and then no tile of sums has lines of one axis only.
  void Multiply(const Op& op, ValueId operand, const Lines& lines) {
    const auto [sum, left, right] = std::array{op.operands[0], op.operands[1], op.operands[2]};
    if (operand == sum) return;
    stay_ &= (operand != left || lines.axis == kRows) && (operand != right || lines.axis == kColumns);
    Reach(sum, lines);
  }

  /// Of a sum's columns each block of the cluster has those of its rank.
  void Collect(const Op& op, const Lines& lines) {
    if (lines.axis == kRows) return Reach(op.results[0], lines);
    const Scalar rank = symbolic::Call("cluster::rank", DType::kI32, {});
    const Scalar begin = symbolic::Mul(rank, symbolic::Int(kernel_.TypeOf(op.results[0]).cols));
    Reach(op.results[0], {kColumns, symbolic::Add(lines.first, begin)});
  }

  /// Into a slot, for whoever receives it, or into a buffer that only this view shows what it was given.
  void Write(ValueId view, Lines lines) {
    const std::string& buffer = buffers_.at(view);
    const ValueId whole = Widen(view, lines);
    if (IsField(kernel_, FindBuffer(kernel_, buffer))) return FillBuffer(buffer, lines);
    const bool is_whole =
        kernel_.TypeOf(view).rows * kernel_.TypeOf(view).cols == kernel_.TypeOf(whole).rows * kernel_.TypeOf(whole).cols;
    stay_ &= is_whole && !read_elsewhere_.contains(buffer);
    Reach(whole, lines);
  }

  void Send(const Op& op, ValueId operand, const Lines& lines) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i] == operand) FillBuffer(FieldBuffer(FindPipe(kernel_, op.symbol), FieldOf(op, i)), Around(lines, op));
    }
  }

  void Store(const Op& op, ValueId operand, const Lines& lines) {
    const bool is_turned = op.IsTurned();
    const std::optional<size_t> axis = AxisOfTensor(op.axes, kernel_.TypeOf(operand), lines.axis, is_turned);
    if (!axis) return void(stay_ = false);
    const AxisRange& range = op.axes[*axis];
    const Scalar& extent = FindTensor(kernel_, op.symbol).extents[*axis];
    CheckClip(lines, range.start, range.hi ? range.hi : extent);
  }

  void StoreByEngine(const Op& op, const Lines& lines) {
    const ir::TensorMap& map = FindMap(kernel_, op.symbol);
    const size_t behind = lines.axis == kRows ? 2 : 1;
    if (map.box.size() < behind) return void(stay_ = false);
    const size_t axis = map.box.size() - behind;
    CheckClip(lines, op.scalars[axis], FindTensor(kernel_, map.tensor).extents[axis]);
  }

  void CheckClip(const Lines& lines, const Scalar& start, const Scalar& end) {
    stay_ &= symbolic::Equal(lines.first, start) && symbolic::Equal(extent_, end);
  }

  const ir::Kernel& kernel_;
  const Scalar extent_;
  const bool of_all_blocks_;
  std::set<std::string> local_;              // names of one worker and place
  std::map<ValueId, std::string> buffers_;   // of views
  std::map<ValueId, const Op*> made_by_;     // views of views
  std::set<std::string> read_elsewhere_;     // buffers
  std::map<ValueId, Lines> lines_;           // of tiles and views
  std::map<std::string, Lines> of_buffers_;  // of their whole
  bool changes_ = true, stay_ = true;
};

}  // namespace

MissingRows MissingRowsOf(const ir::Kernel& kernel, const ir::Op& load) {
  const ir::TensorMap& map = FindMap(kernel, load.symbol);
  const size_t axis = map.box.size() - 2;
  return {load.operands[0], load.scalars[axis], FindTensor(kernel, map.tensor).extents[axis], ir::IsMulticast(load.code)};
}

bool AreNeverStored(const ir::Kernel& kernel, const MissingRows& rows) { return Following(kernel, rows).StayUnstored(); }

}  // namespace tkc::passes

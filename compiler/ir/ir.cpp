// SPDX-License-Identifier: MIT
// The values of a kernel: names stay what the source said, with _1, _2, ... where one is taken. In the output values stand in one
// scope with scalars, tensors and rings, so the names of those count as taken.
#include "compiler/ir/ir.h"

#include "compiler/ir/op_traits.h"
#include "compiler/symbolic/evaluate.h"

#include <algorithm>
#include <utility>

namespace tkc::ir {

namespace {

void TakeScalars(const Region& region, TakenNames& taken) {
  for (const Op& op : region) {
    ForEachScalarDefined(op, [&](const std::string& name) { taken.Take(name); });
    if (op.code == OpCode::kFor) taken.Take(op.symbol);
    for (const Region& inner : op.regions) TakeScalars(inner, taken);
  }
}

/// What else is declared: by loops over tiles and parts, which share names where they stand behind each other.
void TakeLoops(const Region& region, TakenNames& taken) {
  for (const Op& op : region) {
    if (op.code == OpCode::kForTiles || op.code == OpCode::kUnroll) taken.Take(op.symbol);
    if (op.code == OpCode::kForTiles && op.TakesTurns()) taken.Take(op.WhoseTurn());
    for (const Region& inner : op.regions) TakeLoops(inner, taken);
  }
}

}  // namespace

TakenNames Kernel::UsedNames() const {
  TakenNames used;
  used.TakeAll(dims);
  TakeScalars(lets, used);
  for (const Worker& worker : workers) {
    used.Take(worker.instance_name);
    TakeScalars(worker.body, used);
  }
  for (const Value& value : values) {
    if (value.base.empty()) used.Take(value.name);  // others are numbered where they are printed, and step aside there
  }
  for (const TensorParam& tensor : tensors) used.Take(tensor.name);
  for (const ScalarParam& scalar : scalars) used.Take(scalar.name);
  for (const Pipe& pipe : pipes) used.Take(pipe.name);
  for (const GridAxis& axis : axes) used.Take(axis.name);
  return used;
}

std::pair<std::string, std::string> NamesOfPosition(const Op& op) {
  const size_t space = op.symbol.find(' ');
  return {op.symbol.substr(0, space), op.symbol.substr(space + 1)};
}

std::string WithoutNumber(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  const bool is_numbered = end != std::string::npos && end > 0 && end + 1 < name.size() && name[end] == '_';
  return is_numbered ? name.substr(0, end) : name;
}

namespace {

/// Whether `condition` is, or is a conjunction with, this name.
bool Demands(const Scalar& condition, std::string_view name) {
  const auto demands = [&](const Scalar& part) { return Demands(part, name); };
  if (condition->kind == symbolic::Kind::kAnd) return std::any_of(condition->args.begin(), condition->args.end(), demands);
  return condition->kind == symbolic::Kind::kName && condition->name == name;
}

}  // namespace

int64_t StructureParts(const TensorParam& tensor) {
  int64_t parts = 0;
  return symbolic::IsInt(tensor.extents.back(), &parts) ? tkc::StructureParts(tensor.extents.size(), parts, tensor.dtype) : 1;
}

bool IsAligned(const Kernel& kernel) { return kernel.when && Demands(kernel.when, "aligned"); }
bool IsContiguous(const Kernel& kernel) { return kernel.when && Demands(kernel.when, "contiguous"); }
bool IsWritten(const TensorParam& tensor) { return tensor.mode != typed::TensorMode::kIn || tensor.is_work; }
bool HasAlignedRows(const TensorParam& work) { return work.is_work && StructureParts(work) == 1; }

Scalar ContiguousStride(const TensorParam& tensor, size_t axis) {
  Scalar stride = symbolic::Int(1);
  for (size_t i = axis + 1; i < tensor.extents.size(); ++i) stride = symbolic::Mul(stride, tensor.extents[i]);
  return stride;
}

bool Kernel::EndsTogether() const {
  return std::any_of(ending.begin(), ending.end(), [](const Op& op) { return op.code == OpCode::kClusterSync; });
}

int64_t Kernel::Spread() const {
  int64_t blocks = 1;
  for (const Worker& worker : workers) blocks = std::max(blocks, worker.spread);
  return blocks;
}

std::optional<size_t> Kernel::ClusterAxis() const {
  if (cluster == 1 || SharesTile() || axes.empty()) return std::nullopt;
  return axes.size() - (cluster_of_columns || axes.size() == 1 ? 1 : 2);
}

bool Kernel::IsNonNegative(const Scalar& scalar) const {
  return symbolic::IsNonNegative(scalar,
                                 [&](std::string_view name) { return std::find(dims.begin(), dims.end(), name) != dims.end(); });
}

Scalar Kernel::Steps(const Scalar& lo, const Scalar& hi, int64_t step) const {
  Scalar extent = symbolic::Sub(hi, lo);
  if (!IsNonNegative(extent)) extent = symbolic::Make(symbolic::Kind::kMax, DType::kI64, {extent, symbolic::Int(0)});
  return symbolic::Cdiv(extent, symbolic::Int(step));
}

TakenNames Kernel::NamesBesideValues() const {
  TakenNames taken = {"tile", "tiles", "layout", "shared"};
  taken.TakeAll(dims);
  for (const TensorParam& tensor : tensors) {
    for (const char* suffix : {"", "_map", "_map_usable", "_chunk"}) taken.Take(tensor.name + suffix);
  }
  for (const ScalarParam& scalar : scalars) taken.Take(scalar.name);
  for (const Pipe& pipe : pipes) taken.Take(pipe.name);
  for (const GridAxis& axis : axes) {
    for (const char* suffix : {"", "_block", "_blocks"}) taken.Take(axis.name + suffix);
  }
  for (const auto& [name, value] : launch_lets) taken.Take(name);
  TakeScalars(lets, taken);
  for (const Worker& worker : workers) {
    taken.Take(worker.instance_name);
    TakeScalars(worker.body, taken);
    TakeLoops(worker.body, taken);
  }
  return taken;
}

void Kernel::TakeNames() {
  for (const Value& value : values) names_of_values.Take(value.name);
  names_of_values.TakeAll(NamesBesideValues());
  known_values = values.size();
}

ValueId Kernel::AddValue(std::string name, Type type, bool is_mutable) {
  if (name.empty()) name = "value";
  if (known_values < values.size()) TakeNames();  // values that were not added here
  std::string unique = names_of_values.TakeFree(name);
  values.push_back({std::move(unique), type, is_mutable, std::move(name)});
  known_values = values.size();
  return static_cast<ValueId>(values.size()) - 1;
}

void Kernel::KeepName(ValueId value) {
  values[value].is_named = true;
  if (values[value].name == values[value].base) values[value].base.clear();
}

ValueId Kernel::AddValueAfter(ValueId of, const std::string& suffix, Type type, bool is_mutable) {
  const std::string base = values[of].Base();
  const ValueId value = AddValue(values[of].name + suffix, type, is_mutable);
  values[value].base = base + suffix;
  values[value].is_named = suffix.empty() && values[of].IsOfSource();
  return value;
}

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
// Scopes are those of the C++ that will be printed: a name holds from its definition to the end of its region.
#include "compiler/ir/verify.h"

#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/verify_impl.h"

namespace tkc::ir {
namespace {

size_t RegionsOf(OpCode code) { return code == OpCode::kIf ? 2 : IsLoop(code) || code == OpCode::kIfElected ? 1 : 0; }

}  // namespace

std::vector<Fault> Verify(const Kernel& kernel, Level level, const Target* target) { return Verifier(kernel, level, target).Run(); }

std::vector<Fault> Verifier::Run() {
  DeclareKernel();
  CheckTensors();
  CheckPipes();
  if (level_ == Level::kSchedule && target_) {
    CheckBuffers();
    CheckBarriers();
    CheckMaps();
    CheckLaunch();
    for (const Worker& worker : kernel_.workers) CheckRole(worker);
  }
  CheckRegion(kernel_.lets);
  // The lets are seen by every worker: define them again, CheckRegion has closed their scope.
  for (const Op& op : kernel_.lets) Define(op);
  CheckFrame(kernel_.setup);
  CheckWorkers();
  CheckFrame(kernel_.ending);
  if (level_ == Level::kTile) CheckPipeEnds();
  return std::move(faults_);
}

void Verifier::DeclareKernel() {
  scalars_ = {"sms", "room", "aligned", "contiguous"};
  for (const std::string& dim : kernel_.dims) scalars_.insert(dim);
  for (const ScalarParam& scalar : kernel_.scalars) scalars_.insert(scalar.name);
  for (const auto& [name, value] : kernel_.launch_lets) {
    CheckScalar(value, "a launch value");
    scalars_.insert(name);
  }
  for (const Scalar& require : kernel_.launch_requires) CheckScalar(require, "a launch requirement");
  if (kernel_.when) CheckScalar(kernel_.when, "the schedule's condition");
  if (kernel_.cost && level_ != Level::kLowering) CheckCost(*kernel_.cost);  // no pass touches it
  for (const GridAxis& axis : kernel_.axes) {
    if (axis.step < 1) FaultAt(kernel_.span, "grid axis `{}` steps by {}", axis.name, axis.step);
    CheckScalar(axis.lo, "a grid bound");
    CheckScalar(axis.hi, "a grid bound");
    scalars_.insert(axis.name);
  }
  if (kernel_.tiles) CheckScalar(kernel_.tiles, "the number of tiles");
  for (const TensorMap& map : kernel_.maps) {
    scalars_.insert(UsableFlag(map.name));
    if (!FindTensor(map.tensor)) FaultAt(kernel_.span, "map `{}` is of tensor `{}`, which does not exist", map.name, map.tensor);
  }
}

/// What a function computes is of its own names alone.
void Verifier::CheckCost(const Cost& cost) {
  constexpr std::string_view kWhat = "the schedule's cost";
  std::unordered_set<std::string> own;
  for (const auto& [name, value] : cost.args) {
    CheckScalar(value, kWhat);
    own.insert(name);
  }
  if (cost.IsOfFunction()) scalars_.swap(own);
  for (const auto& [name, value] : cost.lets) {
    CheckScalar(value, kWhat);
    scalars_.insert(name);
  }
  CheckScalar(cost.value, kWhat);
  if (cost.IsOfFunction()) scalars_.swap(own);
}

void Verifier::CheckTensors() {
  std::set<std::string> names;
  for (const TensorParam& tensor : kernel_.tensors) {
    if (!names.insert(tensor.name).second) FaultAt(tensor.span, "two tensors `{}`", tensor.name);
    for (const Scalar& extent : tensor.extents) CheckScalar(extent, "an extent");
  }
}

void Verifier::CheckPipes() {
  for (const Pipe& pipe : kernel_.pipes) {
    if (pipe.fields.empty()) FaultAt(pipe.span, "pipe `{}` has no field", pipe.name);
    if (pipe.rings < 1 || pipe.slots < 0)
      FaultAt(pipe.span, "pipe `{}` has {} rings of {} slots", pipe.name, pipe.rings, pipe.slots);
    if (!pipe.per_worker.empty() && !FindNamed(kernel_.workers, pipe.per_worker)) {
      FaultAt(pipe.span, "pipe `{}` belongs to worker `{}`, which does not exist", pipe.name, pipe.per_worker);
    }
    for (const PipeField& field : pipe.fields) {
      if (field.rows < 1 || field.cols < 1)
        FaultAt(pipe.span, "pipe `{}` has a field of {} x {}", pipe.name, field.rows, field.cols);
    }
  }
}

/// With one end only, who waits at it would wait for ever, and no barrier could be derived. A pass alone may be shown one end.
void Verifier::CheckPipeEnds() {
  std::set<std::string> sent, received;
  const auto collect = [&](const auto& self, const Region& region) -> void {
    for (const Op& op : region) {
      if (op.code == OpCode::kSend) sent.insert(op.symbol);
      if (op.code == OpCode::kReceive) received.insert(op.symbol);
      for (const Region& inner : op.regions) self(self, inner);
    }
  };
  for (const Worker& worker : kernel_.workers) collect(collect, worker.body);
  for (const Pipe& pipe : kernel_.pipes) {
    const bool is_sent = sent.count(pipe.name) > 0, is_received = received.count(pipe.name) > 0;
    if (is_sent && is_received) continue;
    FaultAt(pipe.span, "no worker {} pipe `{}`", is_sent ? "receives from" : is_received ? "sends into" : "uses", pipe.name);
  }
}

void Verifier::CheckWorkers() {
  for (const Worker& worker : kernel_.workers) {
    worker_ = &worker;
    if (worker.instances < 1) FaultAt(worker.span, "{} instances", worker.instances);
    const bool is_new = !worker.instance_name.empty() && scalars_.insert(worker.instance_name).second;
    rings_.clear();
    CheckRegion(worker.body);
    if (is_new) scalars_.erase(worker.instance_name);
  }
  worker_ = nullptr;
}

void Verifier::CheckFrame(const Region& region) {
  in_frame_ = true;
  CheckRegion(region);
  in_frame_ = false;
}

void Verifier::CheckRegion(const Region& region) {
  const size_t scalars = new_scalars_.size(), values = new_values_.size();
  for (const Op& op : region) {
    CheckOp(op);
    Define(op);
  }
  for (; new_scalars_.size() > scalars; new_scalars_.pop_back()) scalars_.erase(new_scalars_.back());
  for (; new_values_.size() > values; new_values_.pop_back()) in_scope_[static_cast<size_t>(new_values_.back())] = false;
}

void Verifier::DefineScalar(const std::string& name) {
  if (scalars_.insert(name).second) new_scalars_.push_back(name);
}

void Verifier::CheckOp(const Op& op) {
  const bool is_legal = level_ == Level::kTile ? InTileLevel(op.code) : level_ != Level::kSchedule || InScheduleLevel(op.code);
  if (!is_legal) {
    OpFault(op, "`{}` does not exist at the {} level", OpText(op.code), level_ == Level::kTile ? "tile" : "schedule");
    return;
  }
  if (!CheckFields(op) || !InScope(op)) return;  // what is not as it should be, and types of undefined values, mean nothing
  CheckTileOp(op);
  CheckScheduleOp(op);
  CheckFrameOp(op);
  CheckInnerRegions(op);
}

void Verifier::CheckInnerRegions(const Op& op) {
  const size_t wanted = RegionsOf(op.code);
  // While lowering, a send holds the copies that fill its slot.
  const bool may_differ = level_ == Level::kLowering && op.code == OpCode::kSend;
  if (op.regions.size() != wanted && !may_differ) OpFault(op, "{} regions, not {}", op.regions.size(), wanted);
  if (IsLoop(op.code)) {
    const size_t scalars = op.code == OpCode::kFor ? 2 : op.code == OpCode::kForTiles ? (kernel_.dynamic ? 2 : 3) : 0;
    if (op.scalars.size() != scalars) OpFault(op, "{} scalars, not {}", op.scalars.size(), scalars);
    if (op.code == OpCode::kFor && op.Step() < 1) OpFault(op, "a step of {}", op.Step());
    if (op.code == OpCode::kUnroll && op.Trips() < 1) OpFault(op, "a count of {}", op.Trips());
    if (op.symbol.empty()) OpFault(op, "a loop without a name for its variable");
    if (op.code == OpCode::kForTiles && op.TakesTurns() != (op.Turns() > 0)) OpFault(op, "turns of {}", op.Turns());
  }
  if (op.code == OpCode::kIf && (op.scalars.size() != 1 || op.scalars[0]->dtype != DType::kBool)) {
    OpFault(op, "the condition is not one truth value");
  }
  const bool is_new = IsLoop(op.code) && scalars_.insert(op.symbol).second;
  const bool has_turns = op.code == OpCode::kForTiles && op.TakesTurns() && scalars_.insert(op.WhoseTurn()).second;
  for (const Region& region : op.regions) CheckRegion(region);
  if (is_new) scalars_.erase(op.symbol);
  if (has_turns) scalars_.erase(op.WhoseTurn());
}

void Verifier::Define(const Op& op) {
  for (const ValueId value : op.results) {
    if (!IsValue(value) || in_scope_[static_cast<size_t>(value)]) continue;
    in_scope_[static_cast<size_t>(value)] = true;
    new_values_.push_back(value);
  }
  if (op.code == OpCode::kRing) rings_.insert(op.symbol);
  ForEachScalarDefined(op, [&](const std::string& name) { DefineScalar(name); });
}

bool Verifier::InScope(const Op& op) {
  const size_t before = faults_.size();
  for (const ValueId value : op.operands) {
    if (!IsValue(value)) {
      OpFault(op, "operand {} is not a value", value);
    } else if (!in_scope_[static_cast<size_t>(value)]) {
      OpFault(op, "`%{}` is not defined here", kernel_.values[value].name);
    }
  }
  for (const ValueId value : op.results) {
    if (!IsValue(value)) {
      FaultAt(op.span, "`{}`: result {} is not a value", OpText(op.code), value);
    } else if (is_defined_[static_cast<size_t>(value)]) {
      OpFault(op, "`%{}` is defined twice", kernel_.values[value].name);
    } else if ((kernel_.TypeOf(value).space == Space::kAbstract) != (level_ == Level::kTile) && level_ != Level::kLowering) {
      OpFault(op, "`%{}` {}", kernel_.values[value].name, level_ == Level::kTile ? "has a place already" : "has no place yet");
    } else if (kernel_.TypeOf(value).rows < 1 || kernel_.TypeOf(value).cols < 1) {
      OpFault(op, "`%{}` has the shape {} x {}", kernel_.values[value].name, kernel_.TypeOf(value).rows,
              kernel_.TypeOf(value).cols);
    }
    if (IsValue(value)) is_defined_[static_cast<size_t>(value)] = true;
  }
  if (op.scalars.empty() && op.axes.empty()) return faults_.size() == before;
  const std::string_view what = OpText(op.code);
  for (const Scalar& scalar : op.scalars) CheckScalar(scalar, what, "`");
  for (const AxisRange& axis : op.axes) {
    CheckScalar(axis.start, what, "`");
    if (axis.lo) CheckScalar(axis.lo, what, "`");
    if (axis.hi) CheckScalar(axis.hi, what, "`");
  }
  return faults_.size() == before;
}

bool Verifier::IsSound(const symbolic::Node& scalar) const {
  if (scalar.kind == symbolic::Kind::kName) return scalars_.count(scalar.name) > 0;
  if (scalar.kind == symbolic::Kind::kElement) {
    const TensorParam* tensor = FindTensor(scalar.name);
    if (!tensor || tensor->extents.size() != scalar.args.size()) return false;
  }
  for (const Scalar& arg : scalar.args) {
    if (!arg || !IsSound(*arg)) return false;
  }
  return true;
}

void Verifier::CheckScalar(const Scalar& scalar, std::string_view what, std::string_view quote) {
  if (scalar && IsSound(*scalar)) return;
  const Span span = worker_ ? worker_->span : kernel_.span;
  if (!scalar) return FaultAt(span, "a scalar of {0}{1}{0} is missing", quote, what);
  if (scalar->kind == symbolic::Kind::kName && scalars_.count(scalar->name) == 0) {
    FaultAt(span, "`{}`, used in {}{}{}, is not defined there", scalar->name, quote, what, quote);
  }
  if (scalar->kind == symbolic::Kind::kElement) {
    const TensorParam* tensor = FindTensor(scalar->name);
    if (!tensor) {
      FaultAt(span, "`{}`, used in {}{}{}, is not a tensor", scalar->name, quote, what, quote);
    } else if (tensor->extents.size() != scalar->args.size()) {
      FaultAt(span, "`{}` has {} axes, {}{}{} gives {}", scalar->name, tensor->extents.size(), quote, what, quote,
              scalar->args.size());
    }
  }
  for (const Scalar& arg : scalar->args) CheckScalar(arg, what, quote);
}

bool Verifier::Counts(const Op& op, size_t results, size_t operands, size_t least_scalars, size_t most_scalars) {
  if (op.results.size() == results && op.operands.size() == operands && op.scalars.size() >= least_scalars &&
      op.scalars.size() <= most_scalars) {
    return true;
  }
  OpFault(op, "{} results, {} operands and {} scalars, not {}, {} and {}{}", op.results.size(), op.operands.size(),
          op.scalars.size(), results, operands, least_scalars,
          least_scalars == most_scalars ? "" : fmt::format(" to {}", most_scalars));
  return false;
}

bool Verifier::Same(const Op& op, const Type& a, const Type& b) {
  if (HaveOneShape(a, b)) return true;
  OpFault(op, "{} x {} where {} x {} is wanted", b.rows, b.cols, a.rows, a.cols);
  return false;
}

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
#include "compiler/interp/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/interp/evaluate.h"
#include "compiler/sema/scalar_text.h"

namespace tkc::interp {
namespace {

using typed::Expr;
using typed::ExprKind;
using typed::Kernel;
using typed::Param;
using typed::ParamKind;

/// Where a dimension got its extent: axis `axis` of tensor `param`, or the command line.
struct Origin {
  std::string text;
  int64_t extent;
};

void CheckNames(const Kernel& kernel, const Arguments& arguments, Faults& faults) {
  const auto has = [&](const std::string& name, bool scalar) {
    for (const Param& param : kernel.params) {
      if (param.name == name && param.kind == (scalar ? ParamKind::kScalar : ParamKind::kTensor)) return true;
    }
    return false;
  };
  for (const auto& [name, tensor] : arguments.tensors) {
    if (!has(name, false)) {
      faults.Report(DiagnosticKind::kBadArgument, kernel.span, fmt::format("`{}` has no tensor parameter `{}`", kernel.name, name));
    }
  }
  for (const auto& [name, value] : arguments.scalars) {
    if (!has(name, true)) {
      faults.Report(DiagnosticKind::kBadArgument, kernel.span, fmt::format("`{}` has no scalar parameter `{}`", kernel.name, name));
    }
  }
  for (const auto& [name, extent] : arguments.dims) {
    bool known = false;
    for (const typed::Dim& dim : kernel.dims) known = known || dim.name == name;
    if (!known) {
      faults.Report(DiagnosticKind::kBadArgument, kernel.span, fmt::format("`{}` has no dimension `{}`", kernel.name, name));
    }
  }
}

void BindParam(const Param& param, size_t id, Arguments& arguments, Launch& launch, Faults& faults) {
  if (param.kind == ParamKind::kScalar) {
    const auto found = arguments.scalars.find(param.name);
    if (found == arguments.scalars.end()) {
      faults.Report(DiagnosticKind::kBadArgument, param.span, fmt::format("no value is given for the scalar `{}`", param.name));
      return;
    }
    launch.scalars[id] = found->second.ConvertedTo(param.dtype);
    return;
  }
  if (param.kind == ParamKind::kWork) return;
  const auto found = arguments.tensors.find(param.name);
  if (found == arguments.tensors.end()) {
    faults.Report(DiagnosticKind::kBadArgument, param.span, fmt::format("no tensor is given for the parameter `{}`", param.name));
    return;
  }
  Tensor& tensor = found->second;
  if (tensor.dtype != param.dtype) {
    faults.Report(DiagnosticKind::kBadArgument, param.span,
                  fmt::format("`{}` holds {}, but the parameter is {}", param.name, Name(tensor.dtype), Name(param.dtype)));
  } else if (tensor.extents.size() != param.extents.size()) {
    faults.Report(
        DiagnosticKind::kBadArgument, param.span,
        fmt::format("`{}` has rank {}, but the parameter has rank {}", param.name, tensor.extents.size(), param.extents.size()));
  } else if (!tensor.IsConsistent()) {
    faults.Report(DiagnosticKind::kBadArgument, param.span,
                  fmt::format("the strides of `{}` reach outside its storage", param.name));
  }
  launch.tensors[id] = &tensor;
}

void BindDims(const Kernel& kernel, const Arguments& arguments, Launch& launch, Faults& faults) {
  std::vector<std::optional<Origin>> origins(kernel.dims.size());
  for (size_t i = 0; i < kernel.dims.size(); ++i) {
    const auto found = arguments.dims.find(kernel.dims[i].name);
    if (found != arguments.dims.end()) origins[i] = Origin{"the dimensions given", found->second};
  }
  for (size_t id = 0; id < kernel.params.size(); ++id) {
    const Param& param = kernel.params[id];
    if (launch.tensors[id] == nullptr) continue;
    for (size_t axis = 0; axis < param.extents.size(); ++axis) {
      const Expr& extent = *param.extents[axis];
      if (extent.kind != ExprKind::kDim) continue;
      std::optional<Origin>& origin = origins[static_cast<size_t>(extent.id)];
      const int64_t actual = launch.tensors[id]->extents[axis];
      if (!origin) {
        origin = Origin{fmt::format("axis {} of `{}`", axis, param.name), actual};
      } else if (origin->extent != actual) {
        faults.Report(DiagnosticKind::kDimensionMismatch, param.span,
                      fmt::format("`{}` has {} elements on axis {}, but `{}` is {}, as given by {}", param.name, actual, axis,
                                  kernel.dims[static_cast<size_t>(extent.id)].name, origin->extent, origin->text));
      }
    }
  }
  for (size_t i = 0; i < kernel.dims.size(); ++i) {
    if (!origins[i]) {
      faults.Report(DiagnosticKind::kBadArgument, kernel.dims[i].span,
                    fmt::format("the dimension `{}` has no extent: no tensor's axis is `{}` alone", kernel.dims[i].name,
                                kernel.dims[i].name));
      continue;
    }
    launch.dims[i] = origins[i]->extent;
    if (launch.dims[i] < 0 || launch.dims[i] > typed::kLargestExtent) {
      faults.Report(
          DiagnosticKind::kBadArgument, kernel.dims[i].span,
          fmt::format("`{}` is {}; an extent lies between 0 and {}", kernel.dims[i].name, launch.dims[i], typed::kLargestExtent));
    }
  }
}

/// Extents that are more than a dimension's name, once every dimension is known.
void CheckExtents(const Kernel& kernel, Launch& launch, Faults& faults) {
  const std::vector<Value> vars = InitialVars(launch);
  Evaluator evaluator(launch, vars, faults);
  for (size_t id = 0; id < kernel.params.size(); ++id) {
    const Param& param = kernel.params[id];
    if (param.kind != ParamKind::kTensor) continue;
    for (size_t axis = 0; axis < param.extents.size() && !faults.failed(); ++axis) {
      const int64_t wanted = evaluator.Integer(*param.extents[axis]);
      const int64_t actual = launch.tensors[id]->extents[axis];
      if (wanted != actual) {
        faults.Report(DiagnosticKind::kDimensionMismatch, param.span,
                      fmt::format("`{}` has {} elements on axis {}, but `{}` is {}", param.name, actual, axis,
                                  sema::ScalarText(kernel, *param.extents[axis]), wanted));
      }
    }
  }
}

std::string ValueText(const Value& value) {
  if (value.type().dtype == DType::kBool) return value.AsBool() ? "true" : "false";
  return value.is_float() ? fmt::format("{}", value.AsReal()) : fmt::format("{}", value.AsInteger());
}

int64_t PartsOf(const Param& param) {
  const Expr& last = *param.extents.back();
  return last.kind == ExprKind::kInt ? StructureParts(param.extents.size(), last.int_value, param.dtype) : 1;
}

int64_t BlocksOfCluster(const Kernel& kernel) {
  const typed::Section& section = kernel.sections.front();
  int64_t blocks = section.cluster * section.split;
  for (const typed::Worker& worker : section.workers) blocks = std::max(blocks, worker.spread);
  return blocks;
}

}  // namespace

std::vector<Value> InitialVars(const Launch& launch) {
  std::vector<Value> vars(launch.kernel->vars.size());
  for (size_t i = 0; i < vars.size(); ++i) {
    if (!launch.kernel->vars[i].type.is_tile) vars[i] = Value::Zero(launch.kernel->vars[i].type);
  }
  if (launch.kernel->sms_var != typed::kNone) {
    vars[static_cast<size_t>(launch.kernel->sms_var)] = Value::Integer(DType::kI64, launch.sms);
  }
  if (launch.kernel->room_var != typed::kNone) {
    // A device may hold fewer: its multiprocessors come in groups, and a cluster lies in one.
    const int64_t blocks = BlocksOfCluster(*launch.kernel);
    vars[static_cast<size_t>(launch.kernel->room_var)] =
        Value::Integer(DType::kI64, std::max<int64_t>(launch.sms / blocks, 1) * blocks);
  }
  if (launch.kernel->aligned_var != typed::kNone) {
    vars[static_cast<size_t>(launch.kernel->aligned_var)] = Value::Bool(launch.aligned);
  }
  if (launch.kernel->contiguous_var != typed::kNone) {
    vars[static_cast<size_t>(launch.kernel->contiguous_var)] = Value::Bool(launch.contiguous);
  }
  return vars;
}

void Bind(const Kernel& kernel, Arguments& arguments, Launch& launch, Faults& faults) {
  launch = Launch{};
  launch.kernel = &kernel;
  launch.sms = arguments.sms;
  launch.dims.resize(kernel.dims.size());
  launch.scalars.resize(kernel.params.size());
  launch.tensors.resize(kernel.params.size());
  launch.work.resize(kernel.params.size());
  launch.written.resize(kernel.params.size());
  launch.terms.read.resize(kernel.params.size());
  launch.terms.stored.resize(kernel.params.size());
  launch.terms.added.resize(kernel.params.size());
  CheckNames(kernel, arguments, faults);
  for (size_t id = 0; id < kernel.params.size(); ++id) BindParam(kernel.params[id], id, arguments, launch, faults);
  if (faults.failed()) return;
  BindDims(kernel, arguments, launch, faults);
  if (!faults.failed()) CheckExtents(kernel, launch, faults);
  if (!faults.failed()) LearnPlacement(launch, arguments.placement, faults);
}

void LearnPlacement(Launch& launch, const Placement& placement, Faults& faults) {
  const Kernel& kernel = *launch.kernel;
  const std::vector<Value> vars = InitialVars(launch);
  Evaluator evaluator(launch, vars, faults);
  launch.aligned = launch.contiguous = true;
  for (const Param& param : kernel.params) {
    if (param.kind != ParamKind::kTensor) continue;
    const int64_t size = Bytes(param.dtype), parts = PartsOf(param);
    if (placement.offset * size % typed::kAlignedBytes != 0) launch.aligned = launch.contiguous = false;
    int64_t stride = placement.step, elements = 1;
    for (size_t axis = param.extents.size(); axis-- > 0;) {
      const int64_t extent = evaluator.Integer(*param.extents[axis]);
      const bool is_last = axis + 1 == param.extents.size();
      const bool counts_structures = parts > 1 && axis + 2 == param.extents.size();
      const bool fits = is_last ? stride == 1 : counts_structures ? stride == parts : stride * size % typed::kAlignedBytes == 0;
      if (extent > 1 && !fits) launch.aligned = false;
      if (extent > 1 && stride != elements) launch.contiguous = false;
      stride = stride * extent + (is_last ? placement.pad : 0);
      elements *= extent;
    }
  }
}

std::string ConditionText(const Launch& launch, const Expr& condition, Faults& faults) {
  const std::vector<Value> vars = InitialVars(launch);
  Evaluator evaluator(launch, vars, faults);
  std::string values;
  for (const Expr* name : sema::MentionedNames(condition)) {
    values += fmt::format("{} `{}` is {}", values.empty() ? ":" : ",", sema::ScalarText(*launch.kernel, *name),
                          ValueText(evaluator.Evaluate(*name)));
  }
  return fmt::format("`{}`{}", sema::ScalarText(*launch.kernel, condition), values);
}

void CheckRequirements(Launch& launch, Faults& faults) {
  const Kernel& kernel = *launch.kernel;
  const std::vector<Value> vars = InitialVars(launch);
  Evaluator evaluator(launch, vars, faults);
  for (const typed::ExprPtr& requirement : kernel.requires_at_launch) {
    if (faults.failed()) return;
    const bool holds = evaluator.Truth(*requirement);
    if (holds || faults.failed()) continue;
    faults.Report(DiagnosticKind::kRequirementFails, requirement->span,
                  fmt::format("`{}` requires {}", kernel.name, ConditionText(launch, *requirement, faults)));
  }
}

void Prepare(Launch& launch, Faults& faults) {
  const Kernel& kernel = *launch.kernel;
  const std::vector<Value> vars = InitialVars(launch);
  Evaluator evaluator(launch, vars, faults);
  for (size_t id = 0; id < kernel.params.size(); ++id) {
    const Param& param = kernel.params[id];
    if (param.kind == ParamKind::kWork) {
      std::vector<int64_t> extents;
      for (const typed::ExprPtr& extent : param.extents) extents.push_back(std::max<int64_t>(0, evaluator.Integer(*extent)));
      launch.work[id] = Tensor::Dense(param.dtype, extents);
      launch.tensors[id] = &launch.work[id];
      const double poison =
          IsFloat(param.dtype) ? std::numeric_limits<double>::quiet_NaN() : -std::numeric_limits<double>::infinity();
      if (!param.has_preset) launch.tensors[id]->Fill(poison);
    }
    if (!param.has_preset) continue;
    if (IsFloat(param.dtype))
      launch.tensors[id]->Fill(param.preset);
    else
      launch.tensors[id]->FillIntegers(param.integer_preset);
  }
}

}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
#include "compiler/interp/run_arguments.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "compiler/interp/evaluate.h"
#include "compiler/interp/placement.h"
#include "compiler/sema/grid_stores.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/npy.h"
#include "compiler/support/number.h"

namespace tkc::interp {
namespace {

using typed::Kernel;
using typed::Param;
using typed::ParamKind;

const Param* FindParam(const Kernel& kernel, const std::string& name, ParamKind kind) {
  for (const Param& param : kernel.params) {
    if (param.name == name && param.kind == kind) return &param;
  }
  return nullptr;
}

std::string ParamNames(const Kernel& kernel, ParamKind kind) {
  std::vector<std::string> names;
  for (const Param& param : kernel.params) {
    if (param.kind == kind) names.push_back(param.name);
  }
  return WhatItHas(names);
}

template <typename T>
std::optional<T> ParseNumber(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Value> ParseScalar(const std::string& text, DType dtype) {
  if (dtype == DType::kBool) {
    if (text != "true" && text != "false") return std::nullopt;
    return Value::Bool(text == "true");
  }
  if (IsFloat(dtype)) {
    const std::optional<double> value = ParseNumber<double>(text);
    if (!value) return std::nullopt;
    return Value::Real(dtype, *value);
  }
  if (dtype == DType::kU64) {
    const std::optional<uint64_t> value = ParseNumber<uint64_t>(text);
    if (!value) return std::nullopt;
    return Value::Integer(dtype, static_cast<int64_t>(*value));
  }
  const std::optional<int64_t> value = ParseNumber<int64_t>(text);
  if (!value || WrapInteger(dtype, *value) != *value) return std::nullopt;
  return Value::Integer(dtype, *value);
}

/// An element type of NumPy that is read as `dtype`: of the floats all are, and some it does not have.
std::string NumpyType(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "bool";
    case DType::kI8: return "int8";
    case DType::kU8: return "uint8";
    case DType::kI32: return "int32";
    case DType::kU32: return "uint32";
    case DType::kI64: return "int64";
    case DType::kU64: return "uint64";
    default: return "float32";
  }
}

/// Collects the arguments; goes on after an error to report the others.
class Collector {
 public:
  Collector(const Kernel& kernel, const RunOptions& options, Diagnostics& diagnostics)
      : kernel_(kernel), options_(options), diagnostics_(diagnostics), dims_(kernel.dims.size()), origins_(kernel.dims.size()) {}

  Result<Arguments> Collect() {
    const size_t before = diagnostics_.ErrorCount();
    arguments_.sms = options_.sms;
    CheckGivenOnce(options_.dims, "--dims", diagnostics_);
    CheckGivenOnce(options_.scalars, "--scalar", diagnostics_);
    CheckGivenOnce(options_.inputs, "--in", diagnostics_);
    ReadDims();
    ReadScalars();
    ReadTensors();
    if (diagnostics_.ErrorCount() == before) CheckDims();
    if (diagnostics_.ErrorCount() == before) MakeTensors();
    if (diagnostics_.ErrorCount() != before) return Failure{};
    return std::move(arguments_);
  }

 private:
  DiagnosticBuilder Fault(std::string headline, Span span = kNoSpan) {
    return diagnostics_.Error(DiagnosticKind::kBadArgument, span, std::move(headline));
  }

  void ReadDims() {
    for (const auto& [name, text] : options_.dims) {
      size_t id = 0;
      while (id < kernel_.dims.size() && kernel_.dims[id].name != name) ++id;
      if (id == kernel_.dims.size()) {
        std::vector<std::string> names;
        for (const typed::Dim& dim : kernel_.dims) names.push_back(dim.name);
        Fault(fmt::format("`{}` has no dimension `{}`; {}", kernel_.name, name, WhatItHas(names)));
        continue;
      }
      const std::optional<int64_t> extent = ParseNumber<int64_t>(text);
      if (!extent || *extent < 0 || *extent > typed::kLargestExtent) {
        Fault(fmt::format("`--dims {}={}`: an extent is an integer from 0 to {}", name, text, typed::kLargestExtent));
        continue;
      }
      dims_[id] = *extent;
      origins_[id] = "`--dims`";
    }
  }

  void ReadScalars() {
    const size_t before = diagnostics_.ErrorCount();
    for (const auto& [name, text] : options_.scalars) {
      const Param* param = FindParam(kernel_, name, ParamKind::kScalar);
      if (param == nullptr) {
        Fault(fmt::format("`{}` has no scalar parameter `{}`; {}", kernel_.name, name, ParamNames(kernel_, ParamKind::kScalar)));
        continue;
      }
      const std::optional<Value> value = ParseScalar(text, param->dtype);
      if (!value) {
        const std::string given = fmt::format("`--scalar {}={}`: ", name, text);
        Fault(given + (param->dtype == DType::kBool ? "a `bool` is `true` or `false`"
                                                    : fmt::format("`{}` is not a number of type {}", text, Name(param->dtype))));
        continue;
      }
      arguments_.scalars[name] = *value;
    }
    if (diagnostics_.ErrorCount() != before) return;
    for (const Param& param : kernel_.params) {
      if (param.kind != ParamKind::kScalar || arguments_.scalars.count(param.name) > 0) continue;
      Fault(fmt::format("the scalar `{}` of `{}` has no value", param.name, kernel_.name), param.span)
          .Help(fmt::format("add `--scalar {}=..`", param.name));
    }
  }

  void ReadTensors() {
    for (const auto& [name, path] : options_.inputs) {
      const Param* param = FindParam(kernel_, name, ParamKind::kTensor);
      if (param == nullptr) {
        Fault(fmt::format("`{}` has no tensor parameter `{}`; {}", kernel_.name, name, ParamNames(kernel_, ParamKind::kTensor)));
        continue;
      }
      ReadTensor(*param, path);
    }
  }

  void ReadTensor(const Param& param, const std::string& path) {
    const Result<std::string> file = ReadWholeFile(path, diagnostics_);
    if (!file) return;
    std::string error;
    std::optional<NpyArray> array = ParseNpy(*file, error);
    if (!array) {
      Fault(fmt::format("`{}` can't be read as `{}`: {}", path, param.name, error))
          .Help(fmt::format("`numpy.save(\"{}\", x.astype(\"{}\"))` writes what is read", path, NumpyType(param.dtype)));
      return;
    }
    if (array->extents.size() != param.extents.size()) {
      Fault(fmt::format("`{}` has rank {}, but `{}` has rank {}", path, array->extents.size(), param.name, param.extents.size()),
            param.span);
      return;
    }
    Tensor tensor = Tensor::Dense(array->dtype, array->extents);
    tensor.bytes = std::move(array->bytes);
    if (tensor.dtype == DType::kU8 && Bytes(param.dtype) == 1 && IsFloat(param.dtype)) tensor.dtype = param.dtype;  // bits
    if (tensor.dtype != param.dtype) {
      if (!IsFloat(tensor.dtype) || !IsFloat(param.dtype)) {
        Fault(fmt::format("`{}` holds {}, but `{}` is {}", path, Name(tensor.dtype), param.name, Name(param.dtype)), param.span)
            .Help(fmt::format("convert it in NumPy: `x.astype(\"{}\")`", NumpyType(param.dtype)));
        return;
      }
      Tensor converted = Tensor::Dense(param.dtype, tensor.extents);
      converted.FromReals(tensor.ToReals());
      tensor = std::move(converted);
    }
    for (size_t axis = 0; axis < param.extents.size(); ++axis) {
      if (param.extents[axis]->kind == typed::ExprKind::kDim) TakeDim(param, axis, path, tensor.extents[axis]);
    }
    arguments_.tensors[param.name] = std::move(tensor);
  }

  void TakeDim(const Param& param, size_t axis, const std::string& path, int64_t extent) {
    const auto id = static_cast<size_t>(param.extents[axis]->id);
    if (!dims_[id]) {
      dims_[id] = extent;
      origins_[id] = fmt::format("axis {} of `{}`", axis, param.name);
    } else if (*dims_[id] != extent) {
      diagnostics_.Error(DiagnosticKind::kDimensionMismatch, param.span,
                         fmt::format("`{}` has {} elements on axis {} of `{}`, but `{}` is {} by {}", path, extent, axis,
                                     param.name, kernel_.dims[id].name, *dims_[id], origins_[id]));
    }
  }

  void CheckDims() {
    for (size_t id = 0; id < kernel_.dims.size(); ++id) {
      const typed::Dim& dim = kernel_.dims[id];
      if (!dims_[id]) {
        Fault(fmt::format("the dimension `{}` of `{}` has no extent", dim.name, kernel_.name), dim.span)
            .Help(fmt::format("add `--dims {}=..`", dim.name));
        continue;
      }
      arguments_.dims[dim.name] = *dims_[id];
    }
  }

  /// Tensors that no file gives; extents that are wrong in a file are found when the kernel binds its arguments.
  void MakeTensors() {
    Launch launch;
    launch.kernel = &kernel_;
    for (const std::optional<int64_t>& extent : dims_) launch.dims.push_back(*extent);
    launch.scalars.resize(kernel_.params.size());
    for (size_t id = 0; id < kernel_.params.size(); ++id) {
      const auto found = arguments_.scalars.find(kernel_.params[id].name);
      if (found != arguments_.scalars.end()) launch.scalars[id] = found->second;
    }
    const std::vector<Value> vars = InitialVars(launch);
    Faults faults(diagnostics_);
    Evaluator evaluator(launch, vars, faults);
    std::vector<std::pair<const Param*, std::vector<int64_t>>> wanted;
    const size_t before = diagnostics_.ErrorCount();
    for (const Param& param : kernel_.params) {
      if (param.kind != ParamKind::kTensor || arguments_.tensors.count(param.name) > 0) continue;
      wanted.emplace_back(&param, ExtentsOf(param, evaluator));
    }
    // All are known to fit before one is filled, which may take a minute.
    if (diagnostics_.ErrorCount() != before) return;
    for (const auto& [param, extents] : wanted) MakeTensor(*param, extents);
  }

  std::vector<int64_t> ExtentsOf(const Param& param, Evaluator& evaluator) {
    constexpr __int128 kLargest = __int128{1} << 32;  // elements; more than any test wants
    std::vector<int64_t> extents;
    __int128 count = 1;
    for (const typed::ExprPtr& extent : param.extents) {
      extents.push_back(evaluator.Integer(*extent));
      count = count * (extents.back() > 0 ? extents.back() : 0);
      if (extents.back() < 0 || count > kLargest) {
        Fault(extents.back() < 0 ? fmt::format("axis {} of `{}` has {} elements", extents.size() - 1, param.name, extents.back())
                                 : fmt::format("`{}` has over 2^32 elements: too many for a run", param.name),
              param.span);
        break;
      }
    }
    return extents;
  }

  void MakeTensor(const Param& param, const std::vector<int64_t>& extents) {
    Tensor tensor = Tensor::Dense(param.dtype, extents);
    if (sema::TensorsOfRuns(kernel_).count(param.name) > 0) {
      FillRuns(tensor, param.name, options_.seed);
    } else if (param.mode != typed::TensorMode::kOut) {
      FillRandom(tensor, param.name, options_.seed, options_.fill);
    }
    // What no tile covers keeps what it held: the same on every executor, and nothing that a kernel might have computed.
    if (param.mode == typed::TensorMode::kOut) std::fill(tensor.bytes.begin(), tensor.bytes.end(), kUnwritten);
    arguments_.tensors[param.name] = std::move(tensor);
  }

  const Kernel& kernel_;
  const RunOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<std::optional<int64_t>> dims_;
  std::vector<std::string> origins_;  // for messages
  Arguments arguments_;
};

}  // namespace

void CheckGivenOnce(const std::vector<NameValue>& pairs, std::string_view option, Diagnostics& diagnostics) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (pairs[i].first != pairs[j].first) continue;
      diagnostics.Error(DiagnosticKind::kBadArgument, kNoSpan, fmt::format("`{}` gives `{}` twice", option, pairs[i].first));
      break;
    }
  }
}

Result<const typed::Entry*> FindEntry(const typed::Program& program, const RunOptions& options, Diagnostics& diagnostics) {
  std::string names;
  for (const typed::Entry& entry : program.entries) {
    if (entry.name == options.kernel) return &entry;
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", entry.name);
  }
  if (options.kernel.empty() && program.entries.size() == 1) return &program.entries.front();
  if (options.kernel.empty()) {
    return diagnostics
        .Error(DiagnosticKind::kBadArgument, kNoSpan, fmt::format("the file has {} kernels: {}", program.entries.size(), names))
        .Help("name one with `--kernel`");
  }
  return diagnostics.Error(DiagnosticKind::kBadArgument, kNoSpan,
                           fmt::format("the file has no kernel `{}`; it has {}", options.kernel, names));
}

Result<Arguments> MakeArguments(const Kernel& kernel, const RunOptions& options, Diagnostics& diagnostics) {
  return Collector(kernel, options, diagnostics).Collect();
}

Result<std::string> ReadWholeFile(const std::string& path, Diagnostics& diagnostics) {
  std::error_code error;
  errno = std::filesystem::is_directory(path, error) ? EISDIR : 0;
  std::ifstream file;
  if (errno == 0) file.open(path, std::ios::binary);
  std::string contents;
  if (file.is_open()) contents.assign(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    const std::string why = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));
    return diagnostics.Error(DiagnosticKind::kCannotReadFile, kNoSpan, fmt::format("`{}` can't be read{}", path, why));
  }
  return contents;
}

}  // namespace tkc::interp

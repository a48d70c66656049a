// SPDX-License-Identifier: MIT
#include "compiler/interp/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <ostream>
#include <system_error>

#include "compiler/interp/interpret.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/npy.h"
#include "compiler/support/number.h"
#include "compiler/support/output_file.h"

namespace tkc::interp {
namespace {

using typed::Kernel;
using typed::Param;

constexpr int64_t kPrintedPerAxis = 8, kPrintedWhole = 64;

/// The least and the largest of them: of integers all digits, as doubles have not enough for those of 64 bits.
std::string EndsOf(const Tensor& tensor, double smallest, double largest) {
  if (IsFloat(tensor.dtype)) return fmt::format("min {:.9g} max {:.9g}", smallest, largest);
  const auto value = [&](int64_t stored) { return IntegerValue(tensor.dtype, stored); };
  const std::vector<int64_t> all = tensor.ToIntegers();
  const auto [least, most] = std::ranges::minmax_element(all, {}, value);
  return fmt::format("min {} max {}", value(*least), value(*most));
}

/// One line; the checksum covers the bytes of the elements in row-major order.
std::string Summary(const Param& param, const Tensor& tensor) {
  std::string shape;
  for (int64_t extent : tensor.extents) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  std::string line = fmt::format("{}: {}[{}]", param.name, Name(tensor.dtype), shape);
  if (tensor.size() == 0) return line + " empty\n";
  uint64_t hash = kHashStart;
  for (const uint8_t byte : tensor.bytes) hash = HashByte(hash, byte);
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -smallest;
  double sum = 0;
  int64_t not_numbers = 0;
  for (const double value : tensor.ToReals()) {
    if (std::isnan(value)) {
      ++not_numbers;
      continue;
    }
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
    sum += value;
  }
  line += fmt::format(" checksum {:016x}", hash);
  const int64_t numbers = tensor.size() - not_numbers;
  if (numbers > 0) line += fmt::format(" {} mean {:.9g}", EndsOf(tensor, smallest, largest), sum / static_cast<double>(numbers));
  if (not_numbers > 0) line += fmt::format(" NaN {}", not_numbers);
  return line + "\n";
}

/// Nested brackets, one line per row; where there are many, long axes are cut.
void Elements(const Tensor& tensor, size_t axis, int64_t first, int indent, std::string& text) {
  int64_t below = 1;
  for (size_t i = axis + 1; i < tensor.extents.size(); ++i) below *= tensor.extents[i];
  const int64_t extent = axis < tensor.extents.size() ? tensor.extents[axis] : 1;
  const int64_t shown = tensor.size() <= kPrintedWhole ? extent : std::min(extent, kPrintedPerAxis);
  const bool innermost = axis + 1 >= tensor.extents.size();
  text += "[";
  for (int64_t i = 0; i < shown; ++i) {
    if (innermost) {
      text += (i > 0 ? ", " : "") + tensor.ElementText(first + i);
      continue;
    }
    if (i > 0) text += ",\n" + std::string(static_cast<size_t>(indent) + 1, ' ');
    Elements(tensor, axis + 1, first + i * below, indent + 1, text);
  }
  if (shown < extent) text += innermost ? ", .." : ",\n" + std::string(static_cast<size_t>(indent) + 1, ' ') + "..";
  text += "]";
}

}  // namespace

bool IsOutput(const Param& param) { return param.kind == typed::ParamKind::kTensor && param.mode != typed::TensorMode::kIn; }

void CheckOutputs(const Kernel& kernel, const RunOptions& options, Diagnostics& diagnostics) {
  const std::vector<NameValue>& files = options.outputs;
  CheckGivenOnce(files, "--out", diagnostics);
  std::vector<std::string> names;
  for (const Param& param : kernel.params) {
    if (IsOutput(param)) names.push_back(param.name);
  }
  for (const auto& [name, path] : files) {
    const auto matches = [&wanted = name](const Param& param) { return IsOutput(param) && param.name == wanted; };
    if (std::any_of(kernel.params.begin(), kernel.params.end(), matches)) continue;
    diagnostics.Error(DiagnosticKind::kBadArgument, kNoSpan,
                      fmt::format("`{}` has no output tensor `{}`; {}", kernel.name, name, WhatItHas(names)));
  }
  // An `inout` tensor may go back to where it came from.
  for (const auto& [name, path] : files) {
    for (const auto& [input, input_path] : options.inputs) {
      std::error_code none;
      if (input == name || !std::filesystem::equivalent(path, input_path, none)) continue;
      diagnostics
          .Error(DiagnosticKind::kBadArgument, kNoSpan,
                 fmt::format("`--out {}={}` would replace the file that `{}` is read from", name, path, input))
          .Help("name another file");
    }
  }
}

Result<void> WriteOutputs(const RunOptions& options, const Arguments& arguments, Diagnostics& diagnostics) {
  std::vector<OutputFile> files;
  for (const auto& [name, path] : options.outputs) {
    const Tensor& tensor = arguments.tensors.at(name);
    files.push_back({path, FormatNpy({tensor.dtype, tensor.extents, tensor.bytes})});
  }
  return WriteFiles(files, diagnostics);
}

void PrintOutputs(const Kernel& kernel, const RunOptions& options, const Arguments& arguments, std::ostream& output) {
  for (const Param& param : kernel.params) {
    if (!IsOutput(param)) continue;
    const Tensor& tensor = arguments.tensors.at(param.name);
    output << Summary(param, tensor);
    if (!options.print || tensor.size() == 0) continue;
    std::string text;
    Elements(tensor, 0, 0, 0, text);
    output << text << "\n";
  }
}

int Run(const typed::Program& program, const RunOptions& options, Diagnostics& diagnostics, std::ostream& output) {
  const Result<const typed::Entry*> entry = FindEntry(program, options, diagnostics);
  if (!entry) return 1;
  const Kernel& parameters = (*entry)->kernels.front();  // all schedules of an entry have the same parameters
  const size_t before = diagnostics.ErrorCount();
  CheckOutputs(parameters, options, diagnostics);
  Result<Arguments> arguments = MakeArguments(parameters, options, diagnostics);
  if (!arguments || diagnostics.ErrorCount() != before) return 1;
  if (!Interpret(**entry, *arguments, diagnostics)) return 1;
  if (!WriteOutputs(options, *arguments, diagnostics)) return 1;
  PrintOutputs(parameters, options, *arguments, output);
  return 0;
}

}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
#include "compiler/driver/placement.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "compiler/interp/run_arguments.h"

namespace tkc {
namespace {

constexpr int64_t kMostPlaced = 4096;  // elements

/// f(row-major number, position in elements) for each element.
template <typename F>
void ForEach(const interp::Tensor& tensor, F f) {
  std::vector<int64_t> index(tensor.extents.size());
  for (int64_t i = 0, count = tensor.size(); i < count; ++i) {
    f(i, tensor.ElementAt(index));
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < tensor.extents[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

std::string ToString(const Placement& p) { return fmt::format("pad={},offset={},step={}", p.pad, p.offset, p.step); }

Result<Placement> ParsePlacement(const std::vector<std::pair<std::string, std::string>>& pairs, Diagnostics& diagnostics) {
  Placement placement;
  const size_t before = diagnostics.ErrorCount();
  interp::CheckGivenOnce(pairs, "--place", diagnostics);
  if (diagnostics.ErrorCount() != before) return Failure{};
  for (const auto& [name, text] : pairs) {
    int64_t* field = name == "pad"      ? &placement.pad
                     : name == "offset" ? &placement.offset
                     : name == "step"   ? &placement.step
                                        : nullptr;
    if (field == nullptr) {
      return diagnostics
          .Error(DiagnosticKind::kBadArgument, kNoSpan,
                 fmt::format("`--place` takes `pad`, `offset` and `step`, of all tensors alike, found `{}={}`", name, text))
          .Help("write for example `--place pad=8,offset=1`");
    }
    const int64_t least = name == "step" ? 1 : 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *field);
    if (error != std::errc() || end != text.data() + text.size() || *field < least || *field > kMostPlaced) {
      return diagnostics
          .Error(DiagnosticKind::kBadArgument, kNoSpan,
                 fmt::format("`--place` takes a number from {} to {} for `{}`, found `{}`", least, kMostPlaced, name, text))
          .Help("write for example `--place pad=8,offset=1`");
    }
  }
  return placement;
}

interp::Tensor Place(const interp::Tensor& dense, const Placement& placement, bool contents) {
  interp::Tensor placed;
  placed.dtype = dense.dtype;
  placed.extents = dense.extents;
  placed.strides.resize(dense.extents.size());
  int64_t stride = placement.step;
  for (size_t i = dense.extents.size(); i-- > 0;) {
    placed.strides[i] = stride;
    stride *= dense.extents[i];
    if (i + 1 == dense.extents.size()) stride += placement.pad;
  }
  const int64_t size = Bytes(dense.dtype);
  placed.offset = kGuardBytes / size + placement.offset;
  placed.bytes.assign(static_cast<size_t>((placed.offset + stride) * size + kGuardBytes), kUnwritten);
  if (!contents) return placed;
  ForEach(placed, [&](int64_t i, int64_t at) { std::memcpy(placed.At(at), dense.At(i), static_cast<size_t>(size)); });
  return placed;
}

interp::Tensor Gather(const interp::Tensor& placed) {
  interp::Tensor dense = interp::Tensor::Dense(placed.dtype, placed.extents);
  const auto size = static_cast<size_t>(Bytes(placed.dtype));
  ForEach(placed, [&](int64_t i, int64_t at) { std::memcpy(dense.At(i), placed.At(at), size); });
  return dense;
}

int64_t Trespassed(const interp::Tensor& before, const std::vector<uint8_t>& image) {
  std::vector<bool> belongs(before.bytes.size());
  const int64_t size = Bytes(before.dtype);
  ForEach(before, [&](int64_t, int64_t at) {
    for (int64_t b = 0; b < size; ++b) belongs[static_cast<size_t>(at * size + b)] = true;
  });
  int64_t count = 0;
  for (size_t i = 0; i < belongs.size(); ++i) count += !belongs[i] && image[i] != before.bytes[i];
  return count;
}

}  // namespace tkc

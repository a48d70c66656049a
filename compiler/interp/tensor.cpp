// SPDX-License-Identifier: MIT
#include "compiler/interp/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/internal_error.h"
#include "compiler/support/number.h"

namespace tkc::interp {
namespace {

using typed::StoreOp;

/// One kept axis as the inner loops want it: which of its elements exist, and how far apart they lie.
struct KeptAxis {
  int64_t extent = 1;
  int64_t first = 0;  // the first and one past the last element that exist, counted from the block's start
  int64_t last = 1;
  int64_t stride = 0;
};

struct Rectangle {
  KeptAxis rows, cols;
  int64_t origin = 0;  // of element (0, 0) of the block, in elements
  bool empty = false;
};

Rectangle Locate(const Tensor& tensor, const std::vector<AxisBounds>& axes) {
  Ensure(static_cast<int64_t>(axes.size()) == tensor.rank(), "one index per axis of a tensor");
  Rectangle block;
  block.origin = tensor.offset;
  int kept = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const AxisBounds& axis = axes[i];
    const int64_t stride = tensor.strides[i];
    const int64_t extent = axis.dropped ? 1 : axis.extent;
    // In 128 bits, as a start that comes from the data may be anything.
    const auto first = static_cast<int64_t>(std::clamp<__int128>(static_cast<__int128>(axis.lo) - axis.start, 0, extent));
    const auto last = static_cast<int64_t>(std::clamp<__int128>(static_cast<__int128>(axis.hi) - axis.start, 0, extent));
    if (first >= last) {
      block.empty = true;
    } else {
      block.origin += axis.start * stride;
    }
    if (axis.dropped) continue;
    KeptAxis& target = kept == 0 ? block.rows : block.cols;
    Ensure(kept < 2, "a block of more than two axes");
    target = {extent, first, std::max(first, last), stride};
    ++kept;
  }
  return block;
}

double Combine(StoreOp op, double old, double x) {
  switch (op) {
    case StoreOp::kSet: return x;
    case StoreOp::kAdd: return old + x;
    case StoreOp::kMax: return std::fmax(old, x);
    case StoreOp::kMin: return std::fmin(old, x);
  }
  InternalError("unknown store operation");
}

__int128 Combine(StoreOp op, __int128 old, __int128 x) {
  switch (op) {
    case StoreOp::kSet: return x;
    case StoreOp::kAdd: return old + x;
    case StoreOp::kMax: return std::max(old, x);
    case StoreOp::kMin: return std::min(old, x);
  }
  InternalError("unknown store operation");
}

}  // namespace

Tensor Tensor::Dense(DType dtype, std::vector<int64_t> extents) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.extents = std::move(extents);
  tensor.strides.resize(tensor.extents.size());
  int64_t stride = 1;
  for (size_t i = tensor.extents.size(); i-- > 0;) {
    tensor.strides[i] = stride;
    stride *= tensor.extents[i];
  }
  tensor.bytes.resize(static_cast<size_t>(tensor.size() * Bytes(dtype)));
  return tensor;
}

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  return count;
}

bool Tensor::IsConsistent() const {
  if (strides.size() != extents.size()) return false;
  for (int64_t extent : extents) {
    if (extent < 0) return false;
  }
  if (size() == 0) return true;
  __int128 lowest = offset;
  __int128 highest = offset;
  for (size_t i = 0; i < extents.size(); ++i) {
    const __int128 reach = static_cast<__int128>(extents[i] - 1) * strides[i];
    (reach < 0 ? lowest : highest) += reach;
  }
  return lowest >= 0 && (highest + 1) * Bytes(dtype) <= static_cast<__int128>(bytes.size());
}

int64_t Tensor::ElementAt(const std::vector<int64_t>& index) const {
  int64_t element = offset;
  for (size_t i = 0; i < index.size(); ++i) element += index[i] * strides[i];
  return element;
}

template <typename F>
void Tensor::ForEachElement(F f) const {
  std::vector<int64_t> index(extents.size());
  for (int64_t count = size(), i = 0; i < count; ++i) {
    f(i, ElementAt(index));
    for (size_t axis = extents.size(); axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
}

std::vector<double> Tensor::ToReals() const {
  std::vector<double> values(static_cast<size_t>(size()));
  ForEachElement([&](int64_t i, int64_t element) {
    values[static_cast<size_t>(i)] =
        IsFloat(dtype) ? LoadReal(dtype, At(element)) : static_cast<double>(IntegerValue(dtype, LoadInteger(dtype, At(element))));
  });
  return values;
}

std::vector<int64_t> Tensor::ToIntegers() const {
  std::vector<int64_t> values(static_cast<size_t>(size()));
  ForEachElement([&](int64_t i, int64_t element) { values[static_cast<size_t>(i)] = LoadInteger(dtype, At(element)); });
  return values;
}

std::vector<int64_t> Tensor::IndexOf(int64_t i) const {
  std::vector<int64_t> index(extents.size());
  for (size_t axis = extents.size(); axis-- > 0; i /= extents[axis]) index[axis] = i % extents[axis];
  return index;
}

std::string Tensor::ElementText(int64_t i) const {
  const uint8_t* element = At(ElementAt(IndexOf(i)));
  if (IsFloat(dtype)) return fmt::format("{:.9g}", LoadReal(dtype, element));
  return fmt::format("{}", IntegerValue(dtype, LoadInteger(dtype, element)));
}

void Tensor::FromReals(const std::vector<double>& values) {
  Ensure(static_cast<int64_t>(values.size()) == size(), "as many values as elements");
  ForEachElement([&](int64_t i, int64_t element) {
    const double value = values[static_cast<size_t>(i)];
    if (IsFloat(dtype)) {
      StoreReal(dtype, RoundReal(dtype, value), At(element));
    } else {
      StoreInteger(dtype, IntegerFromReal(dtype, value), At(element));
    }
  });
}

void Tensor::FillIntegers(int64_t value) {
  ForEachElement([&](int64_t, int64_t element) { StoreInteger(dtype, value, At(element)); });
}

void Tensor::Fill(double value) { FromReals(std::vector<double>(static_cast<size_t>(size()), value)); }

Value ReadBlock(const Tensor& tensor, const std::vector<AxisBounds>& axes, const Value& fill, const typed::Type& type) {
  const Rectangle block = Locate(tensor, axes);
  typed::Type read_type = type;
  read_type.dtype = tensor.dtype;
  Value result = Value::Zero(read_type);
  const bool floating = result.is_float();
  const Value converted_fill = fill.ConvertedTo(tensor.dtype);
  double* reals = floating ? result.MutableReals() : nullptr;
  int64_t* integers = floating ? nullptr : result.MutableIntegers();
  if (floating) {
    std::fill_n(reals, result.size(), *converted_fill.Reals());
  } else {
    std::fill_n(integers, result.size(), *converted_fill.Integers());
  }
  if (block.empty) return result.ConvertedTo(type.dtype);
  Ensure(block.rows.extent == type.rows && block.cols.extent == type.cols, "a block of another shape than its tile");
  for (int64_t row = block.rows.first; row < block.rows.last; ++row) {
    for (int64_t col = block.cols.first; col < block.cols.last; ++col) {
      const uint8_t* from = tensor.At(block.origin + row * block.rows.stride + col * block.cols.stride);
      if (floating) {
        reals[row * type.cols + col] = LoadReal(tensor.dtype, from);
      } else {
        integers[row * type.cols + col] = LoadInteger(tensor.dtype, from);
      }
    }
  }
  return result.ConvertedTo(type.dtype);
}

Value GatherRows(const Tensor& tensor, std::vector<AxisBounds> axes, const std::vector<const Value*>& chosen, const Value& fill,
                 const typed::Type& type) {
  Value result = Value::Zero(type);
  for (int64_t row = 0; row < type.rows; ++row) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (chosen[i] != nullptr) axes[i].start = chosen[i]->Integers()[BroadcastOf(chosen[i]->type()).At(row, 0)];
    }
    const Value elements = ReadBlock(tensor, axes, fill, typed::Type::Tile(type.dtype, type.cols, 1));  // what is kept is a column
    if (result.is_float())
      std::copy_n(elements.Reals(), type.cols, result.MutableReals() + row * type.cols);
    else
      std::copy_n(elements.Integers(), type.cols, result.MutableIntegers() + row * type.cols);
  }
  return result;
}

bool WriteBlock(Tensor& tensor, const std::vector<AxisBounds>& axes, const Value& value, StoreOp combine,
                std::vector<bool>* written) {
  const Rectangle block = Locate(tensor, axes);
  if (block.empty) return true;
  const bool floating = IsFloat(tensor.dtype);
  const Value source = value.ConvertedTo(tensor.dtype);  // a combination happens in the tensor's type, too
  const Broadcast at = BroadcastOf(source.type());
  bool fresh = true;
  for (int64_t row = block.rows.first; row < block.rows.last; ++row) {
    for (int64_t col = block.cols.first; col < block.cols.last; ++col) {
      const int64_t element = block.origin + row * block.rows.stride + col * block.cols.stride;
      uint8_t* to = tensor.At(element);
      if (written != nullptr) {
        fresh = fresh && !(*written)[static_cast<size_t>(element)];
        (*written)[static_cast<size_t>(element)] = true;
      }
      if (floating) {
        const double x = source.Reals()[at.At(row, col)];
        const double old = combine == StoreOp::kSet ? 0 : LoadReal(tensor.dtype, to);
        StoreReal(tensor.dtype, RoundReal(tensor.dtype, Combine(combine, old, x)), to);
      } else {
        const __int128 x = IntegerValue(tensor.dtype, source.Integers()[at.At(row, col)]);
        const __int128 old = combine == StoreOp::kSet ? 0 : IntegerValue(tensor.dtype, LoadInteger(tensor.dtype, to));
        StoreInteger(tensor.dtype, WrapInteger(tensor.dtype, Combine(combine, old, x)), to);
      }
    }
  }
  return fresh;
}

}  // namespace tkc::interp

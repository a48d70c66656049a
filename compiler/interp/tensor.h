// SPDX-License-Identifier: MIT
// A tensor in memory as kernels see it: elements of one type at arbitrary strides. It owns its bytes; elements outside
// the extents do not exist (reads give the fill, writes are dropped).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/interp/value.h"
#include "compiler/support/dtype.h"

namespace tkc::interp {

struct Tensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;  // in elements; may be 0 or negative
  int64_t offset = 0;            // of element (0, 0, ...), in elements
  std::vector<uint8_t> bytes;

  /// A row-major tensor of zeros.
  static Tensor Dense(DType dtype, std::vector<int64_t> extents);

  int64_t rank() const { return static_cast<int64_t>(extents.size()); }
  /// Number of elements; 0 if any extent is.
  int64_t size() const;
  /// Whether strides, offset and bytes agree, so that every element lies inside `bytes`.
  bool IsConsistent() const;

  uint8_t* At(int64_t element) { return bytes.data() + element * Bytes(dtype); }
  const uint8_t* At(int64_t element) const { return bytes.data() + element * Bytes(dtype); }
  /// Where the element at `index` (one per dimension, inside) lies, in elements.
  int64_t ElementAt(const std::vector<int64_t>& index) const;

  /// All elements in row-major order of the indices, as doubles. Integers must be below 2^53 to be exact.
  std::vector<double> ToReals() const;
  /// The same of an integer type, as they are stored.
  std::vector<int64_t> ToIntegers() const;
  /// Element `i` in row-major order: all digits of an integer, of a float those that tell it from every other f32.
  std::string ElementText(int64_t i) const;
  /// Where that element lies in the tensor: one number for each axis.
  std::vector<int64_t> IndexOf(int64_t i) const;
  /// Sets all elements in row-major order, rounding to the type.
  void FromReals(const std::vector<double>& values);
  void Fill(double value);
  /// Of an integer type, or bool.
  void FillIntegers(int64_t value);

 private:
  template <typename F>
  void ForEachElement(F f) const;
};

/// An axis of a block, all numbers known: elements start .. start + extent of the tensor's axis that also lie in lo..hi.
struct AxisBounds {
  int64_t start = 0;
  int64_t extent = 1;
  bool dropped = false;
  int64_t lo = 0;
  int64_t hi = 0;  // already clipped to the tensor's extent
};

/// Reads a block as a value of `type` (scalar if it is one); elements that do not exist become `fill`.
Value ReadBlock(const Tensor& tensor, const std::vector<AxisBounds>& axes, const Value& fill, const typed::Type& type);

/// A tile whose row i is the block in which axes that have a column in `chosen` (null for the others) start at its number i.
Value GatherRows(const Tensor& tensor, std::vector<AxisBounds> axes, const std::vector<const Value*>& chosen, const Value& fill,
                 const typed::Type& type);

/// Writes the elements that exist, converted to the tensor's type. kSet stores, the others combine with what is there.
/// `written`, if not null, has a flag per element of storage: sets those of the elements stored, and returns false if
/// one was set before.
bool WriteBlock(Tensor& tensor, const std::vector<AxisBounds>& axes, const Value& value, typed::StoreOp combine,
                std::vector<bool>* written);

}  // namespace tkc::interp

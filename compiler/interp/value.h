// SPDX-License-Identifier: MIT
// A value of the language: a scalar or a tile. Float types keep doubles, integer types and bool keep int64_t, always
// exactly representable in the value's type (number.h). Tiles are row-major and shared between copies; who wants to
// changes one detaches it first (MutableReals, MutableIntegers).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/sema/typed.h"

namespace tkc::interp {

class Value {
 public:
  Value() = default;
  /// A scalar of a float type; `x` is rounded to it.
  static Value Real(DType dtype, double x);
  /// A scalar of an integer type or bool; `x` is wrapped to it.
  static Value Integer(DType dtype, int64_t x);
  static Value Bool(bool x) { return Integer(DType::kBool, x ? 1 : 0); }
  /// A scalar or tile of zeros.
  static Value Zero(const typed::Type& type);

  const typed::Type& type() const { return type_; }
  bool is_float() const { return IsFloat(type_.dtype); }
  int64_t size() const { return type_.rows * type_.cols; }

  /// Elements in row-major order; a scalar has one. Reals for float types, Integers for the others.
  const double* Reals() const { return elements_ ? elements_->reals.data() : &real_; }
  const int64_t* Integers() const { return elements_ ? elements_->integers.data() : &integer_; }
  /// For writing; detaches a tile that other values share.
  double* MutableReals();
  int64_t* MutableIntegers();

  /// A scalar's (or the first element's) value.
  double AsReal() const { return is_float() ? *Reals() : static_cast<double>(*Integers()); }
  int64_t AsInteger() const { return *Integers(); }
  bool AsBool() const { return *Integers() != 0; }

  /// Of a variable: the terms of the sums that it comes of (measure.h).
  double terms() const { return terms_; }
  void set_terms(double terms) { terms_ = terms; }

  /// The same elements in another type, rounded or wrapped as a conversion does.
  Value ConvertedTo(DType dtype) const;
  /// A tile of `type` in which a scalar, row, column or single element is repeated; converts to type.dtype.
  Value BroadcastTo(const typed::Type& type) const;

 private:
  struct Elements {
    std::vector<double> reals;
    std::vector<int64_t> integers;
  };
  void Detach();

  typed::Type type_;
  double real_ = 0;
  double terms_ = 0;
  int64_t integer_ = 0;
  std::shared_ptr<Elements> elements_;  // tiles only
};

/// How element (r, c) of a result finds its operand: repeated along an axis where the operand has extent 1.
struct Broadcast {
  int64_t row_stride;
  int64_t col_stride;
  int64_t At(int64_t row, int64_t col) const { return row * row_stride + col * col_stride; }
};

inline Broadcast BroadcastOf(const typed::Type& operand) {
  return {operand.rows == 1 ? 0 : operand.cols, operand.cols == 1 ? 0 : 1};
}

}  // namespace tkc::interp

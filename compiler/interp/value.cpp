// SPDX-License-Identifier: MIT
#include "compiler/interp/value.h"

#include "compiler/support/number.h"

namespace tkc::interp {

Value Value::Real(DType dtype, double x) {
  Value value;
  value.type_ = typed::Type::Scalar(dtype);
  value.real_ = RoundReal(dtype, x);
  return value;
}

Value Value::Integer(DType dtype, int64_t x) {
  Value value;
  value.type_ = typed::Type::Scalar(dtype);
  value.integer_ = WrapInteger(dtype, x);
  return value;
}

Value Value::Zero(const typed::Type& type) {
  Value value;
  value.type_ = type;
  if (!type.is_tile) {
    value.type_.rows = value.type_.cols = 1;
    return value;
  }
  value.elements_ = std::make_shared<Elements>();
  const auto count = static_cast<size_t>(type.rows * type.cols);
  if (IsFloat(type.dtype)) {
    value.elements_->reals.resize(count);
  } else {
    value.elements_->integers.resize(count);
  }
  return value;
}

void Value::Detach() {
  if (elements_ && elements_.use_count() > 1) elements_ = std::make_shared<Elements>(*elements_);
}

double* Value::MutableReals() {
  Detach();
  return elements_ ? elements_->reals.data() : &real_;
}

int64_t* Value::MutableIntegers() {
  Detach();
  return elements_ ? elements_->integers.data() : &integer_;
}

Value Value::ConvertedTo(DType dtype) const {
  if (dtype == type_.dtype) return *this;
  typed::Type type = type_;
  type.dtype = dtype;
  Value result = Zero(type);
  const int64_t count = size();
  if (is_float() && IsFloat(dtype)) {
    double* to = result.MutableReals();
    const double* from = Reals();
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    RoundReals(dtype, to, count);
  } else if (is_float()) {
    int64_t* to = result.MutableIntegers();
    const double* from = Reals();
    for (int64_t i = 0; i < count; ++i) to[i] = IntegerFromReal(dtype, from[i]);
  } else if (IsFloat(dtype)) {
    double* to = result.MutableReals();
    const int64_t* from = Integers();
    for (int64_t i = 0; i < count; ++i) to[i] = RealFromInteger(dtype, IntegerValue(type_.dtype, from[i]));
  } else {
    int64_t* to = result.MutableIntegers();
    const int64_t* from = Integers();
    for (int64_t i = 0; i < count; ++i) to[i] = WrapInteger(dtype, IntegerValue(type_.dtype, from[i]));
  }
  return result;
}

Value Value::BroadcastTo(const typed::Type& type) const {
  const Value converted = ConvertedTo(type.dtype);
  if (converted.type_ == type) return converted;
  Value result = Zero(type);
  const Broadcast at = BroadcastOf(type_);
  for (int64_t row = 0; row < type.rows; ++row) {
    for (int64_t col = 0; col < type.cols; ++col) {
      const int64_t index = row * type.cols + col;
      if (IsFloat(type.dtype)) {
        result.MutableReals()[index] = converted.Reals()[at.At(row, col)];
      } else {
        result.MutableIntegers()[index] = converted.Integers()[at.At(row, col)];
      }
    }
  }
  return result;
}

}  // namespace tkc::interp

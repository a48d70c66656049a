// SPDX-License-Identifier: MIT
// Values of typed expressions, given the launch and the variables of one worker instance (or of the grid).
#pragma once

#include <vector>

#include "compiler/interp/faults.h"
#include "compiler/interp/launch.h"
#include "compiler/interp/operators.h"
#include "compiler/interp/tensor.h"
#include "compiler/interp/value.h"
#include "compiler/sema/typed.h"

namespace tkc::interp {

class Evaluator {
 public:
  Evaluator(const Launch& launch, const std::vector<Value>& vars, Faults& faults) : launch_(launch), vars_(vars), faults_(faults) {}

  Value Evaluate(const typed::Expr& expr);
  int64_t Integer(const typed::Expr& expr) { return Evaluate(expr).ConvertedTo(DType::kI64).AsInteger(); }
  bool Truth(const typed::Expr& expr) { return Evaluate(expr).AsBool(); }

  /// The block of `tensor` that `axes` covers: lo..hi and the tensor's own bounds intersected.
  std::vector<AxisBounds> Bounds(const Tensor& tensor, const std::vector<typed::AxisRange>& axes);

 private:
  /// The value of a term of a sum that takes up a matrix product: not rounded where it is itself a product or such a sum.
  Value Term(const typed::Expr& expr);
  /// Of an expression of floats: whether magnitudes are what is asked for.
  bool DropsSigns(const typed::Expr& expr) const { return launch_.magnitudes && IsFloat(expr.type.dtype); }
  bool IsWatched(const typed::Expr& expr) const {
    return launch_.measures != nullptr && launch_.measures->is_exact && IsFloat(expr.type.dtype);
  }
  Value Binary(const typed::Expr& expr, Rounding rounding);
  /// Notes if f32 has no room for a sum or product of multiples of 2^lowest_bit.
  void Watch(const Value& result, int lowest_bit);
  Value Product(const typed::Expr& expr, Rounding rounding);
  Value Sum(const typed::Expr& expr);
  Value Call(const typed::Expr& expr);
  Value Cat(const typed::Expr& expr);
  Value Read(const typed::Expr& expr);
  Value Gather(const typed::Expr& expr);

  const Launch& launch_;
  const std::vector<Value>& vars_;
  Faults& faults_;
};

}  // namespace tkc::interp

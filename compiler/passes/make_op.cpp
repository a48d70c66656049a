// SPDX-License-Identifier: MIT
#include "compiler/passes/make_op.h"

#include <limits>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/symbolic/int_range.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using ir::ValueId;

Op MakeOp(OpCode code, const std::string& symbol, const std::string& slot, int64_t number, Span span) {
  Op op{code};
  op.symbol = symbol;
  op.raw_slot = slot;
  op.raw_number = number;
  op.span = span;
  return op;
}

Op Explain(const std::string& text, Span span) { return MakeOp(OpCode::kComment, text, "", 0, span); }

Op Let(const std::string& name, Scalar value, Span span) {
  Op let = MakeOp(OpCode::kLet, name, "", 0, span);
  let.scalars = {std::move(value)};
  return let;
}

Op If(Scalar condition, Region then, Region otherwise, Span span) {
  Op branch = MakeOp(OpCode::kIf, "", "", 0, span);
  branch.scalars = {std::move(condition)};
  branch.regions.push_back(std::move(then));
  branch.regions.push_back(std::move(otherwise));
  return branch;
}

Op If(symbolic::Kind compare, Scalar a, Scalar b, Region then, Span span) {
  return If(symbolic::Make(compare, DType::kBool, {std::move(a), std::move(b)}), std::move(then), {}, span);
}

void AppendIfAny(const Scalar& lo, const Scalar& hi, Region then, Span span, Region& out) {
  if (symbolic::IsInt(lo) && symbolic::IsInt(hi)) {
    if (lo->int_value < hi->int_value) Append(out, std::move(then));
    return;
  }
  // A number is written on the right.
  out.push_back(symbolic::IsInt(lo) ? If(symbolic::Kind::kGt, hi, lo, std::move(then), span)
                                    : If(symbolic::Kind::kLt, lo, hi, std::move(then), span));
}

Op Unroll(const std::string& counter, int64_t times, Region body, Span span) {
  Op loop = MakeOp(OpCode::kUnroll, counter, "", times, span);
  loop.regions.push_back(std::move(body));
  return loop;
}

ValueId ConvertTo(ir::Kernel& kernel, ValueId value, DType dtype, const std::string& name, Span span, Region& out) {
  ir::Type type = kernel.TypeOf(value);
  if (type.dtype == dtype) return value;
  type.dtype = dtype;
  Op convert{OpCode::kConvert, {kernel.AddValue(name, type)}, {value}};
  convert.span = span;
  out.push_back(std::move(convert));
  return out.back().results[0];
}

ir::Scalar NeutralOf(typed::Op function, DType dtype) {
  const bool is_sum = function == typed::Op::kAdd, is_max = function == typed::Op::kMax;
  if (IsFloat(dtype)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return symbolic::Float(is_sum ? 0 : is_max ? -kInfinity : kInfinity, dtype);
  }
  const symbolic::IntRange range = symbolic::RangeOf(dtype);
  const int64_t end = is_max ? range.lo : dtype == DType::kU64 ? -1 : range.hi;  // of `u64` the greatest has all bits set
  return symbolic::Convert(symbolic::Int(is_sum ? 0 : end), dtype);
}

}  // namespace tkc::passes

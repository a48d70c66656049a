// SPDX-License-Identifier: MIT
#include "compiler/interp/measure.h"

#include <algorithm>
#include <cmath>

#include "compiler/interp/launch.h"

namespace tkc::interp {

using typed::Expr;
using typed::ExprKind;
using typed::Op;

void TermsHeld::Store(const typed::Stmt& stmt, const std::vector<int64_t>& starts, double terms) {
  const auto id = static_cast<size_t>(stmt.tensor);
  if (stmt.store_op == typed::StoreOp::kAdd) {
    double& so_far = added[id][starts];
    so_far = terms = std::max(so_far, terms) + 1;
  }
  stored[id] = std::max(stored[id], terms);
}

double Terms(const Expr& expr, const Launch& launch, const std::vector<Value>& vars) {
  if (!IsFloat(expr.type.dtype)) return 0;
  double longest = 0, all = 0;
  for (const typed::ExprPtr& arg : expr.args) {
    const double terms = arg ? Terms(*arg, launch, vars) : 0;
    longest = std::max(longest, terms);
    all += terms;
  }
  const auto length = [&] { return static_cast<double>(expr.axis == 1 ? expr.args[0]->type.cols : expr.args[0]->type.rows); };
  switch (expr.kind) {
    case ExprKind::kVar: return vars[static_cast<size_t>(expr.id)].terms();
    case ExprKind::kElement:
    case ExprKind::kRead:
    case ExprKind::kGather: return std::max(longest, launch.terms.read[static_cast<size_t>(expr.id)]);
    case ExprKind::kBinary: return (expr.op == Op::kMul || expr.op == Op::kDiv ? all : longest) + 1;  // errors of factors add up
    case ExprKind::kCall: return longest + 1;
    case ExprKind::kReduce: return longest + (expr.op == Op::kAdd ? length() : 0);
    case ExprKind::kCumsum: return longest + length();
    case ExprKind::kMatMul: return all + static_cast<double>(expr.args[0]->type.cols);
    default: return longest;
  }
}

int LowestBit(const Value& x) {
  constexpr int kNone = 1 << 16;  // beyond all exponents
  constexpr int kBits = 53;       // of a double
  if (!x.is_float()) return 0;
  int lowest = kNone;
  for (int64_t i = 0; i < x.size(); ++i) {
    const double value = x.Reals()[i];
    if (value == 0 || !std::isfinite(value)) continue;
    int exponent = 0;
    const auto bits = static_cast<int64_t>(std::ldexp(std::frexp(std::abs(value), &exponent), kBits));
    lowest = std::min(lowest, exponent - kBits + __builtin_ctzll(static_cast<uint64_t>(bits)));
  }
  return lowest;
}

Value Magnitudes(const Value& x) {
  Value result = x;
  double* values = result.MutableReals();
  for (int64_t i = 0; i < x.size(); ++i) values[i] = std::abs(values[i]);
  return result;
}

bool HasRoom(DType dtype, double x, int lowest_bit) {
  const int bits = dtype == DType::kBF16 ? 8 : dtype == DType::kF16 ? 11 : 24;
  return !std::isfinite(x) || std::abs(x) < std::ldexp(1.0, lowest_bit + bits);
}

}  // namespace tkc::interp

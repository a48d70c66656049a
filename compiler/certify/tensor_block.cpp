// SPDX-License-Identifier: MIT
#include "compiler/certify/tensor_block.h"

#include <optional>

#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

/// Whatever their types: nothing wraps that a block starts at.
bool SameInteger(const ir::Scalar& a, const ir::Scalar& b) {
  if (symbolic::Equal(a, b)) return true;
  const std::optional<symbolic::Polynomial> x = symbolic::ToPolynomial(a), y = symbolic::ToPolynomial(b);
  return x && y && *x == *y;
}

}  // namespace

TensorBlock TensorBlock::Of(const ir::Op& op, const Scope& scope) {
  TensorBlock block{&op};
  for (const ir::AxisRange& axis : op.axes) {
    for (const ir::Scalar& bound : {axis.start, axis.lo, axis.hi}) block.bounds.push_back(bound ? scope.Resolve(bound) : bound);
    block.extents.push_back(axis.dropped ? 0 : axis.extent);
  }
  return block;
}

bool TensorBlock::LiesAt(const TensorBlock& other, const Scope& scope) const {
  if (op->symbol != other.op->symbol || extents != other.extents) return false;
  for (size_t i = 0; i < bounds.size(); ++i) {
    const ir::Scalar &bound = other.bounds[i], &own = bounds[i];
    if (!bound != !own || (bound && !SameInteger(scope.Resolve(bound), own))) return false;
  }
  return true;
}

bool TensorBlock::IsSame(const TensorBlock& other, const Scope& scope) const {
  return op->IsTurned() == other.op->IsTurned() && LiesAt(other, scope);
}

void TensorBlock::Shift(const std::vector<ir::Scalar>& by) {
  size_t kept = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0 || kept == by.size()) continue;
    ir::Scalar& start = bounds[3 * i];
    start = symbolic::Add(start, by[kept++]);
  }
}

TensorBlock TensorBlock::In(const std::string& ordinal, const ir::Scalar& iteration) const {
  TensorBlock block = *this;
  for (ir::Scalar& bound : block.bounds) bound = bound ? symbolic::Substitute(bound, ordinal, iteration) : bound;
  return block;
}

}  // namespace tkc::certify

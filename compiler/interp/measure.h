// SPDX-License-Identifier: MIT
// What a run of the reference tells of its own arithmetic, for who judges other runs by it: how many terms the sums have that
// results come of, and whether every order of adding them up gives the same bits.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/interp/value.h"
#include "compiler/sema/typed.h"

namespace tkc::interp {

struct Launch;

struct Measures {
  double terms = 0;         // of the sums that a stored float comes of, one behind the other, at most
  double largest_work = 0;  // the largest magnitude that `work` tensors of floats hold at the end
  /// Set by who wants to know: stays set if no sum or product had bits that f32 lacks room for.
  bool is_exact = false;
};

/// The terms of what lies in memory and in pipes while a kernel runs.
struct TermsHeld {
  std::vector<double> read, stored;                           // by ParamId; what a section stores, later ones read
  std::vector<double> sent;                                   // by PipeId, in this block
  std::vector<std::map<std::vector<int64_t>, double>> added;  // by ParamId and where the block begins: `+=` in memory

  void Store(const typed::Stmt& stmt, const std::vector<int64_t>& starts, double terms);
};

/// The terms of the sums that the value of `expr` comes of; 0 for integers, which nothing rounds.
double Terms(const typed::Expr& expr, const Launch& launch, const std::vector<Value>& vars);

/// The exponent of the lowest bit that is set in any element.
int LowestBit(const Value& x);

/// The elements' magnitudes.
Value Magnitudes(const Value& x);

/// Whether sums of multiples of 2^lowest_bit that come to `x`, and parts of them, are numbers of `dtype`.
bool HasRoom(DType dtype, double x, int lowest_bit);

}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
// Whether two results of one kernel agree, and how far lang-spec lets them differ.
//
// se-6 and se-10 leave the order of additions open, se-11 gives functions a relative error of 2^-20, and a store rounds to the
// element type. So an element may be off by: one unit in the last place of its type (two roundings may fall to either side);
// n * 2^-24 of the sum of its terms' magnitudes, n being the number of terms, counted in the run; f * 2^-20 of that where f
// functions are applied, four times as much, as an exponent's error is multiplied by its argument; 2^-8 of it each time that
// intermediate values, of which others are computed, are rounded to 16 bits (8 bits: 2^-3) and may so fall to either side, too; n *
// 2^-126 where subnormal numbers may be taken for 0 (se-8). As quotients by such numbers are finite or not, an element is right as
// well if it agrees with the reference that takes all for 0. The sum of magnitudes is what the reference gives for the inputs'
// absolute values where differences are added up instead. Where integers are read, and f32 has room for all bits of the sums and
// products that are made of them and of their magnitudes (interp/measure.h), every order gives the same bits, and nothing may
// differ. An integer that a float was converted to may be off as the float, and by one step more, where that one isn't exact
// (made_of_floats.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/driver/made_of_floats.h"
#include "compiler/interp/launch.h"
#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc {

/// What a kernel computes with, as far as rounding is concerned.
struct Arithmetic {
  int functions = 0;  // approximate operations
  int narrows = 0;    // intermediate values are rounded to 16 bits: so often, one behind the other
  bool narrows_to_8 = false;
  bool flushes = false;  // functions, or sums in the memory of a tensor
  std::map<std::string, MadeOfFloats> integers;
};

/// Whether the operation itself has an error (se-11).
bool IsApproximate(const typed::Expr& expr);

Arithmetic ArithmeticOf(const typed::Kernel& kernel);

struct Tolerance {
  bool exact = false;
  double of_magnitude = 0;                                // times `magnitudes`
  double flushed = 0;                                     // whatever the magnitude
  std::map<std::string, std::vector<double>> magnitudes;  // of each output, by element
  std::map<std::string, MadeOfFloats> integers;
};

struct Difference {
  std::string tensor;
  std::vector<int64_t> index;  // of the worst element
  std::string got, want;
  double allowed = 0;
  int64_t count = 0, of = 0;
  std::string note{};  // what its integers are made of, where that says why they may differ
};

/// "C[3, 5] is 4.5, the reference gives 4 (2 of 65536 elements differ)"
std::string ToString(const Difference& difference, const std::string& other);

/// Reports it; `who` computed what differs, or is empty where that is plain.
Failure ReportDifference(const typed::Entry& entry, const Difference& difference, std::string_view who, Diagnostics& diagnostics);

/// The first output in which `got` is off by more than allowed: from `want` and, if given, from `flushed`, too.
std::optional<Difference> Compare(const std::map<std::string, interp::Tensor>& got, const interp::Arguments& want,
                                  const Tolerance& tolerance, const interp::Arguments* flushed = nullptr);

/// By how much an element of `got` is off at most, and of which output; "" where all are the same.
std::pair<std::string, double> LargestError(const std::map<std::string, interp::Tensor>& got, const interp::Arguments& want);

/// What the reference makes of arguments.
struct Expected {
  const typed::Entry* entry;
  bool flushes;  // Arithmetic::flushes
  interp::Arguments before, want;
  Tolerance tolerance;
};

/// Runs the reference, twice; a failure is in `diagnostics`. `integers`: all inputs are.
Result<Expected> Expect(const typed::Entry& entry, const Arithmetic& arithmetic, const interp::Arguments& before, bool integers,
                        Diagnostics& diagnostics);

/// The same. The reference that takes subnormal numbers for 0 runs only where the other one is not agreed with.
std::optional<Difference> Compare(const std::map<std::string, interp::Tensor>& got, const Expected& expected);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The normal form behind Equal and the simplifier: an integer scalar as a polynomial with integer coefficients over names and
// over terms that are not sums or products (divisions, minima, elements, calls), each of which stands as one opaque variable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

/// Coefficient of each product of variables; the key "" is the constant. Zero coefficients are absent.
using Polynomial = std::map<std::string, int64_t>;

/// The variables of a product's key, in its order: those of `a*b*` are a and b.
std::vector<std::string_view> FactorsOf(std::string_view key);

/// Integers of the language that are more than one opaque variable: literals, sums, products.
bool IsSum(const Scalar& scalar);
bool IsCommutative(Kind kind);

/// Nothing if a coefficient would overflow or the product has more than a few dozen terms.
std::optional<Polynomial> ToPolynomial(const Scalar& scalar);
std::optional<Polynomial> Product(const Polynomial& a, const Polynomial& b);
/// a + factor * b; likewise.
std::optional<Polynomial> Sum(Polynomial a, const Polynomial& b, int64_t factor = 1);

/// The number that it is, if it is one and not 0.
std::optional<int64_t> NonzeroNumber(const Polynomial& polynomial);

/// a + sign * b, if that is the same integer whatever the names stand for.
std::optional<int64_t> ConstantSum(const Scalar& a, const Scalar& b, int64_t sign);
inline std::optional<int64_t> ConstantDifference(const Scalar& a, const Scalar& b) { return ConstantSum(a, b, -1); }

/// a - b at most, where that is known: of the least of several the smallest counts.
std::optional<int64_t> MostDifference(const Scalar& a, const Scalar& b);

/// x % c as x - x / c * c, so that x - x % c is seen to be a multiple of c.
Scalar WithoutRemainders(const Scalar& sum);

/// The largest integer known to divide `scalar` for every value of its names (0 for the literal 0).
int64_t KnownDivisor(const Scalar& scalar);
/// What divides a value that `a` and `b`, both positive, divide: their least common multiple, or `a` where that is too large.
int64_t KnownMultiple(int64_t a, int64_t b);
/// The same of a sum, term by term: what its parts have in common cancels first. 0 for zero.
int64_t DivisorOfTerms(const Scalar& scalar);

/// A text that two scalars share if their normal forms agree. For comparison only, not for reading.
std::string CanonicalText(const Scalar& scalar);
/// Whether they share it.
bool HaveSameNormalForm(const Scalar& a, const Scalar& b);

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
#include "compiler/symbolic/least.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/symbolic/polynomial.h"

namespace tkc::symbolic {
namespace {

class Least {
 public:
  explicit Least(const std::function<bool(const Scalar&)>& is_count) : is_count_(is_count) {}

  std::optional<int64_t> Of(const Scalar& sum) {
    std::optional<Polynomial> terms = ToPolynomial(sum);
    if (!terms) return std::nullopt;
    terms_ = std::move(*terms);
    const auto takes_away = [](const auto& term) { return !term.first.empty() && term.second < 0; };
    if (!Divides(sum) && std::any_of(terms_.begin(), terms_.end(), takes_away)) return std::nullopt;
    NoteAtoms(sum);
    constexpr int kMostQuotients = 8;
    for (int i = 0; i < kMostQuotients && TakeQuotient(); ++i) {
    }
    return is_known_ ? Bound() : std::nullopt;
  }

 private:
  /// Whether a quotient or remainder may make up for what is subtracted.
  static bool Divides(const Scalar& scalar) {
    const bool divides = scalar->kind == Kind::kDiv || scalar->kind == Kind::kCdiv || scalar->kind == Kind::kMod;
    return divides || std::any_of(scalar->args.begin(), scalar->args.end(), Divides);
  }

  /// By the keys that they have in polynomials.
  void NoteAtoms(const Scalar& scalar) {
    if (IsSum(scalar)) {
      for (const Scalar& arg : scalar->args) NoteAtoms(arg);
    } else if (const std::optional<Polynomial> key = ToPolynomial(scalar)) {
      atoms_.emplace(key->begin()->first, scalar);
    }
  }

  /// x / c * c as x - x % c, and cdiv(x, c) * c as x and what is missing at its end: remainders are below c.
  bool TakeQuotient() {
    for (const auto& [key, coefficient] : terms_) {
      const auto atom = atoms_.find(key);
      int64_t divisor = 0;
      if (atom == atoms_.end() || atom->second->dtype != DType::kI64) continue;
      if (atom->second->kind != Kind::kDiv && atom->second->kind != Kind::kCdiv) continue;
      if (!IsInt(atom->second->args[1], &divisor) || divisor <= 0 || coefficient % divisor != 0) continue;
      const Scalar quotient = atom->second;
      const std::optional<Polynomial> divided = ToPolynomial(quotient->args[0]);
      if (!divided) continue;
      const int64_t times = coefficient / divisor;
      terms_.erase(std::string(key));
      if (quotient->kind == Kind::kDiv)
        AddRemainder(-times, Make(Kind::kMod, DType::kI64, quotient->args));
      else
        AddLeast(times < 0 ? times : 0, divisor - 1);
      NoteAtoms(quotient->args[0]);
      Add(times, *divided);
      return is_known_;
    }
    return false;
  }

  /// A remainder that occurs already is the same number.
  void AddRemainder(int64_t times, const Scalar& remainder) {
    if (const std::optional<Polynomial> term = ToPolynomial(remainder)) Add(times, *term);
    NoteAtoms(remainder);
  }

  void Add(int64_t times, const Polynomial& terms) {
    std::optional<Polynomial> sum = Sum(std::move(terms_), terms, times);
    is_known_ = is_known_ && sum;
    terms_ = std::move(sum).value_or(Polynomial{});
  }

  void AddLeast(int64_t times, int64_t number) {
    int64_t product = 0;
    is_known_ = is_known_ && !__builtin_mul_overflow(times, number, &product) && !__builtin_add_overflow(least_, product, &least_);
  }

  std::optional<int64_t> Bound() {
    for (const auto& [key, coefficient] : terms_) {
      int64_t divisor = 0;
      const auto atom = atoms_.find(key);
      const bool is_remainder = atom != atoms_.end() && atom->second->kind == Kind::kMod && IsInt(atom->second->args[1], &divisor);
      if (key.empty())
        AddLeast(1, coefficient);
      else if (is_remainder && divisor > 0)
        AddLeast(std::min<int64_t>(coefficient, 0), divisor - 1);
      else if (coefficient < 0 || !IsCount(key))
        return std::nullopt;
    }
    return is_known_ ? std::optional(least_) : std::nullopt;
  }

  /// A product of what can't be negative.
  bool IsCount(const std::string& key) const {
    const std::vector<std::string_view> factors = FactorsOf(key);
    return std::all_of(factors.begin(), factors.end(), [&](std::string_view factor) {
      const auto atom = atoms_.find(std::string(factor) + '*');
      return atom != atoms_.end() && is_count_(atom->second);
    });
  }

  const std::function<bool(const Scalar&)>& is_count_;
  Polynomial terms_;
  std::map<std::string, Scalar> atoms_;
  int64_t least_ = 0;  // of what has been taken out of the terms
  bool is_known_ = true;
};

}  // namespace

std::optional<int64_t> LeastOf(const Scalar& sum, const std::function<bool(const Scalar&)>& is_count) {
  return Least(is_count).Of(sum);
}

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
// Sums and products are expanded; everything else is a variable named by its own canonical text.
#include "compiler/symbolic/polynomial.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace tkc::symbolic {
namespace {

constexpr size_t kMaxTerms = 64;

bool IsPolynomialKind(Kind kind) {
  return kind == Kind::kInt || kind == Kind::kAdd || kind == Kind::kSub || kind == Kind::kMul || kind == Kind::kNeg;
}

bool AddTerm(Polynomial& sum, std::string key, int64_t coefficient) {
  const auto term = sum.try_emplace(std::move(key), 0).first;
  if (__builtin_add_overflow(term->second, coefficient, &term->second)) return false;
  if (term->second == 0) sum.erase(term);
  return sum.size() <= kMaxTerms;
}

/// Products are written as their sorted factors, each followed by '*', so that merging two is merging sorted lists.
std::string MultiplyKeys(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  std::vector<std::string_view> factors = FactorsOf(a);
  for (const std::string_view factor : FactorsOf(b)) factors.push_back(factor);
  std::sort(factors.begin(), factors.end());
  std::string product;
  product.reserve(a.size() + b.size());
  for (const std::string_view factor : factors) {
    product += factor;
    product += '*';
  }
  return product;
}

/// '*' separates factors, so a variable's text must not hold one.
std::string VariableKey(const Scalar& scalar) {
  std::string text = CanonicalText(scalar);
  for (size_t at = text.find('*'); at != std::string::npos; at = text.find('*', at + 1)) text[at] = '.';
  text += '*';
  return text;
}

/// False where ToPolynomial gives nothing.
bool AddTo(Polynomial& sum, const Scalar& scalar, int64_t coefficient) {
  if (!IsSum(scalar)) return AddTerm(sum, VariableKey(scalar), coefficient);
  int64_t factor = 0, product = 0;
  switch (scalar->kind) {
    case Kind::kInt: return !__builtin_mul_overflow(scalar->int_value, coefficient, &product) && AddTerm(sum, "", product);
    case Kind::kNeg: return coefficient != INT64_MIN && AddTo(sum, scalar->args[0], -coefficient);
    case Kind::kAdd: return AddTo(sum, scalar->args[0], coefficient) && AddTo(sum, scalar->args[1], coefficient);
    case Kind::kSub:
      return coefficient != INT64_MIN && AddTo(sum, scalar->args[0], coefficient) && AddTo(sum, scalar->args[1], -coefficient);
    default: break;
  }
  if (IsInt(scalar->args[1], &factor))
    return !__builtin_mul_overflow(factor, coefficient, &product) && AddTo(sum, scalar->args[0], product);
  const std::optional<Polynomial> left = ToPolynomial(scalar->args[0]), right = ToPolynomial(scalar->args[1]);
  const std::optional<Polynomial> terms = left && right ? Product(*left, *right) : std::nullopt;
  return terms && std::all_of(terms->begin(), terms->end(), [&](const auto& term) {
           return !__builtin_mul_overflow(term.second, coefficient, &product) && AddTerm(sum, term.first, product);
         });
}

/// A sum of whole trees with coefficients, and a number. Trees are told apart by how they are built only.
class TermsOfSum {
 public:
  /// False: a coefficient would overflow, or there are too many terms.
  bool Add(const Scalar& scalar, int64_t coefficient) {
    if (scalar->dtype != DType::kI64) return AddTerm(scalar, coefficient);  // its sums may wrap around
    int64_t product = 0;
    switch (scalar->kind) {
      case Kind::kInt:
        return !__builtin_mul_overflow(scalar->int_value, coefficient, &product) &&
               !__builtin_add_overflow(constant_, product, &constant_);
      case Kind::kNeg: return coefficient != INT64_MIN && Add(scalar->args[0], -coefficient);
      case Kind::kAdd: return Add(scalar->args[0], coefficient) && Add(scalar->args[1], coefficient);
      case Kind::kSub: return coefficient != INT64_MIN && Add(scalar->args[0], coefficient) && Add(scalar->args[1], -coefficient);
      case Kind::kMul:
        if (int64_t factor = 0; IsInt(scalar->args[1], &factor))
          return !__builtin_mul_overflow(factor, coefficient, &product) && Add(scalar->args[0], product);
        return AddTerm(scalar, coefficient);
      default: return AddTerm(scalar, coefficient);
    }
  }

  bool IsConstant() const {
    return std::all_of(terms_.begin(), terms_.begin() + count_, [](const Term& term) { return term.coefficient == 0; });
  }
  /// Whether nothing of what is left can cancel, as it does not even look alike: then the sum is no number.
  bool IsOfDifferentTerms() const {
    for (auto term = terms_.begin(); term != terms_.begin() + count_; ++term) {
      const Node& node = **term->tree;
      if (term->coefficient == 0 || node.args.empty()) continue;
      const auto is_like = [&](const Term& other) {
        return other.coefficient != 0 && (*other.tree)->kind == node.kind && (*other.tree)->name == node.name;
      };
      if (node.kind == Kind::kMul || std::any_of(terms_.begin(), term, is_like)) return false;
    }
    return true;
  }
  int64_t Constant() const { return constant_; }

 private:
  struct Term {
    const Scalar* tree;
    int64_t coefficient;
  };

  bool AddTerm(const Scalar& tree, int64_t coefficient) {
    for (size_t i = 0; i < count_; ++i) {
      if (IsSameTree(*terms_[i].tree, tree))
        return !__builtin_add_overflow(terms_[i].coefficient, coefficient, &terms_[i].coefficient);
    }
    if (count_ == terms_.size()) return false;
    terms_[count_++] = {&tree, coefficient};
    return true;
  }

  std::array<Term, kMaxTerms> terms_;
  size_t count_ = 0;
  int64_t constant_ = 0;
};

/// x % c, a term of a sum.
bool IsRemainder(const Scalar& scalar) { return scalar->kind == Kind::kMod && IsInt(scalar->args[1]); }

bool HasRemainder(const Scalar& sum) {
  if (sum->dtype != DType::kI64) return false;
  return IsRemainder(sum) || (IsPolynomialKind(sum->kind) && std::any_of(sum->args.begin(), sum->args.end(), HasRemainder));
}

/// What divides every coefficient; at least 1 where no term is left, too.
int64_t DivisorOfCoefficients(const Scalar& scalar) {
  const std::optional<Polynomial> polynomial = ToPolynomial(scalar);
  if (!polynomial) return 1;
  int64_t divisor = 0;
  for (const auto& [key, coefficient] : *polynomial) divisor = coefficient == INT64_MIN ? 1 : std::gcd(divisor, coefficient);
  return std::max<int64_t>(divisor, 1);
}

}  // namespace

bool IsCommutative(Kind kind) {
  switch (kind) {
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kAnd:
    case Kind::kOr: return true;
    default: return false;
  }
}

std::vector<std::string_view> FactorsOf(std::string_view key) {
  std::vector<std::string_view> factors;
  for (size_t begin = 0, end; begin < key.size(); begin = end + 1) {
    end = key.find('*', begin);
    factors.push_back(key.substr(begin, end - begin));
  }
  return factors;
}

bool IsSum(const Scalar& scalar) { return scalar->dtype == DType::kI64 && IsPolynomialKind(scalar->kind); }

std::optional<Polynomial> Sum(Polynomial a, const Polynomial& b, int64_t factor) {
  for (const auto& [key, coefficient] : b) {
    int64_t product = 0;
    if (__builtin_mul_overflow(factor, coefficient, &product) || !AddTerm(a, key, product)) return std::nullopt;
  }
  return a;
}

std::optional<Polynomial> Product(const Polynomial& a, const Polynomial& b) {
  if (a.size() * b.size() > kMaxTerms) return std::nullopt;
  Polynomial product;
  for (const auto& [key_a, coefficient_a] : a) {
    for (const auto& [key_b, coefficient_b] : b) {
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(coefficient_a, coefficient_b, &coefficient)) return std::nullopt;
      if (!AddTerm(product, MultiplyKeys(key_a, key_b), coefficient)) return std::nullopt;
    }
  }
  return product;
}

std::optional<Polynomial> ToPolynomial(const Scalar& scalar) {
  Polynomial polynomial;
  if (!AddTo(polynomial, scalar, 1)) return std::nullopt;
  return polynomial;
}

std::optional<int64_t> NonzeroNumber(const Polynomial& polynomial) {
  if (polynomial.size() != 1 || !polynomial.begin()->first.empty()) return std::nullopt;
  return polynomial.begin()->second;
}

std::optional<int64_t> ConstantSum(const Scalar& a, const Scalar& b, int64_t sign) {
  if (a->dtype != DType::kI64 || b->dtype != DType::kI64) return std::nullopt;
  // Most sums are settled without their normal forms.
  if (TermsOfSum terms; terms.Add(a, 1) && terms.Add(b, sign)) {
    if (terms.IsConstant()) return terms.Constant();
    if (terms.IsOfDifferentTerms()) return std::nullopt;
  }
  Polynomial sum;
  if (!AddTo(sum, a, 1) || !AddTo(sum, b, sign) || sum.size() > 1) return std::nullopt;
  if (sum.empty()) return 0;
  if (!sum.begin()->first.empty()) return std::nullopt;
  return sum.begin()->second;
}

std::optional<int64_t> MostDifference(const Scalar& a, const Scalar& b) {
  std::optional<int64_t> most = ConstantDifference(a, b);
  if (most || a->kind != Kind::kMin) return most;
  for (const Scalar& one : a->args) {
    const std::optional<int64_t> difference = MostDifference(one, b);
    if (difference && (!most || *difference < *most)) most = difference;
  }
  return most;
}

Scalar WithoutRemainders(const Scalar& sum) {
  if (sum->dtype == DType::kI64 && IsRemainder(sum))
    return Sub(sum->args[0], Mul(Make(Kind::kDiv, DType::kI64, sum->args), sum->args[1]));
  if (!IsPolynomialKind(sum->kind)) return sum;
  std::vector<Scalar> args;
  for (const Scalar& arg : sum->args) args.push_back(WithoutRemainders(arg));
  return WithArgs(sum, std::move(args));
}

int64_t KnownMultiple(int64_t a, int64_t b) {
  int64_t multiple = 0;
  return __builtin_mul_overflow(a, b / std::gcd(a, b), &multiple) ? a : multiple;
}

int64_t KnownDivisor(const Scalar& scalar) {
  if (scalar->dtype != DType::kI64) return 1;
  switch (scalar->kind) {
    case Kind::kMin:
    case Kind::kMax: return std::gcd(KnownDivisor(scalar->args[0]), KnownDivisor(scalar->args[1]));
    case Kind::kSelect: return std::gcd(KnownDivisor(scalar->args[1]), KnownDivisor(scalar->args[2]));
    case Kind::kMod: return std::gcd(KnownDivisor(scalar->args[0]), KnownDivisor(scalar->args[1]));
    case Kind::kNeg: return KnownDivisor(scalar->args[0]);
    case Kind::kAdd:
    case Kind::kSub: {
      const int64_t of_terms = std::gcd(KnownDivisor(scalar->args[0]), KnownDivisor(scalar->args[1]));
      return HasRemainder(scalar) ? std::max(of_terms, DivisorOfCoefficients(WithoutRemainders(scalar))) : of_terms;
    }
    case Kind::kMul: {
      int64_t product = 0;
      const int64_t left = KnownDivisor(scalar->args[0]), right = KnownDivisor(scalar->args[1]);
      return __builtin_mul_overflow(left, right, &product) ? std::max(left, right) : product;
    }
    case Kind::kInt: return scalar->int_value == INT64_MIN ? 1 : std::abs(scalar->int_value);
    default: return 1;
  }
}

namespace {

void AppendCanonical(const Scalar& scalar, std::string& text) {
  if (scalar->kind == Kind::kName) {
    text += scalar->name;
    return;
  }
  if (scalar->kind == Kind::kFloat || scalar->kind == Kind::kBool) {
    text += ToString(scalar);
    return;
  }
  const std::optional<Polynomial> polynomial = IsSum(scalar) ? ToPolynomial(scalar) : std::nullopt;
  if (polynomial) {
    text += '(';
    for (const auto& [key, coefficient] : *polynomial) {
      text += '+';
      text += std::to_string(coefficient);
      text += '*';
      text += key;
    }
    text += ')';
    return;
  }
  text += std::to_string(static_cast<int>(scalar->kind));
  text += ':';
  text += Name(scalar->dtype);
  text += ':';
  text += scalar->name;
  text += '#';
  text += std::to_string(scalar->int_value);
  text += '(';
  if (IsCommutative(scalar->kind)) {
    std::string left = CanonicalText(scalar->args[0]), right = CanonicalText(scalar->args[1]);
    if (right < left) std::swap(left, right);
    text += left + ',' + right + ',';
  } else {
    for (const Scalar& arg : scalar->args) {
      AppendCanonical(arg, text);
      text += ',';
    }
  }
  text += ')';
}

}  // namespace

std::string CanonicalText(const Scalar& scalar) {
  std::string text;
  AppendCanonical(scalar, text);
  return text;
}

bool HaveSameNormalForm(const Scalar& a, const Scalar& b) { return IsSameTree(a, b) || CanonicalText(a) == CanonicalText(b); }

int64_t DivisorOfTerms(const Scalar& scalar) {
  const auto polynomial = ToPolynomial(scalar);
  if (!polynomial) return KnownDivisor(scalar);
  int64_t divisor = 0;
  for (const auto& [key, coefficient] : *polynomial) divisor = coefficient == INT64_MIN ? 1 : std::gcd(divisor, coefficient);
  return divisor;
}

}  // namespace tkc::symbolic

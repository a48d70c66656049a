// SPDX-License-Identifier: MIT
// Sums and products are expanded; everything else is a variable named by its own canonical text.
#include "compiler/symbolic/polynomial.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tkc::symbolic {
namespace {

constexpr size_t kMaxTerms = 64;

bool IsPolynomialKind(Kind kind) {
  return kind == Kind::kInt || kind == Kind::kAdd || kind == Kind::kSub || kind == Kind::kMul || kind == Kind::kNeg;
}

bool AddTerm(Polynomial& sum, const std::string& key, int64_t coefficient) {
  int64_t& slot = sum[key];
  if (__builtin_add_overflow(slot, coefficient, &slot)) return false;
  if (slot == 0) sum.erase(key);
  return sum.size() <= kMaxTerms;
}

/// Products are written as their sorted factors, each followed by '*', so that merging two is merging sorted lists.
std::string MultiplyKeys(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  std::vector<std::string> factors;
  for (const std::string* key : {&a, &b}) {
    for (size_t begin = 0; begin < key->size();) {
      const size_t end = key->find('*', begin);
      factors.push_back(key->substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::sort(factors.begin(), factors.end());
  std::string product;
  for (const std::string& factor : factors) product += factor + '*';
  return product;
}

std::optional<Polynomial> Combine(const Scalar& left, const Scalar& right, int64_t sign) {
  std::optional<Polynomial> sum = ToPolynomial(left);
  const std::optional<Polynomial> other = ToPolynomial(right);
  if (!sum || !other) return std::nullopt;
  for (const auto& [key, coefficient] : *other) {
    int64_t signed_coefficient = 0;
    if (__builtin_mul_overflow(coefficient, sign, &signed_coefficient)) return std::nullopt;
    if (!AddTerm(*sum, key, signed_coefficient)) return std::nullopt;
  }
  return sum;
}

std::optional<Polynomial> Multiply(const Scalar& left, const Scalar& right) {
  const std::optional<Polynomial> a = ToPolynomial(left);
  const std::optional<Polynomial> b = ToPolynomial(right);
  return a && b ? Product(*a, *b) : std::nullopt;
}

/// '*' separates factors, so a variable's text must not hold one.
std::string VariableKey(const Scalar& scalar) {
  std::string text = CanonicalText(scalar);
  std::replace(text.begin(), text.end(), '*', '.');
  return text + '*';
}

/// A sum of whole trees with coefficients, and a number. Trees are told apart by how they are built only.
class TermsOfSum {
 public:
  TermsOfSum() { terms_.reserve(8); }  // more are rare

  /// False: a coefficient would overflow.
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
    return std::all_of(terms_.begin(), terms_.end(), [](const Term& term) { return term.coefficient == 0; });
  }
  /// Whether nothing of what is left can cancel, as it does not even look alike: then the sum is no number.
  bool IsOfDifferentTerms() const {
    for (auto term = terms_.begin(); term != terms_.end(); ++term) {
      const Node& node = *term->tree;
      if (term->coefficient == 0 || node.args.empty()) continue;
      const auto is_like = [&](const Term& other) {
        return other.coefficient != 0 && other.tree->kind == node.kind && other.tree->name == node.name;
      };
      if (node.kind == Kind::kMul || std::any_of(terms_.begin(), term, is_like)) return false;
    }
    return true;
  }
  int64_t Constant() const { return constant_; }

 private:
  struct Term {
    const Scalar& tree;
    int64_t coefficient;
  };

  bool AddTerm(const Scalar& tree, int64_t coefficient) {
    for (Term& term : terms_) {
      if (IsSameTree(term.tree, tree)) return !__builtin_add_overflow(term.coefficient, coefficient, &term.coefficient);
    }
    terms_.push_back({tree, coefficient});
    return true;
  }

  std::vector<Term> terms_{};
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

bool IsSum(const Scalar& scalar) { return scalar->dtype == DType::kI64 && IsPolynomialKind(scalar->kind); }

Polynomial Sum(Polynomial a, const Polynomial& b, int64_t factor) {
  for (const auto& [key, coefficient] : b) a[key] += factor * coefficient;
  std::erase_if(a, [](const auto& term) { return term.second == 0; });
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
  if (!IsSum(scalar)) return Polynomial{{VariableKey(scalar), 1}};
  switch (scalar->kind) {
    case Kind::kInt: return scalar->int_value == 0 ? Polynomial{} : Polynomial{{"", scalar->int_value}};
    case Kind::kAdd: return Combine(scalar->args[0], scalar->args[1], 1);
    case Kind::kSub: return Combine(scalar->args[0], scalar->args[1], -1);
    case Kind::kNeg: return Combine(Int(0), scalar->args[0], -1);
    default: return Multiply(scalar->args[0], scalar->args[1]);
  }
}

std::optional<int64_t> ConstantDifference(const Scalar& a, const Scalar& b) {
  if (a->dtype != DType::kI64 || b->dtype != DType::kI64) return std::nullopt;
  // Most sums are settled without their normal forms.
  if (TermsOfSum terms; terms.Add(a, 1) && terms.Add(b, -1)) {
    if (terms.IsConstant()) return terms.Constant();
    if (terms.IsOfDifferentTerms()) return std::nullopt;
  }
  const std::optional<Polynomial> difference = Combine(a, b, -1);
  if (!difference || difference->size() > 1) return std::nullopt;
  if (difference->empty()) return 0;
  if (!difference->begin()->first.empty()) return std::nullopt;
  return difference->begin()->second;
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

std::string CanonicalText(const Scalar& scalar) {
  if (scalar->kind == Kind::kName) return scalar->name;
  if (scalar->kind == Kind::kFloat || scalar->kind == Kind::kBool) return ToString(scalar);
  if (IsSum(scalar)) {
    if (const std::optional<Polynomial> polynomial = ToPolynomial(scalar)) {
      std::string text = "(";
      for (const auto& [key, coefficient] : *polynomial) text += '+' + std::to_string(coefficient) + '*' + key;
      return text + ')';
    }
  }
  std::vector<std::string> args;
  for (const Scalar& arg : scalar->args) args.push_back(CanonicalText(arg));
  if (IsCommutative(scalar->kind)) std::sort(args.begin(), args.end());
  std::string text = std::to_string(static_cast<int>(scalar->kind)) + ':';
  text += Name(scalar->dtype);
  text += ':' + scalar->name + '#' + std::to_string(scalar->int_value) + '(';
  for (const std::string& arg : args) text += arg + ',';
  return text + ')';
}

bool HaveSameNormalForm(const Scalar& a, const Scalar& b) { return IsSameTree(a, b) || CanonicalText(a) == CanonicalText(b); }

int64_t DivisorOfTerms(const Scalar& scalar) {
  const auto polynomial = ToPolynomial(scalar);
  if (!polynomial) return KnownDivisor(scalar);
  int64_t divisor = 0;
  for (const auto& [key, coefficient] : *polynomial) divisor = std::gcd(divisor, coefficient);
  return divisor;
}

}  // namespace tkc::symbolic

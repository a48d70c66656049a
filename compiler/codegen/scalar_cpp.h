// SPDX-License-Identifier: MIT
// Scalar expressions as C++.
//
// Inside kernels an integer of the language is an `int` where it is known to fit: extents are below 2^31 (checked at launch), and
// what is bounded by them stays there. What may leave 32 bits (i64 parameters, sums and products of what an int may just hold) is
// computed as tk::index. On the host every integer is a tk::index, and what 64 bits may not hold stays at the largest
// number (tk::host::product), so that what is too much never looks like little. Division and modulus floor; where neither side is
// negative and the divisor not zero, that is what C++ does.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/passes/known_ranges.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::codegen {

/// The C++ name of an element type: tk::bf16, float, int, ...
std::string_view CppType(DType dtype);

/// An expression and how tightly its outermost operator binds.
struct CppExpr {
  std::string text;
  int precedence = kPrimary;

  static constexpr int kPrimary = 100, kUnary = 90, kMul = 80, kAdd = 70, kRelation = 60, kEquality = 50, kBitAnd = 46, kBitOr = 42,
                       kAnd = 40, kOr = 30, kConditional = 20;
  /// The text, in parentheses if it binds less tightly than `outer`.
  std::string Within(int outer) const { return precedence < outer ? "(" + text + ")" : text; }
};

/// Of what an `int` can hold, for ScalarPrinter::AddBits.
inline constexpr int kIntBits = 31;

/// Whether a launch scalar of this type is a tk::index in kernels.
constexpr bool IsWideScalar(DType dtype) { return IsInteger(dtype) && dtype != DType::kI32; }

/// What is known about names while printing one function.
class ScalarPrinter {
 public:
  enum class Place : uint8_t { kHost, kKernel };
  explicit ScalarPrinter(Place place) : place_(place) {}

  void AddNonNegative(const std::string& name) { non_negative_.insert(name); }
  /// A name that is at least 1.
  void AddPositive(const std::string& name) {
    AddNonNegative(name);
    positive_.insert(name);
  }
  /// A name whose product with another such name may leave 32 bits, where nothing more is known.
  void AddExtent(const std::string& name) { extents_.insert(name); }
  /// What is known of all names before code defines more.
  void AddRanges(passes::KnownRanges ranges) { ranges_ = std::move(ranges); }
  passes::KnownRanges& Ranges() { return ranges_; }
  /// What code calls a name here, if not by its own.
  void CallName(const std::string& name, const std::string& as) { called_[name] = as; }
  /// The C++ name of a variable.
  std::string NameOf(const std::string& name) const;
  /// A name that is a tk::divisor.
  void AddDivisor(const std::string& name) { divisors_.insert(name); }
  /// A name that is itself a 64-bit integer in the kernel.
  void AddWide(const std::string& name) { wide_.insert(name); }

  /// A name whose magnitude is at most 2 to the power of `bits`. Of names without that the host computes modulo 2^64.
  void AddBits(const std::string& name, int bits) { bits_[name] = bits; }
  /// Such a bound of a scalar; none where a name has none.
  std::optional<int> BitsOf(const symbolic::Scalar& scalar) const;

  CppExpr Expr(const symbolic::Scalar& scalar) const;
  std::string Text(const symbolic::Scalar& scalar) const { return Expr(scalar).text; }
  /// The type of a variable that holds it: int, tk::index, float, bool, ...
  std::string_view TypeOf(const symbolic::Scalar& scalar) const;
  bool IsWide(const symbolic::Scalar& scalar) const;
  bool IsNonNegative(const symbolic::Scalar& scalar) const;
  /// Whether it is known to lie between these.
  bool IsWithin(const symbolic::Scalar& scalar, int64_t lo, int64_t hi) const;
  /// Whether it is known to be what an `int` holds, however its parts are computed.
  bool FitsInt(const symbolic::Scalar& scalar) const { return IsWithin(scalar, INT32_MIN, INT32_MAX); }
  /// The text as an `int` of what FitsInt.
  std::string IntText(const symbolic::Scalar& scalar) const;

 private:
  bool IsPositive(const symbolic::Scalar& scalar) const;
  CppExpr Infix(const symbolic::Scalar& scalar, std::string_view op, int precedence) const;
  CppExpr Function(std::string_view name, const symbolic::Scalar& scalar) const;
  CppExpr Widened(const symbolic::Scalar& scalar, CppExpr left) const;
  bool IsSaturating(const symbolic::Node& node) const;
  CppExpr Saturating(std::string_view function, const symbolic::Node& node) const;
  CppExpr Product(const symbolic::Scalar& scalar) const;
  CppExpr Division(const symbolic::Scalar& scalar) const;
  bool DividesByDivisor(const symbolic::Node& node) const;
  CppExpr Call(const symbolic::Scalar& scalar) const;
  CppExpr Converted(const symbolic::Node& node) const;
  bool MentionsExtent(const symbolic::Scalar& scalar) const;
  bool Widens(const symbolic::Scalar& scalar) const;

  Place place_;
  std::set<std::string, std::less<>> non_negative_, positive_, extents_, wide_, divisors_;
  passes::KnownRanges ranges_;
  std::map<std::string, int, std::less<>> bits_;
  std::map<std::string, std::string, std::less<>> called_;
};

/// A literal of type `dtype`.
std::string FloatLiteral(double value, DType dtype);
/// `"text"` with everything escaped that a C string needs.
std::string StringLiteral(std::string_view text);

}  // namespace tkc::codegen

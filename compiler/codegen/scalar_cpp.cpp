// SPDX-License-Identifier: MIT
#include "compiler/codegen/scalar_cpp.h"

#include <fmt/format.h>
#include <algorithm>

#include <cfloat>
#include <cmath>
#include <cstdlib>

#include "compiler/codegen/mangle.h"

namespace tkc::codegen {

using symbolic::Kind;
using symbolic::Node;
using symbolic::Scalar;

std::string_view CppType(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "bool";
    case DType::kI8: return "int8_t";
    case DType::kU8: return "uint8_t";
    case DType::kI32: return "int";
    case DType::kU32: return "uint32_t";
    case DType::kI64: return "tk::index";
    case DType::kU64: return "uint64_t";
    case DType::kF16: return "tk::f16";
    case DType::kBF16: return "tk::bf16";
    case DType::kF32: return "float";
    case DType::kF64: return "double";
    case DType::kE4M3: return "tk::e4m3";
    case DType::kE5M2: return "tk::e5m2";
  }
  return "void";
}

namespace {

/// The shortest digits that give the same float, but for numbers that these make unrecognisable, as 4294967300 for 2^32: integers
/// are written out, unless few digits say that a person wrote them so, and other powers of two as such.
std::string FloatDigits(float value) {
  constexpr size_t kWritten = 6;                      // digits of numbers that people write
  constexpr float kLargest = 9223372036854775808.0f;  // 2^63
  const std::string shortest = fmt::format("{}", value);
  if (std::strtod(shortest.c_str(), nullptr) == static_cast<double>(value)) return shortest;
  if (std::abs(value) < kLargest && value == std::trunc(value)) {
    const size_t digits = shortest.find_last_not_of('0') + 1 - (value < 0 ? 1 : 0);
    return digits <= kWritten ? shortest : fmt::format("{:.0f}", value);
  }
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  if (std::abs(fraction) == 0.5f) return fmt::format("{}0x1p{}", value < 0 ? "-" : "", exponent - 1);
  return shortest;
}

}  // namespace

std::string FloatLiteral(double value, DType dtype) {
  std::string text;
  if (std::isinf(value)) {
    text = value < 0 ? "-tk::infinity()" : "tk::infinity()";
  } else if (std::isnan(value)) {
    text = "tk::not_a_number()";
  } else if (dtype != DType::kF64 && std::abs(static_cast<float>(value)) == FLT_MAX) {
    text = value < 0 ? "-tk::largest_float()" : "tk::largest_float()";
  } else {
    text = dtype == DType::kF64 ? fmt::format("{}", value) : FloatDigits(static_cast<float>(value));
    if (text.find_first_of(".ep") == std::string::npos) text += ".0";
    if (dtype != DType::kF64) text += 'f';
  }
  if (IsNarrowFloat(dtype)) return fmt::format("{}({})", CppType(dtype), text);
  return text;
}

std::string StringLiteral(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\{:03o}", byte);
    } else if (c == '?') {
      result += "\\?";  // no trigraphs, whatever the dialect
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string ScalarPrinter::NameOf(const std::string& name) const {
  const auto called = called_.find(name);
  return Mangle(called == called_.end() ? name : called->second);
}

bool ScalarPrinter::MentionsExtent(const Scalar& scalar) const {
  if (scalar->kind == Kind::kName) return extents_.contains(scalar->name);
  for (const Scalar& arg : scalar->args) {
    if (MentionsExtent(arg)) return true;
  }
  return false;
}

bool ScalarPrinter::IsWithin(const Scalar& scalar, int64_t lo, int64_t hi) const {
  const symbolic::IntRange range = ranges_.Of(scalar);
  return range.lo >= lo && range.hi <= hi;
}

std::string ScalarPrinter::IntText(const Scalar& scalar) const {
  return IsWide(scalar) ? fmt::format("int({})", Text(scalar)) : Text(scalar);
}

/// Whether 32 bits may not hold what is made of numbers of 32 bits.
bool ScalarPrinter::Widens(const Scalar& scalar) const {
  if (scalar->dtype != DType::kI64) return false;
  const bool is_product = scalar->kind == Kind::kMul;
  switch (scalar->kind) {
    case Kind::kAdd:
    case Kind::kSub:
    case Kind::kMul:
    case Kind::kNeg:
    case Kind::kDiv:
    case Kind::kCdiv: break;
    case Kind::kCall:
      if (scalar->name == "abs") break;
      return false;
    default: return false;
  }
  const symbolic::IntRange range = ranges_.Of(scalar);
  if (is_product && (range.lo == symbolic::IntRange::kLeast || range.hi == symbolic::IntRange::kMost))
    return MentionsExtent(scalar->args[0]) && MentionsExtent(scalar->args[1]);
  return (range.lo != symbolic::IntRange::kLeast && range.lo < INT32_MIN) ||
         (range.hi != symbolic::IntRange::kMost && range.hi > INT32_MAX);
}

namespace {

/// What remains of a division by a number that an int holds is an int, however wide what is divided.
bool IsShortRest(const Node& node) {
  int64_t by = 0;
  return node.kind == Kind::kMod && node.dtype == DType::kI64 && symbolic::IsInt(node.args[1], &by) && by > 0 && by <= INT32_MAX;
}

}  // namespace

bool ScalarPrinter::IsWide(const Scalar& scalar) const {
  if (place_ == Place::kHost) return scalar->dtype == DType::kI64;
  switch (scalar->kind) {
    case Kind::kInt: return scalar->int_value > INT32_MAX || scalar->int_value < INT32_MIN;
    case Kind::kName: return wide_.contains(scalar->name);
    case Kind::kElement: return scalar->dtype == DType::kI64 || scalar->dtype == DType::kU64;
    case Kind::kCall:
      if (scalar->dtype != DType::kI64) return false;
      break;
    case Kind::kMod:
      if (IsShortRest(*scalar)) return false;
      break;
    case Kind::kConvert: {
      const DType from = scalar->args[0]->dtype;
      return scalar->dtype == DType::kI64 && (IsFloat(from) || from == DType::kU32 || IsWide(scalar->args[0]));
    }
    default: break;
  }
  if (Widens(scalar)) return true;
  if (scalar->dtype != DType::kI64) return false;
  for (const Scalar& arg : scalar->args) {
    if (IsWide(arg)) return true;
  }
  return false;
}

bool ScalarPrinter::IsNonNegative(const Scalar& scalar) const {
  const auto all = [&] {
    for (const Scalar& arg : scalar->args) {
      if (!IsNonNegative(arg)) return false;
    }
    return true;
  };
  switch (scalar->kind) {
    case Kind::kInt: return scalar->int_value >= 0;
    case Kind::kName: return non_negative_.contains(scalar->name) || Info(scalar->dtype).name[0] == 'u';
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kDiv:
    case Kind::kMin:
    case Kind::kCdiv: return all();
    case Kind::kMod: {  // x % 0 is x
      const Scalar &value = scalar->args[0], &by = scalar->args[1];
      return IsPositive(by) || (IsNonNegative(by) && IsNonNegative(value));
    }
    case Kind::kMax: return IsNonNegative(scalar->args[0]) || IsNonNegative(scalar->args[1]);
    case Kind::kSelect: return IsNonNegative(scalar->args[1]) && IsNonNegative(scalar->args[2]);
    case Kind::kCall:
      return scalar->name.ends_with("::index") || scalar->name.ends_with("::count") || scalar->name.ends_with("::rank") ||
             scalar->name == "chiplet_order";
    default: return false;
  }
}

bool ScalarPrinter::IsPositive(const Scalar& scalar) const {
  switch (scalar->kind) {
    case Kind::kInt: return scalar->int_value > 0;
    case Kind::kName: return positive_.contains(scalar->name);
    case Kind::kAdd:
      return (IsPositive(scalar->args[0]) && IsNonNegative(scalar->args[1])) ||
             (IsNonNegative(scalar->args[0]) && IsPositive(scalar->args[1]));
    case Kind::kMul:
    case Kind::kMin: return IsPositive(scalar->args[0]) && IsPositive(scalar->args[1]);
    case Kind::kMax: return IsPositive(scalar->args[0]) || IsPositive(scalar->args[1]);
    case Kind::kCdiv: return IsPositive(scalar->args[0]) && IsPositive(scalar->args[1]);
    default: return false;
  }
}

std::string_view ScalarPrinter::TypeOf(const Scalar& scalar) const {
  if (scalar->dtype == DType::kI64) return IsWide(scalar) ? "tk::index" : "int";
  return CppType(scalar->dtype);
}

CppExpr ScalarPrinter::Infix(const Scalar& scalar, std::string_view op, int precedence) const {
  const Node& node = *scalar;
  const CppExpr left = Widened(scalar, Expr(node.args[0])), right = Expr(node.args[1]);
  // Compilers warn about && beside || and about chains of comparisons: those always get their parentheses.
  int outer_left = precedence, outer_right = precedence + 1;
  if (precedence == CppExpr::kOr) outer_left = outer_right = CppExpr::kEquality;
  if (precedence == CppExpr::kOr && node.args[0]->kind == Kind::kOr) outer_left = CppExpr::kOr;
  if (precedence == CppExpr::kRelation || precedence == CppExpr::kEquality) outer_left = outer_right = CppExpr::kAdd;
  return {fmt::format("{} {} {}", left.Within(outer_left), op, right.Within(outer_right)), precedence};
}

CppExpr ScalarPrinter::Function(std::string_view name, const Scalar& scalar) const {
  const Node& node = *scalar;
  std::vector<Scalar> args = node.args;
  // The least of several is one call.
  while ((node.kind == Kind::kMin || node.kind == Kind::kMax) && args[0]->kind == node.kind && args[0]->dtype == node.dtype) {
    const std::vector<Scalar> inner = args[0]->args;
    args.erase(args.begin());
    args.insert(args.begin(), inner.begin(), inner.end());
  }
  bool is_wide = place_ == Place::kKernel && Widens(scalar);
  for (const Scalar& arg : args) is_wide |= IsWide(arg);
  std::string text = fmt::format("{}{}(", name, is_wide ? "<tk::index>" : "");
  for (size_t i = 0; i < args.size(); ++i) text += (i ? ", " : "") + Text(args[i]);
  return {text + ")"};
}

/// The only or the left operand, in 64 bits where the result needs them and neither operand has them.
CppExpr ScalarPrinter::Widened(const Scalar& scalar, CppExpr left) const {
  const bool widens = place_ == Place::kKernel && Widens(scalar) &&
                      std::none_of(scalar->args.begin(), scalar->args.end(), [&](const Scalar& arg) { return IsWide(arg); });
  return widens ? CppExpr{fmt::format("tk::index({})", left.text)} : left;
}

namespace {

constexpr int kMostBits = 63;

/// The exponent of the least power of two that is at least as large.
int CeilLog2(int64_t value) {
  int bits = 0;
  for (uint64_t rest = static_cast<uint64_t>(value < 0 ? -(value + 1) : value - (value > 0)); rest > 0; rest /= 2) ++bits;
  return bits;
}

}  // namespace

std::optional<int> ScalarPrinter::BitsOf(const Scalar& scalar) const {
  if (scalar->kind == Kind::kInt) return CeilLog2(scalar->int_value);
  if (scalar->kind == Kind::kName) {
    const auto found = bits_.find(scalar->name);
    return found == bits_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<int> first, second;
  for (const Scalar& arg : scalar->args) {
    if (scalar->kind == Kind::kSelect && arg == scalar->args[0]) continue;
    const std::optional<int> bits = BitsOf(arg);
    if (!bits) return std::nullopt;
    (first ? second : first) = bits;
  }
  if (!first) return std::nullopt;
  const int other = second.value_or(0);
  const int largest = std::max(*first, other);
  int64_t by = 0;
  switch (scalar->kind) {
    case Kind::kMul: return std::min(*first + other, kMostBits);
    case Kind::kAdd:
    case Kind::kSub: return std::min(largest + 1, kMostBits);
    case Kind::kDiv:
    case Kind::kCdiv:
      if (symbolic::IsInt(scalar->args[1], &by) && by > 0) return std::max(*first - CeilLog2(by / 2 + 1), 0);
      return *first;
    case Kind::kMin:
      if (IsNonNegative(scalar->args[0]) && IsNonNegative(scalar->args[1])) return std::min(*first, other);
      return largest;
    case Kind::kMod:
    case Kind::kMax:
    case Kind::kNeg:
    case Kind::kSelect: return largest;
    default: return std::nullopt;
  }
}

bool ScalarPrinter::IsSaturating(const Node& node) const {
  if (place_ != Place::kHost || node.dtype != DType::kI64) return false;
  const std::optional<int> a = BitsOf(node.args[0]), b = BitsOf(node.args[1]);
  return a && b && (node.kind == Kind::kMul ? *a + *b : std::max(*a, *b)) >= kMostBits;
}

CppExpr ScalarPrinter::Saturating(std::string_view function, const Node& node) const {
  return {fmt::format("tk::host::{}({}, {})", function, Text(node.args[0]), Text(node.args[1]))};
}

CppExpr ScalarPrinter::Product(const Scalar& scalar) const {
  const Node& node = *scalar;
  if (IsSaturating(node)) return Saturating("product", node);
  const CppExpr left = Widened(scalar, Expr(node.args[0]));
  return {fmt::format("{} * {}", left.Within(CppExpr::kMul), Expr(node.args[1]).Within(CppExpr::kUnary)), CppExpr::kMul};
}

bool ScalarPrinter::DividesByDivisor(const Node& node) const {
  return node.args[1]->kind == Kind::kName && divisors_.contains(node.args[1]->name) && IsNonNegative(node.args[0]) &&
         !IsWide(node.args[0]);
}

CppExpr ScalarPrinter::Division(const Scalar& scalar) const {
  const Node& node = *scalar;
  const bool is_integer = !IsFloat(node.dtype);
  if (!is_integer) return Infix(scalar, "/", CppExpr::kMul);
  const bool divides = node.kind == Kind::kDiv;
  if (DividesByDivisor(node)) {
    const std::string number = Expr(node.args[0]).Within(CppExpr::kMul);
    return {fmt::format("{} {} {}", number, divides ? "/" : "%", Mangle(node.args[1]->name)), CppExpr::kMul};
  }
  const bool is_plain = IsNonNegative(node.args[0]) && IsPositive(node.args[1]);
  CppExpr result =
      is_plain ? Infix(scalar, divides ? "/" : "%", CppExpr::kMul) : Function(divides ? "tk::floor_div" : "tk::floor_mod", scalar);
  if (place_ == Place::kKernel && IsShortRest(node) && IsWide(node.args[0])) return {fmt::format("int({})", result.text)};
  return result;
}

/// `block::index` is tk::block::index(); `grouped_order.m` is member m of what tk::grouped_order returns.
CppExpr ScalarPrinter::Call(const Scalar& scalar) const {
  const Node& node = *scalar;
  const size_t dot = node.name.find('.');
  std::string text = "tk::" + node.name.substr(0, dot) + "(";
  for (size_t i = 0; i < node.args.size(); ++i) text += i ? ", " + Text(node.args[i]) : Widened(scalar, Expr(node.args[0])).text;
  text += ")";
  if (dot != std::string::npos) text += node.name.substr(dot);
  return {text};
}

CppExpr ScalarPrinter::Converted(const Node& node) const {
  const Scalar& value = node.args[0];
  const bool is_same = value->dtype == node.dtype || (node.dtype == DType::kI64 && value->dtype == DType::kI32) ||
                       (node.dtype == DType::kI32 && value->dtype == DType::kI64 && !IsWide(value));
  if (is_same) return Expr(value);
  if (value->kind == Kind::kInt && IsFloat(node.dtype)) return {FloatLiteral(static_cast<double>(value->int_value), node.dtype)};
  if (!IsFloat(value->dtype) && !IsFloat(node.dtype)) return {fmt::format("{}({})", CppType(node.dtype), Text(value))};
  if (!IsFloat(value->dtype) && node.dtype == DType::kF32) return {fmt::format("float({})", Text(value))};
  return {fmt::format("tk::convert<{}>({})", CppType(node.dtype), Text(value))};
}

CppExpr ScalarPrinter::Expr(const Scalar& scalar) const {
  const Node& node = *scalar;
  switch (node.kind) {
    case Kind::kInt: {
      const std::string text = node.int_value == INT64_MIN ? "(-9223372036854775807 - 1)" : fmt::format("{}", node.int_value);
      // C++ has no literals of these types: 1u has 32 bits, 1ul as many as the host wants.
      if (IsNarrowInteger(node.dtype) || node.dtype == DType::kU64) return {fmt::format("{}({})", CppType(node.dtype), text)};
      if (node.int_value == INT64_MIN) return {text};
      return {text + (node.dtype == DType::kU32 ? "u" : ""), node.int_value < 0 ? CppExpr::kUnary : CppExpr::kPrimary};
    }
    case Kind::kFloat: {
      const std::string text = FloatLiteral(node.float_value, node.dtype);
      return {text, text[0] == '-' ? CppExpr::kUnary : CppExpr::kPrimary};
    }
    case Kind::kBool: return {node.int_value ? "true" : "false"};
    case Kind::kName: return {NameOf(node.name) + (divisors_.contains(node.name) ? ".value" : "")};
    case Kind::kElement: {
      std::string text = Mangle(node.name) + ".element(";
      for (size_t i = 0; i < node.args.size(); ++i) text += (i ? ", " : "") + Text(node.args[i]);
      return {text + ")"};
    }
    case Kind::kNeg: {
      const std::string inner = Widened(scalar, Expr(node.args[0])).Within(CppExpr::kUnary);
      return {inner[0] == '-' ? "-(" + inner + ")" : "-" + inner, CppExpr::kUnary};
    }
    case Kind::kNot: return {"!" + Expr(node.args[0]).Within(CppExpr::kUnary), CppExpr::kUnary};
    case Kind::kAdd:
      if (IsSaturating(node)) return Saturating("sum", node);
      if (int64_t value = 0; symbolic::IsInt(node.args[1], &value) && value < 0 && value != INT64_MIN) {
        return {fmt::format("{} - {}", Widened(scalar, Expr(node.args[0])).Within(CppExpr::kAdd), -value), CppExpr::kAdd};
      }
      return Infix(scalar, "+", CppExpr::kAdd);
    case Kind::kSub: return IsSaturating(node) ? Saturating("difference", node) : Infix(scalar, "-", CppExpr::kAdd);
    case Kind::kMul: return Product(scalar);
    case Kind::kDiv:
    case Kind::kMod: return Division(scalar);
    case Kind::kMin: return Function("tk::min", scalar);
    case Kind::kMax: return Function("tk::max", scalar);
    case Kind::kCdiv: return Function("tk::cdiv", scalar);
    case Kind::kEq: return Infix(scalar, "==", CppExpr::kEquality);
    case Kind::kNe: return Infix(scalar, "!=", CppExpr::kEquality);
    case Kind::kLt: return Infix(scalar, "<", CppExpr::kRelation);
    case Kind::kLe: return Infix(scalar, "<=", CppExpr::kRelation);
    case Kind::kGt: return Infix(scalar, ">", CppExpr::kRelation);
    case Kind::kGe: return Infix(scalar, ">=", CppExpr::kRelation);
    case Kind::kAnd: return Infix(scalar, "&&", CppExpr::kAnd);
    case Kind::kOr: return Infix(scalar, "||", CppExpr::kOr);
    case Kind::kSelect:
      return {fmt::format("{} ? {} : {}", Expr(node.args[0]).Within(CppExpr::kOr), Expr(node.args[1]).Within(CppExpr::kOr),
                          Expr(node.args[2]).Within(CppExpr::kConditional)),
              CppExpr::kConditional};
    case Kind::kCall: return Call(scalar);
    case Kind::kConvert: return Converted(node);
  }
  return {"0"};
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
// The text of a scalar. parse_scalar.h reads it back; the two agree on the table of precedences below.
#include <fmt/format.h>

#include <cmath>

#include "compiler/symbolic/precedence.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {
namespace {

std::string FloatDigits(double value, DType dtype) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Shortest digits that read back as the same number. 16-bit values are exact floats.
  std::string text = dtype == DType::kF64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// A call whose type is not that of its first argument says it: `@name.f32(i)`.
std::string CallName(const Scalar& scalar) {
  if (!scalar->args.empty() && scalar->args[0]->dtype == scalar->dtype) return "@" + scalar->name;
  return fmt::format("@{}.{}", scalar->name, tkc::Name(scalar->dtype));
}

class Printer {
 public:
  explicit Printer(bool for_people) : for_people_(for_people) {}

  std::string Text(const Scalar& scalar) {
    if (scalar) Print(scalar, 0);
    return std::move(out_);
  }

 private:
  void PrintList(const std::vector<Scalar>& args) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (i) out_ += ", ";
      Print(args[i], 0);
    }
  }

  void PrintInfix(const Scalar& scalar, const Infix& infix) {
    Print(scalar->args[0], infix.precedence + (infix.chains ? 0 : 1));
    out_ += fmt::format(" {} ", infix.text);
    Print(scalar->args[1], infix.precedence + 1);
  }

  void PrintFunction(std::string_view name, const Scalar& scalar) {
    out_ += fmt::format("{}(", name);
    PrintList(scalar->args);
    out_ += ')';
  }

  /// People see from what stands beside a number what type it has.
  void PrintNumber(const Scalar& scalar, DType plain, const std::string& digits) {
    out_ += scalar->dtype == plain || for_people_ ? digits : fmt::format("{}({})", tkc::Name(scalar->dtype), digits);
  }

  void PrintPrimary(const Scalar& scalar) {
    switch (scalar->kind) {
      case Kind::kInt: return PrintNumber(scalar, DType::kI64, fmt::format("{}", scalar->int_value));
      case Kind::kFloat: {
        std::string digits = FloatDigits(scalar->float_value, scalar->dtype);
        if (for_people_ && digits.ends_with(".0")) digits.resize(digits.size() - 2);
        return PrintNumber(scalar, DType::kF32, digits);
      }
      case Kind::kBool: out_ += scalar->int_value ? "true" : "false"; return;
      case Kind::kName: out_ += scalar->name; return;
      case Kind::kElement:
        out_ += scalar->name + "[";
        PrintList(scalar->args);
        out_ += ']';
        return;
      case Kind::kConvert: return PrintFunction(tkc::Name(scalar->dtype), scalar);
      case Kind::kCall: return PrintFunction(CallName(scalar), scalar);
      case Kind::kMin: return PrintFunction("min", scalar);
      case Kind::kMax: return PrintFunction("max", scalar);
      case Kind::kCdiv: return PrintFunction("cdiv", scalar);
      default: return PrintFunction("select", scalar);
    }
  }

  /// `outer`: the weakest binding that needs no parentheses here.
  void Print(const Scalar& scalar, int outer) {
    const Infix* infix = FindInfix(scalar->kind);
    const bool is_prefix = scalar->kind == Kind::kNeg || scalar->kind == Kind::kNot;
    if (!infix && !is_prefix) return PrintPrimary(scalar);
    const int precedence = infix ? infix->precedence : scalar->kind == Kind::kNeg ? kNegPrecedence : kNotPrecedence;
    const bool parenthesised = precedence < outer;
    if (parenthesised) out_ += '(';
    if (infix) {
      PrintInfix(scalar, *infix);
    } else {
      out_ += scalar->kind == Kind::kNeg ? "-" : "not ";
      Print(scalar->args[0], precedence);
    }
    if (parenthesised) out_ += ')';
  }

  const bool for_people_;
  std::string out_;
};

}  // namespace

std::string ToString(const Scalar& scalar) { return Printer(false).Text(scalar); }

std::string SourceText(const Scalar& scalar) { return Printer(true).Text(scalar); }

}  // namespace tkc::symbolic

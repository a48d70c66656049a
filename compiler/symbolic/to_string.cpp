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

void Print(const Scalar& scalar, int outer, std::string& out);

void PrintList(const std::vector<Scalar>& args, std::string& out) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (i) out += ", ";
    Print(args[i], 0, out);
  }
}

void PrintInfix(const Scalar& scalar, const Infix& infix, std::string& out) {
  Print(scalar->args[0], infix.precedence + (infix.chains ? 0 : 1), out);
  out += fmt::format(" {} ", infix.text);
  Print(scalar->args[1], infix.precedence + 1, out);
}

void PrintFunction(std::string_view name, const Scalar& scalar, std::string& out) {
  out += fmt::format("{}(", name);
  PrintList(scalar->args, out);
  out += ')';
}

/// A call whose type is not that of its first argument says it: `@name.f32(i)`.
std::string CallName(const Scalar& scalar) {
  if (!scalar->args.empty() && scalar->args[0]->dtype == scalar->dtype) return "@" + scalar->name;
  return fmt::format("@{}.{}", scalar->name, tkc::Name(scalar->dtype));
}

void PrintPrimary(const Scalar& scalar, std::string& out) {
  switch (scalar->kind) {
    case Kind::kInt:
      out += scalar->dtype == DType::kI64 ? fmt::format("{}", scalar->int_value)
                                          : fmt::format("{}({})", tkc::Name(scalar->dtype), scalar->int_value);
      return;
    case Kind::kFloat: {
      const std::string digits = FloatDigits(scalar->float_value, scalar->dtype);
      out += scalar->dtype == DType::kF32 ? digits : fmt::format("{}({})", tkc::Name(scalar->dtype), digits);
      return;
    }
    case Kind::kBool: out += scalar->int_value ? "true" : "false"; return;
    case Kind::kName: out += scalar->name; return;
    case Kind::kElement:
      out += scalar->name + "[";
      PrintList(scalar->args, out);
      out += ']';
      return;
    case Kind::kConvert: PrintFunction(tkc::Name(scalar->dtype), scalar, out); return;
    case Kind::kCall: PrintFunction(CallName(scalar), scalar, out); return;
    case Kind::kMin: PrintFunction("min", scalar, out); return;
    case Kind::kMax: PrintFunction("max", scalar, out); return;
    case Kind::kCdiv: PrintFunction("cdiv", scalar, out); return;
    default: PrintFunction("select", scalar, out); return;
  }
}

/// `outer`: the weakest binding that needs no parentheses here.
void Print(const Scalar& scalar, int outer, std::string& out) {
  const Infix* infix = FindInfix(scalar->kind);
  const bool is_prefix = scalar->kind == Kind::kNeg || scalar->kind == Kind::kNot;
  if (!infix && !is_prefix) {
    PrintPrimary(scalar, out);
    return;
  }
  const int precedence = infix ? infix->precedence : scalar->kind == Kind::kNeg ? kNegPrecedence : kNotPrecedence;
  const bool parenthesised = precedence < outer;
  if (parenthesised) out += '(';
  if (infix) {
    PrintInfix(scalar, *infix, out);
  } else {
    out += scalar->kind == Kind::kNeg ? "-" : "not ";
    Print(scalar->args[0], precedence, out);
  }
  if (parenthesised) out += ')';
}

}  // namespace

std::string ToString(const Scalar& scalar) {
  std::string out;
  if (scalar) Print(scalar, 0, out);
  return out;
}

}  // namespace tkc::symbolic

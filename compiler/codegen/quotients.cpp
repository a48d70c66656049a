// SPDX-License-Identifier: MIT
#include "compiler/codegen/quotients.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/codegen/mangle.h"

namespace tkc::codegen {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

using NamedTerms = std::vector<std::pair<std::string, Scalar>>;

void CountQuotients(const Scalar& scalar, std::map<std::string, int>& uses) {
  if (!scalar) return;
  if (scalar->kind == Kind::kCdiv) ++uses[symbolic::ToString(scalar)];
  for (const Scalar& arg : scalar->args) CountQuotients(arg, uses);
}

/// `scalar` with a name for each term that reads `text`; `term`: one of them.
Scalar Named(const Scalar& scalar, const std::string& text, const Scalar& name, Scalar& term) {
  if (!scalar || scalar->args.empty()) return scalar;
  if (scalar->kind == Kind::kCdiv && symbolic::ToString(scalar) == text) {
    term = scalar;
    return name;
  }
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(Named(arg, text, name, term));
  return symbolic::WithArgs(scalar, std::move(args));
}

/// Gives names to the quotients that occur more than once, the longest first: what these are made of counts
/// no more. What is hardly longer than a name stays.
NamedTerms NameQuotients(std::vector<Scalar>& terms) {
  constexpr size_t kShort = 16;
  NamedTerms named;
  int number = 0;
  while (true) {
    std::map<std::string, int> uses;
    for (const Scalar& term : terms) CountQuotients(term, uses);
    std::string longest;
    for (const auto& [text, count] : uses) {
      if (count > 1 && text.size() > std::max(longest.size(), kShort)) longest = text;
    }
    if (longest.empty()) return named;
    std::string name;
    const auto mentions = [&](const Scalar& term) { return term && symbolic::Mentions(term, name); };
    do {
      name = fmt::format("quotient_{}", ++number);
    } while (std::any_of(terms.begin(), terms.end(), mentions));
    Scalar quotient;
    for (Scalar& term : terms) term = Named(term, longest, symbolic::Name(name), quotient);
    named.emplace_back(name, quotient);
  }
}

}  // namespace

void EmitConstant(const std::string& name, const Scalar& value, ScalarPrinter& printer, CodeWriter& out) {
  out.Line(fmt::format("const {} {} = {};", printer.TypeOf(value), Mangle(name), printer.Text(value)));
  if (printer.IsNonNegative(value)) printer.AddNonNegative(name);
  if (const auto bits = printer.BitsOf(value)) printer.AddBits(name, *bits);
}

void EmitQuotients(std::vector<Scalar>& terms, ScalarPrinter& printer, CodeWriter& out) {
  for (const auto& [name, value] : NameQuotients(terms)) EmitConstant(name, value, printer, out);
}

}  // namespace tkc::codegen

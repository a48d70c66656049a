// SPDX-License-Identifier: MIT
// Conditions of an agent: about ordinals of loops, about the integer that a loop runs to, or about something that has one value for
// all who ask.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/step_builder.h"
#include "compiler/symbolic/condition.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {

using ir::Op;
using ir::Scalar;
using symbolic::Kind;

Condition StepBuilder::Read(const Scalar& scalar, const Op& op) {
  if (const std::optional<int64_t> value = Constant(scalar))
    return Condition{Condition::Kind::kConstant, *value != 0, {}, -1, 0, {}};
  const auto parts = [&](Condition::Kind kind) {
    Condition condition;
    condition.kind = kind;
    for (const Scalar& arg : scalar->args) condition.parts.push_back(Read(arg, op));
    return condition;
  };
  const auto positive = [&](const Scalar& a, const Scalar& b, int64_t plus) {  // a - b + plus > 0
    return Positive(symbolic::Add(symbolic::Sub(a, b), symbolic::Int(plus)), op);
  };
  // a >= b and not a > b: so it is known that one integer does not equal two numbers.
  const auto equal = [&](const Scalar& a, const Scalar& b) {
    Condition condition;
    condition.kind = Condition::Kind::kAnd;
    condition.parts = {positive(a, b, 1), Not(positive(a, b, 0))};
    return condition;
  };
  const bool is_integer =
      scalar->args.size() == 2 && scalar->args[0]->dtype != DType::kF32 && scalar->args[0]->dtype != DType::kBool;
  switch (scalar->kind) {
    case Kind::kAnd: return parts(Condition::Kind::kAnd);
    case Kind::kOr: return parts(Condition::Kind::kOr);
    case Kind::kNot: return parts(Condition::Kind::kNot);
    case Kind::kGt:
      if (is_integer) return positive(scalar->args[0], scalar->args[1], 0);
      break;
    case Kind::kLt:
      if (is_integer) return positive(scalar->args[1], scalar->args[0], 0);
      break;
    case Kind::kGe:
      if (is_integer) return positive(scalar->args[0], scalar->args[1], 1);
      break;
    case Kind::kLe:
      if (is_integer) return positive(scalar->args[1], scalar->args[0], 1);
      break;
    case Kind::kEq:
      if (is_integer && IsOfOneLoop(symbolic::Sub(scalar->args[0], scalar->args[1])))
        return equal(scalar->args[0], scalar->args[1]);
      break;
    case Kind::kNe:
      if (is_integer && IsOfOneLoop(symbolic::Sub(scalar->args[0], scalar->args[1])))
        return Not(equal(scalar->args[0], scalar->args[1]));
      break;
    default: break;
  }
  const symbolic::Condition condition = symbolic::ConditionOf(scalar);
  return condition.is_negated ? Not(Opaque(condition.text)) : Opaque(condition.text);
}

bool StepBuilder::IsOfOneLoop(const Scalar& value) const {
  const std::optional<Linear> linear = Split(value, Depth());
  if (!linear) return false;
  const auto loops = std::count_if(linear->of_loop.begin(), linear->of_loop.end(), [](int64_t c) { return c != 0; });
  return !linear->rest.empty() || loops <= 1;
}

Condition StepBuilder::Not(Condition condition) {
  Condition negation;
  negation.kind = Condition::Kind::kNot;
  negation.parts.push_back(std::move(condition));
  return negation;
}

Condition StepBuilder::Opaque(const std::string& text) {
  Condition condition;
  condition.kind = Condition::Kind::kPositive;
  condition.linear.rest = text;
  Choose(condition, "if " + text);
  return condition;
}

bool StepBuilder::IsOfLaunch(const std::string& text) {
  return text.find('@') == std::string::npos && text.find("::") == std::string::npos && text.find('#') == std::string::npos &&
         text.find('[') == std::string::npos;
}

void StepBuilder::Choose(Condition& condition, const std::string& text) {
  const bool is_of_launch = IsOfLaunch(text), is_once = is_of_launch && program_.remembers != Remembers::kLittle;
  condition.context = is_once ? 0 : Depth();
  condition.family = FamilyOf(is_once ? "launch|" + text : around_.path + "|" + text, 0);
  if (!is_of_launch || is_once) return;
  const int kept = FamilyOf("launch|" + text, 0);
  program_.families[static_cast<size_t>(condition.family)].kept = kept;
  program_.families[static_cast<size_t>(kept)].is_kept = true;
}

Condition StepBuilder::Positive(const Scalar& value, const Op& op) {
  std::optional<Linear> linear = Split(value, Depth());
  if (!linear) return Opaque(symbolic::CanonicalText(value));
  Condition condition;
  condition.kind = Condition::Kind::kPositive;
  condition.linear = *linear;
  if (linear->rest.empty()) {
    OrdinalThreshold(*linear, op);
    return condition;
  }
  if (!AskLoops(*linear, op, condition)) return NamedAlike(value);
  condition.parts.push_back(NamedAlike(value));
  return condition;
}

Condition StepBuilder::NamedAlike(const Scalar& value) {
  Condition condition;
  condition.kind = Condition::Kind::kPositive;
  condition.linear = *Split(value, Depth());
  // One integer, whichever side of the comparison it stands on.
  if (condition.linear.rest[0] == '-') return Not(NamedAlike(symbolic::Sub(symbolic::Int(1), value)));
  Fold(condition.linear, Depth());
  Choose(condition, condition.linear.rest);
  Bound(condition, value);
  return condition;
}

namespace {

/// Of x % n, beside a number in the sum: n.
std::optional<int64_t> DivisorOf(const Scalar& sum, const symbolic::Polynomial& terms) {
  int64_t divisor = 0;
  if (sum->kind == Kind::kMod && symbolic::IsInt(sum->args[1], &divisor) && divisor > 0 && symbolic::ToPolynomial(sum) == terms)
    return divisor;
  for (const Scalar& arg : sum->args) {
    if (const std::optional<int64_t> inside = DivisorOf(arg, terms)) return inside;
  }
  return std::nullopt;
}

}  // namespace

void StepBuilder::Bound(const Condition& condition, const Scalar& value) {
  symbolic::Polynomial terms = *symbolic::ToPolynomial(value);
  terms.erase("");
  const std::optional<int64_t> divisor = DivisorOf(value, terms);
  if (!divisor) return;
  Family& family = program_.families[static_cast<size_t>(condition.family)];
  for (Family* each : {&family, family.kept < 0 ? &family : &program_.families[static_cast<size_t>(family.kept)]}) {
    each->above = -1;
    each->limit = *divisor - 1;
  }
}

bool StepBuilder::AskLoops(const Linear& linear, const Op& op, Condition& condition) {
  // Loops of one integer in each other ask about two: what stands behind the inner one and has to do with its slots is about that.
  const auto ask = [&](Linear about, int depth, const std::string& rest, int family) {
    Fold(about, depth);
    if (about.rest != rest) return false;
    // What depends on a loop inside, too, is no question about this one's own iterations.
    const auto inside = about.of_loop.begin() + std::min<std::ptrdiff_t>(depth + 1, std::ssize(about.of_loop));
    if (std::any_of(inside, about.of_loop.end(), [](int64_t c) { return c != 0; })) return false;
    condition.linear = std::move(about);
    condition.family = family;
    condition.context = depth;
    const int64_t step = std::max<int64_t>(1, program_.families[static_cast<size_t>(family)].step);
    RaiseThreshold(family, std::abs(condition.linear.constant) / step + 1);
    FamilyOf(program_.families[static_cast<size_t>(family)].text, step);
    return true;
  };
  const auto ask_behind = [&](bool turns_ring) {
    return std::any_of(around_.behind.rbegin(), around_.behind.rend(), [&](const Ended& loop) {
      return loop.turns_ring == turns_ring && ask(linear, Depth(), loop.rest, loop.family);
    });
  };
  Linear folded = linear;
  Fold(folded, Depth());
  if (const std::optional<Ended> loop = LoopAhead(op, folded.rest); loop && ask(linear, Depth(), loop->rest, loop->family))
    return true;
  if (ask_behind(true)) return true;
  for (int d = Depth(); d-- > 0;) {
    const Loop& loop = agent_.loops[static_cast<size_t>(around_.loops[static_cast<size_t>(d)])];
    if (!loop.is_tiles && ask(linear, d, around_.rests[static_cast<size_t>(d)], loop.family)) return true;
  }
  return ask_behind(false);
}

void StepBuilder::Fold(Linear& linear, int depth) {
  for (int d = 0; d < depth && d < static_cast<int>(linear.of_loop.size()); ++d) {
    int64_t& coefficient = linear.of_loop[static_cast<size_t>(d)];
    if (coefficient != 0) linear.rest += fmt::format("{:+}*{}", coefficient, OrdinalName(d));
    coefficient = 0;
  }
}

void StepBuilder::OrdinalThreshold(const Linear& linear, const Op& op) {
  int used = -1;
  for (int d = 0; d < static_cast<int>(linear.of_loop.size()); ++d) {
    if (linear.of_loop[static_cast<size_t>(d)] == 0) continue;
    if (used >= 0) return Unknown(op, "a condition on the iterations of two loops");
    used = d;
  }
  if (used < 0) return;
  const Loop& loop = agent_.loops[static_cast<size_t>(around_.loops[static_cast<size_t>(used)])];
  const int64_t coefficient = std::abs(linear.of_loop[static_cast<size_t>(used)]);
  RaiseThreshold(loop.family, std::abs(linear.constant) / coefficient + 1);
}

}  // namespace tkc::certify

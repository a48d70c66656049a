// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quote.h"

namespace tkc::codegen {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

using Quotients = std::vector<std::pair<std::string, Scalar>>;

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

/// Gives names to the quotients that occur more than once, the longest first: what these are made of counts no more. What is hardly
/// longer than a name stays.
Quotients NameQuotients(std::vector<Scalar>& conditions) {
  constexpr size_t kShort = 16;
  Quotients named;
  int number = 0;
  while (true) {
    std::map<std::string, int> uses;
    for (const Scalar& condition : conditions) CountQuotients(condition, uses);
    std::string longest;
    for (const auto& [text, count] : uses) {
      if (count > 1 && text.size() > std::max(longest.size(), kShort)) longest = text;
    }
    if (longest.empty()) return named;
    std::string name;
    const auto mentions = [&](const Scalar& condition) { return symbolic::Mentions(condition, name); };
    do {
      name = fmt::format("quotient_{}", ++number);
    } while (std::any_of(conditions.begin(), conditions.end(), mentions));
    Scalar term;
    for (Scalar& condition : conditions) condition = Named(condition, longest, symbolic::Name(name), term);
    named.emplace_back(name, term);
  }
}

class ChoiceEmitter {
 public:
  ChoiceEmitter(const ir::Module& module, const ir::Entry& entry, ScalarPrinter host, CodeWriter& out)
      : module_(module), entry_(entry), host_(std::move(host)), out_(out) {
    for (const std::vector<int>& alternative : entry.alternatives) conditions_.push_back(First(alternative).when);
  }

  void Run() {
    const bool always = AlwaysChooses(module_, entry_);
    out_.Comment(fmt::format("The number of the first schedule whose condition holds{}.", always ? "" : ", or -1"));
    out_.Open("int choose() const");
    Device();
    Alignment();
    for (const auto& [name, value] : NameQuotients(conditions_)) {
      out_.Line(fmt::format("const tk::index {} = {};", name, host_.Text(value)));
      if (host_.IsNonNegative(value)) host_.AddNonNegative(name);
      if (const auto bits = host_.BitsOf(value)) host_.AddBits(name, *bits);
    }
    for (size_t i = 0; i < entry_.alternatives.size(); ++i) {
      if (!Alternative(i)) break;
    }
    if (!always) out_.Line("return -1;");
    out_.Close();
    out_.Blank();
  }

 private:
  const ir::Kernel& First(const std::vector<int>& alternative) const {
    return module_.kernels[static_cast<size_t>(alternative.front())];
  }

  bool IsMentioned(const std::string& name) const {
    return std::any_of(conditions_.begin(), conditions_.end(),
                       [&](const Scalar& when) { return when && symbolic::Mentions(when, name); });
  }

  void Device() {
    if (IsMentioned("sms")) out_.Line("const tk::index sms = call.processors();");
  }

  void Alignment() {
    const ir::Kernel& first = FirstKernel(module_, entry_);
    if (IsMentioned("aligned")) {
      std::vector<std::string> plain, structured, questions;
      for (const ir::TensorParam& tensor : first.tensors) {
        if (!tensor.is_work) (ir::StructureParts(tensor) > 1 ? structured : plain).push_back(Mangle(tensor.name));
      }
      if (!plain.empty()) questions.push_back(fmt::format("tk::host::rows_aligned({})", Join(plain)));
      if (!structured.empty()) questions.push_back(fmt::format("tk::host::structures_aligned({})", Join(structured)));
      out_.Line(fmt::format("const bool aligned = {};", Join(questions, " && ")));
    }
    if (IsMentioned("contiguous")) {
      std::vector<std::string> tensors;
      for (const ir::TensorParam& tensor : first.tensors) {
        if (!tensor.is_work) tensors.push_back(Mangle(tensor.name));
      }
      out_.Line(fmt::format("const bool contiguous = tk::host::contiguous({});", Join(tensors)));
    }
  }

  /// Whether those behind it can be reached.
  bool Alternative(size_t i) {
    constexpr size_t kIndent = 4;
    const ir::Kernel& kernel = First(entry_.alternatives[i]);
    const std::string name = kernel.schedule.empty() ? "the kernel's own" : kernel.schedule;
    if (kernel.when == nullptr) {
      out_.Line(fmt::format("return {};  // {}", i, name));
      return false;
    }
    const std::string line = fmt::format("if ({}) return {};", host_.Text(conditions_[i]), i), end = "  // " + EscapeComment(name);
    if (line.size() + end.size() + kIndent > CodeWriter::kColumns) {
      out_.Comment(EscapeComment(name));
      out_.Line(line);
    } else {
      out_.Line(line + end);
    }
    return true;
  }

  const ir::Module& module_;
  const ir::Entry& entry_;
  ScalarPrinter host_;
  CodeWriter& out_;
  std::vector<Scalar> conditions_;  // of the alternatives; null where there is none
};

}  // namespace

bool AlwaysChooses(const ir::Module& module, const ir::Entry& entry) {
  return std::any_of(entry.alternatives.begin(), entry.alternatives.end(), [&](const std::vector<int>& alternative) {
    return module.kernels[static_cast<size_t>(alternative.front())].when == nullptr;
  });
}

void EmitChoice(const ir::Module& module, const ir::Entry& entry, ScalarPrinter host, CodeWriter& out) {
  ChoiceEmitter(module, entry, std::move(host), out).Run();
}

}  // namespace tkc::codegen

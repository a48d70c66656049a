// SPDX-License-Identifier: MIT
#include "compiler/ir/print_op.h"

#include <fmt/format.h>

#include <span>

#include "compiler/ir/op_format.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/op_words.h"
#include "compiler/ir/print.h"
#include "compiler/symbolic/text_lexer.h"

namespace tkc::ir {
namespace {

std::string ValueText(const Kernel& kernel, ValueId value) {
  const bool known = value >= 0 && value < static_cast<ValueId>(kernel.values.size());
  return known ? "%" + kernel.values[value].name : fmt::format("%undefined_{}", value < 0 ? "none" : std::to_string(value));
}

std::string ValuesText(const Kernel& kernel, std::span<const ValueId> values) {
  std::string out;
  for (const ValueId value : values) out += (out.empty() ? "" : ", ") + ValueText(kernel, value);
  return out;
}

std::string ScalarsText(std::span<const Scalar> scalars) {
  std::string out;
  for (const Scalar& scalar : scalars) out += (out.empty() ? "" : ", ") + symbolic::ToString(scalar);
  return out;
}

/// Of an axis that no column chooses.
std::string AxisText(const AxisRange& axis) {
  std::string out = symbolic::ToString(axis.start);
  if (!axis.dropped || axis.extent != 1)
    out += fmt::format(" : {}{}{}", axis.extent, axis.dropped ? " dropped" : "", axis.is_slice ? " slice" : "");
  if (axis.exists) out += " exists";
  if (axis.aligned) out += " aligned";
  if (!axis.lo && !axis.hi) return out;
  out += " in";
  if (axis.lo) out += " " + symbolic::ToString(axis.lo);
  out += " ..";
  if (axis.hi) out += " " + symbolic::ToString(axis.hi);
  return out;
}

/// A name, and how many slots ahead of it: `ab+2`.
std::string SlotText(const std::string& slot) {
  const size_t plus = std::min(slot.find('+'), slot.size());
  return NameText(slot.substr(0, plus)) + slot.substr(plus);
}

/// One operation, by its pattern. Keeps count of the fields it has written.
class OpPrinter {
 public:
  OpPrinter(const Kernel& kernel, const Op& op) : kernel_(kernel), op_(op), format_(FormatOf(op.code)) {}

  std::string Text() {
    std::string body = std::string(OpText(op_.code));
    if (!Pattern(body)) {
      StartOver();
      body = "raw " + std::string(OpText(op_.code));
    }
    Remainder(body);
    if (op_.results.empty()) return body;
    return fmt::format("{} = {} : {}", ValuesText(kernel_, op_.results), body, Types());
  }

 private:
  void StartOver() {
    operands_ = scalars_ = 0;
    wrote_symbol_ = wrote_slot_ = wrote_number_ = wrote_axes_ = false;
  }

  std::string Types() const {
    std::string out;
    for (const ValueId result : op_.results) {
      const Value& value = kernel_.values[result];
      if (!out.empty()) out += ", ";
      if (value.is_mutable != (op_.code == OpCode::kVar)) out += value.is_mutable ? "mutable " : "fixed ";
      out += ToString(value.type);
    }
    return out;
  }

  /// False if the operation lacks something that the pattern needs.
  bool Pattern(std::string& out) {
    const std::vector<Element> elements = SplitPattern(format_.pattern);
    int skipped = 0;
    for (const Element& element : elements) {
      if (element.option != 0 && element.option == skipped) continue;
      if (element.option != 0 && !element.literal.empty() && element.literal != "," && !HasOption(elements, element.option)) {
        skipped = element.option;
        continue;
      }
      if (!element.literal.empty()) {
        out += (element.literal == "," ? "" : " ") + std::string(element.literal);
      } else if (!Field(element.field, out)) {
        return false;
      }
    }
    return true;
  }

  bool HasOption(const std::vector<Element>& elements, int option) const {
    size_t scalars = 0;
    for (const Element& element : elements) {
      if (element.option != option) continue;
      if (element.field == 'a' || element.field == 'A') ++scalars;
      if (element.field == 's' && op_.symbol.empty()) return false;
      if (element.field == 'l' && op_.raw_slot.empty()) return false;
      if ((element.field == 'o' || element.field == 'O') && operands_ == op_.operands.size()) return false;
      if ((element.field == 'n' || element.field == 'w') && op_.raw_number == format_.default_number) return false;
    }
    return scalars_ + scalars <= op_.scalars.size();
  }

  bool Field(char field, std::string& out) {
    switch (field) {
      case 's':
      case 'q':
        wrote_symbol_ = true;
        out += " " + (field == 'q' ? symbolic::Quote(op_.symbol) : NameText(op_.symbol));
        return true;
      case 't':
        wrote_slot_ = true;
        if (!op_.raw_slot.empty()) out += "[" + SlotText(op_.raw_slot) + "]";
        return true;
      case 'l':
        wrote_slot_ = true;
        out += " " + NameText(op_.raw_slot);
        return true;
      case 'x': wrote_axes_ = true; return Axes(out);
      case 'o':
        if (operands_ == op_.operands.size()) return false;
        out += " " + ValueText(kernel_, op_.operands[operands_++]);
        return true;
      case 'O':
        if (operands_ < op_.operands.size()) out += " " + ValuesText(kernel_, std::span(op_.operands).subspan(operands_));
        operands_ = op_.operands.size();
        return true;
      case 'a':
        if (scalars_ == op_.scalars.size()) return false;
        out += " " + symbolic::ToString(op_.scalars[scalars_++]);
        return true;
      case 'A':
        if (scalars_ == op_.scalars.size()) return false;
        out += " " + ScalarsText(std::span(op_.scalars).subspan(scalars_));
        scalars_ = op_.scalars.size();
        return true;
      case 'k': return Mixed(out);
      default: return Number(field, out);
    }
  }

  /// An axis that a column chooses is that column, the next operand. False if there is none.
  bool Axes(std::string& out) {
    out += "[";
    for (size_t i = 0; i < op_.axes.size(); ++i) {
      if (op_.axes[i].chosen && operands_ == op_.operands.size()) return false;
      out += i > 0 ? ", " : "";
      out += op_.axes[i].chosen ? ValueText(kernel_, op_.operands[operands_++]) : AxisText(op_.axes[i]);
    }
    out += "]";
    return true;
  }

  bool Number(char field, std::string& out) {
    wrote_number_ = true;
    const auto index = static_cast<size_t>(op_.raw_number);
    if (field == 'n') {
      out += fmt::format(" {}", op_.raw_number);
    } else if (field == 'b') {
      if (index >= kernel_.barriers.size()) return false;
      out += " " + NameText(kernel_.barriers[index].name);
    } else {
      const std::vector<std::string_view> own = SplitWords(format_.words);
      const std::span<const std::string_view> words = field == 'u'   ? std::span<const std::string_view>(kOpWords)
                                                      : field == 'w' ? std::span<const std::string_view>(kStoreWords)
                                                                     : std::span<const std::string_view>(own);
      if (index >= words.size()) return false;
      if (!words[index].empty()) out += fmt::format(" {}", words[index]);
    }
    return true;
  }

  /// `%x, (s)`: operands and scalars in the order that `slot` describes.
  bool Mixed(std::string& out) {
    std::string order;  // t or s
    if (op_.code == OpCode::kBinary) {
      order = op_.raw_slot.empty() ? "tt" : op_.raw_slot == "left" ? "st" : op_.raw_slot == "right" ? "ts" : "";
    } else {
      order = op_.raw_slot.size() == 2 ? "t" + op_.raw_slot : "";
    }
    if (order.empty()) return false;
    std::string list;
    for (const char kind : order) {
      list += list.empty() ? " " : ", ";
      if (kind == 't') {
        if (operands_ == op_.operands.size()) return false;
        list += ValueText(kernel_, op_.operands[operands_++]);
      } else if (kind == 's') {
        if (scalars_ == op_.scalars.size()) return false;
        list += "(" + symbolic::ToString(op_.scalars[scalars_++]) + ")";
      } else {
        return false;
      }
    }
    wrote_slot_ = true;
    out += list;
    return true;
  }

  /// Whatever is set and has not been written.
  void Remainder(std::string& out) const {
    if (!wrote_symbol_ && !op_.symbol.empty()) out += " !symbol " + symbolic::Quote(op_.symbol);
    if (!wrote_slot_ && !op_.raw_slot.empty()) out += " !slot " + symbolic::Quote(op_.raw_slot);
    if (!wrote_number_ && op_.raw_number != format_.default_number) out += fmt::format(" !number {}", op_.raw_number);
    if (!wrote_axes_ && !op_.axes.empty()) {
      out += " !axes [";
      for (size_t i = 0; i < op_.axes.size(); ++i) out += (i > 0 ? ", " : "") + AxisText(op_.axes[i]);
      out += "]";
    }
    if (operands_ < op_.operands.size()) out += " !operands " + ValuesText(kernel_, std::span(op_.operands).subspan(operands_));
    if (scalars_ < op_.scalars.size()) out += " !scalars " + ScalarsText(std::span(op_.scalars).subspan(scalars_));
  }

  const Kernel& kernel_;
  const Op& op_;
  const OpFormat& format_;
  size_t operands_ = 0, scalars_ = 0;
  bool wrote_symbol_ = false, wrote_slot_ = false, wrote_number_ = false, wrote_axes_ = false;
};

bool HasElse(const Op& op) {
  return op.regions.size() > 1 && (op.code != OpCode::kIf || op.regions.size() > 2 || !op.regions[1].empty());
}

}  // namespace

std::string NameText(const std::string& name) { return symbolic::IsPlainName(name) ? name : symbolic::Quote(name); }

std::string PrintLine(const Kernel& kernel, const Op& op) {
  return OpPrinter(kernel, op).Text() + (op.regions.empty() ? "" : " { ... }");
}

void PrintRegion(const Kernel& kernel, const Region& region, int indent, std::string& out) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  for (const Op& op : region) {
    out += margin + OpPrinter(kernel, op).Text();
    for (size_t i = 0; i < op.regions.size() && (i == 0 || HasElse(op)); ++i) {
      out += i == 0 ? " {" : " else {";
      if (!op.regions[i].empty()) {
        out += '\n';
        PrintRegion(kernel, op.regions[i], indent + 2, out);
        out += margin;
      }
      out += '}';
    }
    out += '\n';
  }
}

}  // namespace tkc::ir

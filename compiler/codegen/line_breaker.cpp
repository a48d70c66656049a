// SPDX-License-Identifier: MIT
#include "compiler/codegen/line_breaker.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tkc::codegen {
namespace {

/// How strongly a binary operator binds; 0: none, as what else stands between spaces.
int Precedence(std::string_view word) {
  static constexpr std::pair<std::string_view, int> kOperators[] = {{"?", 1},  {":", 1},  {"||", 2}, {"&&", 2}, {"|", 2}, {"^", 2},
                                                                    {"&", 2},  {"==", 3}, {"!=", 3}, {"<", 3},  {">", 3}, {"<=", 3},
                                                                    {">=", 3}, {"+", 4},  {"-", 4},  {"*", 5},  {"/", 5}, {"%", 5}};
  for (const auto& [text, precedence] : kOperators) {
    if (text == word) return precedence;
  }
  return 0;
}

/// The brackets that are open at a character of C++: round ones, square ones, braces, and those of template arguments.
class Brackets {
 public:
  /// Takes text[i]. Returns whether it is outside of all brackets and strings, or a bracket that opens or closes the outermost
  /// pair.
  bool Take(std::string_view text, size_t i) {
    const char c = text[i];
    const int before = depth_;
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) in_string_ = !in_string_;
    if (in_string_) return false;
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    // Comparisons have spaces around them.
    if (c == '<' && i > 0 && text[i - 1] != ' ' && text[i - 1] != '<') ++depth_, ++angles_;
    if (c == '>' && angles_ > 0) --depth_, --angles_;
    return before == 0 || depth_ == 0;
  }

 private:
  int depth_ = 0, angles_ = 0;
  bool in_string_ = false;
};

using Pieces = std::vector<std::string_view>;

/// What `text` lists, each with the separator behind it.
Pieces By(char separator, std::string_view text) {
  if (text.find(separator) == std::string_view::npos) return {text};
  Pieces pieces;
  Brackets brackets;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!brackets.Take(text, i) || text[i] != separator || i + 1 == text.size() || text[i + 1] != ' ') continue;
    pieces.push_back(text.substr(begin, i + 1 - begin));
    begin = i + 2;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

/// The operands of the operators that bind least, each with the operator behind it.
Pieces ByOperators(std::string_view text) {
  Pieces pieces;
  int least = 0;
  size_t begin = 0, word = 0;  // where the present piece and the present word begin
  Brackets brackets;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!brackets.Take(text, i) || text[i] != ' ') continue;
    const int precedence = Precedence(text.substr(word, i - word));
    word = i + 1;
    if (precedence == 0 || (least != 0 && precedence > least)) continue;
    if (precedence < least || least == 0) {
      pieces.clear();
      least = precedence;
      begin = 0;
    }
    pieces.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

/// Lays out text that is too long for one line.
class LineBreaker {
 public:
  LineBreaker(std::string first_line, size_t columns) : columns_(columns), lines_{std::move(first_line)} {}

  /// Adds `text`, behind which `tail` more characters stand. What does not fit goes on below where it begins: behind semicolons (of
  /// a `for`), behind commas, behind the operators that bind least, and only then inside brackets.
  void Add(std::string_view text, size_t tail) {
    if (Fits(lines_.back().size(), text, tail)) {
      lines_.back() += text;
      return;
    }
    Pieces pieces = By(';', text);
    if (pieces.size() == 1) pieces = By(',', text);
    if (pieces.size() == 1) pieces = ByOperators(text);
    return pieces.size() > 1 ? AddPieces(pieces, tail) : AddCall(text, tail);
  }

  /// Adds a statement. What it assigns has a line of its own if it else would be cut far inside brackets.
  void AddStatement(std::string_view text) {
    const size_t begin = ValueOf(text);
    const std::string_view value = text.substr(begin);
    const size_t own_line = lines_.back().size() + 4;
    lines_.back() += text.substr(0, begin);
    if (text.substr(0, begin).ends_with(" = ") && IsCut(value)) {
      lines_.back().pop_back();
      lines_.emplace_back(own_line, ' ');
    }
    Add(value, 0);
  }

  const std::vector<std::string>& Lines() const { return lines_; }

 private:
  bool Fits(size_t column, std::string_view text, size_t tail) const { return column + text.size() + tail <= columns_; }

  void AddPieces(const Pieces& pieces, size_t tail) {
    const std::string lead(lines_.back().size(), ' ');
    for (size_t i = 0; i < pieces.size(); ++i) {
      const size_t behind = i + 1 == pieces.size() ? tail : 0;
      if (i > 0 && Fits(lines_.back().size() + 1, pieces[i], behind)) {
        lines_.back() += ' ';
      } else if (i > 0) {
        lines_.push_back(lead);
      }
      Add(pieces[i], behind);
    }
  }

  /// What is in the outermost brackets goes on behind the opening one, or if it is a single call that fits there, on the next line.
  void AddCall(std::string_view text, size_t tail) {
    const std::string_view inside = Inside(text);
    if (inside.empty()) {
      lines_.back() += text;
      return;
    }
    const auto open = static_cast<size_t>(inside.data() - text.data());
    const size_t behind = text.size() - open - inside.size() + tail;
    const size_t next_line = std::min(lines_.back().find_first_not_of(' '), lines_.back().size()) + 4;
    lines_.back() += text.substr(0, open);
    if (IsSingle(inside) && Fits(next_line, inside, behind)) lines_.emplace_back(next_line, ' ');
    Add(inside, behind);
    lines_.back() += text.substr(open + inside.size());
  }

  /// What is between the first bracket and the last one.
  static std::string_view Inside(std::string_view text) {
    const size_t open = text.find('('), close = text.rfind(')');
    const bool has_both = open != std::string_view::npos && close != std::string_view::npos && open < close;
    return has_both ? text.substr(open + 1, close - open - 1) : std::string_view{};
  }
  /// Neither a list nor a sum or the like.
  static bool IsSingle(std::string_view text) { return By(',', text).size() == 1 && ByOperators(text).size() == 1; }
  /// Whether some argument of the call would not fit on a line if the call came next.
  bool IsCut(std::string_view text) const {
    const std::string_view inside = Inside(text);
    if (!IsSingle(text) || inside.empty()) return false;
    const auto open = static_cast<size_t>(inside.data() - text.data());
    const size_t column = lines_.back().size() + open, behind = text.size() - open - inside.size();
    const Pieces pieces = By(',', inside);
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const std::string_view& piece) { return !Fits(column, piece, &piece == &pieces.back() ? behind : 0); });
  }

  /// Where what the statement assigns, defines or returns begins; else 0.
  static size_t ValueOf(std::string_view text) {
    for (const std::string_view before : {" = ", "return "}) {
      const size_t at = text.substr(0, text.find('(')).find(before);
      if (at != std::string_view::npos) return at + before.size();
    }
    return 0;
  }

  const size_t columns_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> BreakStatement(std::string indent, std::string_view statement, size_t columns) {
  LineBreaker breaker(std::move(indent), columns);
  breaker.AddStatement(statement);
  return breaker.Lines();
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
#include "compiler/codegen/source_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/codegen/quote.h"

namespace tkc::codegen {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Whether a statement goes on behind a line that ends like this, outside of brackets (lang-spec, gr-7).
bool IsOpenEnded(std::string_view code) {
  code = Trim(code);
  if (code.empty()) return false;
  constexpr std::string_view kOperators = "+-*/%@<>=!,:.&|";
  if (kOperators.find(code.back()) != std::string_view::npos) return true;
  for (const std::string_view word : {"and", "or", "not"}) {
    const bool is_last = code.ends_with(word);
    if (is_last && (code.size() == word.size() || IsSpace(code[code.size() - word.size() - 1]))) return true;
  }
  return false;
}

/// The length of the first line of `text` with those that go on with it, including its line break.
size_t LogicalLine(std::string_view text) {
  int depth = 0;  // of brackets
  size_t code_begin = 0, code_end = 0;
  bool in_string = false, in_comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      if (depth <= 0 && !IsOpenEnded(text.substr(code_begin, code_end - code_begin))) return i + 1;
      code_begin = code_end = i + 1;
      in_string = in_comment = false;
      continue;
    }
    if (in_comment) continue;
    if (c == '"') in_string = !in_string;
    if (!in_string) {
      in_comment = c == '/' && i + 1 < text.size() && text[i + 1] == '/';
      if (in_comment) continue;
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    }
    code_end = i + 1;
  }
  return text.size();
}

}  // namespace

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view StatementAt(std::string_view line, size_t column) {
  constexpr std::string_view kHeaders[] = {"for ",           "if ",   "else", "worker ", "kernel ",
                                           "deterministic ", "grid ", "fn ",  "each ",   "schedule "};
  const auto is_header = [&](std::string_view text) {
    for (std::string_view header : kHeaders) {
      if (Trim(text).starts_with(header)) return true;
    }
    return false;
  };
  size_t start = 0;
  int depth = 0;  // of brackets, and of braces inside expressions
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '/' && i + 1 < line.size() && line[i + 1] == '/') {
      i = line.find('\n', i);
      if (i == std::string_view::npos) break;
    }
    const bool opens_block = c == '{' && depth == 0 && is_header(line.substr(start, i - start));
    const bool ends = opens_block || (c == ';' && depth == 0) || (c == '}' && depth == 0);
    if (ends) {
      if (column <= i && !Trim(line.substr(start, i - start)).empty()) return Trim(line.substr(start, i - start));
      start = i + 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  const std::string_view rest = Trim(line.substr(start));
  return rest.empty() ? Trim(line) : rest;
}

std::vector<SourceStatements::Function> SourceStatements::FunctionsOf(std::string_view text) {
  std::vector<Function> functions;
  std::string_view name;  // of the function whose braces come next, or are open
  int depth = 0;          // of braces
  size_t body = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && depth == 0 && text.substr(i).starts_with("fn ")) {
      name = Trim(text.substr(i + 3, text.find('(', i) - i - 3));
    } else if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (text[i] == '{' && depth++ == 0) {
      body = i + 1;
    } else if (text[i] == '}' && --depth == 0) {
      if (!name.empty()) functions.push_back({name, body, i});
      name = {};
    }
  }
  return functions;
}

SourceStatements::SourceStatements(const SourceManager& sources) : sources_(sources) {
  for (uint32_t file = 0; file < sources.FileCount(); ++file) {
    const std::string_view text = sources.Text(file);
    File& known = files_.emplace_back();
    for (size_t begin = 0; begin < text.size(); begin += LogicalLine(text.substr(begin))) known.lines.push_back(begin);
    known.functions = FunctionsOf(text);
  }
}

Span SourceStatements::At(Span span) const {
  const std::string_view text = sources_.Text(span.file);
  const std::vector<size_t>& lines = files_[span.file].lines;
  const auto next = std::upper_bound(lines.begin(), lines.end(), size_t{span.begin});
  const size_t begin = next == lines.begin() ? 0 : *std::prev(next);
  const size_t end = next == lines.end() ? text.size() : *next;
  const std::string_view statement = StatementAt(text.substr(begin, end - begin), span.begin - begin);
  const auto place = static_cast<uint32_t>(statement.data() - text.data());
  return {span.file, place, place + static_cast<uint32_t>(statement.size())};
}

std::vector<std::string> SourceStatements::Lines(Span span) const {
  const Span statement = At(span);
  const uint32_t first = sources_.Line(statement), column = statement.begin - sources_.LineStart(span.file, first);
  std::string_view rest = sources_.Text(statement);
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string lead(lines.empty() || indent <= column ? 0 : indent - column, ' ');
    if (!Trim(line).empty()) lines.push_back(lead + EscapeComment(line));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  for (const Function& function : files_[span.file].functions) {
    const bool is_inside = function.begin <= statement.begin && statement.end <= function.end;
    if (is_inside && !lines.empty()) lines.front() = fmt::format("{}: {}", function.name, lines.front());
  }
  return lines;
}

std::string SourceStatements::Head(Span span) const {
  constexpr size_t kShort = 12;
  const std::vector<std::string> lines = Lines(span);
  const std::string& line = lines.front();
  int depth = 0;  // of brackets
  for (size_t i = 1; i + 1 < line.size(); ++i) {
    const char c = line[i], next = line[i + 1];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (depth > 0 || next != ' ' || !((c == '=' && line[i - 1] != '=') || (c == '-' && line[i - 1] == '<'))) continue;
    const bool is_short = lines.size() == 1 && line.size() - i - 1 <= kShort;
    return is_short ? line : line.substr(0, i + 1) + " ...";
  }
  return lines.size() == 1 ? line : line + " ...";
}

bool SourceStatements::AreSame(Span a, Span b) const {
  if (a.file != b.file) return false;
  if ((a.begin <= b.begin && b.end <= a.end) || (b.begin <= a.begin && a.end <= b.end)) return true;
  if (!PointsSomewhere(sources_, a) || !PointsSomewhere(sources_, b)) return false;
  return At(a) == At(b);
}

}  // namespace tkc::codegen

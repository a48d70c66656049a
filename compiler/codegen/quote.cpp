// SPDX-License-Identifier: MIT
#include "compiler/codegen/quote.h"

#include <fmt/format.h>

#include <cstdint>

#include "compiler/codegen/scalar_cpp.h"

namespace tkc::codegen {
namespace {

constexpr size_t kQuoted = 112;  // characters of a source line that are shown

/// The code point at `at` and its length; length 0 if the bytes there are no UTF-8.
uint32_t Decode(std::string_view text, size_t at, size_t& length) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const uint32_t first = byte(at);
  length = first < 0x80 ? 1 : (first & 0xe0) == 0xc0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : (first & 0xf8) == 0xf0 ? 4 : 0;
  if (length <= 1) return first;
  uint32_t code = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) {
      length = 0;
      return 0;
    }
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) length = 0;
  return code;
}

/// Line separators and marks that change the direction in which a line is shown.
bool IsHostile(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f || code == 0x061c ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string EscapeComment(std::string_view text) {
  std::string result;
  size_t characters = 0;
  text = Trim(text);
  for (size_t i = 0; i < text.size(); ++characters) {
    if (characters == kQuoted) {
      result += " ...";
      break;
    }
    size_t length = 0;
    const uint32_t code = Decode(text, i, length);
    if (code == '\t') {
      result += ' ';
    } else if (length == 0 || IsHostile(code)) {
      result += '?';
    } else {
      result += text.substr(i, length);
    }
    i += length ? length : 1;
  }
  // A backslash (or its trigraph) at the end would pull the next line into the comment.
  if (result.ends_with('\\') || result.ends_with("?\?/")) result += " .";
  return result;
}

std::string_view StatementAt(std::string_view line, size_t column) {
  constexpr std::string_view kHeaders[] = {"for ", "if ", "else", "worker ", "kernel ", "grid ", "fn ", "each ", "schedule "};
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
    if (c == '/' && i + 1 < line.size() && line[i + 1] == '/') break;
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

std::string_view SourceQuoter::StatementOf(Span span) const {
  const uint32_t line = sources_.Line(span);
  return StatementAt(sources_.LineText(span.file, line), span.begin - sources_.LineStart(span.file, line));
}

Span SourceQuoter::StatementSpan(Span span) const {
  const std::string_view statement = StatementOf(span);
  const auto begin = static_cast<uint32_t>(statement.data() - sources_.Text(span.file).data());
  return {span.file, begin, begin + static_cast<uint32_t>(statement.size())};
}

bool SourceQuoter::SameStatement(Span a, Span b) const {
  if (a.file != b.file) return false;
  if ((a.begin <= b.begin && b.end <= a.end) || (b.begin <= a.begin && a.end <= b.end)) return true;
  if (!PointsSomewhere(sources_, a) || !PointsSomewhere(sources_, b)) return false;
  return StatementOf(a).data() == StatementOf(b).data();
}

void SourceQuoter::At(Span span) {
  if (!PointsSomewhere(sources_, span)) return;
  const uint32_t line = sources_.Line(span);
  const std::string_view statement = StatementOf(span);
  if (line_directives_) {
    // Every generated line counts as the next one of the .tk file, so each operation says anew where it is from.
    if (span.file == file_ && line == line_ && out_.LineNumber() == after_directive_) return;
    out_.Raw(fmt::format("#line {} {}", line, StringLiteral(sources_.Path(span.file))));
  } else {
    if (span.file == file_ && line == line_ && statement == statement_) return;
    out_.From(StatementSpan(span));
    out_.Comment(EscapeComment(statement));
  }
  after_directive_ = out_.LineNumber();
  statement_ = statement;
  file_ = span.file;
  line_ = line;
}

void SourceQuoter::Leave(const std::string& generated_name) {
  Forget();
  if (line_directives_) out_.Raw(fmt::format("#line {} {}", out_.LineNumber() + 1, StringLiteral(generated_name)));
}

}  // namespace tkc::codegen

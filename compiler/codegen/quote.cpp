// SPDX-License-Identifier: MIT
#include "compiler/codegen/quote.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/codegen/scalar_cpp.h"

namespace tkc::codegen {
namespace {

constexpr size_t kQuoted = 240;  // characters of a source line that are shown: all, but of lines that no person writes

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

void SourceQuoter::At(Span span) {
  const SourceManager& sources = statements_.Sources();
  if (!PointsSomewhere(sources, span)) return;
  if (line_directives_) {
    // Every generated line counts as the next one of the .tk file, so each operation says anew where it is from.
    const uint32_t line = sources.Line(span);
    if (span.file == last_.file && line == line_ && out_.LineNumber() == after_directive_) return;
    out_.Raw(fmt::format("#line {} {}", line, StringLiteral(sources.Path(span.file))));
    line_ = line;
    last_ = span;
  } else {
    const Span statement = statements_.At(span);
    if (statement == last_) return;
    out_.From(statement);
    const auto [quoted, is_new] = quoted_.try_emplace({statement.file, statement.begin}, block_);
    const bool comes_back = std::exchange(quoted->second, block_) == block_ && !is_new;
    for (const std::string& line : comes_back ? std::vector{statements_.Head(span)} : statements_.Lines(span)) out_.Comment(line);
    last_ = statement;
  }
  after_directive_ = out_.LineNumber();
}

void SourceQuoter::AtIfNotYet(Span span) {
  if (line_directives_ || !PointsSomewhere(statements_.Sources(), span)) return;
  const Span statement = statements_.At(span);
  if (!quoted_.contains({statement.file, statement.begin})) At(span);
}

void SourceQuoter::Leave(const std::string& generated_name) {
  Forget();
  if (line_directives_) out_.OwnLines(generated_name);
}

}  // namespace tkc::codegen

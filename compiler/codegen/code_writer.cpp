// SPDX-License-Identifier: MIT
#include "compiler/codegen/code_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/line_breaker.h"
#include "compiler/codegen/scalar_cpp.h"

namespace tkc::codegen {

void CodeWriter::Put(std::string_view text) {
  text_ += text;
  text_ += '\n';
  ++lines_;
}

void CodeWriter::Line(std::string_view text) {
  const std::string indent(static_cast<size_t>(level_) * 2, ' ');
  const bool has_comment = text.find("  // ") != std::string_view::npos;
  if (!breaks_ || has_comment || indent.size() + text.size() <= kColumns) return Put(indent + std::string(text));
  for (const std::string& line : BreakStatement(indent, text, kColumns)) Put(line);
}

void CodeWriter::Line(std::string_view text, std::string_view remark) {
  std::string line(text);
  if (!remark.empty()) line.append("  // ").append(remark);
  if (remark.empty() || static_cast<size_t>(level_) * 2 + line.size() <= kColumns) return Line(line);
  Comment(remark);
  Line(text);
}

void CodeWriter::Raw(std::string_view text) { Put(text); }

void CodeWriter::Blank() { Put(""); }

void CodeWriter::Comment(std::string_view text) {
  std::string line(static_cast<size_t>(level_) * 2, ' ');
  line += "//";
  if (!text.empty()) {
    line += ' ';
    line += text;
  }
  Put(line);
}

void CodeWriter::Open(std::string_view head) {
  Line(std::string(head) + " {");
  ++level_;
}

void CodeWriter::Close(std::string_view tail) {
  --level_;
  Line(tail);
}

void CodeWriter::OneLine(size_t mark, bool keep_braces) {
  const std::string_view written = std::string_view(text_).substr(mark);
  const size_t head_end = written.find(" {\n");
  if (head_end == std::string_view::npos) return;
  const size_t body = written.find_first_not_of(' ', head_end + 3), body_end = written.find('\n', head_end + 3);
  const std::string_view statement = written.substr(body, body_end - body);
  const std::string_view tail = written.substr(body_end + 1);
  const bool closes = tail.find_first_not_of(' ') != std::string_view::npos && tail.substr(tail.find_first_not_of(' ')) == "}\n";
  if (!closes || !statement.ends_with(';') || head_end + 5 + statement.size() > kColumns) return;
  const std::string line = std::string(written.substr(0, head_end)) + (keep_braces ? " { " : " ") + std::string(statement) +
                           (keep_braces ? " }\n" : "\n");
  text_.resize(mark);
  text_ += line;
  lines_ -= 2;
  for (LineOrigin& origin : origins_) origin.line = std::min(origin.line, LineNumber());
}

void CodeWriter::OwnLines(const std::string& file) {
  constexpr std::string_view kDirective = "#line ";
  references_.push_back({text_.size() + kDirective.size(), LineNumber() + 1});
  Put(fmt::format("{} {}", kDirective, StringLiteral(file)));
}

void CodeWriter::Append(CodeWriter part) {
  for (LineOrigin& origin : part.origins_) origins_.push_back({origin.line + lines_, origin.span});
  for (const LineReference& reference : part.references_)
    references_.push_back({reference.place + text_.size(), reference.line + lines_});
  text_ += part.text_;
  lines_ += part.lines_;
}

std::string CodeWriter::Take() {
  for (auto reference = references_.rbegin(); reference != references_.rend(); ++reference)
    text_.insert(reference->place, std::to_string(reference->line));
  return std::move(text_);
}

void CodeWriter::Turn(std::string_view middle) {
  --level_;
  Line("} " + std::string(middle) + " {");
  ++level_;
}

}  // namespace tkc::codegen

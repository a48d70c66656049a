// SPDX-License-Identifier: MIT
#include "compiler/codegen/code_writer.h"

#include <algorithm>

namespace tkc::codegen {
namespace {

/// Where to end the first line of `text` so that it fits into `room` columns: behind a comma directly inside the bracket that
/// opens at `bracket`, else behind any comma; npos if there is none.
size_t BreakAfter(std::string_view text, size_t bracket, size_t room) {
  size_t best = std::string_view::npos, any = std::string_view::npos;
  int depth = 0, angles = 0;
  bool in_string = false;
  for (size_t i = bracket; i < text.size() && i < room; ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) in_string = !in_string;
    if (in_string) continue;
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    // Template arguments stay together; comparisons have spaces around them.
    if (c == '<' && i > 0 && text[i - 1] != ' ' && text[i - 1] != '<') ++angles;
    if (c == '>' && angles > 0) --angles;
    if (c == ',' && angles == 0 && i + 1 < text.size() && text[i + 1] == ' ') (depth <= 1 ? best : any) = i + 1;
  }
  return best != std::string_view::npos ? best : any;
}

}  // namespace

void CodeWriter::Put(std::string_view text) {
  text_ += text;
  text_ += '\n';
  ++lines_;
}

void CodeWriter::Line(std::string_view text) {
  const std::string indent(static_cast<size_t>(level_) * 2, ' ');
  const size_t bracket = text.find('(');
  if (!breaks_ || indent.size() + text.size() <= kColumns || bracket == std::string_view::npos)
    return Put(indent + std::string(text));
  const std::string aligned(indent.size() + bracket + 1, ' ');
  std::string_view rest = text;
  bool is_first = true;
  while (true) {
    const std::string& lead = is_first ? indent : aligned;
    const size_t room = kColumns > lead.size() ? kColumns - lead.size() : 1;
    if (rest.size() <= room) break;
    // Later lines start inside the bracket: depth there begins at one.
    const size_t at = is_first ? BreakAfter(rest, bracket, room) : BreakAfter(rest, 0, room);
    if (at == std::string_view::npos) break;
    Put(lead + std::string(rest.substr(0, at)));
    rest.remove_prefix(at + 1);
    is_first = false;
  }
  Put((is_first ? indent : aligned) + std::string(rest));
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

void CodeWriter::Turn(std::string_view middle) {
  --level_;
  Line("} " + std::string(middle) + " {");
  ++level_;
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
// The text form. Marked lines come in the order of the file, each mark on a row of its own under its line, so that
// any number of labels stays readable. Whatever the source holds, the output is printable UTF-8 of bounded width.
#include "compiler/support/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace tkc {
namespace {

constexpr size_t kTabWidth = 4;
constexpr size_t kMaxWidth = 160;   // characters of a source line that are shown
constexpr size_t kMarkMargin = 40;  // characters kept left of a mark when a longer line is cropped
constexpr size_t kMaxBytes = 4096;  // of a source line that are looked at, so that a file of one line costs no more

/// A source line as shown: printable, tabs expanded, with the column of every byte.
struct ShownLine {
  std::vector<std::string> cells;  // one printable character each
  std::vector<size_t> cell_of;     // byte -> cell; one more entry for the end of the line
};

size_t SequenceLength(std::string_view text, size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  const size_t length = lead < 0x80 ? 1 : (lead >> 5) == 6 ? 2 : (lead >> 4) == 14 ? 3 : (lead >> 3) == 30 ? 4 : 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

ShownLine Show(std::string_view text) {
  ShownLine shown;
  for (size_t i = 0; i < text.size();) {
    const size_t cell = shown.cells.size();
    const size_t length = SequenceLength(text, i);
    if (text[i] == '\t') {
      shown.cells.insert(shown.cells.end(), kTabWidth, " ");
    } else if (length == 0 || (length == 1 && (static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f))) {
      shown.cells.push_back("?");
    } else {
      shown.cells.emplace_back(text.substr(i, length));
    }
    for (size_t k = 0; k < std::max<size_t>(length, 1); ++k) shown.cell_of.push_back(cell);
    i += std::max<size_t>(length, 1);
  }
  shown.cell_of.push_back(shown.cells.size());
  return shown;
}

struct Mark {
  uint32_t line;
  uint32_t begin;  // bytes of the file
  uint32_t end;
  std::string text;
  size_t order = 0;  // among the labels
};

/// Writes `--> place` and the marked lines of one file.
class Snippet {
 public:
  Snippet(const SourceManager& sources, std::string& out) : sources_(sources), out_(out) {}

  void Write(Span place, const std::vector<DiagnosticLabel>& labels) {
    std::vector<Span> files;
    Group(place, labels);
    for (const DiagnosticLabel& label : labels) {
      const bool seen = std::any_of(files.begin(), files.end(), [&](Span s) { return s.file == label.span.file; });
      if (label.span.file == place.file || label.span.file == kNoFile || seen) continue;
      files.push_back(label.span);
      Group(label.span, labels);
    }
  }

 private:
  void Group(Span place, const std::vector<DiagnosticLabel>& labels) {
    std::vector<Mark> marks;
    for (const DiagnosticLabel& label : labels) {
      if (label.span.file != place.file) continue;
      marks.push_back(MarkOf(label));
      marks.back().order = marks.size();
    }
    if (marks.empty()) marks.push_back(MarkOf({place, ""}));
    std::sort(marks.begin(), marks.end(),
              [](const Mark& a, const Mark& b) { return std::tie(a.line, a.begin, a.order) < std::tie(b.line, b.begin, b.order); });
    const size_t gutter = fmt::format("{}", marks.back().line).size();
    fmt::format_to(std::back_inserter(out_), "{:>{}}--> {}\n", "", gutter, RenderPlace(sources_, place));
    for (size_t i = 0; i < marks.size();) {
      size_t end = i;
      while (end < marks.size() && marks[end].line == marks[i].line) ++end;
      if (i > 0 && marks[i].line > marks[i - 1].line + 1) out_ += "...\n";
      Line(place.file, gutter, marks, i, end);
      i = end;
    }
  }

  Mark MarkOf(const DiagnosticLabel& label) const {
    return {sources_.Line(label.span), label.span.begin, std::max(label.span.end, label.span.begin), label.text};
  }

  /// Where in the file the part of the line starts that is looked at: some bytes before the first mark.
  uint32_t WindowStart(uint32_t file, const Mark& first) const {
    uint32_t start = sources_.LineStart(file, first.line);
    if (first.begin - start > kMaxBytes / 4) start = first.begin - kMaxBytes / 4;
    const std::string_view text = sources_.Text(file);
    while (start < first.begin && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) ++start;
    return start;
  }

  void Line(uint32_t file, size_t gutter, const std::vector<Mark>& marks, size_t first, size_t last) {
    const uint32_t line_start = sources_.LineStart(file, marks[first].line);
    const uint32_t start = WindowStart(file, marks[first]);
    const std::string_view rest = sources_.LineText(file, marks[first].line).substr(start - line_start);
    const ShownLine shown = Show(rest.substr(0, kMaxBytes));
    const auto cell = [&](uint32_t offset) { return shown.cell_of[std::min<size_t>(offset - start, shown.cell_of.size() - 1)]; };
    size_t from = 0;
    size_t to = shown.cells.size();
    if (to > kMaxWidth) {
      from = cell(marks[first].begin) > kMarkMargin ? cell(marks[first].begin) - kMarkMargin : 0;
      to = std::min(to, from + kMaxWidth);
    }
    std::string text = from > 0 || start > line_start ? "..." : "";
    const size_t shift = text.size();
    for (size_t i = from; i < to; ++i) text += shown.cells[i];
    if (to < shown.cells.size() || rest.size() > kMaxBytes) text += "...";
    auto out = std::back_inserter(out_);
    fmt::format_to(out, "{:>{}} |{}{}\n", marks[first].line, gutter, text.empty() ? "" : " ", text);
    for (size_t i = first; i < last; ++i) {
      const size_t begin = std::clamp(cell(marks[i].begin), from, to) - from + shift;
      const size_t end = std::clamp(cell(marks[i].end), from, to) - from + shift;
      fmt::format_to(out, "{:>{}} | {:>{}}{:^>{}}", "", gutter, "", begin, "", std::max(end, begin + 1) - begin);
      fmt::format_to(out, "{}{}\n", marks[i].text.empty() ? "" : " ", marks[i].text);
    }
  }

  const SourceManager& sources_;
  std::string& out_;
};

void RenderOne(const Diagnostic& diagnostic, const SourceManager& sources, std::string& out) {
  const char* severity = diagnostic.IsError() ? "error" : "warning";
  fmt::format_to(std::back_inserter(out), "{}: {} [{}]\n", severity, diagnostic.headline, Info(diagnostic.kind).code);
  Snippet snippet(sources, out);
  if (diagnostic.span.file != kNoFile) snippet.Write(diagnostic.span, diagnostic.labels);
  for (const DiagnosticNote& note : diagnostic.notes) {
    fmt::format_to(std::back_inserter(out), "note: {}\n", note.text);
    if (note.span.file != kNoFile) snippet.Write(note.span, {});
  }
  for (const DiagnosticHelp& help : diagnostic.helps) fmt::format_to(std::back_inserter(out), "help: {}\n", help.text);
}

/// What is shown, in source order; the number of errors left out.
std::vector<const Diagnostic*> Shown(const Diagnostics& diagnostics, size_t& left_out) {
  struct Entry {
    uint32_t file;
    uint32_t begin;
    size_t order;
    const Diagnostic* diagnostic;
  };
  std::vector<Entry> sorted;
  for (const Diagnostic& diagnostic : diagnostics.All()) {
    // Places without a file come first (kNoFile + 1 is 0): options and missing files explain what follows.
    sorted.push_back({diagnostic.span.file + 1, diagnostic.span.begin, sorted.size(), &diagnostic});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.file, a.begin, a.order) < std::tie(b.file, b.begin, b.order); });
  std::vector<const Diagnostic*> shown;
  size_t errors = 0;
  for (const Entry& entry : sorted) {
    const Diagnostic* diagnostic = entry.diagnostic;
    if (diagnostic->IsError() && ++errors > Diagnostics::kShown) continue;
    shown.push_back(diagnostic);
  }
  left_out = diagnostics.ErrorCount() - std::min(diagnostics.ErrorCount(), Diagnostics::kShown);
  return shown;
}

}  // namespace

std::string RenderPlace(const SourceManager& sources, Span span) {
  const LineColumn place = sources.Begin(span);
  return fmt::format("{}:{}:{}", sources.Path(span.file), place.line, place.column);
}

std::string RenderText(const Diagnostics& diagnostics, const SourceManager& sources) {
  std::string out;
  size_t left_out = 0;
  for (const Diagnostic* diagnostic : Shown(diagnostics, left_out)) {
    if (!out.empty()) out += "\n";
    RenderOne(*diagnostic, sources, out);
  }
  if (left_out > 0)
    fmt::format_to(std::back_inserter(out), "\nnote: {} more error{} not shown\n", left_out, left_out == 1 ? "" : "s");
  return out;
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text, i);
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (length == 0) {
      out += "\\ufffd";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    } else {
      out += text.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  return out + "\"";
}

namespace {

std::string JsonPosition(const SourceManager& sources, uint32_t file, uint32_t offset) {
  const uint32_t line = sources.Locate(file, offset).line;
  const std::string_view text = sources.Text(file);
  size_t units = 0;  // UTF-16: characters outside the basic plane count twice
  for (size_t i = sources.LineStart(file, line); i < offset && i < text.size();) {
    const size_t length = std::max<size_t>(SequenceLength(text, i), 1);
    units += length == 4 ? 2 : 1;
    i += length;
  }
  return fmt::format("{{\"line\":{},\"character\":{}}}", line - 1, units);
}

std::string JsonLocation(const SourceManager& sources, Span span) {
  if (span.file == kNoFile) return "\"file\":null";
  return fmt::format("\"file\":{},\"range\":{{\"start\":{},\"end\":{}}}", JsonString(sources.Path(span.file)),
                     JsonPosition(sources, span.file, span.begin), JsonPosition(sources, span.file, span.end));
}

}  // namespace

std::string RenderJson(const Diagnostics& diagnostics, const SourceManager& sources) {
  std::string out;
  size_t left_out = 0;
  for (const Diagnostic* d : Shown(diagnostics, left_out)) {
    std::string related;
    auto relate = [&](Span span, const std::string& text) {
      fmt::format_to(std::back_inserter(related), "{}{{{},\"message\":{}}}", related.empty() ? "" : ",",
                     JsonLocation(sources, span), JsonString(text));
    };
    for (const DiagnosticLabel& label : d->labels) relate(label.span, label.text);
    for (const DiagnosticNote& note : d->notes) relate(note.span, note.text);
    std::string helps;
    for (const DiagnosticHelp& help : d->helps) {
      std::string edits;
      for (const Edit& edit : help.edits) {
        fmt::format_to(std::back_inserter(edits), "{}{{{},\"newText\":{}}}", edits.empty() ? "" : ",",
                       JsonLocation(sources, edit.span), JsonString(edit.replacement));
      }
      fmt::format_to(std::back_inserter(helps), "{}{{\"message\":{},\"edits\":[{}]}}", helps.empty() ? "" : ",",
                     JsonString(help.text), edits);
    }
    fmt::format_to(
        std::back_inserter(out),
        "{{{},\"severity\":{},\"code\":{},\"source\":\"tkc\",\"message\":{},\"relatedInformation\":[{}],\"help\":[{}]}}\n",
        JsonLocation(sources, d->span), d->IsError() ? 1 : 2, JsonString(Info(d->kind).code), JsonString(d->headline), related,
        helps);
  }
  return out;
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The timeline as a picture: time from left to right, a row for each worker instance (its first warp), copies, the tensor core.
// No script, no font, no style from outside; every box tells its statement and its instruction when pointed at.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/timeline.h"

namespace tkc {
namespace {

constexpr int kLeft = 168, kWidth = 1180, kRight = 12;  // pixels: labels, all, margin
constexpr int kWorkerHeight = 24, kLaneHeight = 13, kGap = 8;
constexpr int kLaneMost = 6;

struct Look {
  TimeKind kind;
  std::string_view fill, meaning;
};
constexpr Look kLooks[] = {{TimeKind::kWork, "#4c78a8", "instructions"},
                           {TimeKind::kWait, "url(#waits)", "waiting"},
                           {TimeKind::kLoad, "#59a14f", "copies into shared memory"},
                           {TimeKind::kMatrix, "#e8743b", "matrix products"},
                           {TimeKind::kStore, "#9467bd", "copies to global memory"}};

std::string_view Fill(TimeKind kind) {
  for (const Look& look : kLooks) {
    if (look.kind == kind) return look.fill;
  }
  return "black";
}

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

/// 1, 2 or 5 times a power of ten, so that there are about ten marks.
int64_t Step(int64_t cycles) {
  int64_t step = 1;
  while (cycles / step > 12) {
    const std::string digits = fmt::format("{}", step);
    step = digits[0] == '2' ? step / 2 * 5 : step * 2;
  }
  return std::max<int64_t>(step, 1);
}

class Painter {
 public:
  Painter(const Timeline& timeline, int blocks) : timeline_(timeline), blocks_(blocks) {}

  std::string Run() {
    for (const TimeRow& row : timeline_.rows) {
      if (row.grid != grid_) first_ = block_ = -1;
      grid_ = row.grid;
      if (first_ >= 0 && row.block >= first_ + blocks_) continue;
      if (row.is_worker && !row.is_first_warp) continue;
      Row(row);
    }
    const int bottom = y_ + 4;
    const int height = bottom + 56;
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"ui-sans-serif, Helvetica, Arial, sans-serif\" font-size=\"12\">\n",
        kWidth, height);
    text += fmt::format("<title>{}: the simulated timeline, {} cycles</title>\n", Escape(timeline_.title), timeline_.cycles);
    text +=
        "<defs><pattern id=\"waits\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
        "<rect width=\"6\" height=\"6\" fill=\"#f0f0f0\"/><rect width=\"2\" height=\"6\" fill=\"#b5b5b5\"/></pattern></defs>\n";
    text += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n", kWidth, height);
    text += fmt::format("<text x=\"8\" y=\"18\" font-weight=\"bold\">{}</text>\n", Escape(timeline_.title));
    text += Axis(bottom) + body_ + Legend(bottom + 38);
    return text + "</svg>\n";
  }

 private:
  double X(int64_t cycle) const {
    return kLeft +
           static_cast<double>(cycle) * (kWidth - kLeft - kRight) / static_cast<double>(std::max<int64_t>(timeline_.cycles, 1));
  }

  std::string Axis(int bottom) const {
    std::string text;
    const int64_t step = Step(timeline_.cycles);
    for (int64_t cycle = 0; cycle <= timeline_.cycles; cycle += step) {
      text += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"28\" y2=\"{1}\" stroke=\"#dddddd\"/>", X(cycle), bottom);
      text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555555\">{}</text>\n", X(cycle), bottom + 14,
                          cycle);
    }
    return text + fmt::format("<text x=\"8\" y=\"{}\" fill=\"#555555\">cycles</text>\n", bottom + 14);
  }

  static std::string Legend(int y) {
    std::string text;
    int x = kLeft;
    for (const Look& look : kLooks) {
      text +=
          fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"12\" fill=\"{}\" stroke=\"#888888\" stroke-width=\"0.5\"/>", x,
                      y - 10, look.fill);
      text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + 20, y, look.meaning);
      x += 36 + 7 * static_cast<int>(look.meaning.size());
    }
    return text;
  }

  void Row(const TimeRow& row) {
    if (row.block != block_) {
      block_ = row.block;
      if (first_ < 0) first_ = block_;
      y_ += kGap;
      const std::string grid = grid_ > 0 ? fmt::format("grid {}, ", grid_) : "";
      body_ += fmt::format("<text x=\"8\" y=\"{}\" fill=\"#555555\">{}block {}</text>\n", y_ + 10, grid, block_);
      y_ += 16;
    }
    const int lanes = std::min(row.lanes, kLaneMost);
    const int height = row.is_worker || lanes == 1 ? kWorkerHeight : lanes * kLaneHeight;
    body_ += fmt::format("<text x=\"16\" y=\"{}\">{}</text>\n", y_ + height / 2 + 4, Escape(row.name));
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#fafafa\"/>\n", kLeft, y_,
                         kWidth - kLeft - kRight, height);
    for (size_t i = 0; i < row.spans.size(); ++i) {
      TimeSpan span = row.spans[i];
      if (span.lane >= lanes) continue;
      // One box for neighbours that look the same.
      while (lanes == 1 && i + 1 < row.spans.size() && Joins(span, row.spans[i + 1])) span.end = row.spans[++i].end;
      Box(span, lanes == 1 ? y_ : y_ + span.lane * kLaneHeight, lanes == 1 ? height : kLaneHeight - 1);
    }
    y_ += height + 4;
  }

  bool Joins(const TimeSpan& a, const TimeSpan& b) const {
    return a.kind == b.kind && a.source == b.source && X(b.begin) - X(a.end) < 1.0;
  }

  void Box(const TimeSpan& span, int y, int height) {
    const double x = X(span.begin), width = std::max(X(span.end) - x, 0.6);
    std::string title = span.source.empty() ? span.what : fmt::format("{}  ({}, {})", span.source, span.place, span.what);
    if (span.bytes) title += fmt::format(", {} bytes", span.bytes);
    title += fmt::format(", cycles {} to {}", span.begin, span.end);
    body_ += fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" stroke=\"white\" "
        "stroke-width=\"0.4\"/>",
        Escape(title), x, y, width, height, Fill(span.kind));
    // As much of the statement as fits, in full or not at all.
    const bool is_dark = span.kind != TimeKind::kWait;
    if (!span.source.empty() && height >= 20 && width > 6.3 * static_cast<double>(span.source.size()) + 8) {
      body_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" font-size=\"10\" text-anchor=\"middle\" fill=\"{}\"{}>{}</text>",
                           x + width / 2, y + height / 2 + 3, is_dark ? "white" : "#333333",
                           is_dark ? "" : " stroke=\"#f4f4f4\" stroke-width=\"3\" paint-order=\"stroke\"", Escape(span.source));
    }
    body_ += "</g>\n";
  }

  const Timeline& timeline_;
  const int blocks_;
  int grid_ = 0, block_ = -1, first_ = -1;
  int y_ = 20;
  std::string body_;
};

}  // namespace

std::string TimelineSvg(const Timeline& timeline, int blocks) { return Painter(timeline, blocks).Run(); }

}  // namespace tkc

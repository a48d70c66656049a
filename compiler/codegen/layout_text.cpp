// SPDX-License-Identifier: MIT
#include "compiler/codegen/layout_text.h"

#include <fmt/format.h>

namespace tkc::codegen {
namespace {

std::string Layout(const ir::RegisterLayout& l) {
  if (l == layout::kMatrixFragment) return "tk::mma_layout";
  std::string last;  // what is not the default, and what stands before it
  if (l.apart != 1) last = fmt::format(", {}", l.apart);
  if (l.columns_first || !last.empty()) last = fmt::format(", {}{}", l.columns_first, last);
  if (l.warp_cols != 1 || !last.empty()) last = fmt::format(", {}{}", l.warp_cols, last);
  return fmt::format("tk::layout<{}, {}, {}, {}, {}{}>", l.lanes, l.vec, l.halves, l.lane_rows, l.warp_rows, last);
}

std::string Dealt(const ir::RegisterLayout& l) {
  if (l == layout::kMatrixFragment) return "";
  if (l.apart != 1)
    return fmt::format("  // blocks of {} x {}, of which {} lanes have each element", l.RowsPerBlock(), l.ColsPerBlock(), l.apart);
  const std::string each = l.vec == 1 ? "single columns" : fmt::format("runs of {} columns", l.vec);
  return fmt::format("  // blocks of {} x {}, in which a lane has {}", l.RowsPerBlock(), l.ColsPerBlock(), each);
}

}  // namespace

std::string LayoutLine(const std::string& name, const ir::RegisterLayout& layout) {
  return fmt::format("using {} = {};{}", name, Layout(layout), Dealt(layout));
}

}  // namespace tkc::codegen

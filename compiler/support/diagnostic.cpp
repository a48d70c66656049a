// SPDX-License-Identifier: MIT
#include "compiler/support/diagnostic.h"

#include <algorithm>

namespace tkc {

void Diagnostics::EndCompilation(size_t first, const std::string& note) {
  std::deque<Diagnostic> kept;
  for (size_t i = 0; i < all_.size(); ++i) {
    Diagnostic& found = all_[i];
    const auto is_same = [&](const Diagnostic& earlier) {
      return earlier.kind == found.kind && earlier.span == found.span && earlier.headline == found.headline;
    };
    if (i >= first) {
      if (std::any_of(kept.begin(), kept.end(), is_same)) {
        if (found.severity == Severity::kError) --error_count_;
        continue;
      }
      if (!note.empty()) found.notes.push_back({kNoSpan, note});
    }
    kept.push_back(std::move(found));
  }
  all_ = std::move(kept);
}

}  // namespace tkc

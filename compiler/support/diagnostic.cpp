// SPDX-License-Identifier: MIT
#include "compiler/support/diagnostic.h"

#include <algorithm>

namespace tkc {

DiagnosticBuilder Diagnostics::Add(Diagnostic diagnostic) {
  if (diagnostic.IsError()) ++error_count_;
  Diagnostic& place = all_.size() >= kKept ? dropped_ : all_.emplace_back();
  place = std::move(diagnostic);
  return DiagnosticBuilder(place);
}

void Diagnostics::Append(Diagnostics other) {
  for (Diagnostic& diagnostic : other.all_) Add(std::move(diagnostic));
}

void Diagnostics::EndCompilation(size_t first, const std::string& note) {
  std::deque<Diagnostic> kept;
  for (size_t i = 0; i < all_.size(); ++i) {
    Diagnostic& found = all_[i];
    const auto is_same = [&](const Diagnostic& earlier) {
      return earlier.kind == found.kind && earlier.span == found.span && earlier.headline == found.headline;
    };
    if (i >= first) {
      if (std::any_of(kept.begin(), kept.end(), is_same)) {
        if (found.IsError()) --error_count_;
        continue;
      }
      if (!note.empty()) found.notes.push_back({kNoSpan, note});
    }
    kept.push_back(std::move(found));
  }
  all_ = std::move(kept);
}

}  // namespace tkc

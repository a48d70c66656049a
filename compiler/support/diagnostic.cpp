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

void Diagnostics::EndCompilation(size_t first, const std::string& note) { DropRepeated(first, note, ""); }

void Diagnostics::EndCompilationFor(std::string_view target, size_t first) { DropRepeated(first, "", target); }

void Diagnostics::NameTargets(size_t count) {
  for (Diagnostic& found : all_) {
    if (found.targets.empty() || found.targets.size() >= count) continue;
    std::string names;
    for (const std::string& target : found.targets) names += (names.empty() ? "`" : ", `") + target + "`";
    found.notes.push_back({kNoSpan, "found while compiling for " + names});
  }
}

void Diagnostics::DropRepeated(size_t first, const std::string& note, std::string_view target) {
  std::deque<Diagnostic> kept;
  for (size_t i = 0; i < all_.size(); ++i) {
    Diagnostic& found = all_[i];
    const auto is_same = [&](const Diagnostic& earlier) {
      return earlier.kind == found.kind && earlier.span == found.span && earlier.headline == found.headline;
    };
    if (i >= first) {
      const auto earlier = std::find_if(kept.begin(), kept.end(), is_same);
      const auto name_target = [&](Diagnostic& of) {
        if (!target.empty() && (of.targets.empty() || of.targets.back() != target)) of.targets.emplace_back(target);
      };
      if (earlier != kept.end()) {
        name_target(*earlier);
        if (found.IsError()) --error_count_;
        continue;
      }
      name_target(found);
      if (!note.empty()) found.notes.push_back({kNoSpan, note});
    }
    kept.push_back(std::move(found));
  }
  all_ = std::move(kept);
}

}  // namespace tkc

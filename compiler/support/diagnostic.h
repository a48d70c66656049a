// SPDX-License-Identifier: MIT
// Diagnostics: what is said to the user about the source. A phase reports into a Diagnostics sink and goes on;
// the driver stops at the end of a phase that reported an error and renders everything in source order.
//
//   diagnostics.Error(DiagnosticKind::kUnknownName, span, fmt::format("no name `{}` here", name))
//       .Label(span, "used here")                     // text under the marked source; the first label is the place
//       .Note(other_span, "`x` is declared here")     // every other place involved
//       .Help("write `y`", Edit{span, "y"});          // last, concrete, applicable
//
// Style: lower case, no final period, code in backticks; a label never repeats the headline.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/result.h"
#include "compiler/support/source.h"

namespace tkc {

enum class Severity : uint8_t { kError, kWarning };

enum class DiagnosticKind : uint16_t {
#define KIND(name, code, severity, summary) k##name,
#include "compiler/support/diagnostic_kind.def"
#undef KIND
};

struct DiagnosticKindInfo {
  DiagnosticKind kind;
  std::string_view code;  // `shared-memory-overflow`
  Severity severity;
  std::string_view summary;
};

inline constexpr DiagnosticKindInfo kDiagnosticKinds[] = {
#define KIND(name, code, severity, summary) {DiagnosticKind::k##name, code, Severity::k##severity, summary},
#include "compiler/support/diagnostic_kind.def"
#undef KIND
};

inline constexpr const DiagnosticKindInfo& Info(DiagnosticKind kind) { return kDiagnosticKinds[static_cast<int>(kind)]; }

/// A replacement of source text; with span.begin == span.end an insertion.
struct Edit {
  Span span;
  std::string replacement;
};

struct DiagnosticLabel {
  Span span;
  std::string text;  // may be empty: marked only
};

struct DiagnosticNote {
  Span span;  // kNoSpan: text only
  std::string text;
};

struct DiagnosticHelp {
  std::string text;
  std::vector<Edit> edits;
};

struct Diagnostic {
  DiagnosticKind kind;
  Severity severity;
  Span span;  // the place, shown after `-->`
  std::string headline;
  std::vector<DiagnosticLabel> labels;  // without any, `span` itself is marked
  std::vector<DiagnosticNote> notes;
  std::vector<DiagnosticHelp> helps;
};

/// Adds to the diagnostic just reported; use it in the same expression.
class DiagnosticBuilder {
 public:
  explicit DiagnosticBuilder(Diagnostic& diagnostic) : diagnostic_(diagnostic) {}

  DiagnosticBuilder& Label(Span span, std::string text) {
    diagnostic_.labels.push_back({span, std::move(text)});
    return *this;
  }
  DiagnosticBuilder& Note(Span span, std::string text) {
    diagnostic_.notes.push_back({span, std::move(text)});
    return *this;
  }
  DiagnosticBuilder& Note(std::string text) { return Note(kNoSpan, std::move(text)); }
  DiagnosticBuilder& Help(std::string text) {
    diagnostic_.helps.push_back({std::move(text), {}});
    return *this;
  }
  DiagnosticBuilder& Help(std::string text, Edit edit) {
    diagnostic_.helps.push_back({std::move(text), {std::move(edit)}});
    return *this;
  }
  DiagnosticBuilder& Help(std::string text, std::vector<Edit> edits) {
    diagnostic_.helps.push_back({std::move(text), std::move(edits)});
    return *this;
  }
  /// `return diagnostics.Error(..).Label(..);` in a function that returns a Result.
  operator Failure() const { return {}; }
  template <typename T>
  operator Result<T>() const {
    return Failure{};
  }

 private:
  Diagnostic& diagnostic_;
};

/// The sink. Keeps the first kKept diagnostics and counts the rest.
class Diagnostics {
 public:
  /// At most this many errors are shown to the user in one run.
  static constexpr size_t kShown = 20;
  static constexpr size_t kKept = 200;

  /// Reports a diagnostic of the kind's own severity. `headline`: what was found, then the limit.
  DiagnosticBuilder Report(DiagnosticKind kind, Span span, std::string headline) {
    const Severity severity = Info(kind).severity;
    if (severity == Severity::kError) ++error_count_;
    Diagnostic diagnostic{kind, severity, span, std::move(headline), {}, {}, {}};
    if (all_.size() >= kKept) {
      dropped_ = std::move(diagnostic);
      return DiagnosticBuilder(dropped_);
    }
    all_.push_back(std::move(diagnostic));
    return DiagnosticBuilder(all_.back());
  }
  DiagnosticBuilder Error(DiagnosticKind kind, Span span, std::string headline) { return Report(kind, span, std::move(headline)); }
  DiagnosticBuilder Warning(DiagnosticKind kind, Span span, std::string headline) {
    return Report(kind, span, std::move(headline));
  }

  /// Adds to the one of this number in All().
  DiagnosticBuilder Again(size_t number) { return DiagnosticBuilder(all_[number]); }

  /// Reports what another sink has kept, in its order.
  void Append(Diagnostics other) {
    for (Diagnostic& diagnostic : other.all_) {
      error_count_ += diagnostic.severity == Severity::kError;
      if (all_.size() < kKept) all_.push_back(std::move(diagnostic));
    }
  }

  /// Ends a compilation, maybe one of several of the same source, which reported all from number `first` on: drops what has been
  /// said before, by an earlier one or of another copy of an unrolled statement, and adds `note`, unless it is empty, to the rest.
  void EndCompilation(size_t first, const std::string& note);

  bool HasErrors() const { return error_count_ > 0; }
  size_t ErrorCount() const { return error_count_; }
  /// In the order of reporting; the renderer sorts by place.
  const std::deque<Diagnostic>& All() const { return all_; }

 private:
  std::deque<Diagnostic> all_;  // a deque: builders hold references
  Diagnostic dropped_{};
  size_t error_count_ = 0;
};

}  // namespace tkc

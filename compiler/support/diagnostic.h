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

/// A kind of this severity: another one, where it is written for it, does not compile.
template <Severity severity>
class KindOfSeverity {
 public:
  consteval KindOfSeverity(DiagnosticKind kind) : kind_(kind) {
    if (Info(kind).severity != severity) IsOfAnotherSeverity();
  }
  constexpr operator DiagnosticKind() const { return kind_; }

 private:
  static void IsOfAnotherSeverity();  // no constant expression calls it
  DiagnosticKind kind_;
};
using ErrorKind = KindOfSeverity<Severity::kError>;
using WarningKind = KindOfSeverity<Severity::kWarning>;

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
  Span span;  // the place, shown after `-->`
  std::string headline;
  std::vector<DiagnosticLabel> labels{};  // without any, `span` itself is marked
  std::vector<DiagnosticNote> notes{};
  std::vector<DiagnosticHelp> helps{};
  std::vector<std::string> targets{};  // those that it was found for, where the source is compiled for each by itself
  bool depends_on_sizes = false;       // another value of a compile-time parameter may be the way out; the driver tries which
  bool IsError() const { return Info(kind).severity == Severity::kError; }
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
  DiagnosticBuilder& DependsOnSizes() {
    diagnostic_.depends_on_sizes = true;
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

  /// `headline`: what was found, then the limit.
  DiagnosticBuilder Error(ErrorKind kind, Span span, std::string headline) { return Add({kind, span, std::move(headline)}); }
  DiagnosticBuilder Warning(WarningKind kind, Span span, std::string headline) { return Add({kind, span, std::move(headline)}); }
  /// One that another sink has kept.
  DiagnosticBuilder Add(Diagnostic diagnostic);

  /// Adds to the one of this number in All().
  DiagnosticBuilder Again(size_t number) { return DiagnosticBuilder(all_[number]); }

  /// Reports what another sink has kept, in its order.
  void Append(Diagnostics other);

  /// Ends a compilation, maybe one of several of the same source, which reported all from number `first` on: drops what has been
  /// said before, by an earlier one or of another copy of an unrolled statement, and adds `note`, unless it is empty, to the rest.
  void EndCompilation(size_t first, const std::string& note);
  /// The same of a compilation for one of several targets.
  void EndCompilationFor(std::string_view target, size_t first);
  /// Says which targets it is that something was found for, where not all of so many have it.
  void NameTargets(size_t count);

  bool HasErrors() const { return error_count_ > 0; }
  size_t ErrorCount() const { return error_count_; }
  /// In the order of reporting; the renderer sorts by place.
  const std::deque<Diagnostic>& All() const { return all_; }

 private:
  void DropRepeated(size_t first, const std::string& note, std::string_view target);

  std::deque<Diagnostic> all_;  // a deque: builders hold references
  Diagnostic dropped_{};
  size_t error_count_ = 0;
};

}  // namespace tkc

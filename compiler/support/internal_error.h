// SPDX-License-Identifier: MIT
// Faults of the compiler, as opposed to faults of the source: print "internal error", the pass, how to repeat it,
// and leave with a status of their own. Never used for anything that a .tk file can be blamed for.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "compiler/support/source.h"

namespace tkc {

inline constexpr int kExitInternal = 70;  // the status: EX_SOFTWARE of sysexits.h

/// What a crash report names. Set by the driver only; the one piece of process-wide state, as a crash has no caller. The pass is
/// that of the calling thread; its name is not copied.
void SetCrashPass(std::string_view pass);
void SetCrashRepeat(std::string command);
/// Resolves a span to `file:line:column` for the report; the driver sets it while a SourceManager lives.
using SpanPrinter = std::string (*)(const void* context, Span span);
void SetCrashSpanPrinter(SpanPrinter printer, const void* context);

[[noreturn]] void InternalError(std::string_view message, Span span = kNoSpan,
                                std::source_location where = std::source_location::current());

/// A compiler invariant: `Ensure(slots > 0, "pipe without slots", pipe.span);`
inline void Ensure(bool condition, std::string_view message, Span span = kNoSpan,
                   std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]] {
    InternalError(message, span, where);
  }
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/support/internal_error.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace tkc {
namespace {

struct CrashState {
  std::string repeat;
  SpanPrinter printer = nullptr;
  const void* context = nullptr;
};
CrashState& State() {
  static CrashState state;
  return state;
}
thread_local std::string_view current_pass = "start";  // no string: glibc aborts where it has no memory left to note a destructor

}  // namespace

void SetCrashPass(std::string_view pass) { current_pass = pass; }
void SetCrashRepeat(std::string command) { State().repeat = std::move(command); }
void SetCrashSpanPrinter(SpanPrinter printer, const void* context) {
  State().printer = printer;
  State().context = context;
}

void InternalError(std::string_view message, Span span, std::source_location where) {
  // Of several threads that come here one is told, and ends all. A thread that crashes while it tells comes twice.
  static std::recursive_mutex only_one;
  only_one.lock();
  const CrashState& state = State();
  std::string_view file = where.file_name();
  if (const size_t root = file.rfind("compiler/"); root != std::string_view::npos) file.remove_prefix(root);
  fmt::print(stderr, "internal error: {}\n", message);
  if (span.file != kNoFile && state.printer) fmt::print(stderr, "  --> {}\n", state.printer(state.context, span));
  fmt::print(stderr, "note: in `{}` ({}:{}); this is a fault of tkc, not of your file\n", current_pass, file, where.line());
  if (!state.repeat.empty()) fmt::print(stderr, "help: to repeat it: {}\n", state.repeat);
  std::fflush(nullptr);
  std::_Exit(kExitInternal);
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/codegen/mangle.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace tkc::codegen {
namespace {

// Sorted (a test checks it), for binary search.
constexpr std::string_view kReserved[] = {
#include "compiler/codegen/reserved_words.inc"
};
constexpr std::string_view kLibraryFunctions[] = {
#include "compiler/codegen/library_functions.inc"
};

bool IsUpper(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// Macro families of CUDA, of the C library and of the runtime that no list can keep up with.
bool IsMacroFamily(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {
      "CUDA",  "CU_", "TK_", "INT",   "UINT",   "PRI",    "SCN",   "FLT_",   "DBL_",  "LDBL_",  "FP_",    "M_",     "SIG",
      "HUGE_", "E2",  "EI",  "CHAR_", "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "LONG_", "ULONG_", "LLONG_", "ULLONG_"};
  return IsUpper(name) && std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
           return name.size() > prefix.size() && name.starts_with(prefix);
         });
}

/// Names outside of namespaces that belong to CUDA, HIP, POSIX and its threads, as families.
bool IsGlobalFamily(std::string_view name) {
  for (std::string_view prefix : {"cuda", "curand", "hip", "pthread_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return name.ends_with("_t") || (name.size() > 2 && name.starts_with("cu") && std::isupper(static_cast<unsigned char>(name[2])));
}

bool IsLibraryFunction(std::string_view name) {
  return IsGlobalFamily(name) || std::binary_search(std::begin(kLibraryFunctions), std::end(kLibraryFunctions), name);
}

bool HasOddUnderscore(std::string_view name) {
  return name.starts_with('_') || name.ends_with('_') || name.find("__") != std::string_view::npos;
}

constexpr char kHex[] = "0123456789abcdef";

}  // namespace

bool IsReserved(std::string_view name) {
  return name.starts_with("launch_") || (name.starts_with("tk_") && name.size() > 3) ||
         std::binary_search(std::begin(kReserved), std::end(kReserved), name) || IsMacroFamily(name);
}

std::string Mangle(std::string_view name) {
  const bool is_ascii = std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (is_ascii && !HasOddUnderscore(name)) return std::string(name) + (IsReserved(name) ? "_" : "");
  std::string result = "n";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '_') {
      result += "_u";
    } else if (std::isalnum(byte)) {
      result += c;
    } else {  // not from our lexer; kept injective all the same
      result += "_x";
      result += kHex[byte / 16];
      result += kHex[byte % 16];
    }
  }
  return result + "_";
}

std::string MangleEntry(std::string_view name) { return IsLibraryFunction(name) ? std::string(name) + "_" : Mangle(name); }

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
// Where a piece of source text stands: a file and a half-open range of bytes in it.
#pragma once

#include <cstdint>

namespace tkc {

/// A half-open byte range [begin, end) of file `file` (an index into SourceManager).
struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool operator==(const Span&) const = default;
};

/// The file of a span that points nowhere (an option, a missing file); diagnostics then print no source.
inline constexpr uint32_t kNoFile = 0xffffffff;
inline constexpr Span kNoSpan = {kNoFile, 0, 0};

/// The smallest span that covers both; both must be of one file.
inline Span Join(Span a, Span b) { return {a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end}; }

}  // namespace tkc

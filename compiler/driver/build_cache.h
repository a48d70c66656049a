// SPDX-License-Identifier: MIT
// What a compiler made of generated files, kept under ${XDG_CACHE_HOME:-~/.cache}/tkc. An entry is a folder named by a hash of
// all that goes into it: the files, the runtime's headers, the compiler and its options. It appears whole, by a rename; the
// oldest entries go when the cache grows past its bound. A cache that can't be written costs only time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"
#include "compiler/support/interrupt.h"
#include "compiler/support/output_file.h"

namespace tkc {

struct BuildRequest {
  std::string compiler;                // path
  std::vector<std::string> arguments;  // in order; run in the folder of the files, so these are named by their base names
  std::vector<OutputFile> files;       // base names and texts
  std::string runtime_include;         // its headers are part of the key
  std::string product;                 // base name of what comes out
  double seconds = 300;                // limit
};

struct Build {
  std::string folder;
  std::string product;                    // path
  std::optional<ScratchFolder> uncached;  // holds the folder where there is no cache
};

/// Takes the entry from the cache or makes it. What the compiler said goes into a diagnostic.
Result<Build> BuildCached(const BuildRequest& request, Diagnostics& diagnostics);

/// 32 hexadecimal digits of what the bytes say; for names, not for secrets.
class Fingerprint {
 public:
  /// The length goes in, too: ("ab", "c") is not ("a", "bc").
  void Add(std::string_view text);
  std::string Text() const;

 private:
  void Byte(uint8_t byte);
  uint64_t one_ = 0xcbf29ce484222325;
  uint64_t two_ = 0x9ae16a3b2f90404f;
};

}  // namespace tkc

// SPDX-License-Identifier: MIT
// What a proof that fails has to say.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace tkc::certify {

struct Finding {
  ErrorKind kind;
  Span span;
  std::string headline;
  std::vector<std::pair<Span, std::string>> notes{};
  std::string help{};  // what can be done about it in the file
};

}  // namespace tkc::certify

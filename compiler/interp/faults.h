// SPDX-License-Identifier: MIT
// What stops an interpretation: the first fault is reported, everything after it is a consequence and is dropped.
// Expressions go on with zeros after a fault; whoever runs loops or workers asks failed() and winds down.
#pragma once

#include <string>
#include <utility>

#include "compiler/support/diagnostic.h"

namespace tkc::interp {

class Faults {
 public:
  explicit Faults(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

  void Report(ErrorKind kind, Span span, std::string headline) {
    if (!failed_) diagnostics_.Error(kind, span, std::move(headline));
    failed_ = true;
  }

  /// For a fault with notes: marks the failure, hands out the sink. Only while !failed().
  Diagnostics& Open() {
    failed_ = true;
    return diagnostics_;
  }

 private:
  Diagnostics& diagnostics_;
  bool failed_ = false;
};

}  // namespace tkc::interp

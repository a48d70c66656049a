// SPDX-License-Identifier: MIT
// How often elaboration may copy source, so that a file of a few lines can't take all memory.
#pragma once

#include <cstdint>
#include <utility>

namespace tkc::sema {

/// Copies of source that elaboration makes in one kernel, of functions inlined and of loop iterations unrolled: more than kMost is
/// a slip, or hostile.
class CopyBudget {
 public:
  static constexpr int64_t kMost = 20000;

  /// False: there is to be no further copy.
  bool Take() { return !has_ended_ && ++taken_ <= kMost; }
  /// There is none from now on. False if that has been said before.
  bool End() { return !std::exchange(has_ended_, true); }

 private:
  int64_t taken_ = 0;
  bool has_ended_ = false;
};

}  // namespace tkc::sema

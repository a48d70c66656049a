// SPDX-License-Identifier: MIT
// What grid sections hand on to later ones: `work` tensors, and `out` tensors that a later section reads. A tensor is written by
// some sections and then read by others, never both in one and never written again behind a read.
#pragma once

#include <map>
#include <optional>

#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"

namespace tkc::sema {

class HandedOn {
 public:
  /// In this section, of a tensor that the kernel writes.
  void Read(typed::ParamId tensor, Span span) { read_.emplace(tensor, span); }
  /// False if it is not the first of its kind: `<-`, or what combines.
  bool Write(typed::ParamId tensor, typed::StoreOp op, Span span);
  /// The first in this section that is not of the kind of `op`.
  std::optional<Span> WriteOfOtherKind(typed::ParamId tensor, typed::StoreOp op) const;

  /// Reports what does not go together of the section's reads and writes with each other and with those of earlier ones.
  void EndSection(const typed::Kernel& kernel, Diagnostics& diagnostics);

  /// Behind all sections: outputs that none has written.
  void WarnOfUnwritten(const typed::Kernel& kernel, Diagnostics& diagnostics) const;

 private:
  void CheckReads(const typed::Kernel& kernel, Diagnostics& diagnostics);
  void CheckWrites(const typed::Kernel& kernel, Diagnostics& diagnostics);

  struct Writes {
    std::optional<Span> set, combined;
    Span First() const { return set ? *set : *combined; }
  };
  std::map<typed::ParamId, Span> read_, read_before_, written_before_;  // the first each
  std::map<typed::ParamId, Writes> written_;
};

}  // namespace tkc::sema

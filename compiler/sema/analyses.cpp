// SPDX-License-Identifier: MIT
#include "compiler/sema/analyses.h"

namespace tkc::sema {

void Analyse(typed::Kernel& kernel, bool deterministic, Diagnostics& diagnostics) {
  for (typed::Section& section : kernel.sections) {
    LoopNames names;
    CheckPipes(kernel, section, diagnostics, names);
    if (diagnostics.HasErrors()) return;
    CheckHolds(kernel, section, diagnostics);
    CheckGridMap(kernel, section, deterministic, diagnostics);
    // Wants the names of loops that run in step.
    CheckFillTaint(kernel, section, names, diagnostics);
  }
}

}  // namespace tkc::sema

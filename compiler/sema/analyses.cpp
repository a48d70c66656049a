// SPDX-License-Identifier: MIT
#include "compiler/sema/analyses.h"

namespace tkc::sema {

void Analyse(typed::Kernel& kernel, bool deterministic, Diagnostics& diagnostics) {
  (void)kernel;
  (void)deterministic;
  (void)diagnostics;
}

}  // namespace tkc::sema

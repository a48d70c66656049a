// SPDX-License-Identifier: MIT
#include "compiler/driver/run_kernel.h"

#include <iostream>

#include "compiler/driver/compile.h"
#include "compiler/driver/outputs.h"
#include "compiler/interp/run.h"
#include "compiler/support/internal_error.h"

namespace tkc {

int RunKernel(const Options& options, const interp::RunOptions& run) {
  Session session(options);
  const Target* target = RequireTarget(session);
  if (!target) return session.Finish();
  Result<typed::Program> checked = CheckFile(session, *target);
  if (!checked) return session.Finish();
  SetCrashPass("run");
  const int status = interp::Run(*checked, run, session.diagnostics, std::cout);
  std::cout.flush();
  const int reported = session.Finish();
  return status != kExitOk ? status : reported;
}

}  // namespace tkc

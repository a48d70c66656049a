// SPDX-License-Identifier: MIT
// Runs one pass after the other over all kernels of a module: verifies between them, names the pass in internal
// errors, honours --run-pass and --dump-after. Which passes there are, and in which order, is compile.cpp's business.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/driver/session.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/verify.h"
#include "compiler/target/target.h"

namespace tkc {

class PassRunner {
 public:
  using Pass = Result<void> (*)(ir::Kernel&, const Target&, Diagnostics&);
  using TargetFreePass = Result<void> (*)(ir::Kernel&, Diagnostics&);

  PassRunner(Session& session, ir::Module& module, const Target& target) : session_(session), module_(module), target_(target) {}

  /// Runs `pass` unless --run-pass names others; false: it reported an error. All kernels are done before it fails.
  bool operator()(std::string_view name, Pass pass);
  bool operator()(std::string_view name, TargetFreePass pass);

  /// From here on the IR must satisfy `level`; true, for use between passes.
  bool Enter(ir::Level level);

  /// Verifies the text of --from before the first pass: there a fault is the user's.
  bool VerifyInput();

  /// Reports names of --run-pass and --dump-after that no pass had.
  void CheckNames();

 private:
  void Verify() const;
  bool Run(std::string_view name, const std::function<Result<void>(ir::Kernel&)>& pass);

  Session& session_;
  ir::Module& module_;
  const Target& target_;
  ir::Level level_ = ir::Level::kTile;
  std::string names_;  // of all passes, for messages
};

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Runs typed statements for one worker instance, or for the grid-level values of a section (no traffic then).
#pragma once

#include <vector>

#include "compiler/interp/evaluate.h"
#include "compiler/interp/faults.h"
#include "compiler/interp/launch.h"
#include "compiler/interp/ring.h"
#include "compiler/sema/typed.h"

namespace tkc::interp {

/// What a statement that sends or receives asks of its block; both block until done, or until the run has failed.
class Traffic {
 public:
  virtual ~Traffic() = default;
  virtual void Send(const typed::Stmt& stmt, int64_t ring, const std::vector<RingPart>& parts) = 0;
  virtual void Receive(const typed::Stmt& stmt, int64_t ring, std::vector<Value>& fields) = 0;
};

class Executor {
 public:
  /// `section` and `traffic` may be null for statements without traffic.
  Executor(Launch& launch, const typed::Section* section, std::vector<Value>& vars, Traffic* traffic, Faults& faults)
      : launch_(launch), section_(section), vars_(vars), traffic_(traffic), faults_(faults), evaluator_(launch, vars, faults) {}

  void Execute(const typed::Block& block);

 private:
  void Execute(const typed::Stmt& stmt);
  void AssignPartOf(const typed::Stmt& stmt);
  void Loop(const typed::Stmt& stmt);
  void Receive(const typed::Stmt& stmt);
  void Send(const typed::Stmt& stmt);
  void Store(const typed::Stmt& stmt);
  /// Of a value that is kept, where they are asked for.
  double TermsOf(const typed::Expr& expr) const { return launch_.measures == nullptr ? 0 : Terms(expr, launch_, vars_); }
  int64_t RingOf(const typed::Stmt& stmt);
  Value& Var(typed::VarId id) { return vars_[static_cast<size_t>(id)]; }

  Launch& launch_;
  const typed::Section* section_;
  std::vector<Value>& vars_;
  Traffic* traffic_;
  Faults& faults_;
  Evaluator evaluator_;
};

}  // namespace tkc::interp

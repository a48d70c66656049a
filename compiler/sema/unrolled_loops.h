// SPDX-License-Identifier: MIT
// Which loops over single numbers are written out, one copy of the body for each turn: those whose index chooses what must be known
// when tkc compiles. Asked of the syntax, before a worker is elaborated, since workers that meet in a loop take its turns alike.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "compiler/syntax/ast.h"

namespace tkc::sema {

/// What a loop's index is used for, the most that is asked for last.
enum class IndexUse : uint8_t {
  kNumber,  // for a number like any other
  kLoad,    // for where registers are loaded from a tensor: written out, loads of several turns are under way together
  kChoice,  // for a part, a slice of a tile, a ring, or what a function is given: known when tkc compiles
};

class UnrolledLoops {
 public:
  /// Those of no section: each loop is asked for itself.
  UnrolledLoops() = default;
  UnrolledLoops(const ast::KernelDecl& kernel, const ast::GridSection& section);

  /// In this loop or in the same one of another worker.
  IndexUse UseOf(const ast::ForStmt& loop) const;

  /// Whether the loop fills the pipes of a worker's instances one after the other, each by one statement: then it stays one, though
  /// its index chooses the ring. What is sent may begin where the index says.
  bool FillsRings(const ast::ForStmt& loop) const;

  struct Names {
    std::set<std::string> parameters, tensors, pipes;  // parameters: known when tkc compiles
    std::set<std::string> of_instances;                // of `pipes`, those that are one for each instance
  };

 private:
  Names names_;
  std::map<const ast::ForStmt*, IndexUse> of_loops_;  // of the section's workers
};

}  // namespace tkc::sema

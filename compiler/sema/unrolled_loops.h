// SPDX-License-Identifier: MIT
// Which loops over single numbers are written out, one copy of the body for each turn: those whose index chooses what must be known
// when tkc compiles. Asked of the syntax, before a worker is elaborated, since workers that meet in a loop take its turns alike.
#pragma once

#include <set>
#include <string>

#include "compiler/syntax/ast.h"

namespace tkc::sema {

class UnrolledLoops {
 public:
  /// Those of no section: each loop is asked for itself.
  UnrolledLoops() = default;
  explicit UnrolledLoops(const ast::GridSection& section);

  /// Whether the index chooses a part, a slice, a ring, or goes into a function, in this loop or in the same one of another worker.
  bool NeedNumbers(const ast::ForStmt& loop) const;

  /// Whether the loop fills the pipes of a worker's instances one after the other, each by one statement: then it stays one, though
  /// its index chooses the ring. What is sent may begin where the index says.
  bool FillsRings(const ast::ForStmt& loop) const;

 private:
  std::set<const ast::ForStmt*> for_others_;  // for the sake of a loop of another worker
  std::set<std::string> of_instances_;        // pipes that are one for each instance
};

}  // namespace tkc::sema

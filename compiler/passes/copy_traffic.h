// SPDX-License-Identifier: MIT
// What fold_copies takes from the workers that only load: their sends, with names resolved to those of the worker that computes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/rewrite.h"

namespace tkc::passes {

/// Names of a loading worker and what they are in the computing one.
using Names = std::map<std::string, ir::Scalar>;

/// All names at once, so that a value may mention a name that is replaced.
ir::Scalar Resolve(const ir::Scalar& scalar, const Names& names);

/// From here on the name of a `let` is its value, so that formulas can be compared. One whose value is long keeps its name.
void NoteLet(const ir::Op& op, Names& names);

/// A region of a loading worker, seen from the region of the computing one that it has in common with it.
struct Feed {
  const ir::Region* region;
  Names names;
};

/// From here on the name of the loading worker's `let` is, in `names`, what the computing one has for it. `kept`: names of that one
/// with their values. The same name with the same value is left as it is, and what reads a tensor is what has read it there.
void NameLet(const ir::Op& let, const Names& kept, Names& names);

/// One step of a loading worker's region.
struct Traffic {
  enum class Kind : uint8_t { kSend, kLoop, kBranch };
  Kind kind;
  ir::Region ops;               // kSend: the sends that fill one slot; kBranch: the branch, if no loop is in it. Resolved
  const ir::Op* source;         // the loop or branch
  Names names;                  // there
  std::set<std::string> pipes;  // filled by it
  std::set<std::string> done;   // of these, what has found its receive
  bool is_early = false;        // moved to the start of the region
};

/// The steps of the region, in order. False if a scalar variable, which has no one value, decides about a copy.
bool CollectTraffic(const Feed& feed, const Names& kept, std::vector<Traffic>& out);

/// The sends into one pipe, with the branches around them.
ir::Region OnlyPipe(const ir::Region& region, const std::string& pipe);

/// Whether elements of tensors say more than where blocks of the region begin.
bool ReadsElementsOtherwise(const ir::Region& region);

/// Has blocks of which an element says where they begin lie behind their tensors unless `exists`: nothing is read for them.
void BeginWhere(const ir::Kernel& kernel, const ir::Scalar& exists, ir::Region& region);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Finds the endpoints of every pipe: how many worker instances send to it and receive from it, after specialising the conditions on
// the instance number. Fills Pipe::senders and Pipe::receivers. Tile level.
#pragma once

#include <set>
#include <string>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

/// The pipes that one instance of the worker sends to and receives from.
struct Endpoints {
  std::set<std::string> sent, received;
};
Endpoints EndpointsOf(const ir::Worker& worker, int64_t instance);

/// Whether the instance may execute this region of the operation: a branch whose condition its number decides is taken or not.
bool Takes(const ir::Op& op, size_t region, const ir::Worker& worker, int64_t instance);

Result<void> ExpandWorkers(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Who meets where on targets that fold copies: a worker's threads among themselves, and workers with each other through pipes.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// The worker that computes and issues the copies of a loaded pipe: the first one that receives it, and if it can be waits for no
/// other of those. Null: no worker receives.
const ir::Worker* FillerOf(const ir::Kernel& kernel, const std::string& pipe);

/// Pipes by which different workers that compute meet: their slots have barriers. In all others one worker's threads meet.
std::set<std::string> Channels(const ir::Kernel& kernel);

/// Calls `visit` for every operation with what around it is not the same for all instances: so many branches and loops, from the
/// first such one inwards, itself among them.
void ForEachApart(const ir::Worker& worker, const std::function<void(const ir::Op& op, int branches, int loops)>& visit);

/// Whether an instance uses buffers of its own where others do not, so that its warps have to meet without them.
bool StagesApart(const ir::Kernel& kernel, const ir::Worker& worker);

/// Threads of all instances.
int64_t ThreadsOf(const ir::Worker& worker, const Target& target);

/// Whether the worker is the whole block, whose own barrier is then its own.
bool IsWholeBlock(const ir::Kernel& kernel, const ir::Worker& worker);

/// The named barrier of all instances of a worker.
int64_t WorkerBarrier(const ir::Kernel& kernel, const ir::Worker& worker);

/// Where the target has no named barriers: gives each worker that is not the whole block barriers in shared memory for the meetings
/// that its program has.
void PlaceMeetings(ir::Kernel& kernel, const Target& target);

/// Bytes of barriers in shared memory that a folded program may need.
int64_t BarrierBytes(const ir::Kernel& kernel, const Target& target);

}  // namespace tkc::passes

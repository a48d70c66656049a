// SPDX-License-Identifier: MIT
#include "compiler/certify/sets_apart.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::certify {
namespace {

/// Buffers of which some view says whose it is; of others with several sets each instance has one for its own work.
std::set<std::string> BuffersWithSets(const ir::Kernel& kernel) {
  std::set<std::string> buffers;
  for (const ir::Worker& worker : kernel.workers) {
    ir::ForEachOp(worker.body, [&](const ir::Op& op) {
      if (op.code == ir::OpCode::kView && !ir::PlaceOfSlot(op.Slot()).instance.empty()) buffers.insert(op.symbol);
    });
  }
  return buffers;
}

}  // namespace

bool HasSets(const ir::Kernel& kernel) {
  return std::any_of(kernel.barriers.begin(), kernel.barriers.end(), [](const ir::Barrier& b) { return b.instances > 1; });
}

std::string NameInSet(const std::string& array, int64_t instance) { return fmt::format("{}[{}]", array, instance); }

std::string WithoutSet(const std::string& array) { return array.substr(0, array.find('[')); }

std::string SetOf(const std::string& array) { return array.substr(WithoutSet(array).size()); }

ir::Kernel WithSetsApart(ir::Kernel kernel) {
  const std::set<std::string> with_sets = BuffersWithSets(kernel);
  std::vector<ir::Buffer> buffers;
  for (const ir::Buffer& buffer : kernel.buffers) {
    const int64_t sets = with_sets.contains(buffer.name) ? buffer.instances : 1;
    for (int64_t i = 0; i < sets; ++i) {
      ir::Buffer& one = buffers.emplace_back(buffer);
      if (sets == 1) continue;
      one.name = NameInSet(buffer.name, i);
      one.instances = 1;
      one.offset += i * (buffer.End() - buffer.offset) / sets;
    }
  }
  std::vector<ir::Barrier> barriers;
  std::vector<int64_t> first;  // of the sets of each barrier
  for (const ir::Barrier& barrier : kernel.barriers) {
    first.push_back(static_cast<int64_t>(barriers.size()));
    for (int64_t i = 0; i < barrier.instances; ++i) {
      ir::Barrier& one = barriers.emplace_back(barrier);
      if (barrier.instances == 1) continue;
      one.name = NameInSet(barrier.name, i);
      one.instances = 1;
    }
  }
  for (ir::Worker& worker : kernel.workers) {
    ir::ForEachOp(worker.body, [&](ir::Op& op) {
      if (!ir::IsEngineLoad(op.code)) return;
      const bool is_known = op.Barrier() >= 0 && op.Barrier() < static_cast<int64_t>(first.size());
      if (is_known) op.SetBarrier(first[static_cast<size_t>(op.Barrier())]);
    });
  }
  kernel.buffers = std::move(buffers);
  kernel.barriers = std::move(barriers);
  return kernel;
}

}  // namespace tkc::certify

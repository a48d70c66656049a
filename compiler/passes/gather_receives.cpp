// SPDX-License-Identifier: MIT
#include "compiler/passes/gather_receives.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/meetings.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

class Gathering {
 public:
  Gathering(const ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), worker_(worker), channels_(Channels(kernel)) {}

  void Visit(Region& region, bool is_loop) const {
    for (Op& op : region) {
      for (Region& inner : op.regions) Visit(inner, op.code == OpCode::kFor);
    }
    if (is_loop) Gather(region);
  }

 private:
  /// Loading workers fill its slots ahead: they are there, or on their way, in front of the products as well as behind.
  bool RunsAhead(const Op& receive) const {
    return FindPipe(kernel_, receive.symbol).slots > 1 && !channels_.contains(receive.symbol) &&
           FillerOf(kernel_, receive.symbol) == &worker_;
  }

  void Gather(Region& body) const {
    std::set<std::string> received;  // in the run of receives at hand
    size_t end = 0;                  // of that run
    for (size_t i = 0; i < body.size(); ++i) {
      const OpCode code = body[i].code;
      const bool only_multiplies = ir::IsPartOrTranspose(code) || ir::LoadsFragments(code) || code == OpCode::kMultiply;
      if (code != OpCode::kReceive) {
        if (!only_multiplies) received.clear();
        continue;
      }
      if (!RunsAhead(body[i])) {
        received.clear();
      } else if (received.empty() || !received.insert(body[i].symbol).second) {
        received = {body[i].symbol};
        end = i + 1;
      } else {
        std::rotate(body.begin() + static_cast<ptrdiff_t>(end), body.begin() + static_cast<ptrdiff_t>(i),
                    body.begin() + static_cast<ptrdiff_t>(i) + 1);
        ++end;
      }
    }
  }

  const ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const std::set<std::string> channels_;  // pipes that others receive, too
};

}  // namespace

Result<void> GatherReceives(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.folds_copies) return {};
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes() && !worker.alternates) Gathering(kernel, worker).Visit(worker.body, false);
  }
  return {};
}

}  // namespace tkc::passes

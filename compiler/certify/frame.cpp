// SPDX-License-Identifier: MIT
#include "compiler/certify/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/certify/scene.h"
#include "compiler/ir/op_traits.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;

class SetupWalk {
 public:
  SetupWalk(const ir::Kernel& kernel, Setup& setup) : kernel_(kernel), setup_(setup) {}

  std::optional<Finding> Run() {
    if (auto found = Walk(kernel_.setup, /*by_one=*/false)) return found;
    if (kernel_.barriers.empty() || setup_.barriers_stand || setup_.has_arrived) return std::nullopt;
    return Barrier(kernel_.span, fmt::format("the set-up of `{}` ends before all threads know that barriers stand", kernel_.name));
  }

 private:
  std::optional<Finding> Walk(const ir::Region& region, bool by_one) {
    for (const Op& op : region) {
      if (auto found = op.code == OpCode::kIfElected ? Walk(op.regions[0], true) : Step(op, by_one)) return found;
    }
    return std::nullopt;
  }

  std::optional<Finding> Step(const Op& op, bool by_one) {
    if (op.code == OpCode::kComment) return std::nullopt;
    const bool wants_one = ir::ExecutorsOf(op.code) == ir::Executors::kOneThread;
    if (wants_one != by_one)
      return Finding{DiagnosticKind::kCertificateThreads, op.span,
                     fmt::format("{} {}; {}", by_one ? "one thread" : "every thread", Doing(kernel_, op),
                                 wants_one ? "one must" : "all threads of the block must")};
    switch (op.code) {
      case OpCode::kPrefetchMap: return std::nullopt;
      case OpCode::kInitBarrier: return Initialise(op);
      case OpCode::kFenceBarrierInit: is_fenced_ = true; return std::nullopt;
      case OpCode::kSyncBlock: setup_.barriers_stand = true; return Meet(op);
      case OpCode::kClusterArrive:
      case OpCode::kClusterSync:
        if (kernel_.cluster == 1)
          return Barrier(op.span, fmt::format("a block that is no part of a cluster {}", Doing(kernel_, op)));
        if (setup_.has_arrived)
          return Barrier(op.span, fmt::format("the block {} when it has arrived there and has not waited", Doing(kernel_, op)));
        (op.code == OpCode::kClusterArrive ? setup_.has_arrived : setup_.cluster_stands) = true;
        setup_.barriers_stand |= setup_.cluster_stands;
        return Meet(op);
      default:
        return Finding{DiagnosticKind::kCertificateUnknown, op.span,
                       fmt::format("the certificate cannot tell what `{}` does before the roles", ir::OpText(op.code))};
    }
  }

  std::optional<Finding> Initialise(const Op& op) {
    if (setup_.barriers_stand || setup_.cluster_stands || setup_.has_arrived)
      return Barrier(op.span, fmt::format("`{}` is initialised when others may use it", op.symbol));
    is_fenced_ = false;
    if (initialised_.insert(op.symbol).second) return std::nullopt;
    return Barrier(op.span, fmt::format("`{}` is initialised twice", op.symbol));
  }

  /// What others learn of the barriers where they meet the thread that has initialised them.
  std::optional<Finding> Meet(const Op& op) const {
    for (const ir::Barrier& barrier : kernel_.barriers) {
      if (!initialised_.contains(barrier.name))
        return Barrier(op.span, fmt::format("the block {} before `{}` is initialised", Doing(kernel_, op), barrier.name));
    }
    if (is_fenced_) return std::nullopt;
    return Barrier(op.span,
                   fmt::format("no fence lies between the initialisation of barriers and where the block {}", Doing(kernel_, op)));
  }

  static Finding Barrier(Span span, std::string headline) {
    return {DiagnosticKind::kCertificateBarrier, span, std::move(headline)};
  }

  const ir::Kernel& kernel_;
  Setup& setup_;
  std::set<std::string> initialised_;
  bool is_fenced_ = true;  // nothing to fence yet
};

}  // namespace

std::optional<Finding> CheckFrame(const ir::Kernel& kernel, Setup& setup) {
  if (auto found = SetupWalk(kernel, setup).Run()) return found;
  for (const Op& op : kernel.ending) {
    if (op.code == OpCode::kComment || op.code == OpCode::kSyncBlock || op.code == OpCode::kClusterSync) continue;
    return Finding{DiagnosticKind::kCertificateBarrier, op.span,
                   fmt::format("behind the roles all threads meet, and here one {}", Doing(kernel, op))};
  }
  return std::nullopt;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/certify/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tkc::certify {
namespace {

Finding Over(Span span, std::string headline) { return {DiagnosticKind::kCertificateBudget, span, std::move(headline)}; }

std::optional<Finding> CheckWarps(const ir::Kernel& kernel, const Target& target) {
  const int warps = kernel.threads / target.lanes;
  std::vector<const ir::Worker*> owner(static_cast<size_t>(warps));
  for (const ir::Worker& worker : kernel.workers) {
    for (int64_t warp = worker.first_warp; warp < worker.first_warp + worker.Warps(); ++warp) {
      const bool exists = warp >= 0 && warp < warps;
      if (!exists || owner[static_cast<size_t>(warp)])
        return Over(worker.span, fmt::format("`{}` does not have warp {} of {} for itself", worker.SourceName(), warp, warps));
      owner[static_cast<size_t>(warp)] = &worker;
    }
  }
  // Branches lead to roles by their warpgroups, the last one without a question: a warpgroup too many would execute another's.
  for (int first = 0; !kernel.workers.empty() && first < warps; first += ir::kWarpsOfInstance) {
    const int end = std::min(first + ir::kWarpsOfInstance, warps);
    const bool is_whole = end == first + ir::kWarpsOfInstance;
    if (is_whole && std::any_of(owner.begin() + first, owner.begin() + end, [](const ir::Worker* role) { return role; })) continue;
    return Over(kernel.span, fmt::format("{} threads, and no role for warpgroup {} of {}", kernel.threads,
                                         first / ir::kWarpsOfInstance, ir::kWarpsOfInstance * target.lanes));
  }
  return std::nullopt;
}

/// By warpgroup, what a thread has that asks for more or less, or whose launch says so; 0: what a launch of one block gives it.
std::map<int64_t, int> RegistersAskedFor(const ir::Kernel& kernel) {
  std::map<int64_t, int> asked;
  for (const ir::Worker& worker : kernel.workers) {
    for (int64_t i = 0; i < worker.Warpgroups(); ++i)
      asked.emplace(worker.first_warp / ir::kWarpsOfInstance + i, kernel.RegistersOf(worker));
  }
  return asked;
}

std::optional<Finding> CheckRegisters(const ir::Kernel& kernel, const Target& target) {
  if (!target.registers.Moves()) return std::nullopt;
  const std::map<int64_t, int> asked = RegistersAskedFor(kernel);
  for (const ir::Worker& worker : kernel.workers) {
    const int of_group = asked.at(worker.first_warp / ir::kWarpsOfInstance);
    if (const int own = kernel.RegistersOf(worker); of_group != own)
      return Over(worker.span, fmt::format("warps of one warpgroup ask for {} and {} registers", of_group, own));
  }
  const bool moves = std::any_of(asked.begin(), asked.end(), [](const auto& each) { return each.second != 0; });
  const int64_t sum = RegisterSum(kernel, target), pool = target.registers.Pool(kernel.threads);
  if (!moves || sum <= pool) return std::nullopt;
  return Over(kernel.span,
              fmt::format("the warpgroups of `{}` ask for {} registers a thread together; a block of {} threads starts with {} "
                          "and would wait for ever",
                          kernel.name, sum, kernel.threads, pool));
}

std::optional<Finding> CheckOverlap(const ir::Kernel& kernel) {
  for (const ir::Buffer& buffer : kernel.buffers) {
    for (const ir::Buffer& other : kernel.buffers) {
      if (&other == &buffer) break;
      if (ir::OverlapInRoom(buffer, other)) continue;  // the replay shows that neither is needed while the other is
      if (buffer.offset < other.End() && other.offset < buffer.End())
        return Over(kernel.span, fmt::format("`{}` and `{}` overlap in shared memory", other.name, buffer.name));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> CheckBudgets(const ir::Kernel& kernel, const Target& target) {
  if (auto found = CheckWarps(kernel, target)) return found;
  if (auto found = CheckRegisters(kernel, target)) return found;
  return CheckOverlap(kernel);
}

int64_t RegisterSum(const ir::Kernel& kernel, const Target& target) {
  const std::map<int64_t, int> asked = RegistersAskedFor(kernel);
  int64_t sum = 0;
  for (int64_t group = 0; group < kernel.threads / (ir::kWarpsOfInstance * target.lanes); ++group) {
    const auto place = asked.find(group);
    const bool keeps = place == asked.end() || place->second == 0;
    sum += keeps ? target.registers.AtEntry(kernel.threads) : place->second;
  }
  return sum;
}

}  // namespace tkc::certify

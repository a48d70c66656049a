// SPDX-License-Identifier: MIT
// Declarations of the schedule level against the hardware: shared memory, barriers, descriptors, warps, registers.
#include <algorithm>
#include <array>

#include "compiler/ir/verify_impl.h"

namespace tkc::ir {
namespace {

constexpr int kMaxGroups = 8;  // of 128 threads, in a block of 1024

}  // namespace

void Verifier::CheckShared() {
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const Buffer& buffer = kernel_.buffers[i];
    if (buffer.rows < 1 || buffer.cols < 1 || buffer.count < 1 || buffer.instances < 1) {
      FaultAt(kernel_.span, "shared `{}`: an empty array", buffer.name);
      continue;
    }
    if (buffer.offset % buffer.Alignment() != 0) {
      FaultAt(kernel_.span, "shared `{}` starts at byte {}, not a multiple of {}", buffer.name, buffer.offset, buffer.Alignment());
    }
    constexpr int64_t kGranule = 16;  // bytes that a swizzle leaves together; a last panel may be partly unused
    if (buffer.swizzle != Swizzle::kNone && buffer.cols * Bytes(buffer.dtype) % kGranule != 0) {
      FaultAt(kernel_.span, "shared `{}`: rows of {} bytes do not fit panels of {}", buffer.name, buffer.cols * Bytes(buffer.dtype),
              static_cast<int>(buffer.swizzle));
    }
    if (buffer.End() > kernel_.shared_bytes) {
      FaultAt(kernel_.span, "shared `{}` ends at byte {} of {}", buffer.name, buffer.End(), kernel_.shared_bytes);
    }
    for (size_t j = 0; j < i; ++j) {
      const Buffer& other = kernel_.buffers[j];
      if (other.name == buffer.name) FaultAt(kernel_.span, "two arrays `{}` in shared memory", buffer.name);
      if (ShareRoom(buffer, other)) continue;
      if (buffer.offset < other.End() && other.offset < buffer.End()) {
        FaultAt(kernel_.span, "shared `{}` and `{}` overlap", other.name, buffer.name);
      }
    }
  }
  if (kernel_.shared_bytes > target_->shared_memory_per_block) {
    FaultAt(kernel_.span, "{} bytes of shared memory; `{}` has {} per block", kernel_.shared_bytes, target_->name,
            target_->shared_memory_per_block);
  }
}

void Verifier::CheckBarriers() {
  std::set<std::string> names;
  for (const Barrier& barrier : kernel_.barriers) {
    if (!names.insert(barrier.name).second) FaultAt(kernel_.span, "two barriers `{}`", barrier.name);
    if (barrier.count < 1) FaultAt(kernel_.span, "barrier `{}`: an array of {}", barrier.name, barrier.count);
    if (barrier.arrivals < 1 || barrier.arrivals > kMostArrivals) {
      FaultAt(kernel_.span, "barrier `{}` expects {} arrivals; 1 to {} can be counted", barrier.name, barrier.arrivals,
              kMostArrivals);
    }
  }
}

void Verifier::CheckMaps() {
  for (const TensorMap& map : kernel_.maps) {
    const TensorParam* tensor = FindTensor(map.tensor);
    if (!tensor) continue;  // reported
    if (map.box.size() != tensor->extents.size() || map.box.empty() || static_cast<int>(map.box.size()) > target_->copy_rank) {
      FaultAt(kernel_.span, "map `{}` has a box of {} dimensions for {}; {} at most", map.name, map.box.size(),
              tensor->extents.size(), target_->copy_rank);
      continue;
    }
    for (const int64_t extent : map.box) {
      if (extent < 1 || extent > target_->copy_box_extent) {
        FaultAt(kernel_.span, "map `{}`: a box of {} along one dimension; 1 to {} can be copied", map.name, extent,
                target_->copy_box_extent);
      }
    }
    const int64_t inner = map.box.back() * Bytes(tensor->dtype);
    const auto swizzle = static_cast<int64_t>(map.swizzle);
    if (inner % target_->copy_granule != 0)
      FaultAt(kernel_.span, "map `{}`: rows of {} bytes, not a multiple of {}", map.name, inner, target_->copy_granule);
    // The runtime starts one box for each panel of the tile, and a panel is as wide as the swizzle.
    if (swizzle != 0 && inner != swizzle)
      FaultAt(kernel_.span, "map `{}`: rows of {} bytes, and panels of {}, as wide as the swizzle", map.name, inner, swizzle);
  }
}

void Verifier::CheckThreads() {
  if (kernel_.threads < 32 || kernel_.threads % 32 != 0 || kernel_.threads > target_->max_threads_per_block) {
    FaultAt(kernel_.span, "{} threads; `{}` takes multiples of 32 up to {}", kernel_.threads, target_->name,
            target_->max_threads_per_block);
    return;
  }
  std::map<int, std::string> owner;
  for (const Worker& worker : kernel_.workers) {
    const bool computes = worker.kind == RoleKind::kCompute;
    if (worker.kind == RoleKind::kUnassigned) FaultAt(worker.span, "worker `{}` has no role", worker.name);
    if (computes && worker.first_warp % kWarpsOfInstance != 0) {
      FaultAt(worker.span, "worker `{}` starts at warp {}: a warpgroup starts at a multiple of 4", worker.name, worker.first_warp);
    }
    const int warps = computes ? kWarpsOfInstance * static_cast<int>(worker.instances) : 1;
    for (int warp = worker.first_warp; warp < worker.first_warp + warps; ++warp) {
      if (warp < 0 || warp >= kernel_.threads / 32) {
        FaultAt(worker.span, "worker `{}` uses warp {} of {}", worker.name, warp, kernel_.threads / 32);
        break;
      }
      const auto [place, is_new] = owner.try_emplace(warp, worker.name);
      if (!is_new) FaultAt(worker.span, "workers `{}` and `{}` share warp {}", place->second, worker.name, warp);
    }
  }
}

void Verifier::CheckRegisters() {
  const RegisterRule& rule = target_->registers;
  const int groups = std::min(kernel_.threads / 128, kMaxGroups);
  std::array<int, kMaxGroups> requests{};  // 0: keeps what it entered with
  bool any = false;
  for (const Worker& worker : kernel_.workers) {
    if (worker.registers == 0) continue;
    // Where no registers move, they are a limit of the launch.
    if (!rule.Moves() && worker.kind == RoleKind::kCompute && worker.registers <= rule.most_per_thread) continue;
    any = true;
    if (!rule.Moves() || worker.registers % rule.unit != 0 || worker.registers < rule.least || worker.registers > rule.most) {
      FaultAt(worker.span, "worker `{}` asks for {} registers; `{}` grants multiples of {} from {} to {}", worker.name,
              worker.registers, target_->name, rule.unit, rule.least, rule.most);
    }
    const int64_t taken = worker.kind == RoleKind::kCompute ? worker.instances : 1;
    for (int64_t i = 0; i < taken; ++i) {
      const int64_t group = worker.first_warp / kWarpsOfInstance + i;
      if (group >= groups) continue;  // CheckThreads has said so
      if (requests[group] != 0 && requests[group] != worker.registers) {
        FaultAt(worker.span, "warps of one warpgroup ask for {} and {} registers", requests[group], worker.registers);
      }
      requests[group] = worker.registers;
    }
  }
  if (!any) return;
  int sum = 0;
  for (int group = 0; group < groups; ++group) sum += requests[group] != 0 ? requests[group] : rule.AtEntry(kernel_.threads);
  if (sum > rule.Pool(kernel_.threads)) {
    FaultAt(kernel_.span,
            "the warpgroups ask for {} registers a thread together; a block of {} threads enters with {} x {} = {} and would wait "
            "forever",
            sum, kernel_.threads, kernel_.threads / 128, rule.AtEntry(kernel_.threads), rule.Pool(kernel_.threads));
  }
}

}  // namespace tkc::ir

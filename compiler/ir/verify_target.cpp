// SPDX-License-Identifier: MIT
// Declarations of the schedule level: whether each says something, and something that the hardware has, and whether a launch can
// have what it asks for. That workers and arrays leave each other their shares of it is the certificate's to prove
// (certify/budgets).
#include <algorithm>

#include "compiler/ir/verify_impl.h"
#include "compiler/target/cluster.h"

namespace tkc::ir {

void Verifier::CheckBuffers() {
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
      FaultAt(kernel_.span, "shared `{}`: rows of {} bytes do not fit panels of swizzle {}", buffer.name,
              buffer.cols * Bytes(buffer.dtype), layout::Name(buffer.swizzle));
    }
    for (size_t j = 0; j < i; ++j) {
      if (kernel_.buffers[j].name == buffer.name) FaultAt(kernel_.span, "two arrays `{}` in shared memory", buffer.name);
    }
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
    const int64_t panel = layout::PanelBytes(map.swizzle);
    if (inner % target_->copy_granule != 0)
      FaultAt(kernel_.span, "map `{}`: rows of {} bytes, not a multiple of {}", map.name, inner, target_->copy_granule);
    // The runtime starts one box for each panel of the tile, and a panel is as wide as the swizzle.
    if (panel != 0 && inner != panel)
      FaultAt(kernel_.span, "map `{}`: rows of {} bytes, and panels of {}, as wide as the swizzle", map.name, inner, panel);
  }
}

void Verifier::CheckLaunch() {
  if (kernel_.threads < target_->lanes || kernel_.threads % target_->lanes != 0 ||
      kernel_.threads > target_->max_threads_per_block) {
    FaultAt(kernel_.span, "{} threads; `{}` takes multiples of {} up to {}", kernel_.threads, target_->name, target_->lanes,
            target_->max_threads_per_block);
  }
  const int64_t most_blocks = target_->has_clusters ? kMostBlocksOfCluster : 1;
  if (kernel_.cluster < 1 || kernel_.cluster > most_blocks)
    FaultAt(kernel_.span, "a cluster of {} blocks; `{}` takes up to {}", kernel_.cluster, target_->name, most_blocks);
  if (const int most = target_->registers.most_per_thread; kernel_.launch_registers > most)
    FaultAt(kernel_.span, "a launch with {} registers a thread; `{}` has {} at most", kernel_.launch_registers, target_->name,
            most);
  int64_t taken = 0;
  for (const Buffer& buffer : kernel_.buffers) taken = std::max(taken, buffer.End());
  for (const Barrier& barrier : kernel_.barriers) taken += barrier.count * barrier.instances * kBarrierBytes;
  if (taken > kernel_.shared_bytes)
    FaultAt(kernel_.span, "tiles and barriers take {} bytes of shared memory, the launch asks for {}", taken, kernel_.shared_bytes);
  if (kernel_.shared_bytes > target_->shared_memory_per_block)
    FaultAt(kernel_.span, "{} bytes of shared memory; `{}` has {}", kernel_.shared_bytes, target_->name,
            target_->shared_memory_per_block);
}

void Verifier::CheckRole(const Worker& worker) {
  if (worker.kind == RoleKind::kUnassigned) FaultAt(worker.span, "worker `{}` has no role", worker.SourceName());
  if (worker.Computes() && worker.first_warp % kWarpsOfInstance != 0)
    FaultAt(worker.span, "worker `{}` starts at warp {}: a warpgroup starts at a multiple of 4", worker.SourceName(),
            worker.first_warp);
  if (worker.registers == 0) return;
  const RegisterRule& rule = target_->registers;
  if (!rule.Moves() || worker.registers % rule.unit != 0 || worker.registers < rule.least || worker.registers > rule.most) {
    FaultAt(worker.span, "worker `{}` asks for {} registers; `{}` grants multiples of {} from {} to {}", worker.SourceName(),
            worker.registers, target_->name, rule.unit, rule.least, rule.most);
  }
}

}  // namespace tkc::ir

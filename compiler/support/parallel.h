// SPDX-License-Identifier: MIT
// Work on things that know nothing of each other, by as many threads as the machine has cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace tkc {

inline size_t AllCores() { return std::max(1U, std::thread::hardware_concurrency()); }

/// work(i) for each i below `count`, by at most `threads` at the same time, in any order but with one thread; returns when all are
/// done. Where no other thread is to be had, the caller's does it.
template <typename Work>
void ForEachInParallel(size_t count, const Work& work, size_t threads = AllCores()) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  try {
    for (size_t t = 1; t < std::min(count, threads); ++t) others.emplace_back(take);
  } catch (const std::system_error&) {
  }
  take();
}

}  // namespace tkc

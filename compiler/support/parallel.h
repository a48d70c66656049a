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

/// work(i) for each i below `count`, in any order and at the same time; returns when all are done. Where no thread is to be had,
/// the caller's does it.
template <typename Work>
void ForEachInParallel(size_t count, const Work& work) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  const size_t threads = std::min<size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> others;
  try {
    for (size_t t = 1; t < threads; ++t) others.emplace_back(take);
  } catch (const std::system_error&) {
  }
  take();
}

}  // namespace tkc

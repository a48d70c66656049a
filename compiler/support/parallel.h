// SPDX-License-Identifier: MIT
// Work on things that know nothing of each other, by as many threads as the machine has cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>

namespace tkc {

/// Asked of the machine once: it reads a file.
inline size_t AllCores() {
  static const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return cores;
}

/// work(i) for each i below `count`, by at most `threads` at the same time, in any order but with one thread; returns when all are
/// done. The caller's thread does its part, and all of it where others are not to be had or are at work already.
void ForEachInParallel(size_t count, const std::function<void(size_t)>& work, size_t threads = AllCores());

}  // namespace tkc

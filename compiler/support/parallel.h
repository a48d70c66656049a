// SPDX-License-Identifier: MIT
// Work on things that know nothing of each other, by as many threads as the machine has cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>

namespace tkc {

inline size_t AllCores() { return std::max(1U, std::thread::hardware_concurrency()); }

/// work(i) for each i below `count`, by at most `threads` at the same time, in any order but with one thread; returns when all are
/// done. The caller's thread does its part, and all of it where others are not to be had or are at work already.
void ForEachInParallel(size_t count, const std::function<void(size_t)>& work, size_t threads = AllCores());

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Work that several threads share.
#include "compiler/support/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

TEST(ForEachInParallel, DoesEachOnce) {
  for (const size_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> times(count);
    ForEachInParallel(count, [&](size_t i) { ++times[i]; }, 4);
    for (const std::atomic<int>& one : times) EXPECT_EQ(one, 1);
  }
}

TEST(ForEachInParallel, WorkMayHandOutWork) {
  std::atomic<int> times = 0;
  ForEachInParallel(8, [&](size_t) { ForEachInParallel(8, [&](size_t) { ++times; }); });
  EXPECT_EQ(times, 64);
}

TEST(ForEachInParallel, OneThreadGoesInOrder) {
  std::vector<size_t> order;
  ForEachInParallel(3, [&](size_t i) { order.push_back(i); }, 1);
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2}));
}

TEST(ForEachInParallel, ThrowsWhatIsThrownOnceAllHaveEnded) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> running = 0;
    const auto all_throw = [&](size_t) {
      ++running;
      std::this_thread::yield();
      --running;
      throw std::bad_alloc();
    };
    EXPECT_THROW(ForEachInParallel(8, all_throw, 4), std::bad_alloc);
    EXPECT_EQ(running, 0);
    std::atomic<int> times = 0;
    ForEachInParallel(8, [&](size_t) { ++times; }, 4);
    EXPECT_EQ(times, 8);
  }
}

TEST(InternalError, OfSeveralThreadsOneIsTold) {
  const auto all_fail = [] {
    std::atomic<int> here = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (++here; here < 4;) std::this_thread::yield();
        InternalError("this one");
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_EXIT(all_fail(), testing::ExitedWithCode(kExitInternal), "^internal error: this one\nnote: [^\n]*\n(help: [^\n]*\n)?$");
}

}  // namespace
}  // namespace tkc

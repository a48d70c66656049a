// SPDX-License-Identifier: MIT
#include "compiler/support/parallel.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

namespace tkc {
namespace {

/// Threads that wait for work. A compile hands out work several times within milliseconds, and to wake a thread that sleeps takes
/// longer than some of it: so for a while they watch.
class Helpers {
 public:
  explicit Helpers(size_t count) {
    try {
      for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { Serve(); });
    } catch (const std::system_error&) {
    }
  }
  ~Helpers() {
    ends_ = true;
    Call();
    for (std::thread& thread : threads_) thread.join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  /// `work` by the caller and `helpers` others. What one of them throws, the first if several do, is thrown when all have ended.
  void Do(const std::function<void()>& work, size_t helpers) {
    work_ = &work;
    places_ = static_cast<int64_t>(helpers);
    working_ = static_cast<int64_t>(threads_.size());
    Call();
    Work();
    while (working_ > 0) std::this_thread::yield();
    has_thrown_ = false;
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  void Call() {
    ++calls_;
    calls_.notify_all();
  }

  void Serve() {
    for (uint64_t heard = 0;;) {
      Await(heard++);
      if (ends_) return;
      if (places_-- > 0) Work();
      --working_;
    }
  }

  void Work() {
    try {
      (*work_)();
    } catch (...) {
      if (!has_thrown_.exchange(true)) thrown_ = std::current_exception();
    }
  }

  void Await(uint64_t heard) const {
    constexpr auto kWatched = std::chrono::microseconds(500);
    const auto end = std::chrono::steady_clock::now() + kWatched;
    while (calls_ == heard && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    calls_.wait(heard);
  }

  std::vector<std::thread> threads_{};
  const std::function<void()>* work_ = nullptr;
  std::atomic<uint64_t> calls_ = 0;
  std::atomic<int64_t> places_ = 0, working_ = 0;
  std::atomic<bool> ends_ = false, has_thrown_ = false;
  std::exception_ptr thrown_{};
};

/// Sets it back to false.
class WhileTrue {
 public:
  explicit WhileTrue(std::atomic<bool>& flag) : flag_(flag) {}
  ~WhileTrue() { flag_ = false; }
  WhileTrue(const WhileTrue&) = delete;
  WhileTrue& operator=(const WhileTrue&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

void ForEachInParallel(size_t count, const std::function<void(size_t)>& work, size_t threads) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  threads = std::min({count, threads, AllCores()});
  static std::atomic<bool> in_use = false;  // maybe by work that calls this itself
  if (threads <= 1 || in_use.exchange(true)) return take();
  const WhileTrue uses(in_use);
  static Helpers helpers(AllCores() - 1);
  helpers.Do(take, threads - 1);
}

}  // namespace tkc

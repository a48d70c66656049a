// SPDX-License-Identifier: MIT
// Stacks for fibers, used again from block to block: a grid may have thousands of blocks of a few workers each.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace tkc::interp {

class StackPool {
 public:
  /// Enough for the deepest expression that the parser accepts (1000 operators in a row, 200 brackets around them) even
  /// with the large frames of sanitizers; untouched pages cost nothing.
  static constexpr size_t kStackBytes = size_t{16} << 20;

  /// What Boost.Context calls a stack allocator: a handle on the pool, which must outlive the fibers.
  class Allocator {
   public:
    explicit Allocator(StackPool& pool) : pool_(&pool) {}

    boost::context::stack_context allocate() {
      if (pool_->free_.empty()) {
        pool_->stacks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kStackBytes));
        pool_->free_.push_back(pool_->stacks_.back().get());
      }
      boost::context::stack_context stack;
      stack.size = kStackBytes;
      stack.sp = pool_->free_.back() + kStackBytes;  // grows downwards
      pool_->free_.pop_back();
      return stack;
    }

    void deallocate(boost::context::stack_context& stack) noexcept {
      pool_->free_.push_back(static_cast<std::byte*>(stack.sp) - kStackBytes);
    }

   private:
    StackPool* pool_;
  };

 private:
  std::vector<std::unique_ptr<std::byte[]>> stacks_;
  std::vector<std::byte*> free_;
};

}  // namespace tkc::interp

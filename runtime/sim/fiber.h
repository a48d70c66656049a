// SPDX-License-Identifier: MIT
// Fibers: each lane of a launch runs on a small stack of its own, with a guard page below it. Switching costs a few
// nanoseconds (Boost.Context's fcontext); AddressSanitizer is told of every switch.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <vector>

namespace tk::sim {

/// Built with AddressSanitizer, which then tells of crashes itself.
bool sanitized();

/// Memory for one fiber. Pages are touched as they are used.
struct fiber_stack {
    char* low = nullptr;  // lowest usable byte
    size_t bytes = 0;
    char* high() const { return low + bytes; }
};

/// Keeps stacks for the next fibers.
class stack_pool {
public:
    ~stack_pool();
    fiber_stack take();
    void give(fiber_stack stack) { free_.push_back(stack); }

private:
    std::vector<fiber_stack> free_;
};

/// A function on a stack of its own. Only the scheduler resumes fibers, and fibers only go back to the scheduler.
class fiber {
public:
    /// `run` must end in leave(), not return. A fiber that never ends is dropped with its stack.
    void start(fiber_stack stack, void (*run)(void*), void* argument);
    /// On the scheduler: runs the fiber until it pauses or leaves.
    void resume();
    /// In the fiber: back to the scheduler.
    void pause() { switch_back(false); }
    [[noreturn]] void leave();
    const fiber_stack& stack() const { return stack_; }

private:
    static void enter(boost::context::detail::transfer_t from);
    void switch_back(bool for_good);

    fiber_stack stack_;
    void (*run_)(void*) = nullptr;
    void* argument_ = nullptr;
    boost::context::detail::fcontext_t self_ = nullptr, scheduler_ = nullptr;
    [[maybe_unused]] void* sanitizer_state_ = nullptr;
};

}  // namespace tk::sim

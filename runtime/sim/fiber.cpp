// SPDX-License-Identifier: MIT
#include "runtime/sim/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // as GCC says it
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define TK_SIM_ASAN 1
#else
#define TK_SIM_ASAN 0
#endif

#if TK_SIM_ASAN
// Lanes of a launch that was stopped are dropped with what their frames own.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace tk::sim {

namespace {

// A lane holds register tiles of a few KiB; unoptimised and sanitized builds need many times that. Pages cost when
// touched.
constexpr size_t kStackBytes = size_t(1) << 20;

#if TK_SIM_ASAN
const void* scheduler_low = nullptr;  // the stack that resume() was called on
size_t scheduler_bytes = 0;
#endif

/// Without what AddressSanitizer remembers of frames that were left for good, here or in an earlier mapping.
fiber_stack clean(fiber_stack stack) {
#if TK_SIM_ASAN
    __asan_unpoison_memory_region(stack.low, stack.bytes);
#endif
    return stack;
}

}  // namespace

bool sanitized() { return TK_SIM_ASAN; }

fiber_stack stack_pool::take() {
    if (!free_.empty()) {
        const fiber_stack stack = free_.back();
        free_.pop_back();
        return clean(stack);
    }
    const size_t guard = size_t(sysconf(_SC_PAGESIZE));
    void* memory =
        mmap(nullptr, kStackBytes + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) != 0) {
        std::fprintf(stderr, "tkc-sim: no memory for the stack of a lane\n");
        std::exit(3);
    }
    return clean({static_cast<char*>(memory) + guard, kStackBytes});
}

stack_pool::~stack_pool() {
    const size_t guard = size_t(sysconf(_SC_PAGESIZE));
    for (const fiber_stack& stack : free_) munmap(stack.low - guard, stack.bytes + guard);
}

void fiber::start(fiber_stack stack, void (*run)(void*), void* argument) {
    stack_ = stack;
    run_ = run;
    argument_ = argument;
    self_ = boost::context::detail::make_fcontext(stack.high(), stack.bytes, &fiber::enter);
}

void fiber::enter(boost::context::detail::transfer_t from) {
    fiber* self = static_cast<fiber*>(from.data);
    self->scheduler_ = from.fctx;
#if TK_SIM_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_low, &scheduler_bytes);
#endif
    self->run_(self->argument_);
    self->leave();
}

void fiber::resume() {
#if TK_SIM_ASAN
    void* state = nullptr;
    __sanitizer_start_switch_fiber(&state, stack_.low, stack_.bytes);
#endif
    self_ = boost::context::detail::jump_fcontext(self_, this).fctx;
#if TK_SIM_ASAN
    __sanitizer_finish_switch_fiber(state, nullptr, nullptr);
#endif
}

void fiber::switch_back([[maybe_unused]] bool for_good) {
#if TK_SIM_ASAN
    __sanitizer_start_switch_fiber(for_good ? nullptr : &sanitizer_state_, scheduler_low, scheduler_bytes);
#endif
    scheduler_ = boost::context::detail::jump_fcontext(scheduler_, nullptr).fctx;
#if TK_SIM_ASAN
    __sanitizer_finish_switch_fiber(sanitizer_state_, &scheduler_low, &scheduler_bytes);
#endif
}

void fiber::leave() {
    switch_back(true);
    std::abort();  // a fiber that has left is not resumed
}

}  // namespace tk::sim

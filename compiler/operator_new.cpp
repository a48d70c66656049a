// SPDX-License-Identifier: MIT
// How tkc takes memory from mimalloc.
#include <cstddef>
#include <cstdlib>
#include <new>

#include <mimalloc.h>

// mimalloc's own operator new, which is C, ends the program where no memory is left; the language says std::bad_alloc, which tkc
// reports.
void* operator new(std::size_t size) {
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

/// Pages of 2 MB where the system has them: a compile of milliseconds otherwise spends a tenth of them on its first touch of 1300
/// small ones. A thread's first segment is among them only if it is committed whole.
void AskForLargePages() {
  mi_option_enable(mi_option_large_os_pages);
  mi_option_set(mi_option_eager_commit_delay, 0);
}

}  // namespace

// mimalloc reads its options when its library is initialised, which is before main: only what stands here comes before that.
__attribute__((section(".preinit_array"), used)) void (*const kBeforeLibraries)() = AskForLargePages;

// SPDX-License-Identifier: MIT
// tkc-sim JOB: runs a simulated kernel as the job file says. The kernel's library takes its instructions from this
// program.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>

#include "runtime/sim/fiber.h"
#include "runtime/sim/job.h"

namespace {

/// On a stack of its own: the lane may have none left.
void crashed(int) {
    const char text[] =
        "tkc-sim: the kernel's code touched memory that is not its own, past the wrappers, or a lane's stack "
        "overflowed\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(5);
    _exit(4);
}

void catch_crashes() {
    static char stack[65536];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action{};
    action.sa_handler = crashed;
    action.sa_flags = SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: tkc-sim JOB.json\n");
        return 2;
    }
    if (!tk::sim::sanitized()) catch_crashes();
    try {
        std::string error;
        const auto job = tk::sim::read_job(argv[1], error);
        if (job) return tk::sim::run_job(*job);
        std::fprintf(stderr, "tkc-sim: %s\n", error.c_str());
        return 2;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "tkc-sim: not enough memory for the tensors and the blocks of a cluster\n");
        return 3;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "tkc-sim: %s\n", e.what());
        return 3;
    }
}

// SPDX-License-Identifier: MIT
// tkc-sim JOB: runs a simulated kernel as the job file says. The kernel's library takes its instructions from this
// program.
#include <cstdio>
#include <exception>

#include "runtime/sim/job.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: tkc-sim JOB.json\n");
        return 2;
    }
    try {
        std::string error;
        const auto job = tk::sim::read_job(argv[1], error);
        if (job) return tk::sim::run_job(*job);
        std::fprintf(stderr, "tkc-sim: %s\n", error.c_str());
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "tkc-sim: %s\n", e.what());
        return 3;
    }
}

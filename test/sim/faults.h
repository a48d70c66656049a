// SPDX-License-Identifier: MIT
// Small kernels, each right in one form and wrong in others: what the simulator says of the wrong ones, and that it is
// silent about the right one, whatever the seed.
#pragma once

#include "test/sim/run_kernel.h"

namespace tk::sim_test {

inline constexpr int kSeeds = 20;

template <class F>
void silent(F run_once) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        fresh_machine(seed);
        const outcome result = run_once();
        EXPECT_TRUE(result.findings.empty()) << "seed " << seed << "\n" << result.text();
    }
}

template <class F>
void found(const std::string& kind, const std::string& part, F run_once) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        fresh_machine(seed);
        const outcome result = run_once();
        EXPECT_TRUE(result.has(kind)) << "seed " << seed << "\n" << result.text();
        EXPECT_NE(result.story(kind).find(part), std::string::npos) << "seed " << seed << "\n" << result.text();
    }
}

}  // namespace tk::sim_test

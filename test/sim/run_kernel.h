// SPDX-License-Identifier: MIT
// Runs a kernel of a test on the simulator and keeps what was found.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#ifndef TK_GFX  // a test of AMD has its own first header
#include "tk/sm90.h"
#endif

#include "runtime/sim/machine.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/result.h"
#include "tk/host.h"

namespace tk::sim_test {

using sim::finding;
using sim::finding_site;

struct outcome {
    std::vector<finding> findings;

    bool has(const std::string& kind) const {
        return std::any_of(findings.begin(), findings.end(), [&](const finding& f) { return f.kind == kind; });
    }
    /// All findings, to show when a test fails.
    std::string text() const {
        std::string all;
        for (const finding& f : findings) {
            all += f.kind + ": " + f.text + "\n";
            for (const finding_site& s : f.sites) all += "    " + s.role + "\n";
        }
        return all;
    }
    /// The texts and roles of the findings of a kind.
    std::string story(const std::string& kind) const {
        std::string all;
        for (const finding& f : findings) {
            if (f.kind != kind) continue;
            all += f.text + "\n";
            for (const finding_site& s : f.sites) all += s.role + "\n";
        }
        return all;
    }
};

/// Global memory of a test: a tensor of n elements of T, filled, or unwritten.
template <class T>
T* tensor_memory(const char* name, size_t n, bool filled = true, T value = T()) {
    sim::region& r = sim::add_region(name, n * sizeof(T), 256, int(sizeof(T)), filled);
    T* data = reinterpret_cast<T*>(r.data);
    if (filled) std::fill_n(data, n, value);
    return data;
}

/// To be called before the tensors are made.
inline void fresh_machine(uint64_t seed, int sms = 4) { sim::new_machine(seed, sms); }

template <auto Kernel, int Cluster = 1, class... Argument>
outcome run(int blocks, int threads, int shared_bytes, const Argument&... arguments) {
    const tk_status status = host::launch_kernel<Kernel, Cluster>({blocks, threads, shared_bytes, nullptr}, arguments...);
    EXPECT_EQ(status.code, TK_OK) << status.message;
    return {sim::the().found.all()};
}

}  // namespace tk::sim_test

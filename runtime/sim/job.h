// SPDX-License-Identifier: MIT
// A job: which entry of which library, on which tensors. README.md has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tk::sim {

struct job_tensor {
    std::string name;
    int dtype = 0;
    std::vector<int64_t> extent, stride;         // strides in elements
    int64_t bytes = 0, offset = 0, align = 256;  // of the memory image; of element 0 in it
    std::optional<std::string> initial, final;
    bool written = false;
};

struct job_scalar {
    std::string name;
    int dtype = 0;
    uint64_t bits = 0;
};

struct job {
    std::string library, entry, result;
    uint64_t seed = 1;
    int sms = 4;
    int shared_bytes = 0;  // that a block may have; 0: what the chip has
    size_t most_findings = 20;
    std::optional<std::string> trace;
    std::vector<job_tensor> tensors;
    std::vector<job_scalar> scalars;
    bool workspace = true;               // the entry gets what it asks for
    std::vector<std::string> arguments;  // names in the order of the entry's parameters; empty: tensors, then scalars
};

/// Null and a message if the file is no job.
std::optional<job> read_job(const std::string& path, std::string& error);
/// Runs it and writes its files. Returns the exit code of tkc-sim: 0 if the entry was called, whatever it said and
/// found.
int run_job(const job& j);

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Simulated memory: shared memory of the blocks, tensors in global memory, and the check of each access against those
// before it.
#pragma once

#include <string>

#include "runtime/sim/machine.h"

namespace tk::sim {

/// A place in the shared memory of `home` (null: there is none, and that was reported).
struct place {
    block* home = nullptr;
    uint32_t offset = 0;
    unsigned char* bytes() const { return home->memory + offset; }
};
place resolve_shared(uint32_t address, int bytes, const char* what, site here);

/// A tensor, or the workspace: memory that exists where its elements do.
struct region {
    region() = default;
    region(const region&) = delete;
    region& operator=(const region&) = delete;
    ~region();

    std::string name;
    unsigned char* data = nullptr;  // of the whole image
    size_t bytes = 0;
    int element = 1;           // bytes
    std::vector<bool> exists;  // by byte; empty: all do
    bool read_only = false;
    shadow cells;
};
/// Makes memory known to the simulated device. `initialised`: it has been written before the launch.
region& add_region(std::string name, size_t bytes, size_t align, int element, bool initialised);
void remove_regions();
region* resolve_global(const void* address, int64_t bytes, bool is_write, const char* what, site here);

/// What an access is checked with: who accesses, knowing what.
struct accessor {
    access_id id;
    const lane_clock& knows;
    bool is_async;
};
void check_read(shadow& cells, uint64_t first, uint64_t bytes, const accessor& who, const std::string& where,
                uint64_t origin);
void check_write(shadow& cells, uint64_t first, uint64_t bytes, const accessor& who, const std::string& where,
                 uint64_t origin);

/// A finding if the range has bytes of a live mbarrier: only the instructions for them may touch those.
void check_no_barrier(block& home, uint32_t offset, int64_t bytes, const char* what, site here);
/// An ordinary write by the current lane, without data.
void write_as_lane(const place& where, int bytes, const char* what, site here);
/// The current lane reaches into another block of its cluster.
void note_remote(block& home, const char* what, site here);
/// About one place, by the lane that runs now, if any.
finding finding_at(const char* kind, const std::string& text, site here);
void report_at(const char* kind, const std::string& text, site here);

}  // namespace tk::sim

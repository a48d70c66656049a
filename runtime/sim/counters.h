// SPDX-License-Identifier: MIT
// Bank conflicts and sectors. Lanes run one after another, so the accesses of a warp instruction are put together
// again: same call chain, same how-manieth access there since the warp last met. The models: README.md, banks_cdna.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "runtime/sim/site.h"
#include "tk/sim/engine.h"

namespace tk::sim {

enum class counted : uint8_t { shared_load, shared_store, ldmatrix, stmatrix, global_load, global_store, transposed_load };
const char* name_of(counted kind);

/// Totals of one place. `wavefronts` are passes over the banks, `ideal` the fewest for these bytes; for global memory
/// both count 32-byte sectors, the ideal as if the bytes were dense.
struct counter {
    int64_t accesses = 0, wavefronts = 0, ideal = 0, sectors = 0;
};
using counter_table = std::map<std::pair<site, counted>, counter>;

/// One instruction of a warp: which lanes took part, and where.
struct warp_access {
    uint64_t mask = 0;
    std::array<uint64_t, 64> address{};
};
/// Passes over the banks of shared memory that `bytes` a lane (4, 8, 16; smaller count as 4) need.
int wavefronts(counted kind, int bytes, const warp_access& access, chip on = chip::sm90);
int ideal_wavefronts(counted kind, int bytes, const warp_access& access, chip on = chip::sm90);
int sectors(int bytes, const warp_access& access);

class access_counter {
public:
    void of(chip on) { on_ = on; }
    void add(counter_table& to, site at, counted kind, int bytes, int lane, uint64_t address);
    /// The warp has met: instructions in which not all lanes took part are complete.
    void flush(counter_table& to);

private:
    struct place {
        site at;
        counted kind;
        int bytes;
        std::array<uint32_t, 64> count{};
        uint32_t first = 0;  // number of group 0
        size_t done = 0;     // groups that are finished, the oldest ones
        std::vector<warp_access> groups;
    };
    void finish(counter_table& to, const place& p, const warp_access& access);
    chip on_ = chip::sm90;
    std::vector<place> places_;
    std::unordered_map<uint64_t, uint32_t> numbers_;
    uint64_t last_key_ = 0;
    uint32_t last_ = 0;
};

}  // namespace tk::sim

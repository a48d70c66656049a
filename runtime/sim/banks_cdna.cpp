// SPDX-License-Identifier: MIT
#include "runtime/sim/banks_cdna.h"

#include <algorithm>
#include <vector>

namespace tk::sim {

namespace {

using mask = uint64_t;

/// Lanes first .. last.
constexpr mask lanes(int first, int last) { return (last == 63 ? 0 : mask(1) << (last + 1)) - (mask(1) << first); }

struct service {
    int banks;
    std::vector<mask> groups;
};

std::vector<mask> consecutive(int count) {
    std::vector<mask> result;
    for (int first = 0; first < 64; first += count) result.push_back(lanes(first, first + count - 1));
    return result;
}

std::vector<mask> twice(std::initializer_list<mask> lower) {
    std::vector<mask> result(lower);
    for (mask m : lower) result.push_back(m << 32);
    return result;
}

/// Loads of 16 bytes on gfx942 [Triton PR 11365].
std::vector<mask> eights() {
    return twice({lanes(0, 3) | lanes(20, 23), lanes(4, 7) | lanes(16, 19), lanes(8, 11) | lanes(28, 31), lanes(12, 15) | lanes(24, 27)});
}
/// Loads of 16 bytes on gfx950 [HipKittens' counters, Triton].
std::vector<mask> sixteens() {
    return twice({lanes(0, 3) | lanes(12, 15) | lanes(20, 27), lanes(4, 11) | lanes(16, 19) | lanes(28, 31)});
}

const service& service_of(chip on, bool load, int bytes) {
    // gfx942: 4 and 8 bytes and 16-byte stores by consecutive lanes [AMD's documents; 8-byte loads not confirmed].
    static const service four{32, consecutive(32)}, eight{32, consecutive(16)}, load16{32, eights()}, store16{32, consecutive(8)};
    // gfx950: 64 banks for loads [HipKittens' counters; 4-byte loads and transposing ones as they suggest, not confirmed].
    static const service wide4{64, consecutive(64)}, wide8{64, consecutive(32)}, wide16{64, sixteens()};
    const bool wide = load && on == chip::gfx950;
    if (bytes <= 4) return wide ? wide4 : four;
    if (bytes <= 8) return wide ? wide8 : eight;
    if (!load) return store16;
    return wide ? wide16 : load16;
}

bool is_cdna_load(counted kind) { return kind == counted::shared_load || kind == counted::transposed_load; }

}  // namespace

int cdna_passes(chip on, counted kind, int bytes, const warp_access& access) {
    const service& how = service_of(on, is_cdna_load(kind), bytes);
    int total = 0;
    for (mask group : how.groups) {
        std::vector<std::vector<uint64_t>> words(size_t(how.banks));
        size_t most = 0;
        for (int lane = 0; lane < 64; ++lane) {
            if (!(access.mask & group & mask(1) << lane)) continue;
            for (int w = 0; w < std::max(bytes / 4, 1); ++w) {
                const uint64_t word = access.address[size_t(lane)] / 4 + uint64_t(w);
                auto& in_bank = words[word % uint64_t(how.banks)];
                if (std::find(in_bank.begin(), in_bank.end(), word) == in_bank.end()) in_bank.push_back(word);
                most = std::max(most, in_bank.size());
            }
        }
        total += int(most);
    }
    return total;
}

int cdna_groups(chip on, counted kind, int bytes, const warp_access& access) {
    const service& how = service_of(on, is_cdna_load(kind), bytes);
    return int(std::count_if(how.groups.begin(), how.groups.end(), [&](mask group) { return access.mask & group; }));
}

}  // namespace tk::sim

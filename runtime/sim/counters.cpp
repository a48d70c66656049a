// SPDX-License-Identifier: MIT
#include "runtime/sim/counters.h"

#include <algorithm>
#include <bit>
#include <set>

#include "runtime/sim/banks_cdna.h"

namespace tk::sim {

namespace {

constexpr int kBanks = 32;

bool is_load(counted kind) { return kind == counted::shared_load; }
bool is_cdna(chip on) { return on != chip::sm90; }
bool is_global(counted kind) { return kind == counted::global_load || kind == counted::global_store; }
bool is_matrix(counted kind) { return kind == counted::ldmatrix || kind == counted::stmatrix; }

/// The most distinct four-byte rows that the lanes of `mask` touch in one bank.
int passes(const warp_access& access, uint32_t mask, int bytes) {
    std::array<std::array<uint64_t, 32>, kBanks> rows;
    std::array<int, kBanks> count{};
    int most = 0;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(access.mask & mask & (uint64_t(1) << lane))) continue;
        for (int word = 0; word < std::max(bytes / 4, 1); ++word) {
            const uint64_t number = access.address[size_t(lane)] / 4 + uint64_t(word), row = number / kBanks;
            auto& in_bank = rows[number % kBanks];
            int& n = count[number % kBanks];
            if (std::find(in_bank.begin(), in_bank.begin() + n, row) != in_bank.begin() + n) continue;
            if (n < 32) in_bank[size_t(n++)] = row;
            most = std::max(most, n);
        }
    }
    return most;
}

}  // namespace

const char* name_of(counted kind) {
    constexpr const char* names[] = {"shared_load", "shared_store", "ldmatrix",
                                     "stmatrix",    "global_load",  "global_store", "transposed_load"};
    return names[size_t(kind)];
}

int wavefronts(counted kind, int bytes, const warp_access& access, chip on) {
    if (is_cdna(on)) return cdna_passes(on, kind, bytes, access);
    if (is_matrix(kind)) {  // one matrix is eight lanes' rows of 16 bytes
        int total = 0;
        for (int m = 0; m < 4; ++m) total += passes(access, 0xffu << (8 * m), 16);
        return total;
    }
    const int groups = std::max(bytes / 4, 1), lanes = 32 / groups;
    const auto group_mask = [&](int g) { return groups == 1 ? ~0u : ((1u << lanes) - 1) << (g * lanes); };
    int total = 0;
    if (!is_load(kind) || groups == 1) {
        for (int g = 0; g < groups; ++g) total += passes(access, group_mask(g), bytes);
        return total;
    }
    // Loads: neighbouring groups go together when in every even-odd pair of lanes both read one address or one is idle.
    for (int g = 0; g < groups; g += 2) {
        const uint32_t both = group_mask(g) | group_mask(g + 1);
        bool merge = true;
        for (int lane = 0; lane < 32; lane += 2) {
            const uint32_t pair = 3u << lane;
            if ((both & pair) && (access.mask & pair) == pair)
                merge = merge && access.address[size_t(lane)] == access.address[size_t(lane) + 1];
        }
        if (merge)
            total += passes(access, both, bytes);
        else
            total += passes(access, group_mask(g), bytes) + passes(access, group_mask(g + 1), bytes);
    }
    return groups == 4 ? std::max(total, 2) : total;
}

int ideal_wavefronts(counted kind, int bytes, const warp_access& access, chip on) {
    if (is_cdna(on)) return cdna_groups(on, kind, bytes, access);
    if (is_matrix(kind)) return (std::popcount(access.mask) + 7) / 8;
    std::set<uint64_t> words;
    for (int lane = 0; lane < 32; ++lane)
        if (access.mask & 1u << lane)
            for (int word = 0; word < std::max(bytes / 4, 1); ++word)
                words.insert(access.address[size_t(lane)] / 4 + uint64_t(word));
    const int fewest = int(words.size() + kBanks - 1) / kBanks;
    // Stores do not merge groups: every group with an active lane is a pass.
    if (is_load(kind)) return bytes == 16 ? std::max(fewest, 2) : fewest;
    const int groups = std::max(bytes / 4, 1), lanes = 32 / groups;
    int active = 0;
    for (int g = 0; g < groups; ++g)
        active += (groups == 1 ? access.mask : access.mask & ((1u << lanes) - 1) << (g * lanes)) != 0;
    return std::max(fewest, active);
}

int sectors(int bytes, const warp_access& access) {
    std::set<uint64_t> distinct;
    for (int lane = 0; lane < 64; ++lane)
        if (access.mask >> lane & 1)
            for (uint64_t s = access.address[size_t(lane)] / 32;
                 s <= (access.address[size_t(lane)] + uint64_t(bytes) - 1) / 32; ++s)
                distinct.insert(s);
    return int(distinct.size());
}

void access_counter::finish(counter_table& to, const place& p, const warp_access& access) {
    if (access.mask == 0) return;
    counter& c = to[{p.at, p.kind}];
    ++c.accesses;
    if (is_global(p.kind)) {
        c.sectors += sectors(p.bytes, access);
        c.ideal += (int64_t(std::popcount(access.mask)) * p.bytes + 31) / 32;
    } else {
        c.wavefronts += wavefronts(p.kind, p.bytes, access, on_);
        c.ideal += ideal_wavefronts(p.kind, p.bytes, access, on_);
    }
}

void access_counter::add(counter_table& to, site at, counted kind, int bytes, int lane, uint64_t address) {
    const uint64_t key = uint64_t(at) << 16 | uint64_t(bytes) << 8 | uint64_t(kind);
    if (key != last_key_ || places_.empty()) {
        const auto [it, is_new] = numbers_.try_emplace(key, uint32_t(places_.size()));
        if (is_new) places_.push_back({at, kind, bytes, {}, 0, 0, {}});
        last_key_ = key;
        last_ = it->second;
    }
    place& p = places_[last_];
    const uint32_t number = p.count[size_t(lane)]++;
    if (number - p.first >= p.groups.size()) p.groups.resize(number - p.first + 1);
    warp_access& access = p.groups[number - p.first];
    const uint64_t full = is_cdna(on_) ? ~uint64_t(0) : 0xffffffffu;
    access.mask |= uint64_t(1) << lane;
    access.address[size_t(lane)] = address;
    if (access.mask == full && number - p.first == p.done) {  // the oldest is complete, and no lane comes back to it
        while (p.done < p.groups.size() && p.groups[p.done].mask == full) finish(to, p, p.groups[p.done++]);
        // Not one by one: where warps don't meet for long, one lane has made many before another completes the first.
        if (2 * p.done < p.groups.size()) return;
        p.groups.erase(p.groups.begin(), p.groups.begin() + std::ptrdiff_t(p.done));
        p.first += uint32_t(p.done);
        p.done = 0;
    }
}

void access_counter::flush(counter_table& to) {
    for (const place& p : places_)
        for (size_t i = p.done; i < p.groups.size(); ++i) finish(to, p, p.groups[i]);
    places_.clear();
    numbers_.clear();
    last_key_ = 0;
}

}  // namespace tk::sim

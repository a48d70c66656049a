// SPDX-License-Identifier: MIT
// Nothing can run any more, but lanes have not ended: who waits for whom. A warp (or the part of it that waits at one
// place) waits for what it is at; that waits for those who would have to come. If the chain comes back to where it
// began, it is told as a cycle, else up to the one who will not come.
#include <algorithm>
#include <map>

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

/// Lanes of a warp that wait for the same at the same place.
struct waiting_group {
    std::vector<lane*> lanes;
    const lane& first() const { return *lanes.front(); }
};

std::string barrier_name(const mbarrier& b) {
    return "the barrier at shared memory + " + std::to_string(b.offset) + " of block " +
           std::to_string(b.home->where.block);
}

std::string missing_of(const mbarrier& b) {
    std::string text = "phase " + std::to_string(b.phase) + " of " + barrier_name(b) + " has " +
                       std::to_string(b.expected - b.pending) + " of " + std::to_string(b.expected) + " arrivals";
    if (b.bytes > 0) text += " and waits for " + std::to_string(b.bytes) + " more bytes";
    if (b.bytes < 0) text += " and has " + std::to_string(-b.bytes) + " bytes more than were announced";
    return text;
}

/// What the group waits for, in words.
std::string reason(const waiting_group& g) {
    const lane& l = g.first();
    switch (l.waiting) {
        case waits_for::mbarrier: return missing_of(*static_cast<const mbarrier*>(l.object));
        case waits_for::named_barrier: {
            const auto& b = *static_cast<const named_barrier*>(l.object);
            return "named barrier " + std::to_string(l.number) + " of block " + std::to_string(l.view.block) + " has " +
                   std::to_string(b.arrived) + " of " + std::to_string(b.expected) + " threads";
        }
        case waits_for::block_barrier:
            return "the block's barrier has " + std::to_string(l.home->at_barrier.size()) + " of " +
                   std::to_string(l.view.threads) + " threads";
        case waits_for::cluster_barrier:
            return "the cluster's barrier has " + std::to_string(the().cluster.arrived) + " of " +
                   std::to_string(the().lanes.size()) + " threads";
        case waits_for::registers:
            return std::to_string(l.number) + " registers a thread are asked for, " +
                   std::to_string(l.in->group->registers) + " are held and " +
                   std::to_string(l.home->free_registers / 128) + " are free";
        case waits_for::meeting: return "the other lanes do not come to `" + std::string(l.what) + "`";
        default: return "what it has issued does not complete";
    }
}

/// The warps of the group's block (cluster) that have not come to where it waits.
std::vector<const warp*> awaited(const waiting_group& g) {
    machine& sim = the();
    const lane& l = g.first();
    std::vector<const warp*> result;
    const auto all_of = [&](block& home, auto accept) {
        for (auto& w : home.warps)
            if (accept(*w)) result.push_back(w.get());
    };
    switch (l.waiting) {
        case waits_for::mbarrier: {
            const auto& b = *static_cast<const mbarrier*>(l.object);
            for (auto& home : sim.blocks)
                all_of(*home, [&](const warp& w) {
                    return std::any_of(b.arrivers.begin(), b.arrivers.end(), [&](const auto& a) {
                        return a.block == home->where.block && a.warp == w.number &&
                               a.last_phase < b.phase + (b.pending == b.expected ? 1 : 0);
                    });
                });
            break;
        }
        case waits_for::named_barrier: break;  // the hardware does not say who, either
        case waits_for::block_barrier:
            all_of(*l.home, [&](const warp& w) {
                return std::any_of(w.lanes.begin(), w.lanes.end(),
                                   [](const lane* x) { return x->waiting != waits_for::block_barrier; });
            });
            break;
        case waits_for::cluster_barrier:
            for (auto& home : sim.blocks)
                all_of(*home, [&](const warp& w) {
                    return std::any_of(w.lanes.begin(), w.lanes.end(),
                                       [&](const lane* x) { return x->cluster_arrivals <= sim.cluster.generation; });
                });
            break;
        case waits_for::meeting: result.push_back(l.in); break;
        default: break;
    }
    return result;
}

/// A chain of groups: each waits for the next.
bool follow(const std::vector<waiting_group>& groups, size_t from, std::vector<size_t>& chain, size_t& cycle_start) {
    for (size_t i = 0; i < chain.size(); ++i)
        if (chain[i] == from) {
            cycle_start = i;
            return true;
        }
    chain.push_back(from);
    std::vector<size_t> next;
    for (const warp* w : awaited(groups[from]))
        for (size_t g = 0; g < groups.size(); ++g)
            if (groups[g].first().in == w && g != from) next.push_back(g);
    // Prefer those that wait for something of their own kind of object: a barrier before a meeting of idle lanes.
    std::stable_sort(next.begin(), next.end(), [&](size_t a, size_t b) {
        return (groups[a].first().waiting == waits_for::mbarrier) > (groups[b].first().waiting == waits_for::mbarrier);
    });
    for (size_t g : next)
        if (chain.size() < 12 && follow(groups, g, chain, cycle_start)) return true;
    if (!next.empty()) chain.pop_back();
    return false;
}

}  // namespace

std::string describe(const std::vector<lane*>& lanes) {
    std::map<int, std::set<int>> warps, threads;
    for (const lane* l : lanes)
        threads[l->view.block].insert(l->view.thread), warps[l->view.block].insert(l->view.thread / the().lanes_a_warp());
    std::string text;
    for (auto& [number, set] : threads) {
        if (!text.empty()) text += "; ";
        text += "block " + std::to_string(number) + ", ";
        const bool whole = set.size() == warps[number].size() * size_t(the().lanes_a_warp());
        text += (whole            ? warps[number].size() > 1 ? "warps " : "warp "
                 : set.size() > 1 ? "threads "
                                  : "thread ") +
                ranges(whole ? warps[number] : set);
    }
    return text;
}

namespace {

/// Lanes that wait alike, over the whole cluster; warps stay apart, as each may wait for others.
std::vector<waiting_group> groups_of_waiting_lanes() {
    std::vector<waiting_group> groups;
    std::map<std::pair<const warp*, std::pair<site, const void*>>, size_t> numbers;
    for (lane& l : the().lanes) {
        if (l.exited) continue;
        const auto [it, is_new] = numbers.try_emplace({l.in, {l.at, l.object}}, groups.size());
        if (is_new) groups.emplace_back();
        groups[it->second].lanes.push_back(&l);
    }
    return groups;
}

/// Groups each of which waits for the next, and the last for the first; empty if there are none.
std::vector<size_t> cycle_of(const std::vector<waiting_group>& groups) {
    for (size_t g = 0; g < groups.size(); ++g) {
        std::vector<size_t> chain;
        size_t start = 0;
        if (follow(groups, g, chain, start)) return {chain.begin() + std::ptrdiff_t(start), chain.end()};
    }
    return {};
}

void name_kind(const std::vector<waiting_group>& groups, bool has_cycle, finding& f) {
    const auto any_waits_for = [&](waits_for what) {
        return std::any_of(groups.begin(), groups.end(), [&](const auto& g) { return g.first().waiting == what; });
    };
    f.kind = "deadlock";
    if (has_cycle) {
        f.text = "nobody can go on: a cycle of waits";
    } else if (any_waits_for(waits_for::registers)) {
        f.kind = "register-pool";
        f.text = "setmaxnreg waits for registers that nobody gives back";
    } else if (any_waits_for(waits_for::meeting)) {
        f.kind = "divergence";
        f.text = "lanes of a warp wait at different places for each other";
    } else {
        f.text = "nobody can go on";
    }
}

/// Each place of the cycle with what it waits for.
void tell_cycle(const std::vector<waiting_group>& groups, const std::vector<size_t>& cycle, finding& f) {
    for (size_t i = 0; i < cycle.size(); ++i) {
        const waiting_group& g = groups[cycle[i]];
        f.sites.push_back({describe(g.lanes) + " waits: " + reason(g) + "; it waits for " +
                               describe({groups[cycle[(i + 1) % cycle.size()]].lanes}),
                           g.first().at});
    }
}

/// Each other place where lanes wait, once.
void tell_others(const std::vector<waiting_group>& groups, const std::vector<size_t>& cycle, finding& f) {
    std::map<site, std::vector<lane*>> others;
    std::map<site, std::string> reasons;
    for (size_t g = 0; g < groups.size(); ++g) {
        if (std::find(cycle.begin(), cycle.end(), g) != cycle.end()) continue;
        auto& lanes = others[groups[g].first().at];
        lanes.insert(lanes.end(), groups[g].lanes.begin(), groups[g].lanes.end());
        const auto [it, is_new] = reasons.try_emplace(groups[g].first().at, reason(groups[g]));
        if (!is_new) continue;
        std::vector<lane*> whom;
        for (const warp* w : awaited(groups[g]))
            for (const waiting_group& other : groups)
                if (other.first().in == w && &other != &groups[g])
                    whom.insert(whom.end(), other.lanes.begin(), other.lanes.end());
        if (!whom.empty() && groups[g].first().waiting == waits_for::mbarrier)
            it->second += "; they come from " + describe(whom);
    }
    for (auto& [at, lanes] : others)
        f.sites.push_back({describe(lanes) + (lanes.size() > 1 ? " wait: " : " waits: ") + reasons[at], at});
}

/// Who has arrived at the barriers that are waited for, and would have to again.
void tell_arrivers(const std::vector<waiting_group>& groups, finding& f) {
    std::set<const void*> seen;
    for (const waiting_group& g : groups) {
        if (g.first().waiting != waits_for::mbarrier || !seen.insert(g.first().object).second) continue;
        const auto& b = *static_cast<const mbarrier*>(g.first().object);
        std::set<site> places;
        for (const auto& a : b.arrivers)
            if (places.insert(a.at).second && places.size() <= 2)
                f.sites.push_back({"arrives at " + barrier_name(b), a.at});
        if (b.arrivers.empty())
            f.sites.push_back({barrier_name(b) + " was made here; nobody has arrived there", b.init_site});
    }
}

}  // namespace

void report_deadlock() {
    const std::vector<waiting_group> groups = groups_of_waiting_lanes();
    const std::vector<size_t> cycle = cycle_of(groups);
    finding f;
    f.block = the().blocks.front()->where.block;
    name_kind(groups, !cycle.empty(), f);
    tell_cycle(groups, cycle, f);
    tell_others(groups, cycle, f);
    tell_arrivers(groups, f);
    the().found.add(std::move(f), -1);
}

}  // namespace tk::sim

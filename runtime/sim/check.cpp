// SPDX-License-Identifier: MIT
// The check of an access against those before it on the same bytes: initialised? ordered behind the last write and, for
// a write, behind the reads since? An access by the copy engine or the tensor core needs a proxy fence behind ordinary
// accesses that it conflicts with.
#include <array>
#include <utility>

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

/// Accesses of another cluster or of an earlier launch have no clock of their own any more.
enum class relation { same_cluster, other_cluster, earlier_launch };

relation relate(const access_record& earlier) {
    const machine& sim = the();
    if (earlier.launch != sim.launch_number) return relation::earlier_launch;
    return earlier.cluster == sim.cluster_number || earlier.component == 0 ? relation::same_cluster
                                                                           : relation::other_cluster;
}

enum class missing { nothing, order, fence, launch };

/// `overwrites`: who comes does not read what was written. A copy over the data of a finished copy needs to see none of
/// it.
missing behind_write(const access_record& w, const accessor& who, bool overwrites = false) {
    const relation r = relate(w);
    if (r == relation::other_cluster) return missing::order;
    if (r == relation::earlier_launch || w.component == 0)
        return who.knows.at(0).seen > 0 ? missing::nothing : missing::launch;
    const known k = who.knows.at(w.component);
    if (overwrites && w.is_async && who.is_async) return k.done < w.epoch ? missing::order : missing::nothing;
    if (k.seen < w.epoch) return missing::order;
    return who.is_async && !w.is_async && k.fenced < w.epoch ? missing::fence : missing::nothing;
}

missing behind_read(const access_record& read, const accessor& who) {
    const relation r = relate(read);
    if (r == relation::other_cluster) return missing::order;
    if (r == relation::earlier_launch || read.component == 0)
        return who.knows.at(0).seen > 0 ? missing::nothing : missing::launch;
    const known k = who.knows.at(read.component);
    if (k.done < read.epoch) return missing::order;
    return who.is_async && !read.is_async && k.fenced < read.epoch ? missing::fence : missing::nothing;
}

std::string actor(const access_record& r) {
    if (r.component == 0) return r.what;
    return "`" + std::string(r.what) + "` by block " + std::to_string(r.block) + ", thread " + std::to_string(r.thread);
}

void report_race(const access_record& earlier, const accessor& who, missing what, bool write, const std::string& where,
                 uint64_t offset) {
    machine& sim = the();
    const access_record& later = sim.log[who.id];
    finding f;
    f.kind = "race";
    switch (what) {
        case missing::fence:
            f.text = "`" + std::string(later.what) + "` touches bytes of an ordinary " + (write ? "store" : "load") +
                     " without fence.proxy.async by the thread that " + (write ? "stored" : "loaded") + " them";
            break;
        case missing::launch:
            f.text = "`" + std::string(later.what) +
                     "` touches global memory before grid::wait_previous: the launch before may still use it";
            break;
        default:
            f.text =
                "`" + std::string(later.what) + "` is not ordered behind a `" + earlier.what + "` of the same bytes";
            if (earlier.epoch == kPending)
                f.text += " that may not be complete";
            else if (earlier.cluster != later.cluster && earlier.launch == later.launch)
                f.text += " by another block";
    }
    if (earlier.at) f.sites.push_back({actor(earlier) + (write ? " writes" : " reads"), earlier.at});
    f.sites.push_back({actor(later) + " comes without having waited", later.at});
    f.block = later.block;
    f.address = where + " + " + std::to_string(offset);
    sim.found.add(std::move(f), later.thread);
}

/// The set of reads with one more. Reads that the new one is ordered behind need not be kept, but for those of other lanes without a
/// proxy fence: who is behind it is behind them. Of those by other clusters the newest is enough, as a write by whomever is behind none
/// of them: what many blocks read would have lists as long as the grid.
uint32_t with_read(uint32_t set, const accessor& who) {
    machine& sim = the();
    access_log::step& memory = sim.log.recent(set, who.id);
    if (memory.set == set && memory.read == who.id && memory.result) return memory.result;
    std::array<access_id, 1024> kept;
    size_t count = 0;
    bool drops = false, there = false;
    bool has_other[2] = {};  // an atomic read by another cluster, an ordinary one
    for (uint32_t n = set; n; n = sim.log(n).next) {
        const access_id id = sim.log(n).read;
        there = there || id == who.id;
        const access_record& r = sim.log[id];
        const bool is_fenced = r.is_async || r.component == sim.log[who.id].component || who.knows.at(r.component).fenced >= r.epoch;
        if (relate(r) == relation::other_cluster && std::exchange(has_other[!r.is_atomic], true))
            drops = true;
        else if (id != who.id && is_fenced && behind_read(r, who) == missing::nothing &&
            !(r.component == sim.log[who.id].component && r.epoch == sim.log[who.id].epoch && r.is_async))
            drops = true;
        else if (count < kept.size())
            kept[count++] = id;
    }
    uint32_t result = drops ? 0 : set;
    if (drops)
        while (count > 0) result = sim.log.push(result, kept[--count]);
    if (!there) result = sim.log.push(result, who.id);
    memory = {set, result, who.id};
    return result;
}

}  // namespace

void check_read(shadow& cells, uint64_t first, uint64_t bytes, const accessor& who, const std::string& where,
                uint64_t origin) {
    machine& sim = the();
    const bool atomic = sim.log[who.id].is_atomic;
    shadow_cell last{};  // the cell before, if it was in order
    uint32_t last_reads = 0;
    bool known = false;
    cells.for_range(first, bytes, false, [&](shadow_cell& cell, uint64_t at, int) {
        if (known && cell.write == last.write && cell.reads == last.reads) {
            cell.reads = last_reads;
            return;
        }
        if (cell.write == 0) {
            finding f;
            f.kind = "read-of-poison";
            f.text = "`" + std::string(sim.log[who.id].what) + "` reads memory that nothing has written";
            f.sites = {{actor(sim.log[who.id]) + " reads", sim.log[who.id].at}};
            f.block = sim.log[who.id].block;
            f.address = where + " + " + std::to_string(at - origin);
            sim.found.add(std::move(f), sim.log[who.id].thread);
        } else {
            const access_record& w = sim.log[cell.write];
            const missing m = w.is_atomic && atomic ? missing::nothing : behind_write(w, who);
            if (m != missing::nothing) report_race(w, who, m, true, where, at - origin);
        }
        last = cell;
        last_reads = cell.reads = with_read(cell.reads, who);
        known = true;
    });
}

void check_write(shadow& cells, uint64_t first, uint64_t bytes, const accessor& who, const std::string& where,
                 uint64_t origin) {
    machine& sim = the();
    const bool atomic = sim.log[who.id].is_atomic;
    shadow_cell last{};
    bool known = false;
    cells.for_range(first, bytes, true, [&](shadow_cell& cell, uint64_t at, int) {
        if (!known || cell.write != last.write || cell.reads != last.reads) {
            last = cell;
            known = true;
            bool raced = false;
            for (uint32_t n = cell.reads; n && !raced; n = sim.log(n).next) {
                const access_record& r = sim.log[sim.log(n).read];
                const missing m = r.is_atomic && atomic ? missing::nothing : behind_read(r, who);
                if (m != missing::nothing) report_race(r, who, m, false, where, at - origin), raced = true;
            }
            if (cell.write != 0) {
                const access_record& w = sim.log[cell.write];
                const missing m = w.is_atomic && atomic ? missing::nothing : behind_write(w, who, !atomic);
                if (m != missing::nothing) report_race(w, who, m, true, where, at - origin);
            }
        }
        cell = {who.id, 0};
    });
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Asynchronous operations: their order, their groups, and when they are complete.
#include "runtime/sim/agent.h"

#include <algorithm>

#include "runtime/sim/memory.h"

namespace tk::sim {

/// Lives from its issue to its completion.
struct operation {
    enum class kind { copy, store, product, lane_copy } is;
    const char* what;
    site at;
    lane_clock knows;  // at its issue
    lane* issuer;
    block* home;
    mbarrier* barrier = nullptr;
    group_queue* queue = nullptr;
    uint32_t group = 0;
    bool same_block = true;
    access_id read = 0, write = 0;
};

namespace {

// Nominal figures of an H200, in cycles: the copy engine moves 64 bytes a cycle.
constexpr int kBytesPerCycle = 64, kStoreWriteCycles = 500;

std::string shared_name(const block& home) { return "shared memory of block " + std::to_string(home.where.block); }

operation* begin(operation::kind kind, const char* what, site here) {
    machine& sim = the();
    lane& l = *sim.current;
    auto* op = new operation{kind, what, here, {}, &l, l.home};
    op->knows = l.clock;
    // What the lane does after the issue is not ordered before the operation. On CDNA neither is what it has not waited for.
    l.clock.advance();
    if (op->knows.epoch == l.clock.epoch) --op->knows.epoch;
    if (l.clock.drains) op->knows.epoch = l.clock.drained;
    return op;
}

access_id new_record(const operation& op, uint32_t component) {
    machine& sim = the();
    return sim.log.add({component, kPending, op.at, sim.launch_number, sim.cluster_number, op.home->where.block,
                        op.issuer->view.thread, op.what, true, false});
}

access_id write_id(operation& op);

access_id read_id(operation& op) {
    if (op.read) return op.read;
    machine& sim = the();
    switch (op.is) {
        case operation::kind::copy: op.read = new_record(op, op.barrier->component); break;
        case operation::kind::lane_copy: return write_id(op);  // what is read and what is written end together
        case operation::kind::store:
        case operation::kind::product:
            if (!op.queue->read_component) op.queue->read_component = sim.new_component();
            op.read = new_record(op, op.queue->read_component);
            op.queue->of(op.group).reads.push_back(op.read);
    }
    return op.read;
}

access_id write_id(operation& op) {
    if (op.write) return op.write;
    machine& sim = the();
    if (op.is == operation::kind::copy) {
        op.write = new_record(op, op.barrier->component);
    } else {
        if (!op.queue->write_component && op.is == operation::kind::lane_copy) op.issuer->clock.copies = op.queue->write_component = sim.new_component();
        if (!op.queue->write_component) op.queue->write_component = sim.new_component();
        op.write = new_record(op, op.queue->write_component);
        op.queue->of(op.group).writes.push_back(op.write);
    }
    return op.write;
}

/// Copies of lanes go the way of ordinary accesses; all other operations go past it.
bool by_proxy(const operation& op) { return op.is != operation::kind::lane_copy; }

/// Drops the groups up to `last` that are complete. The epoch of their accesses is the group's number: whoever has
/// waited for that many is behind them.
void retire(group_queue& q, uint32_t last) {
    while (q.retired < last && q.groups.front().running == 0 && q.groups.front().writing == 0) {
        ++q.retired;
        for (auto* ids : {&q.groups.front().reads, &q.groups.front().writes})
            for (access_id id : *ids) the().log[id].epoch = q.retired;
        q.groups.pop_front();
    }
}

/// Gives the accesses their epoch before the group is dropped: its source has been read, its result may not be written
/// yet.
void set_epoch_of_reads(group_queue& q, uint32_t last) {
    for (uint32_t n = q.retired + 1; n <= last; ++n) {
        for (access_id id : q.of(n).reads) the().log[id].epoch = n;
        q.of(n).reads.clear();
    }
}

/// The number of groups, from the oldest, that are complete.
uint32_t complete_groups(group_queue& q, bool read_only) {
    uint32_t number = q.retired;
    for (const auto& g : q.groups) {
        if (number + 1 == q.open() || g.running > 0 || (!read_only && g.writing > 0)) break;
        ++number;
    }
    return number;
}

/// Who waits for the queue goes on if enough is complete.
void wake(group_queue& q, lane& l) {
    if (l.object != &q || (l.waiting != waits_for::stores && l.waiting != waits_for::products && l.waiting != waits_for::copies)) return;
    the().ready(l, the().now + 8);
}

void wake_group(group_queue& q, warpgroup& g) {
    for (warp* w : g.warps)
        for (lane* l : w->lanes) wake(q, *l);
}

/// Waits until the groups up to `wanted` are complete.
void wait_groups(group_queue& q, uint32_t wanted, bool read_only, waits_for why, const char* what, site here) {
    machine& sim = the();
    while (complete_groups(q, read_only) < wanted) sim.block_on(why, what, here, &q, wanted);
}

}  // namespace

operation* begin_copy(const char* what, uint32_t barrier) {
    machine& sim = the();
    sim.settle(8);
    const site here = TK_SIM_HERE();
    mbarrier* b = find_barrier(barrier, what, here, false);
    operation* op = begin(operation::kind::copy, what, here);
    if (!b) sim.stop();
    op->barrier = b;
    op->same_block = b->home == sim.current->home;
    ++b->copies_running;
    b->last_copy = here;
    return op;
}

operation* begin_store(const char* what) {
    machine& sim = the();
    sim.settle(8);
    operation* op = begin(operation::kind::store, what, TK_SIM_HERE());
    op->queue = &sim.current->stores;
    op->group = op->queue->open();
    op->queue->of(op->group).running++;
    op->queue->of(op->group).writing++;
    return op;
}

operation* begin_product(const char* what) {
    machine& sim = the();
    operation* op =
        begin(operation::kind::product, what, sim.in_action ? sim.in_action->lanes.front()->at : TK_SIM_HERE());
    warpgroup& g = *sim.current->in->group;
    op->issuer = g.warps.front()->lanes.front();
    op->queue = &g.products;
    op->group = op->queue->open();
    op->queue->of(op->group).running++;
    // The product runs for all four warps: it may rely only on what all of them know.
    clock_ref all = g.warps.front()->lanes.front()->clock.base;
    const vector_clock* last = all.get();
    for (warp* w : g.warps)
        for (lane* l : w->lanes) {
            if (l->clock.base.get() != last) all = common(all, l->clock.base);
            last = l->clock.base.get();
            l->clock.advance();
        }
    op->knows = {};
    op->knows.base = all;
    return op;
}

operation* begin_lane_copy(const char* what) {
    machine& sim = the();
    sim.settle(8);
    operation* op = begin(operation::kind::lane_copy, what, TK_SIM_HERE());
    op->queue = &sim.current->copies;
    op->group = op->queue->open();
    op->queue->of(op->group).running++;
    return op;
}

void read_shared(operation* op, uint32_t address, int bytes) {
    const place from = resolve_shared(address, bytes, op->what, op->at);
    if (!from.home) return;
    check_no_barrier(*from.home, from.offset, bytes, op->what, op->at);
    check_read(from.home->cells, from.offset, uint64_t(bytes), {read_id(*op), op->knows, by_proxy(*op)}, shared_name(*from.home),
               0);
}

void write_shared(operation* op, uint32_t address, int bytes) {
    const place to = resolve_shared(address, bytes, op->what, op->at);
    if (!to.home) return;
    check_no_barrier(*to.home, to.offset, bytes, op->what, op->at);
    check_write(to.home->cells, to.offset, uint64_t(bytes), {write_id(*op), op->knows, by_proxy(*op)},
                shared_name(*to.home), 0);
}

void read_global(operation* op, const void* from, int64_t bytes) {
    region* r = resolve_global(from, bytes, false, op->what, op->at);
    if (r)
        check_read(r->cells, uint64_t(static_cast<const unsigned char*>(from) - r->data), uint64_t(bytes),
                   {read_id(*op), op->knows, by_proxy(*op)}, r->name, 0);
}

void write_global(operation* op, void* to, int64_t bytes) {
    region* r = resolve_global(to, bytes, true, op->what, op->at);
    if (!r) return;
    check_write(r->cells, uint64_t(static_cast<unsigned char*>(to) - r->data), uint64_t(bytes), {write_id(*op), op->knows, by_proxy(*op)}, r->name,
                0);
}

void finish(operation* op, cost c, std::function<void()> action) {
    machine& sim = the();
    block& home = *op->home;
    const int64_t issued = sim.current->time;
    if (op->is == operation::kind::product) {
        warpgroup& g = *op->issuer->in->group;
        const int64_t begin = std::max(issued, home.tensor_core_free), cycles = sim.stretch(c.cycles);
        const int64_t end = std::max(begin + cycles, g.last_product);  // in order
        home.tensor_core_free = begin + c.cycles;
        g.last_product = end;
        sim.trace.add(
            {track::tensor_core, home.where.block, g.number, op->what, begin, end, op->at, sim.launch_number, 0});
        sim.at(end, [op, &g, action = std::move(action)] {
            action();
            --op->queue->of(op->group).running;
            wake_group(*op->queue, g);
            delete op;
        });
        return;
    }
    if (op->is == operation::kind::lane_copy) {
        sim.at(issued + sim.stretch(c.cycles), [op, action = std::move(action)] {
            action();
            --op->queue->of(op->group).running;
            wake(*op->queue, *op->issuer);
            delete op;
        });
        return;
    }
    const int64_t begin = std::max(issued, home.copy_engine_free);
    home.copy_engine_free = begin + c.bytes / kBytesPerCycle;
    const int64_t end = begin + c.bytes / kBytesPerCycle + sim.stretch(c.cycles);
    sim.trace.add({track::loads, home.where.block, 0, op->what, issued, end, op->at, sim.launch_number, c.bytes});
    sim.at(end, [op, c, action = std::move(action)] {
        action();
        machine& sim = the();
        mbarrier& b = *op->barrier;
        // The epoch of the copy's accesses is its place in the order of completion at this barrier.
        const uint32_t epoch = ++b.copies;
        for (access_id id : {op->read, op->write})
            if (id) sim.log[id].epoch = epoch;
        b.arrived.add(b.component, {epoch, epoch, epoch});
        b.arrived.add(op->knows.base, !op->same_block);
        if (op->knows.self) {
            const known own = op->knows.at(op->knows.self);
            b.arrived.add(op->knows.self, op->same_block ? own : known{0, 0, own.done});
        }
        --b.copies_running;
        b.last_copy_phase = b.phase + 1;
        complete_bytes(b, c.bytes);
        delete op;
    });
}

void finish_store(operation* op, cost c, std::function<void()> read, std::function<void()> write) {
    machine& sim = the();
    block& home = *op->home;
    const int64_t issued = sim.current->time, begin = std::max(issued, home.copy_engine_free);
    home.copy_engine_free = begin + c.bytes / kBytesPerCycle;
    const int64_t read_end = begin + c.bytes / kBytesPerCycle + sim.stretch(c.cycles);
    const int64_t write_end = read_end + sim.stretch(kStoreWriteCycles);
    sim.trace.add(
        {track::stores, home.where.block, 0, op->what, issued, write_end, op->at, sim.launch_number, c.bytes});
    sim.at(read_end, [op, write_end, read = std::move(read), write = std::move(write)] {
        read();
        --op->queue->of(op->group).running;
        wake(*op->queue, *op->issuer);
        the().at(write_end, [op, write] {
            write();
            --op->queue->of(op->group).writing;
            wake(*op->queue, *op->issuer);
            delete op;
        });
    });
}

void bulk_commit() {
    group_queue& q = the().current->stores;
    q.last_commit = TK_SIM_HERE();
    q.groups.emplace_back();
}

void bulk_wait(int newest, bool read_only) {
    machine& sim = the();
    sim.settle(8);
    lane& l = *sim.current;
    group_queue& q = l.stores;
    const uint32_t committed = q.open() - 1, wanted = committed > uint32_t(newest) ? committed - uint32_t(newest) : 0;
    wait_groups(q, wanted, read_only, waits_for::stores,
                read_only ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group", TK_SIM_HERE());
    if (!q.read_component && !q.write_component) return;
    clock_sum sum;
    retire(q, wanted);
    set_epoch_of_reads(q, wanted);
    l.waited_reads = std::max(l.waited_reads, wanted);
    if (!read_only) l.waited_groups = std::max(l.waited_groups, wanted);
    if (q.read_component) sum.add(q.read_component, {l.waited_reads, l.waited_reads, l.waited_reads});
    if (q.write_component) sum.add(q.write_component, {l.waited_groups, l.waited_groups, l.waited_groups});
    l.clock.acquire(sum.value());
}

void lane_copies_commit() {
    group_queue& q = the().current->copies;
    q.last_commit = TK_SIM_HERE();
    q.groups.emplace_back();
}

void lane_copies_wait(int newest) {
    machine& sim = the();
    sim.settle(8);
    lane& l = *sim.current;
    group_queue& q = l.copies;
    const uint32_t committed = q.open() - 1, wanted = committed > uint32_t(newest) ? committed - uint32_t(newest) : 0;
    wait_groups(q, wanted, true, waits_for::copies, "a wait for asynchronous copies", TK_SIM_HERE());
    retire(q, wanted);
    if (q.write_component) l.clock.copies_waited = std::max(l.clock.copies_waited, wanted);
}

void products_fence() { the().current->time += 2; }

void products_commit() {
    machine& sim = the();
    lane& l = *sim.current;
    l.time += 2;
    l.at = TK_SIM_HERE();
    // The group closes when the first lane of the warpgroup says so; all of them must.
    group_queue& q = l.in->group->products;
    q.last_commit = l.at;
    if (++l.products_committed == q.open()) q.groups.emplace_back();
}

void products_wait(int newest) {
    machine& sim = the();
    sim.settle(4);
    lane& l = *sim.current;
    group_queue& q = l.in->group->products;
    const uint32_t wanted = l.products_committed > uint32_t(newest) ? l.products_committed - uint32_t(newest) : 0;
    wait_groups(q, wanted, true, waits_for::products, "wgmma.wait_group", TK_SIM_HERE());
    retire(q, wanted);
    l.products_waited = std::max(l.products_waited, wanted);
    if (!q.read_component || l.clock.base->at(q.read_component).seen >= l.products_waited) return;
    if (!q.knows || q.known != l.products_waited) {
        clock_sum sum;
        sum.add(q.read_component, {l.products_waited, l.products_waited, l.products_waited});
        q.knows = sum.value();
        q.known = l.products_waited;
    }
    l.clock.acquire(q.knows);
}

void check_end_of_lane(lane& l) {
    group_queue& q = l.stores;
    const bool open = q.groups.back().running > 0 || !q.groups.back().reads.empty();
    if (open || l.waited_reads + 1 < q.open()) {
        if (q.read_component == 0 && !open) return;
        report_at("exited-with-pending",
                  open ? "a thread ends with stores that it has not committed"
                       : "a thread ends without waiting until its stores have been read from shared memory "
                         "(cp.async.bulk.wait_group.read 0)",
                  q.last_commit ? q.last_commit : l.at);
    }
    if (l.copies.write_component && (l.copies.groups.back().running > 0 || !l.copies.groups.back().writes.empty() ||
                                     l.clock.copies_waited + 1 < l.copies.open()))
        report_at("exited-with-pending", "a thread ends without waiting for its copies into shared memory",
                  l.copies.last_commit ? l.copies.last_commit : l.at);
    group_queue& products = l.in->group->products;
    if (const auto& reads = products.groups.back().reads; !reads.empty())
        report_at("exited-with-pending",
                  "a warpgroup ends with products that it has not committed (wgmma.commit_group)",
                  the().log[reads.front()].at);
    else if (l.products_waited < products.open() - 1 && products.read_component != 0)
        report_at("exited-with-pending", "a warpgroup ends without waiting for its products (wgmma.wait_group 0)",
                  products.last_commit);
}

void report(const char* kind, const std::string& text) {
    machine& sim = the();
    report_at(kind, text, sim.in_action ? sim.in_action->lanes.front()->at : TK_SIM_HERE());
}

int thread_in_meeting(int index) {
    machine& sim = the();
    const lane& l = *sim.current;
    return sim.in_action && int(sim.in_action->lanes.size()) == sim.lanes_a_warp() ? l.view.thread / sim.lanes_a_warp() * sim.lanes_a_warp() + index
                                                              : l.view.thread / 128 * 128 + index;
}

uint32_t choose(uint32_t bound) { return the().random(bound); }

}  // namespace tk::sim

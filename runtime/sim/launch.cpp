// SPDX-License-Identifier: MIT
// One launch: clusters one after another in an order by seed, each with all its blocks at once. Blocks of different
// clusters never synchronise, so races between them do not depend on how they interleave.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

constexpr int kSharedBytes[] = {232448, 65536, 163840};  // by chip
constexpr int kRegisters = 65536, kStaticBytes = 49152;

int most_shared_bytes(chip on) {
    const int chosen = the().shared_bytes;
    return chosen > 0 ? std::min(chosen, kSharedBytes[size_t(on)]) : kSharedBytes[size_t(on)];
}

void (*kernel)(const void*) = nullptr;
const void* kernel_arguments = nullptr;

void run_lane(void* argument) {
    lane& l = *static_cast<lane*>(argument);
    machine& sim = the();
    sim.current = &l;
    kernel(kernel_arguments);
    // Its end: what it still owes, and whether others count on it.
    sim.settle();
    check_end_of_lane(l);
    l.exited = true;
    note_exit(l);
    l.home->left.add(l.clock);
    if (++l.home->exited == l.view.threads) {
        for (auto& w : l.home->warps) w->counter.flush(sim.counters);
        check_end_of_block(*l.home);
    }
    sim.cycles = std::max(sim.cycles, l.time);
    l.run.leave();
}

/// Shared memory is unwritten: every byte 0xff, a NaN in all types.
unsigned char* shared_memory(uint32_t bytes) {
    void* memory = std::aligned_alloc(2048, (bytes + 2047) / 2048 * 2048);
    std::memset(memory, 0xff, bytes);
    return static_cast<unsigned char*>(memory);
}

void build_block(machine& sim, int number, int rank, int64_t start) {
    auto made = std::make_unique<block>();
    block& home = *made;
    const host_launch& shape = sim.shape;
    home.where = {0, number, rank, shape.threads, shape.blocks, shape.cluster};
    home.start = start;
    home.dynamic_bytes = uint32_t(shape.shared_bytes);
    const uint32_t capacity = (home.dynamic_bytes + 1023) / 1024 * 1024 + kStaticBytes;
    home.bytes = home.dynamic_bytes;
    home.memory = shared_memory(capacity);
    home.cells = shadow(capacity);
    home.tensor_core_free = home.copy_engine_free = start;
    const int registers = shape.on != chip::sm90 ? 0 : std::min(kRegisters / shape.threads / 8 * 8, 256);
    home.free_registers = 0;
    const int lanes = sim.lanes_a_warp();
    for (int w = 0; w < shape.threads / lanes; ++w) {
        if (w % 4 == 0) {
            home.groups.push_back(std::make_unique<warpgroup>());
            home.groups.back()->home = &home;
            home.groups.back()->number = w / 4;
            home.groups.back()->registers = registers;
        }
        home.warps.push_back(std::make_unique<warp>());
        warp& in = *home.warps.back();
        in.home = &home;
        in.number = w;
        in.group = home.groups.back().get();
        in.group->warps.push_back(&in);
        in.counter.of(shape.on);
        for (int i = 0; i < lanes; ++i) {
            lane& l = sim.lanes.emplace_back();
            l.view = home.where;
            l.view.thread = w * lanes + i;
            l.in_warp = i;
            l.home = &home;
            l.in = &in;
            l.clock.self = sim.new_component();
            l.clock.base = shape.overlaps ? sim.nothing : sim.launch_before;
            l.clock.drains = lanes == 64;
            in.lanes.push_back(&l);
            home.lanes.push_back(&l);
        }
    }
    sim.blocks.push_back(std::move(made));
}

void run_cluster(machine& sim, int number, int64_t start) {
    sim.cluster_number = uint32_t(number);
    sim.components = 1;
    sim.cluster = {};
    for (int rank = 0; rank < sim.shape.cluster; ++rank)
        build_block(sim, number * sim.shape.cluster + rank, rank, start);
    // All start at once, but for the seed: some warps come much later.
    for (auto& home : sim.blocks)
        for (auto& w : home->warps) {
            const int64_t delay = sim.random(8) == 0 ? sim.random(3000) : 0;
            for (lane* l : w->lanes) {
                l->run.start(sim.stacks.take(), run_lane, l);
                sim.ready(*l, start + delay + sim.random(4));
            }
        }
    sim.run_all();
    sim.lanes_done += int64_t(sim.lanes.size());
    sim.blocks_done += int64_t(sim.blocks.size());
    for (lane& l : sim.lanes)
        if (l.run.stack().low) sim.stacks.give(l.run.stack());
    for (auto& home : sim.blocks) std::free(home->memory);
    sim.blocks.clear();
    sim.lanes.clear();
}

}  // namespace

host_device device(chip on) {
    constexpr int capability[] = {90, 942, 950};
    return {the().sms, most_shared_bytes(on), capability[size_t(on)]};
}

const char* launch(const host_launch& shape, void (*body)(const void* arguments), const void* arguments) {
    machine& sim = the();
    if (sim.stopped) return nullptr;  // the finding is reported; nothing after it means anything
    if (shape.blocks <= 0) return "a grid without blocks";
    const bool waves = shape.on != chip::sm90;
    if (shape.threads <= 0 || shape.threads > 1024 || shape.threads % (waves ? 64 : 32) != 0)
        return waves ? "a block has 64 to 1024 threads, a multiple of 64" : "a block has 32 to 1024 threads, a multiple of 32";
    if (shape.shared_bytes > most_shared_bytes(shape.on)) return "more shared memory than a block may have";
    if (shape.cluster > 8) return "a cluster of more than 8 blocks, which a kernel would have to be allowed first";
    if (shape.cluster < 1 || shape.blocks % shape.cluster != 0)
        return "the grid is no multiple of the cluster";
    ++sim.launch_number;
    sim.shape = shape;
    sim.random_state = sim.seed * 0x9e3779b97f4a7c15u + uint64_t(sim.launches_done);
    if (!sim.launch_before) {
        auto before = std::make_shared<vector_clock>();
        before->entry = {{1, 1, 1}};
        sim.launch_before = before;
    }
    kernel = body;
    kernel_arguments = arguments;
    std::vector<int> order(size_t(shape.blocks / shape.cluster));
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i)
        if (sim.seed != 0) std::swap(order[i - 1], order[sim.random(uint32_t(i))]);
    // Each cluster takes the multiprocessors that are free first.
    std::vector<int64_t> busy(size_t(std::max(sim.sms, shape.cluster)), sim.cycles);
    for (int number : order) {
        std::sort(busy.begin(), busy.end());
        const int64_t start = busy[size_t(shape.cluster) - 1], before = std::exchange(sim.cycles, start);
        run_cluster(sim, number, start);
        for (int i = 0; i < shape.cluster; ++i) busy[size_t(i)] = sim.cycles;
        sim.cycles = std::max(sim.cycles, before);
        if (sim.stopped) break;
    }
    ++sim.launches_done;
    return nullptr;
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// Where addresses lead, and ordinary accesses.
#include "runtime/sim/memory.h"

#include <cstdlib>
#include <cstring>

namespace tk::sim {

namespace {

// NVIDIA's hardware keeps the first KiB of a block's shared memory for itself: dynamic shared memory starts behind it.
uint32_t shared_start() { return the().shape.on == chip::sm90 ? 1024 : 0; }
constexpr int kGlobalCycles = 24, kSharedCycles = 6;

std::map<const unsigned char*, std::unique_ptr<region>>& regions() {
    static std::map<const unsigned char*, std::unique_ptr<region>> all;
    return all;
}

std::string hex(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

bool aligned(uint64_t address, int bytes, const char* what, site here) {
    if (address % uint64_t(bytes) == 0) return true;
    report_at("misaligned",
              "`" + std::string(what) + "` of " + std::to_string(bytes) +
                  " bytes at an address that is no multiple of " + std::to_string(bytes),
              here);
    return false;
}

/// `r`, but null for a write to what the kernel may only read.
region* writable(region& r, bool is_write, const char* what, site here) {
    if (!is_write || !r.read_only) return &r;
    report_at("out-of-bounds", "`" + std::string(what) + "` writes to `" + r.name + "`, which the kernel only reads",
              here);
    return nullptr;
}

std::string block_name(const block& home) { return "shared memory of block " + std::to_string(home.where.block); }

}  // namespace

finding finding_at(const char* kind, const std::string& text, site here) {
    finding f;
    f.kind = kind;
    f.text = text;
    f.sites = {{"here", here}};
    if (const lane* l = the().current) f.block = l->view.block;
    return f;
}

void report_at(const char* kind, const std::string& text, site here) {
    const lane* l = the().current;
    the().found.add(finding_at(kind, text, here), l ? l->view.thread : -1);
}

place resolve_shared(uint32_t address, int bytes, const char* what, site here) {
    machine& sim = the();
    lane& l = *sim.current;
    block* home = l.home;
    if (const uint32_t rank = address >> 24; rank > 0) {
        if (rank > sim.blocks.size()) {
            report_at("out-of-bounds",
                      "`" + std::string(what) + "` at " + hex(address) + ": the cluster has no block " +
                          std::to_string(rank - 1),
                      here);
            return {};
        }
        home = sim.blocks[rank - 1].get();
    }
    const uint32_t offset = (address & 0xffffff) - shared_start();
    if (offset >= home->bytes || home->bytes - offset < uint32_t(bytes)) {
        finding f;
        f.kind = "out-of-bounds";
        f.text = "`" + std::string(what) + "` of " + std::to_string(bytes) + " bytes at " +
                 std::to_string(int32_t(offset)) + " of shared memory, which has " + std::to_string(home->bytes) +
                 " bytes";
        f.sites = {{"here", here}};
        f.block = l.view.block;
        f.address = "shared memory + " + std::to_string(int32_t(offset));
        sim.found.add(std::move(f), l.view.thread);
        return {};
    }
    if (home != l.home && home->exited == l.view.threads)
        report_at("exited-with-pending",
                  "`" + std::string(what) + "` reaches into block " + std::to_string(home->where.block) +
                      " of the cluster, which has ended",
                  here);
    return {home, offset};
}

void check_no_barrier(block& home, uint32_t offset, int64_t bytes, const char* what, site here) {
    auto it = home.barriers.upper_bound(offset);
    if (it != home.barriers.begin()) --it;
    for (; it != home.barriers.end() && it->first < offset + bytes; ++it) {
        if (!it->second->live || it->first + 8 <= offset) continue;
        finding f;
        f.kind = "barrier-misuse";
        f.text = "`" + std::string(what) + "` touches the bytes of a barrier";
        f.sites = {{"touches", here}, {"the barrier was made", it->second->init_site}};
        f.block = home.where.block;
        f.address = "shared memory + " + std::to_string(it->first);
        the().found.add(std::move(f), the().current ? the().current->view.thread : -1);
    }
}

void note_remote(block& home, const char* what, site here) {
    const access_id id = the().record(here, what);
    home.remote[the().log[id].component] = id;
}

region::~region() { std::free(data); }

region& add_region(std::string name, size_t bytes, size_t align, int element, bool initialised) {
    auto made = std::make_unique<region>();
    const size_t unit = std::max<size_t>(align, 256), size = bytes / unit * unit + unit;
    made->data = static_cast<unsigned char*>(std::aligned_alloc(unit, size));
    if (!made->data) throw std::bad_alloc();
    made->name = std::move(name);
    made->bytes = bytes;
    made->element = element;
    made->cells = shadow(bytes);
    std::memset(made->data, 0xff, size);
    if (initialised) {
        // Component 0: before every launch.
        const access_id id = the().log.add({0, 1, 0, 0, 0, 0, 0, "the caller", false, false});
        made->cells.for_range(0, bytes, true, [&](shadow_cell& cell, uint64_t, int) { cell.write = id; });
    }
    region& result = *made;
    regions()[result.data] = std::move(made);
    return result;
}

void* zero_element() {
    region& zero = add_region("the zero of empty tensors", 16, 16, 1, true);
    std::memset(zero.data, 0, zero.bytes);
    zero.read_only = true;
    return zero.data;
}

void remove_regions() { regions().clear(); }

region* resolve_global(const void* address, int64_t bytes, bool is_write, const char* what, site here) {
    const auto* at = static_cast<const unsigned char*>(address);
    const auto inside = [&](region& r) { return at >= r.data && at + bytes <= r.data + r.bytes; };
    auto& all = regions();
    auto it = all.upper_bound(at);
    region* r = it == all.begin() ? nullptr : std::prev(it)->second.get();
    if (r && inside(*r)) {
        if (r->exists.empty()) return writable(*r, is_write, what, here);
        bool all_exist = true;
        for (int64_t i = 0; i < bytes; ++i) all_exist = all_exist && r->exists[size_t(at - r->data + i)];
        if (all_exist) return writable(*r, is_write, what, here);
    }
    finding f;
    f.kind = "out-of-bounds";
    f.text = "`" + std::string(what) + "` of " + std::to_string(bytes) + " bytes " + (is_write ? "to" : "from") +
             " global memory that belongs to no element of a tensor";
    if (r && at < r->data + r->bytes + 65536)
        f.address = r->name + " + " + std::to_string(at - r->data) + " bytes (it has " + std::to_string(r->bytes) + ")";
    f.sites = {{"here", here}};
    f.block = the().current ? the().current->view.block : 0;
    the().found.add(std::move(f), the().current ? the().current->view.thread : -1);
    return nullptr;
}

void write_as_lane(const place& where, int bytes, const char* what, site here) {
    machine& sim = the();
    const accessor who{sim.record(here, what), sim.current->clock, false};
    check_write(where.home->cells, where.offset, uint64_t(bytes), who, block_name(*where.home), 0);
}

void load_shared(uint32_t address, void* to, int bytes, access how) {
    machine& sim = the();
    lane& l = *sim.current;
    l.time += kSharedCycles;
    ++l.shared_accesses;
    const char* what = how == access::matrix ? "ldmatrix" : how == access::transposed ? "transposing load" : "shared load";
    const site here = TK_SIM_HERE();
    std::memset(to, 0xff, size_t(bytes));
    if (!aligned(address, bytes, what, here)) return;
    const place from = resolve_shared(address, bytes, what, here);
    if (!from.home) return;
    if (from.home != l.home)
        note_remote(*from.home, what, here);
    else
        l.in->counter.add(sim.counters, here, how == access::matrix       ? counted::ldmatrix
                                              : how == access::transposed ? counted::transposed_load
                                                                          : counted::shared_load,
                          bytes,
                          l.lane_number(), from.offset);
    check_no_barrier(*from.home, from.offset, bytes, what, here);
    const accessor who{sim.record(here, what), l.clock, false};
    check_read(from.home->cells, from.offset, uint64_t(bytes), who, block_name(*from.home), 0);
    std::memcpy(to, from.bytes(), size_t(bytes));
}

void store_shared(uint32_t address, const void* from, int bytes, access how) {
    machine& sim = the();
    lane& l = *sim.current;
    l.time += kSharedCycles;
    ++l.shared_accesses;
    const char* what = how == access::matrix ? "stmatrix" : "shared store";
    const site here = TK_SIM_HERE();
    if (!aligned(address, bytes, what, here)) return;
    const place to = resolve_shared(address, bytes, what, here);
    if (!to.home) return;
    if (to.home != l.home)
        note_remote(*to.home, what, here);
    else
        l.in->counter.add(sim.counters, here, how == access::matrix ? counted::stmatrix : counted::shared_store, bytes,
                          l.lane_number(), to.offset);
    check_no_barrier(*to.home, to.offset, bytes, what, here);
    const accessor who{sim.record(here, what), l.clock, false};
    check_write(to.home->cells, to.offset, uint64_t(bytes), who, block_name(*to.home), 0);
    std::memcpy(to.bytes(), from, size_t(bytes));
}

/// Takes its time in the timeline, where the first lane stands for its warp.
static void show_global(const lane& l, const char* what, site here) {
    if (l.lane_number() != 0) return;
    machine& sim = the();
    sim.trace.add({track::warp, l.view.block, l.in->number, what, l.time - kGlobalCycles, l.time, here,
                   sim.launch_number, 0});
}

void load_global(const void* from, void* to, int bytes) {
    machine& sim = the();
    lane& l = *sim.current;
    l.time += kGlobalCycles;
    const site here = TK_SIM_HERE();
    show_global(l, "global load", here);
    std::memset(to, 0xff, size_t(bytes));
    if (!aligned(reinterpret_cast<uint64_t>(from), bytes, "global load", here)) return;
    region* r = resolve_global(from, bytes, false, "global load", here);
    if (!r) return;
    const uint64_t offset = uint64_t(static_cast<const unsigned char*>(from) - r->data);
    l.in->counter.add(sim.counters, here, counted::global_load, bytes, l.lane_number(),
                      reinterpret_cast<uint64_t>(from));
    const accessor who{sim.record(here, "global load"), l.clock, false};
    check_read(r->cells, offset, uint64_t(bytes), who, r->name, 0);
    std::memcpy(to, from, size_t(bytes));
}

void store_global(void* to, const void* from, int bytes) {
    machine& sim = the();
    lane& l = *sim.current;
    l.time += kGlobalCycles;
    const site here = TK_SIM_HERE();
    show_global(l, "global store", here);
    if (!aligned(reinterpret_cast<uint64_t>(to), bytes, "global store", here)) return;
    region* r = resolve_global(to, bytes, true, "global store", here);
    if (!r) return;
    const uint64_t offset = uint64_t(static_cast<unsigned char*>(to) - r->data);
    l.in->counter.add(sim.counters, here, counted::global_store, bytes, l.lane_number(),
                      reinterpret_cast<uint64_t>(to));
    const accessor who{sim.record(here, "global store"), l.clock, false};
    check_write(r->cells, offset, uint64_t(bytes), who, r->name, 0);
    std::memcpy(to, from, size_t(bytes));
}

void atomic_global(void* to, int bytes, void (*apply)(void* place, void* context), void* context) {
    machine& sim = the();
    lane& l = *sim.current;
    sim.settle(kGlobalCycles);  // the order of atomics is that of time, and time is by seed
    const site here = TK_SIM_HERE();
    show_global(l, "atomic", here);
    if (!aligned(reinterpret_cast<uint64_t>(to), bytes, "atomic", here)) return;
    region* r = resolve_global(to, bytes, true, "atomic", here);
    if (!r) return;
    const uint64_t offset = uint64_t(static_cast<unsigned char*>(to) - r->data);
    l.in->counter.add(sim.counters, here, counted::global_store, bytes, l.lane_number(),
                      reinterpret_cast<uint64_t>(to));
    const accessor who{sim.record(here, "atomic", true), l.clock, false};
    check_read(r->cells, offset, uint64_t(bytes), who, r->name, 0);
    check_write(r->cells, offset, uint64_t(bytes), who, r->name, 0);
    apply(to, context);
}

const lane_view& self() { return the().current->view; }

void report_misuse(const char* text) { report_at("misaligned", text, TK_SIM_HERE()); }

void* dynamic_shared_memory() { return the().current->home->memory; }

uint32_t shared_address(const void* pointer) {
    const block& home = *the().current->home;
    const auto* at = static_cast<const unsigned char*>(pointer);
    if (at < home.memory || at > home.memory + home.bytes) {
        report_at("out-of-bounds",
                  "a pointer that is none into the block's shared memory is turned into a shared address",
                  TK_SIM_HERE());
        return 0;
    }
    return uint32_t(at - home.memory) + shared_start();
}

uint32_t map_to_block(uint32_t address, uint32_t rank) { return (address & 0xffffff) | (rank + 1) << 24; }

uint32_t absolute(uint32_t address) {
    return address >> 24 ? address : map_to_block(address, uint32_t(the().current->view.rank));
}

void* static_shared_memory(const void* key, size_t bytes) {
    block& home = *the().current->home;
    const auto [it, is_new] = home.statics.try_emplace(key, home.bytes);
    if (is_new) home.bytes += uint32_t((bytes + 127) / 128 * 128);
    return home.memory + it->second;
}

unsigned char* place_shared(uint32_t address, int bytes) {
    machine& sim = the();
    const uint32_t rank = address >> 24;
    block* home = rank > 0      ? (rank <= sim.blocks.size() ? sim.blocks[rank - 1].get() : nullptr)
                  : sim.current ? sim.current->home
                                : nullptr;
    const uint32_t offset = (address & 0xffffff) - shared_start();
    if (!home || offset >= home->bytes || home->bytes - offset < uint32_t(bytes)) return nullptr;
    return home->memory + offset;
}

unsigned char* place_global(const void* address, int64_t bytes) {
    auto& all = regions();
    const auto* at = static_cast<const unsigned char*>(address);
    auto it = all.upper_bound(at);
    if (it == all.begin()) return nullptr;
    const region& r = *std::prev(it)->second;
    return at + bytes <= r.data + r.bytes ? r.data + (at - r.data) : nullptr;
}

}  // namespace tk::sim

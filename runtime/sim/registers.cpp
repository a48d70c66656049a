// SPDX-License-Identifier: MIT
// setmaxnreg: the block's registers are a pool; a warpgroup gives back or takes, and waits for what is missing.

#include "runtime/sim/memory.h"

namespace tk::sim {

namespace {

struct register_request {
    int count;
    bool increase;
    site here;
};

/// For a whole warpgroup. False: it must wait.
bool change(warpgroup& g, const register_request& r) {
    block& home = *g.home;
    const int difference = r.count - g.registers;
    if (r.increase ? difference < 0 : difference > 0)
        report_at("register-pool",
                  "setmaxnreg." + std::string(r.increase ? "inc" : "dec") + " to " + std::to_string(r.count) +
                      " registers a thread from " + std::to_string(g.registers),
                  r.here);
    if (difference * 128 > home.free_registers) return false;
    home.free_registers -= difference * 128;
    g.registers = r.count;
    return true;
}

}  // namespace

void set_registers(int count, bool increase) {
    machine& sim = the();
    sim.settle(16);
    lane& l = *sim.current;
    register_request mine{count, increase, TK_SIM_HERE()};
    meet_warpgroup(
        "setmaxnreg",
        [](void* const* all) {
            const register_request& first = *static_cast<register_request*>(all[0]);
            for (int i = 1; i < 128; ++i) {
                const register_request& other = *static_cast<register_request*>(all[i]);
                if (other.count == first.count && other.increase == first.increase) continue;
                report_at("register-pool",
                          "the warps of a warpgroup ask for different numbers of registers: " +
                              std::to_string(first.count) + " and " + std::to_string(other.count),
                          first.here);
                the().stop();
            }
        },
        &mine);
    // Each lane asks; the first one that can be served serves its warpgroup.
    warpgroup& g = *l.in->group;
    block& home = *l.home;
    while (g.registers != count && !change(g, mine)) {
        home.wants_registers.push_back(&l);
        sim.block_on(waits_for::registers, "setmaxnreg.inc", mine.here, &home, uint32_t(count));
    }
    std::vector<lane*> go;
    go.swap(home.wants_registers);
    for (lane* other : go) sim.ready(*other, sim.now + 16);
}

}  // namespace tk::sim

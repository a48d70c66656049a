// SPDX-License-Identifier: MIT
// wgmma: who may issue one, what it reads, and where its accumulators are meanwhile. While a product is in flight its
// results live here; the lanes' registers hold `kInFlight`, a signalling NaN, until a wait covers the product's group.
// Arithmetic in place makes the NaN quiet, so that the wait finds it changed; a value merely read makes NaN results.
#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/sim/agent.h"
#include "runtime/sim/fragment.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/matrix_descriptor.h"
#include "runtime/sim/tensor_core.h"
#include "tk/sim/sm90/wgmma.h"

namespace tk::sim {

namespace {

constexpr uint32_t kInFlight = 0xffa0dead;  // the quiet bit is 0
constexpr int kLanes = 128;

/// D of products in flight: the lanes' registers, and the values that they will get.
struct accumulator {
    std::array<float*, kLanes> d;
    int columns;
    int group;                      // of the newest product into it: number of groups closed before
    std::bitset<kLanes> published;  // lanes that have got their values
    std::vector<float> values;      // 64 rows of 256
};

/// What is known of a warpgroup's registers.
struct warpgroup_products {
    std::vector<std::shared_ptr<accumulator>> in_flight;
    std::map<const float*, int> published_at;    // lane 0's registers of a finished accumulator -> fences before
    std::array<int, kLanes> closed{}, fences{};  // as each lane has counted them
    int fences_at_publication = 0;               // the newest of published_at
    std::vector<std::function<void()>> pending;  // computations in order of issue
    size_t computed = 0;
};

/// Of the calling lane. Lanes and registers of an earlier launch do not exist any more.
std::shared_ptr<warpgroup_products> mine() {
    static std::map<std::pair<int, int>, std::shared_ptr<warpgroup_products>> all;  // by block and warpgroup
    static uint32_t launch = 0;
    if (std::exchange(launch, the().launch_number) != launch) all.clear();
    auto& place = all[{self().block, self().thread / kLanes}];
    if (!place) place = std::make_shared<warpgroup_products>();
    return place;
}

int lane_of_warpgroup() { return self().thread % kLanes; }

bool in_flight(const float& x) { return std::bit_cast<uint32_t>(x) == kInFlight; }

bool overlaps(const accumulator& a, const float* d, int columns) {
    return a.published.none() && d < a.d[0] + a.columns / 2 && a.d[0] < d + columns / 2;
}

/// One lane gets its values back.
void publish(accumulator& a, int lane) {
    float* d = a.d[size_t(lane)];
    bool touched = false;
    for (int n = 0; n < a.columns / 2; ++n) {
        if (!in_flight(d[n])) {
            touched = true;
            continue;
        }
        const element_place at = accumulator_place(lane, n);
        d[n] = a.values[size_t(at.row) * 256 + size_t(at.col)];
    }
    a.published.set(size_t(lane));
    if (touched)
        report("accumulator-touched",
               "registers of a product were used while it was in flight: the wait for its group comes too late");
}

/// The accumulator of the lanes' registers, new or already in flight.
std::shared_ptr<accumulator> accumulator_of(warpgroup_products& w, void* const* all, const product_call& call) {
    for (const auto& a : w.in_flight) {
        if (!overlaps(*a, call.d, call.columns)) continue;
        bool same = a->columns == call.columns, touched = false;
        for (int lane = 0; lane < kLanes; ++lane) {
            const float* d = static_cast<const product_call*>(all[lane])->d;
            same = same && d == a->d[size_t(lane)];
            if (same) touched = touched || !std::all_of(d, d + a->columns / 2, in_flight);
        }
        if (!same)
            report("accumulator-touched", "a product into part of the registers of another one in flight");
        else if (touched)
            report("accumulator-touched",
                   "registers of a product were used while it was in flight, then given to the next one");
        if (same) return a;
    }
    // Registers not seen before may have held anything up to the last wait.
    const auto known = w.published_at.find(call.d);
    const int needed = known == w.published_at.end() ? w.fences_at_publication : known->second;
    if (w.fences[0] <= needed)
        report("accumulator-touched",
               "no wgmma.fence between ordinary use of the registers of this product and the product");
    auto fresh = std::make_shared<accumulator>();
    fresh->columns = call.columns;
    fresh->values.assign(64 * 256, 0.0f);
    for (int lane = 0; lane < kLanes; ++lane) {
        float* d = fresh->d[size_t(lane)] = static_cast<const product_call*>(all[lane])->d;
        for (int n = 0; n < call.columns / 2; ++n) {
            const element_place at = accumulator_place(lane, n);
            fresh->values[size_t(at.row) * 256 + size_t(at.col)] = d[n];
            d[n] = std::bit_cast<float>(kInFlight);
        }
    }
    w.in_flight.push_back(fresh);
    return fresh;
}

/// An operand in shared memory, to be read in chunks of eight elements.
struct shared_operand {
    const unsigned char* memory = nullptr;  // of linear address `first`
    uint32_t first = 0;
    matrix_descriptor_fields fields;
    bool mn_major = false;

    const uint16_t* chunk(uint32_t mn, uint32_t k) const {
        return reinterpret_cast<const uint16_t*>(memory + (chunk_address(fields, mn_major, mn, k) - first));
    }
};

/// Declares what the product reads and finds it in memory; `extent` along M or N.
shared_operand open_operand(operation* product, uint64_t bits, bool mn_major, uint32_t extent, const char* name) {
    shared_operand result{nullptr, 0, decode_descriptor(bits), mn_major};
    if (result.fields.unused != 0 || result.fields.base_offset != 0)
        report("misaligned", std::string("the descriptor of ") + name + " has bits that mean nothing or a base offset");
    const uint32_t mn_step = mn_major ? 8 : 1, k_step = mn_major ? 1 : 8;
    uint32_t lowest = ~0u, highest = 0;
    for (uint32_t mn = 0; mn < extent; mn += mn_step)
        for (uint32_t k = 0; k < 16; k += k_step) {
            const uint32_t address = chunk_address(result.fields, mn_major, mn, k);
            read_shared(product, absolute(address), 16);
            lowest = std::min(lowest, address), highest = std::max(highest, address);
        }
    result.first = lowest;
    result.memory = place_shared(absolute(lowest), int(highest - lowest + 16));
    return result;
}

void read_a(const shared_operand& from, operand_type type, float sign, product_operands& to) {
    for (uint32_t mn = 0; mn < 64; mn += from.mn_major ? 8 : 1)
        for (uint32_t k = 0; k < 16; k += from.mn_major ? 1 : 8) {
            const uint16_t* chunk = from.chunk(mn, k);
            for (uint32_t n = 0; n < 8; ++n)
                (from.mn_major ? to.a[mn + n][k] : to.a[mn][k + n]) = sign * operand_value(chunk[n], type);
        }
}

void read_b(const shared_operand& from, operand_type type, uint32_t columns, product_operands& to) {
    for (uint32_t mn = 0; mn < columns; mn += from.mn_major ? 8 : 1)
        for (uint32_t k = 0; k < 16; k += from.mn_major ? 1 : 8) {
            const uint16_t* chunk = from.chunk(mn, k);
            for (uint32_t n = 0; n < 8; ++n)
                (from.mn_major ? to.b[k][mn + n] : to.b[k + n][mn]) = operand_value(chunk[n], type);
        }
}

void read_a_registers(void* const* all, operand_type type, float sign, product_operands& to) {
    for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t* a = static_cast<const product_call*>(all[lane])->a;
        for (int r = 0; r < 4; ++r)
            for (int half = 0; half < 2; ++half) {
                const element_place at = operand_place(lane, r, half);
                to.a[at.row][at.col] = sign * operand_value(uint16_t(a[r] >> 16 * half), type);
            }
    }
}

bool same_instruction(const product_call& x, const product_call& y) {
    return x.a_bits == y.a_bits && x.b_bits == y.b_bits && x.columns == y.columns && x.sign == y.sign &&
           x.bf16 == y.bf16 && x.accumulate == y.accumulate && x.a_mn_major == y.a_mn_major &&
           x.b_mn_major == y.b_mn_major && !x.a == !y.a;
}

/// By one lane, when all 128 are there.
void issue(void* const* all) {
    const product_call call = *static_cast<const product_call*>(all[0]);
    for (int lane = 1; lane < kLanes; ++lane)
        if (!same_instruction(call, *static_cast<const product_call*>(all[lane]))) {
            report("divergence", "the lanes of a warpgroup issue different products: thread " +
                                     std::to_string(thread_in_meeting(lane)) + " has other descriptors than thread " +
                                     std::to_string(thread_in_meeting(0)));
            break;
        }
    const auto state = mine();
    warpgroup_products& w = *state;
    std::erase_if(w.in_flight, [](const auto& a) { return a->published.all(); });
    operation* product = begin_product("wgmma");
    const operand_type type = call.bf16 ? operand_type::bf16 : operand_type::f16;
    const float sign = float(call.sign);
    const auto target = accumulator_of(w, all, call);
    target->group = w.closed[0];
    if (call.a && w.fences[0] <= w.fences_at_publication)
        report("accumulator-touched",
               "no wgmma.fence between ordinary use of registers and the product that takes them as its operand A");
    shared_operand a;
    auto operands = std::make_shared<product_operands>();
    if (call.a)
        read_a_registers(all, type, sign, *operands);
    else
        a = open_operand(product, call.a_bits, call.a_mn_major, 64, "A");
    const shared_operand b = open_operand(product, call.b_bits, call.b_mn_major, uint32_t(call.columns), "B");
    const bool readable = (call.a || a.memory) && b.memory;
    // Operands are read when the product runs, not when it is issued.
    const size_t number = w.pending.size();
    w.pending.push_back([=] {
        if (!readable) return;
        if (!call.a) read_a(a, type, sign, *operands);
        read_b(b, type, uint32_t(call.columns), *operands);
        multiply_accumulate(*operands, 64, call.columns, call.accumulate, target->values.data(), type);
    });
    // One accumulator takes its products in order of issue, whatever order the engine reports them in.
    finish(product, {.cycles = std::max(call.columns / 2, 16), .bytes = 0}, [state, number] {
        for (size_t& next = state->computed; next <= number; ++next) {
            state->pending[next]();
            state->pending[next] = nullptr;
        }
    });
}

}  // namespace

void issue_product(product_call call) { meet_warpgroup("wgmma", issue, &call); }

void fence_products() {
    products_fence();
    ++mine()->fences[size_t(lane_of_warpgroup())];
}

void commit_products() {
    products_commit();
    ++mine()->closed[size_t(lane_of_warpgroup())];
}

void wait_products(int newest) {
    products_wait(newest);
    warpgroup_products& w = *mine();
    const int lane = lane_of_warpgroup(), finished = w.closed[size_t(lane)] - newest;
    for (const auto& in_flight : w.in_flight) {
        accumulator& a = *in_flight;
        if (a.group >= finished || a.published.test(size_t(lane))) continue;
        publish(a, lane);
        if (lane == 0) w.published_at[a.d[0]] = w.fences_at_publication = w.fences[0];
    }
}

}  // namespace tk::sim

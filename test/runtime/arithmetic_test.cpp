// SPDX-License-Identifier: MIT
// Rings, tile orders, blocks of tensors, 16-bit floats.
#include "check.h"
#include "tk/sm90.h"

#include <cmath>
#include <set>
#include <utility>

namespace {

void CheckIntegers() {
    static_assert(tk::cdiv(0, 8) == 0 && tk::cdiv(1, 8) == 1 && tk::cdiv(16, 8) == 2 && tk::cdiv(0x7fffffff, 128) == 1 << 24);
    static_assert(tk::floor_div(-1, 4) == -1 && tk::floor_div(-4, 4) == -1 && tk::floor_div(7, 4) == 1);
    static_assert(tk::floor_mod(-1, 4) == 3 && tk::floor_mod(-4, 4) == 0 && tk::floor_mod(7, 4) == 3);
}

/// As the machine divides: small and large divisors, and what lies around multiples of each.
void CheckDivisor() {
    constexpr int largest = 0x7fffffff;
    static_assert(7 / tk::divisor(1) == 7 && 7 % tk::divisor(8) == 7 && largest / tk::divisor(largest) == 1);
    const auto check = [](int number, const tk::divisor& by) {
        CHECK(number / by == number / by.value && number % by == number % by.value);
    };
    const auto check_around = [&](int by) {
        const tk::divisor value(by);
        for (int64_t times : {int64_t(0), int64_t(1), int64_t(2), int64_t(largest / by / 2), int64_t(largest / by)})
            for (int64_t off = -1; off <= 1; ++off)
                if (const int64_t number = times * by + off; number >= 0 && number <= largest) check(int(number), value);
        check(largest, value);
    };
    for (int by = 1; by < 5000; ++by) check_around(by);
    for (int bit = 12; bit < 31; ++bit)
        for (int off = -3; off <= 3; ++off) check_around((1 << bit) + off);
    for (int off = 0; off < 100; ++off) check_around(largest - off);
    uint32_t state = 1;
    const auto next = [&] { return int((state = state * 1664525u + 1013904223u) >> 1); };
    for (int k = 0; k < 200000; ++k) check(next(), tk::divisor(tk::max(next() >> next() % 31, 1)));
}

void CheckRing() {
    tk::ring<3> one;
    int laps = 0;
    for (int step = 0; step < 20; ++step) {
        tk::ring<3> skipped;
        skipped.skip(step);
        CHECK(skipped.slot == one.slot && skipped.phase == one.phase);
        CHECK(one.slot == step % 3 && one.phase == uint32_t(laps & 1));
        CHECK(one.previous() == (step + 2) % 3);
        one.advance();
        laps += one.slot == 0;
    }
    tk::ring<1> single;
    single.advance();
    CHECK(single.slot == 0 && single.phase == 1 && single.previous() == 0);
}

void CheckOrder() {
    for (int tiles_m : {1, 7, 8, 9, 20})
        for (int tiles_n : {1, 5, 16})
            for (int group : {1, 4, 8}) {
                std::set<std::pair<int, int>> seen;
                for (int t = 0; t < tiles_m * tiles_n; ++t) {
                    const auto [m, n] = tk::grouped_order(t, tiles_m, tiles_n, group);
                    CHECK(m >= 0 && m < tiles_m && n >= 0 && n < tiles_n);
                    CHECK(seen.insert({m, n}).second);
                }
            }
}

/// Whatever the number of blocks: each has a tile of its own, and those of a chiplet lie in a row.
void CheckChiplets() {
    for (int chiplets : {1, 2, 3, 8})
        for (int count = 1; count < 300; ++count) {
            std::set<int> seen;
            int next = 0;
            for (int chiplet = 0; chiplet < chiplets; ++chiplet)
                for (int number = chiplet; number < count; number += chiplets) {
                    CHECK(tk::chiplet_order(number, count, chiplets) == next++);
                    CHECK(seen.insert(tk::chiplet_order(number, count, chiplets)).second);
                }
            CHECK(next == count && *seen.begin() == 0 && *seen.rbegin() == count - 1);
        }
}

/// Whatever the numbers of blocks and tiles: each tile is one block's, and nobody goes on after one that is past the end.
void CheckThereAndBack() {
    for (int count = 1; count < 40; ++count)
        for (int tiles : {0, 1, 7, 40, 117}) {
            std::set<int> seen;
            for (int block = 0; block < count; ++block) {
                int number = block;
                for (int lap = 0; lap < 130; ++lap, number = tk::there_and_back(number, count)) {
                    CHECK(number / count == lap && number % count == (lap % 2 == 0 ? block : count - 1 - block));
                    if (number < tiles) CHECK(seen.insert(number).second);
                }
            }
            CHECK(int(seen.size()) == tiles);
        }
}

/// Within 2^-21 of the exact quotient where that is a normal number, whatever the size of the divisor.
void CheckQuotients() {
    for (float y : {1.0f, 3.0f, -7.5f, 0x1p-126f, 1.1e-30f, 0x1p125f, 1.7e38f, -3.4e38f})
        for (float x : {1.0f, -2.0f, 1e-3f, 1.3e10f, 3.4e38f, 0x1p-120f}) {
            const double exact = double(x) / double(y);
            if (std::abs(exact) >= 0x1p-126 && std::abs(exact) < 0x1p128) CHECK(std::abs(tk::quotient(x, y) / exact - 1) < 0x1p-21);
        }
    CHECK(tk::quotient(1.0f, 0.0f) == INFINITY && tk::quotient(-1.0f, 0.0f) == -INFINITY && tk::quotient(2.0f, INFINITY) == 0.0f);
    CHECK(std::isnan(tk::quotient(0.0f, 0.0f)) && std::isnan(tk::quotient(INFINITY, INFINITY)) && tk::quotient(INFINITY, 2.0f) == INFINITY);
    CHECK(tk::quotient(6.0f, 3.0f) == 2.0f && tk::quotient(1.0f, 8.0f) == 0.125f);
}

void CheckBlocks() {
    float data[4 * 5 * 6];
    const tk::tensor<float, 3> x{data, {4, 5, 6}, {30, 6, 1}};
    const auto inner = x.block(tk::at(2), tk::span(3), tk::span(4));
    CHECK(inner.at(1, 1) == data + 60 + 24 + 5);
    CHECK(inner.has_row(1) && !inner.has_row(2) && inner.has_col(1) && !inner.has_col(2));
    const auto before = x.block(tk::at(0), tk::span(-2), tk::span(0, 1, 3));
    CHECK(!before.has_row(1) && before.has_row(2) && !before.has_col(0) && before.has_col(2) && !before.has_col(3));
    const auto outside = x.block(tk::at(4), tk::span(0), tk::span(0));
    for (int r = -8; r < 8; ++r) CHECK(!outside.has_row(r));
    const auto column = x.block(tk::at(1), tk::at(1), tk::span(2));
    CHECK(column.has_row(3) && !column.has_row(4) && column.has_col(0) && !column.has_col(1) && column.at(1, 0) == data + 30 + 6 + 3);
    const auto row = tk::transposed(column);
    CHECK(row.at(0, 1) == column.at(1, 0) && row.has_col(3) && !row.has_col(4));
}

/// Every 16-bit pattern returns from f32 unchanged; halfway cases go to even.
void CheckHalves() {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        tk::f16 h;
        h.bits = uint16_t(bits);
        const float value = float(h);
        if (std::isnan(value)) CHECK(std::isnan(float(tk::f16(value))));
        else CHECK(tk::f16(value).bits == bits);
        tk::bf16 b;
        b.bits = uint16_t(bits);
        if (std::isnan(float(b))) CHECK(std::isnan(float(tk::bf16(float(b)))));
        else CHECK(tk::bf16(float(b)).bits == bits);
    }
    CHECK(tk::f16(1.0f + 0x1p-11f).bits == 0x3c00 && tk::f16(1.0f + 3 * 0x1p-11f).bits == 0x3c02);
    CHECK(tk::f16(65519.0f).bits == 0x7bff && tk::f16(65520.0f).bits == 0x7c00 && tk::f16(0x1p-25f).bits == 0 && tk::f16(-0x1.8p-25f).bits == 0x8001);
    CHECK(tk::bf16(1.0f + 0x1p-8f).bits == 0x3f80 && tk::bf16(1.0f + 3 * 0x1p-8f).bits == 0x3f82);
    CHECK(tk::pack(tk::bf16(1.5f), tk::bf16(-2.0f)) == 0xc0003fc0);
    CHECK(tk::round_pair<tk::bf16>(1.5f, -2.0f) == tk::pack(tk::bf16(1.5f), tk::bf16(-2.0f)));
}

}  // namespace

int main() {
    CheckIntegers();
    CheckDivisor();
    CheckRing();
    CheckOrder();
    CheckChiplets();
    CheckThereAndBack();
    CheckQuotients();
    CheckBlocks();
    CheckHalves();
    return 0;
}
